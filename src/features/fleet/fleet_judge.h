/* Between the parts of iw_fleet_judge(): places of nodes, and alarms about them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLEET_JUDGE_H
#define IWI_FLEET_JUDGE_H

#include "features/fleet/fleet_cells.h"

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

/* Room for all nodes; to be released also if it fails. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_fleet_trial_init(const iw_log *log, iw_fleet *fleet,
                                            struct iwi_fleet_trial *trial);
void iwi_fleet_trial_release(struct iwi_fleet_trial *trial);

/* Of all processes. */
size_t iwi_fleet_node_count(const iw_fleet *fleet);

/* CPU numbers that at least half of the nodes have are places. */
bool iwi_fleet_is_place(const iw_fleet *fleet, uint32_t cpu);

/* All families at one place: a CPU's column, or NULL: all CPUs, which comes first. */
IW_NODISCARD iw_status iwi_fleet_test_place(struct iwi_fleet_trial *judge,
                                            const struct iwi_fleet_column *column);

/* All columns that there are, on threads. */
IW_NODISCARD iw_status iwi_fleet_test_columns(struct iwi_fleet_trial *judge);

double iwi_fleet_value(const struct iwi_digest_sums *sums, iw_fleet_metric metric, double length_ns);

/* The part of the length that steady sums are about. */
double iwi_fleet_steady_ns(double length_ns);

/* Makes it the place: a CPU's column, or NULL: all CPUs; sets the lengths of its units. */
IW_NODISCARD iw_status iwi_fleet_go_to(struct iwi_fleet_trial *judge, const struct iwi_fleet_column *column);

/* Fills place.units with the sums of a family. */
void iwi_fleet_gather(struct iwi_fleet_trial *judge, uint32_t family);

/* What a family took of a node; NULL: nothing. */
const struct iwi_fleet_node_cell *iwi_fleet_cell_of(const struct iwi_fleet_cells *cells, uint32_t node,
                                                    uint32_t family);

/* Raises alarms about the family that the units hold. */
IW_NODISCARD iw_status iwi_fleet_test(struct iwi_fleet_trial *judge, uint32_t family);

/* The same of a fleet of a few nodes; units of nodes that have the place. */
IW_NODISCARD iw_status iwi_fleet_test_few(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units,
                                          size_t count, uint32_t family);

/* From how many times the others' value on a node of a few stands out, if they differ as usual. */
double iwi_fleet_few_factor(const struct iwi_fleet_trial *judge);

/* ---- what both use ---- */

double iwi_fleet_steady_value(const struct iwi_fleet_unit *unit, iw_fleet_metric metric);
double iwi_fleet_steady_median(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units,
                               size_t count, iw_fleet_metric metric);

/* Variance of the logarithm of a steady value by chance: of a sum of n random terms, and of a number n. */
double iwi_fleet_chance(const struct iwi_fleet_unit *unit, iw_fleet_metric metric);

/* Shares of time below this are as good as none where so much matters. */
double iwi_fleet_share_floor(double matters);

/* Whether it is enough above the others to be worth an alarm; the least value that is. */
bool iwi_fleet_matters(const struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *unit,
                       iw_fleet_metric metric, double median_share);
double iwi_fleet_worth(iw_fleet_metric metric, double limit, double median);

IW_NODISCARD iw_status iwi_fleet_raise(struct iwi_fleet_trial *judge, uint32_t node, uint32_t family,
                                       iw_fleet_metric metric, double limit);

/* ---- after the alarms ---- */

/* Of a unit as it was recorded, bursts and all; 0 where the node has no such CPU. */
double iwi_fleet_unit_value(const struct iwi_fleet_unit *unit, iw_fleet_metric metric);

/* Of the units of the place. */
double iwi_fleet_median_value(struct iwi_fleet_trial *judge, iw_fleet_metric metric);

/* Of values, whose order is lost. */
iw_spread iwi_fleet_spread(double *values, size_t count);

/* How long detours of a family are: medians of the nodes that have it, but for those left out (NULL: none).
 * The place is the node as a whole. */
iw_detour_lengths iwi_fleet_usual_lengths(struct iwi_fleet_trial *judge, uint32_t family,
                                          const bool *is_left_out);
iw_detour_lengths iwi_fleet_lengths_of(const struct iwi_fleet_node_cell *cell);

/* The name that stands for a family. */
const iw_source *iwi_fleet_source_of(const struct iwi_fleet_cells *cells, uint32_t family);

/* The place is the node as a whole: */
void iwi_fleet_describe_nodes(struct iwi_fleet_trial *judge, iw_fleet *fleet);
IW_NODISCARD iw_status iwi_fleet_describe_sources(struct iwi_fleet_trial *judge, iw_fleet *fleet);
IW_NODISCARD iw_status iwi_fleet_find_differences(struct iwi_fleet_trial *judge, iw_fleet *fleet);

/* Nodes that were at work when they were recorded: how many, and the names of the first three. */
struct iwi_busy_nodes {
    size_t count, used;
    char names[96];
};
void iwi_busy_nodes_add(struct iwi_busy_nodes *busy, const char *node);

/* All that the fleet's report tells, on the first process; the others bring what it needs. */
IW_NODISCARD iw_status iwi_fleet_conclude(struct iwi_fleet_trial *judge, iw_fleet *fleet);
IW_NODISCARD iw_status iwi_fleet_help_to_conclude(struct iwi_fleet_trial *judge);

#endif
