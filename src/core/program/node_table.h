/* Which ranks share a node where a list says it (iw_node_list), for algorithms that use nodes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NODE_TABLE_H
#define IWI_NODE_TABLE_H

#include <idlewave/net.h>

/* Nodes that have ranks are numbered anew, by their first rank; the ranks of a node have its seats in the
 * order of their numbers. */
struct iwi_node_table {
    uint32_t ranks, count;       /* nodes */
    uint32_t smallest, largest;  /* ranks of a node */
    uint32_t *node_of, *seat_of; /* by rank */
    uint32_t *before;            /* by node: ranks of the nodes before it; count + 1 of them */
    uint32_t *members;           /* ranks, node by node, by seat */
};

/* Of the first `ranks` > 0 ranks of the list. IW_ERR_RANGE (logged): it is too short, or has too many on a
 * node. IW_ERR_NOMEM. NULL where nodes are not placed by a list, or not known. */
IW_NODISCARD iw_status iwi_node_table_new(const iw_log *log, const iw_nodes *nodes, uint32_t ranks,
                                          struct iwi_node_table **table_p);
/* The highest number in the list of a node of the first `ranks` ranks. */
uint32_t iwi_highest_node(const iw_node_list *list, uint32_t ranks);

/* What an operation has of them. */
static inline iw_nodes iwi_operation_nodes(const iw_nodes *nodes, const struct iwi_node_table *table)
{
    return (iw_nodes){.ranks = table != NULL ? table->largest : nodes->ranks, .placement = nodes->placement};
}
void iwi_node_table_free(struct iwi_node_table *table);

#endif
