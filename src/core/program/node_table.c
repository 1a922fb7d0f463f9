/* Tables of nodes, made of a list.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/node_table.h"

#include <stdlib.h>

#include "core/base/base.h"

static iw_status check(const iw_log *log, const iw_nodes *nodes, uint32_t ranks)
{
    if (nodes->list.nodes == NULL || nodes->list.count < ranks) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "the list of nodes places %u ranks of %u: add the others, or use fewer ranks",
                        nodes->list.nodes == NULL ? 0 : nodes->list.count, ranks);
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (nodes->list.nodes[rank] >= IW_NODES_MAX) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "the list of nodes places rank %u on node %u: at most %u is possible", rank,
                            nodes->list.nodes[rank], IW_NODES_MAX - 1);
        }
    }
    return IW_OK;
}

uint32_t iwi_highest_node(const iw_node_list *list, uint32_t ranks)
{
    uint32_t highest = 0;

    for (uint32_t rank = 0; rank < ranks; rank++) {
        highest = list->nodes[rank] > highest ? list->nodes[rank] : highest;
    }
    return highest;
}

/* Nodes get their numbers, ranks their seats; `before[n + 1]` is the size of node n for now. */
static iw_status seat_ranks(const iw_log *log, const iw_nodes *nodes, struct iwi_node_table *table)
{
    const size_t highest = iwi_highest_node(&nodes->list, table->ranks);
    uint32_t *number = iwi_new_array(log, highest + 1, sizeof *number); /* of a node, from 1 on; 0: none */
    iw_status status = number == NULL ? IW_ERR_NOMEM : IW_OK;

    for (uint32_t rank = 0; rank < table->ranks && status == IW_OK; rank++) {
        const uint32_t node = nodes->list.nodes[rank];

        number[node] = number[node] != 0 ? number[node] : ++table->count;
        table->node_of[rank] = number[node] - 1;
        table->seat_of[rank] = table->before[number[node]]++;
        if (table->seat_of[rank] == nodes->ranks) {
            status =
                iwi_fail(log, IW_ERR_RANGE,
                         "the list of nodes places more than %u rank%s on node %u: correct it, or the size "
                         "of a node",
                         nodes->ranks, nodes->ranks == 1 ? "" : "s", node);
        }
    }
    free(number);
    return status;
}

static void list_members(struct iwi_node_table *table)
{
    table->smallest = table->ranks;
    for (uint32_t node = 0; node < table->count; node++) {
        const uint32_t size = table->before[node + 1];

        table->smallest = size < table->smallest ? size : table->smallest;
        table->largest = size > table->largest ? size : table->largest;
        table->before[node + 1] += table->before[node];
    }
    for (uint32_t rank = 0; rank < table->ranks; rank++) {
        table->members[table->before[table->node_of[rank]] + table->seat_of[rank]] = rank;
    }
}

iw_status iwi_node_table_new(const iw_log *log, const iw_nodes *nodes, uint32_t ranks,
                             struct iwi_node_table **table_p)
{
    struct iwi_node_table *table;
    iw_status status;

    *table_p = NULL;
    if (nodes->ranks == 0 || nodes->placement != IW_PLACEMENT_LIST) {
        return IW_OK;
    }
    IW_TRY(check(log, nodes, ranks));
    table = iwi_new_array(log, 1, sizeof *table);
    if (table == NULL) {
        return IW_ERR_NOMEM;
    }
    table->ranks = ranks;
    table->node_of = iwi_new_array(log, ranks, sizeof *table->node_of);
    table->seat_of = iwi_new_array(log, ranks, sizeof *table->seat_of);
    table->members = iwi_new_array(log, ranks, sizeof *table->members);
    table->before = iwi_new_array(log, (size_t)ranks + 1, sizeof *table->before);
    status =
        table->node_of == NULL || table->seat_of == NULL || table->members == NULL || table->before == NULL
            ? IW_ERR_NOMEM
            : seat_ranks(log, nodes, table);
    if (status != IW_OK) {
        iwi_node_table_free(table);
        return status;
    }
    list_members(table);
    *table_p = table;
    return IW_OK;
}

void iwi_node_table_free(struct iwi_node_table *table)
{
    if (table != NULL) {
        free(table->node_of);
        free(table->seat_of);
        free(table->before);
        free(table->members);
        free(table);
    }
}
