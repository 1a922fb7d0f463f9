/* What the files of this folder share: when each source hit each node.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_COINCIDENCE_H
#define IWI_COINCIDENCE_H

#include <idlewave/coincidence.h>

/* When one source hit one node, on any of its CPUs: ascending. */
struct iwi_hits {
    int64_t *at_ns;
    size_t count, room;
};

/* One source on all nodes. */
struct iwi_hit_source {
    iw_source pattern, first; /* digits as '*'; a name of it */
    bool has_other_names;
    double busy_ns;
    struct iwi_hits *nodes;
};

struct iwi_hit_table {
    size_t node_count, cpu_count;
    int64_t length_ns; /* the same for all */
    size_t count, room;
    struct iwi_hit_source *sources;
};

/* ---- one source at one width ---- */

/* Time in cells of `width_ns`: which cells each node was hit in, each once. */
struct iwi_hit_cells {
    int64_t width_ns;
    uint32_t cell_count;
    size_t node_count;
    size_t *first;      /* by node: where its cells begin; and the end behind the last */
    uint32_t *cell;     /* ascending in each node */
    uint16_t *nodes_in; /* room for one number a cell, all 0 */
    uint32_t *shift;    /* room for one number a node */
};

/* ---- when ---- */

/* Fills instants, period, nodes_together and parts of a source that coincides. */
IW_NODISCARD iw_status iwi_find_instants(const iw_log *log, const struct iwi_hit_source *source,
                                         const iw_wall_window *window, struct iwi_hit_cells *cells,
                                         iw_coincidence_source *found);

#endif
