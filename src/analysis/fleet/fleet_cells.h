/* Sums by node, CPU and source of a fleet, and what of them stands out.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLEET_CELLS_H
#define IWI_FLEET_CELLS_H

#include <idlewave/fleet.h>

/* A recording is cut into so many stretches of time. What comes in a few of them only may be a burst that any
 * node has now and then, and does not count: a value is steady if it is that without its four largest. */
enum { IWI_FLEET_STRETCHES = 20, IWI_FLEET_BURST = 4 };

/* Detours: their number, time, the sum of its squares, and the longest. */
struct iwi_fleet_sums {
    double count, busy_ns, square_ns2, longest_ns;
};

/* What one source takes of a CPU while its detours are being counted. */
struct iwi_fleet_counter {
    struct iwi_fleet_sums by_stretch[IWI_FLEET_STRETCHES];
};

/* What one source took of one CPU of one node. */
struct iwi_fleet_cell {
    uint32_t name, node, cpu; /* cpu: as the operating system numbers it */
    uint32_t stretches;       /* a bit for each in which it came */
    struct iwi_fleet_sums all, steady;
};

/* A name that was met. Those that differ only in numbers share a family. */
struct iwi_fleet_name {
    iw_source source;
    uint32_t family;
};

struct iwi_fleet_family {
    iw_source pattern;    /* digits as '*' */
    uint32_t first_name;  /* number of a name of it */
    bool has_other_names; /* so the pattern stands for it, else that name */
};

/* A watched CPU. */
struct iwi_fleet_cpu {
    uint32_t node, cpu;
    double length_ns;
};

/* The facts of all nodes: element node * facts + fact, numbers of values. */
struct iwi_fleet_known_facts {
    size_t value_count, value_capacity;
    char **values; /* each once */
    uint32_t *of_node;
    size_t capacity;
};

/* Name 0 and family 0 stand for all sources together. */
struct iwi_fleet_cells {
    size_t count, capacity;
    struct iwi_fleet_cell *cells;
    size_t cpu_count, cpu_capacity;
    struct iwi_fleet_cpu *cpus; /* ascending by node */
    size_t name_count, name_capacity;
    struct iwi_fleet_name *names;
    uint32_t *sorted_names; /* by class and name, for bsearch */
    size_t sorted_capacity;
    size_t family_count, family_capacity;
    struct iwi_fleet_family *families;
    size_t node_capacity, unreadable_capacity, finding_capacity, difference_capacity, group_capacity;
    struct iwi_fleet_known_facts facts;
};

IW_NODISCARD iw_status iwi_fleet_cells_new(const iw_log *log, struct iwi_fleet_cells **cells_p);
void iwi_fleet_cells_free(struct iwi_fleet_cells *cells);

/* A node without CPUs; the fleet owns a copy of the name. */
IW_NODISCARD iw_status iwi_fleet_add_node(const iw_log *log, iw_fleet *fleet, const char *name);

/* A CPU of the last node. */
IW_NODISCARD iw_status iwi_fleet_add_cpu(const iw_log *log, iw_fleet *fleet, uint32_t cpu, double length_ns);

/* One more detour. `at`: where in the recording it began, in [0, 1). */
void iwi_fleet_count(struct iwi_fleet_counter *counter, double at, double time_ns);

/* A cell of that CPU, from what was counted; `name`: of iwi_fleet_find_name(), 0 for all sources. Nothing is
 * added for no detours. */
IW_NODISCARD iw_status iwi_fleet_add_cell(const iw_log *log, iw_fleet *fleet, uint32_t name,
                                          const struct iwi_fleet_counter *counter);

/* Number of a source's name, added if new. */
IW_NODISCARD iw_status iwi_fleet_find_name(const iw_log *log, struct iwi_fleet_cells *cells,
                                           const iw_source *source, uint32_t *name_p);

/* The facts of the last node; groups of nodes with different ones. */
IW_NODISCARD iw_status iwi_fleet_add_facts(const iw_log *log, iw_fleet *fleet, const iw_recording *recording);
IW_NODISCARD iw_status iwi_fleet_find_groups(const iw_log *log, iw_fleet *fleet);
void iwi_fleet_facts_release(struct iwi_fleet_known_facts *facts);

#endif
