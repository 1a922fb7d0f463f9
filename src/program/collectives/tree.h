/* Trees along which data flows in rounds: down from the root (bcast, scatter) or up to it (reduce, gather).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A shape says who passes which segment to whom in each round of the way down. The way up is the same film
 * run backwards. Within a shape ranks are virtual: numbered from the root on.
 */
#ifndef IWI_TREE_H
#define IWI_TREE_H

#include "program/collectives/rounds.h"

struct iwi_tree_args {
    uint32_t ranks, root;
    uint64_t bytes, segment_bytes; /* segment_bytes 0: one segment */
    bool is_personal; /* gather, scatter: a message carries `bytes` for each rank below its edge */
    bool is_reducing; /* up: receivers combine */
};

/* What one rank does in one round of the way down: take a segment from its parent, pass one to a child. */
struct iwi_links {
    bool has_parent, has_child;
    uint32_t parent, child;
    uint64_t parent_segment, child_segment;
};

struct iwi_tree_shape {
    uint64_t (*round_count)(const struct iwi_tree_args *args, uint64_t segments);
    void (*active)(const struct iwi_tree_args *args, uint64_t segments, uint64_t index,
                   struct iwi_range *range);
    void (*links)(const struct iwi_tree_args *args, uint64_t segments, uint64_t index, uint32_t virtual_rank,
                  struct iwi_links *links);
    /* Ranks in the subtree below and with that rank; NULL: 1 */
    uint32_t (*subtree)(const struct iwi_tree_args *args, uint32_t virtual_rank);
};

extern const struct iwi_tree_shape iwi_binomial, iwi_binary, iwi_chain, iwi_star;

uint64_t iwi_tree_rounds(const struct iwi_tree_shape *shape, const struct iwi_tree_args *args);
uint64_t iwi_tree_messages(const struct iwi_tree_args *args);

void iwi_tree_down_round(const struct iwi_tree_shape *shape, const struct iwi_tree_args *args, uint64_t index,
                         struct iwi_round *round);
void iwi_tree_down_part(const struct iwi_tree_shape *shape, const struct iwi_tree_args *args, uint64_t index,
                        uint32_t rank, struct iwi_part *part);
void iwi_tree_up_round(const struct iwi_tree_shape *shape, const struct iwi_tree_args *args, uint64_t index,
                       struct iwi_round *round);
void iwi_tree_up_part(const struct iwi_tree_shape *shape, const struct iwi_tree_args *args, uint64_t index,
                      uint32_t rank, struct iwi_part *part);

/* Parent and child of a rank in a round of the way down, as real ranks. */
struct iwi_links iwi_tree_links(const struct iwi_tree_shape *shape, const struct iwi_tree_args *args,
                                uint64_t index, uint32_t rank);

#endif
