/* Between the parts of iw_fleet_judge(): places of nodes, and alarms about them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLEET_JUDGE_H
#define IWI_FLEET_JUDGE_H

#include "analysis/fleet/fleet_cells.h"

/* A source (a family) at one place of a node: all CPUs together, or the CPU of one number. */
struct iwi_fleet_unit {
    uint32_t node;
    double length_ns;   /* watched; 0: the node has no such CPU */
    uint32_t stretches; /* a bit for each in which it came */
    struct iwi_fleet_sums all, steady;
};

/* The same place on all nodes. */
struct iwi_fleet_place {
    bool is_cpu; /* else all CPUs */
    uint32_t cpu;
    double total_ns;              /* length of all units */
    double median_longest_ns;     /* steady, of all sources together */
    struct iwi_fleet_unit *units; /* by node */
};

/* A cell and what it belongs to. */
struct iwi_fleet_entry {
    uint32_t family;
    const struct iwi_fleet_cell *cell;
};

struct iwi_fleet_alarm {
    uint32_t node, family, cpu;
    bool is_cpu;
    iw_fleet_metric metric;
    double limit; /* of the steady value; NaN: judged by its occurrences */
};

struct iwi_fleet_trial {
    const iw_log *log;
    const iw_fleet *fleet;
    double p; /* of a false alarm, for one comparison */
    struct iwi_fleet_place place;
    double *scratch;                /* by node */
    struct iwi_fleet_unit *having;  /* room for units of all nodes */
    struct iwi_fleet_entry *sorted; /* by family, CPU, node */
    size_t *first_entry;            /* of each family, and the end */
    bool *is_placed;                /* by family: it sits on the same CPU number of nearly all nodes */
    size_t alarm_count, alarm_capacity;
    struct iwi_fleet_alarm *alarms;
};

double iwi_fleet_value(const struct iwi_fleet_sums *sums, iw_fleet_metric metric, double length_ns);

/* The part of the length that steady sums are about. */
double iwi_fleet_steady_ns(double length_ns);

/* Makes it the place: all CPUs, or that CPU; sets the lengths of its units. */
void iwi_fleet_go_to(struct iwi_fleet_trial *judge, bool is_cpu, uint32_t cpu);

/* Fills place.units with the sums of a family. */
void iwi_fleet_gather(struct iwi_fleet_trial *judge, uint32_t family);

/* Raises alarms about the family that the units hold. */
IW_NODISCARD iw_status iwi_fleet_test(struct iwi_fleet_trial *judge, uint32_t family);

/* ---- after the alarms ---- */

/* Of a unit as it was recorded, bursts and all; 0 where the node has no such CPU. */
double iwi_fleet_unit_value(const struct iwi_fleet_unit *unit, iw_fleet_metric metric);

/* Of the units of the place. */
double iwi_fleet_median_value(struct iwi_fleet_trial *judge, iw_fleet_metric metric);

/* The name that stands for a family. */
const iw_source *iwi_fleet_source_of(const struct iwi_fleet_cells *cells, uint32_t family);

/* The place is the node as a whole: */
void iwi_fleet_describe_nodes(struct iwi_fleet_trial *judge, iw_fleet *fleet);
IW_NODISCARD iw_status iwi_fleet_describe_sources(struct iwi_fleet_trial *judge, iw_fleet *fleet);
IW_NODISCARD iw_status iwi_fleet_find_differences(struct iwi_fleet_trial *judge, iw_fleet *fleet);

/* All that the fleet's report tells. */
IW_NODISCARD iw_status iwi_fleet_conclude(struct iwi_fleet_trial *judge, iw_fleet *fleet);

#endif
