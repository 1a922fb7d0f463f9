/* Trees along which data flows in rounds: down from the root (bcast, scatter), up to it (reduce, gather), or
 * up to rank 0 and down again (allreduce, barrier). The kind of op->algorithm says which.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A shape says who passes which segment to whom in each round of the way down. The way up is the same film
 * run backwards. Each shape comes as the four functions of a struct iwi_algorithm.
 */
#ifndef IWI_TREE_H
#define IWI_TREE_H

#include "core/program/collectives/rounds.h"

/* Binomial: a rank takes from the one without its lowest set bit; long distances first. */
uint64_t iwi_binomial_rounds(const struct iwi_operation *op);
uint64_t iwi_binomial_messages(const struct iwi_operation *op);
void iwi_binomial_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round);
void iwi_binomial_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role);

/* Binary: a complete binary tree, pipelined by op->segment_bytes. */
uint64_t iwi_binary_rounds(const struct iwi_operation *op);
uint64_t iwi_binary_messages(const struct iwi_operation *op);
void iwi_binary_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round);
void iwi_binary_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role);

/* Chain: each rank passes on to the next, pipelined by op->segment_bytes. */
uint64_t iwi_chain_rounds(const struct iwi_operation *op);
uint64_t iwi_chain_messages(const struct iwi_operation *op);
void iwi_chain_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round);
void iwi_chain_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role);

/* Star: the root serves one rank a round, in the order of ranks; on the way up the highest comes first. */
uint64_t iwi_star_rounds(const struct iwi_operation *op);
uint64_t iwi_star_messages(const struct iwi_operation *op);
void iwi_star_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round);
void iwi_star_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role);

/* What one rank does in one round of the way down: take a segment from its parent, pass one to a child. */
struct iwi_links {
    bool has_parent, has_child;
    uint32_t parent, child;
    uint64_t parent_segment, child_segment;
};

struct iwi_links iwi_binomial_links(const struct iwi_operation *op, uint64_t index, uint32_t rank);

/* Ranks in the subtree below and with that rank, which is numbered from the root on. */
uint32_t iwi_binomial_subtree(uint32_t ranks, uint32_t virtual_rank);

#endif
