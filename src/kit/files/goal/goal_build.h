/* Builds a schedule block by block: what the readers of text and of binary GOAL share.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Between iwi_goal_begin_block() and iwi_goal_end_block() nodes and edges of one rank come in any order;
 * blocks may come in any order of ranks.
 */
#ifndef IWI_GOAL_BUILD_H
#define IWI_GOAL_BUILD_H

#include "core/base/base.h"
#include "core/program/program.h"

/* `node` depends on `required`; both are indices within the rank. */
struct iwi_goal_edge {
    uint32_t node, required;
    bool is_start;
};

struct iwi_goal_block {
    uint32_t rank;
    uint64_t first_node;
    uint64_t place; /* line where it begins, for messages */
};

/* A step of the search for cycles: a node, and the dependency to follow next. */
struct iwi_goal_visit {
    uint32_t node;
    uint64_t next_dep;
};

struct iwi_goal_builder {
    struct iwi_node *nodes; /* in order of blocks */
    size_t node_count, node_capacity;
    uint64_t *first_dep; /* of finished blocks */
    size_t first_dep_capacity;
    struct iwi_dep *deps;
    size_t dep_count, dep_capacity;
    struct iwi_goal_block *blocks;
    size_t block_count, block_capacity;
    struct iwi_goal_edge *edges; /* of the current block */
    size_t edge_count, edge_capacity;
    uint8_t *visited; /* scratch of the search for cycles */
    size_t visited_capacity;
    struct iwi_goal_visit *path;
    size_t path_capacity;
    uint8_t max_cpu, max_nic;
    struct iwi_schedule_facts facts;
};

/* Operations that wait for each other; the last one's dependency is the first one. */
#define IWI_GOAL_CYCLE_SHOWN 6
struct iwi_goal_cycle {
    uint32_t length; /* 0: there is none */
    uint32_t nodes[IWI_GOAL_CYCLE_SHOWN];
};

IW_NODISCARD iw_status iwi_goal_begin_block(const iw_log *log, struct iwi_goal_builder *builder,
                                            uint32_t rank, uint64_t place);
IW_NODISCARD iw_status iwi_goal_add_node(const iw_log *log, struct iwi_goal_builder *builder,
                                         const struct iwi_node *node);
IW_NODISCARD iw_status iwi_goal_add_edge(const iw_log *log, struct iwi_goal_builder *builder,
                                         struct iwi_goal_edge edge);

/* The same where there is room for it. */
static inline void iwi_goal_put_node(struct iwi_goal_builder *builder, const struct iwi_node *node)
{
    builder->nodes[builder->node_count++] = *node;
    builder->max_cpu = node->cpu > builder->max_cpu ? node->cpu : builder->max_cpu;
    builder->max_nic = node->nic > builder->max_nic ? node->nic : builder->max_nic;
    iwi_facts_note(&builder->facts, node);
}

/* Nodes of the current block so far. */
uint32_t iwi_goal_block_nodes(const struct iwi_goal_builder *builder);

/* Room for so many more nodes and dependencies than there are. Where it is the first, and for nodes,
 * first_dep is 0 throughout. */
IW_NODISCARD iw_status iwi_goal_reserve(const iw_log *log, struct iwi_goal_builder *builder, uint64_t nodes,
                                        uint64_t deps);

/* The dependencies of the block's nodes are in builder->deps already, from first[0] on, where `first` are the
 * block's entries of first_dep. `has_forward`: some are on later nodes. */
IW_NODISCARD iw_status iwi_goal_find_cycle(const iw_log *log, struct iwi_goal_builder *builder,
                                           const uint64_t *first, bool has_forward,
                                           struct iwi_goal_cycle *cycle);

/* Sorts the block's edges into dependencies, ascending by node (then end before start), so that text and
 * binary forms of a schedule give the same. A cycle is returned for the caller to name. */
IW_NODISCARD iw_status iwi_goal_end_block(const iw_log *log, struct iwi_goal_builder *builder,
                                          struct iwi_goal_cycle *cycle);

/* All blocks of another builder, behind those that there are; their places are `places` further on. */
IW_NODISCARD iw_status iwi_goal_append(const iw_log *log, struct iwi_goal_builder *builder,
                                       const struct iwi_goal_builder *other, uint64_t places);

/* The schedule of `ranks` ranks; all blocks are of different ranks below that. The builder is then empty. */
IW_NODISCARD iw_status iwi_goal_finish(const iw_log *log, struct iwi_goal_builder *builder, uint32_t ranks,
                                       struct iwi_schedule **schedule_p);

void iwi_goal_builder_release(struct iwi_goal_builder *builder);

#endif
