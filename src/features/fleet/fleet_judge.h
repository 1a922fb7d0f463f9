/* Between the parts of iw_fleet_judge(): places of nodes, and alarms about them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLEET_JUDGE_H
#define IWI_FLEET_JUDGE_H

#include "features/fleet/fleet_cells.h"
#include <stddef.h>

/* A source (a family) at one place of a node: all CPUs together, or the CPU of one number. */
struct iwi_fleet_unit {
    uint32_t node;
    double length_ns;   /* watched; 0: the node has no such CPU */
    uint32_t stretches; /* a bit for each in which it came */
    struct iwi_digest_sums all, steady;
};

/* The same place on all nodes. */
struct iwi_fleet_place {
    const struct iwi_fleet_column *column; /* of a CPU; NULL: all CPUs together */
    uint32_t cpu;
    double total_ns;              /* length of all units */
    double median_longest_ns;     /* steady, of all sources together */
    struct iwi_fleet_unit *units; /* by node */
};

struct iwi_fleet_alarm {
    uint32_t node, family, cpu;
    bool is_cpu;
    iw_fleet_metric metric;
    double limit; /* of the steady value; NaN: judged by its occurrences */
};

struct iwi_fleet_trial {
    const iw_log *log;
    iw_fleet *fleet;   /* only its columns change */
    size_t node_count; /* of all processes */
    double p;          /* of a false alarm, for one comparison */
    struct iwi_fleet_place place;
    double *scratch;               /* by node */
    struct iwi_fleet_unit *having; /* room for units of all nodes */
    size_t sorted_capacity;
    uint32_t *sorted;    /* numbers of the place's cells, by family, then node */
    size_t *first_entry; /* of each family, and the end */
    bool *is_placed; /* by family: it sits on the same CPU number of nearly all nodes; of the first trial */
    size_t alarm_count, alarm_capacity;
    struct iwi_fleet_alarm *alarms;
};

double iwi_fleet_value(const struct iwi_digest_sums *sums, iw_fleet_metric metric, double length_ns);

/* Makes it the place: a CPU's column, or NULL: all CPUs; sets the lengths of its units. */
IW_NODISCARD iw_status iwi_fleet_go_to(struct iwi_fleet_trial *judge, const struct iwi_fleet_column *column);

/* Fills place.units with the sums of a family. */
void iwi_fleet_gather(struct iwi_fleet_trial *judge, uint32_t family);

/* What a family took of a node; NULL: nothing. */
const struct iwi_fleet_node_cell *iwi_fleet_cell_of(const struct iwi_fleet_cells *cells, uint32_t node,
                                                    uint32_t family);

/* Raises alarms about the family that the units hold. */
IW_NODISCARD iw_status iwi_fleet_test(struct iwi_fleet_trial *judge, uint32_t family);

/* From how many times the others' value on a node of a few stands out, if they differ as usual. */
double iwi_fleet_few_factor(const struct iwi_fleet_trial *judge);

/* ---- what both use ---- */

/* Shares of time below this are as good as none where so much matters. */
double iwi_fleet_share_floor(double matters);

/* ---- after the alarms ---- */

/* Of a unit as it was recorded, bursts and all; 0 where the node has no such CPU. */
double iwi_fleet_unit_value(const struct iwi_fleet_unit *unit, iw_fleet_metric metric);

/* Of values, whose order is lost. */
iw_spread iwi_fleet_spread(double *values, size_t count);

/* The name that stands for a family. */
const iw_source *iwi_fleet_source_of(const struct iwi_fleet_cells *cells, uint32_t family);

/* Nodes that were at work when they were recorded: how many, and the names of the first three. */
struct iwi_busy_nodes {
    size_t count, used;
    char names[96];
};
void iwi_busy_nodes_add(struct iwi_busy_nodes *busy, const char *node);

/* All that the fleet's report tells, on the first process; the others bring what it needs. */
IW_NODISCARD iw_status iwi_fleet_conclude(struct iwi_fleet_trial *judge, iw_fleet *fleet);
IW_NODISCARD iw_status iwi_fleet_help_to_conclude(struct iwi_fleet_trial *judge);

/* ---- the tail: how far from the others a node must be to stand out ---- */

/* The upper half of values on a logarithmic scale: P(x > median + gap (ln(1 / 2p) / ln 2)^(1/shape)) = p.
 * Shape 1 is an exponential tail (of the values: a power law). */
struct iwi_fleet_tail {
    double median, gap; /* gap: to the upper quartile */
    double shape;       /* up to that of a normal law, 1.35 */
};

/* No fleet is more alike than that: 2 %. */
#define IWI_FLEET_LEAST_VARIANCE (0.02 * 0.02)

/* From `count` > 0 logarithms, of which more than half are finite; reorders them. Their variance by chance
 * alone is at least `least_variance` > 0: counts of a few may be equal by luck. Shapes below `least_shape`
 * are taken for more than one kind of nodes, not for a tail. Errs to the safe side by the standard errors of
 * its quantiles. */
struct iwi_fleet_tail iwi_fleet_tail_fit(double *logs, size_t count, double least_variance,
                                         double least_shape);

/* The point that is exceeded with probability p < 1/4, when a value varies by `more_variance` more (on the
 * logarithmic scale) than those that the tail was fitted to. */
double iwi_fleet_tail_limit(const struct iwi_fleet_tail *tail, double p, double more_variance);

#endif
