/* Sums by node, CPU and source of a fleet.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What whole nodes lose is always kept. What their CPUs lose, up to a hundred times as much, is kept in
 * columns, one a CPU number, as long as there is room; where digests can be read again, the others follow
 * later (fleet_judge.c).
 */
#ifndef IWI_FLEET_CELLS_H
#define IWI_FLEET_CELLS_H

#include <idlewave/fleet.h>

#include "features/fleet/node_digest.h"

/* What a family took of one node, all CPUs together. */
struct iwi_fleet_node_cell {
    uint32_t family, node;
    uint32_t stretches; /* a bit for each in which it came */
    uint32_t name;      /* of the family's, the one that took most */
    uint32_t top_cpu;   /* that lost most to it, as the operating system numbers it */
    float top_ns;       /* so much */
    float steady[IW_DIGEST_SUMS];
    double all[IW_DIGEST_SUMS]; /* squares: not known */
    float median_ns, p99_ns;    /* of its detours, as iw_detour_lengths */
};

/* What a family took of one CPU. */
struct iwi_fleet_cell {
    uint32_t family, node, stretches;
    uint16_t all[IW_DIGEST_SUMS], steady[IW_DIGEST_SUMS]; /* iw_digest_value() */
};

/* How long a CPU was watched. */
struct iwi_fleet_length {
    uint32_t node;
    float length_ns;
};

/* The CPUs of one number, on all nodes. */
struct iwi_fleet_column {
    uint32_t cpu;
    size_t length_count, length_capacity;
    struct iwi_fleet_length *lengths; /* ascending by node */
    size_t count, capacity;
    struct iwi_fleet_cell *cells; /* ascending by node */
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

/* The facts of all nodes: element node * facts + fact, numbers of values. */
struct iwi_fleet_known_facts {
    size_t value_count, value_capacity;
    char **values; /* each once */
    uint32_t *of_node;
    size_t capacity;
};

/* Digests of nodes of which there are later ones, by their numbers in the stream, ascending. */
struct iwi_fleet_older {
    size_t count;
    size_t *numbers;
};

struct iwi_fleet_share;
struct iwi_fleet_scratch; /* of one node while it is added */

/* Name 0 and family 0 stand for all sources together. */
struct iwi_fleet_cells {
    size_t count, capacity;
    struct iwi_fleet_node_cell *cells; /* ascending by node */
    size_t *first_cell;                /* of each node */
    size_t first_capacity;
    size_t column_count, column_capacity;
    struct iwi_fleet_column *columns; /* ascending by CPU */
    size_t next_column;               /* where the CPU that comes next may be */
    size_t column_bytes, most_bytes;  /* of all columns: what is used of them */
    size_t room;                      /* for so many cells in a new column: growing leaves holes */
    uint32_t first_cpu, end_cpu;      /* CPUs from the first on, but before the end, are in columns */
    uint32_t *nodes_with;             /* CPU number: IW_CPU_SET_MOST elements */
    size_t name_count, name_capacity;
    struct iwi_fleet_name *names;
    uint32_t *sorted_names; /* by class and name, for bsearch */
    size_t sorted_capacity;
    size_t family_count, family_capacity;
    struct iwi_fleet_family *families;
    size_t node_capacity, unreadable_capacity, difference_capacity, group_capacity;
    struct iwi_fleet_known_facts facts;
    struct iwi_fleet_scratch *scratch;
    struct iwi_digest_octave octave;
    const iw_digest_stream *stream; /* where nodes come from, or NULL: all is in columns */
    struct iwi_fleet_older older;
    struct iwi_fleet_share *share; /* with other processes (fleet_share.h), or NULL */
};

IW_NODISCARD iw_status iwi_fleet_cells_new(const iw_log *log, struct iwi_fleet_cells **cells_p);
void iwi_fleet_cells_free(struct iwi_fleet_cells *cells);

/* Where nodes come from; `share` becomes theirs, or NULL. */
void iwi_fleet_set_stream(struct iwi_fleet_cells *cells, const iw_digest_stream *stream,
                          struct iwi_fleet_share *share);

/* The cells of a node: those of CPUs in columns, and `is_new` its own. */
IW_NODISCARD iw_status iwi_fleet_add_cells(const iw_log *log, struct iwi_fleet_cells *cells, uint32_t node,
                                           const iw_digest *digest, bool is_new);

/* The column of a CPU, added if new. */
IW_NODISCARD iw_status iwi_fleet_add_column(const iw_log *log, struct iwi_fleet_cells *cells, uint32_t cpu,
                                            struct iwi_fleet_column **column_p);

/* The column of a CPU, or NULL. */
const struct iwi_fleet_column *iwi_fleet_column_of(const struct iwi_fleet_cells *cells, uint32_t cpu);

/* What `more` has is copied behind what the column has. */
IW_NODISCARD iw_status iwi_fleet_fill_column(const iw_log *log, struct iwi_fleet_cells *cells,
                                             struct iwi_fleet_column *column,
                                             const struct iwi_fleet_column *more);
void iwi_fleet_empty_column(struct iwi_fleet_cells *cells, struct iwi_fleet_column *column);

/* It is no longer among those that are wanted. */
void iwi_fleet_drop_last_column(struct iwi_fleet_cells *cells);

/* Forgets all columns; those from `first_cpu` on are wanted next. */
void iwi_fleet_drop_columns(struct iwi_fleet_cells *cells, uint32_t first_cpu);

/* Reads all nodes again, for the columns from `first_cpu` on. */
IW_NODISCARD iw_status iwi_fleet_read_columns(const iw_log *log, iw_fleet *fleet, uint32_t first_cpu);

/* A source with each of the numbers in its name as a star: "ksoftirqd/3" is "ksoftirqd/" and a star. */
iw_source iwi_fleet_pattern(const iw_source *source);

/* Number of a source's name, added if new. */
IW_NODISCARD iw_status iwi_fleet_find_name(const iw_log *log, struct iwi_fleet_cells *cells,
                                           const iw_source *source, uint32_t *name_p);

/* A file that could not be read. The name becomes the fleet's; NULL: there was no memory for it. */
IW_NODISCARD iw_status iwi_fleet_note_unreadable(const iw_log *log, iw_fleet *fleet, char *name,
                                                 const char *reason);

/* The facts of the last node; groups of nodes with different ones. */
IW_NODISCARD iw_status iwi_fleet_add_facts(const iw_log *log, iw_fleet *fleet, const iw_digest *digest);
IW_NODISCARD iw_status iwi_fleet_find_groups(const iw_log *log, iw_fleet *fleet);
void iwi_fleet_facts_release(struct iwi_fleet_known_facts *facts);

#endif
