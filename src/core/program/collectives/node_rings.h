/* What engines may know of allreduce:node-rings beyond its rounds.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NODE_RINGS_H
#define IWI_NODE_RINGS_H

#include "core/program/program.h"

/* All nodes have as many ranks, and there are several of both: in every round each rank sends two messages
 * and receives two, always with the same ranks, first inside its node. */
bool iwi_node_rings_are_even(const struct iwi_operation *op);

enum { IWI_NODE_RINGS_CHANGED = 6 };

/* For even nodes: in round `index` only ranks of these nodes send or receive messages of other sizes than in
 * the round before. Tells how many nodes; more than IWI_NODE_RINGS_CHANGED: all may. */
uint32_t iwi_node_rings_changed(const struct iwi_operation *op, uint64_t index,
                                uint32_t nodes[IWI_NODE_RINGS_CHANGED]);

#endif
