/* Schedules that grow rank by rank: nodes with what they require.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_STEP_GRAPH_H
#define IWI_STEP_GRAPH_H

#include "core/program/program.h"

struct iwi_graph_rank {
    struct iwi_node *nodes;
    uint64_t *first_dep; /* of each node */
    uint32_t *deps;
    size_t node_room, first_room, dep_room;
    uint32_t count;
    size_t dep_count;
};

struct iwi_step_graph {
    const iw_log *log;
    uint32_t ranks, next_tag;
    struct iwi_graph_rank *rank;
    iw_status status; /* the first failure; nothing is added after it */
};

/* No node: what needs it needs nothing. */
#define IWI_NO_NODE UINT32_MAX

IW_NODISCARD iw_status iwi_step_graph_init(const iw_log *log, uint32_t ranks, struct iwi_step_graph *all);
void iwi_step_graph_release(struct iwi_step_graph *all);

/* Adds a node that needs `count` others of its rank; returns its number. */
uint32_t iwi_step_graph_add(struct iwi_step_graph *all, uint32_t rank, struct iwi_node node,
                            const uint32_t *needs, size_t count);
/* A calc on a CPU. */
uint32_t iwi_step_graph_calc(struct iwi_step_graph *all, uint32_t rank, uint8_t cpu, iw_time ps,
                             const uint32_t *needs, size_t count);
/* A message of one byte that `from` sends after a node; returns its receive. */
uint32_t iwi_step_graph_signal(struct iwi_step_graph *all, uint8_t cpu, uint32_t from, uint32_t after,
                               uint32_t to);

/* All of it as one schedule. */
IW_NODISCARD iw_status iwi_step_graph_finish(struct iwi_step_graph *all, struct iwi_schedule **schedule_p);

#endif
