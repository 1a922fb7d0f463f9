/* Joins the nodes of the processes that judge one fleet together: names, counts, nodes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/fleet/fleet_share.h"

/* Names get the numbers that one process would have given them: those of the first process, then what is new
 * in the second, and so on. What whole nodes lose, what is said of them, and files that could not be read go
 * to the first process; columns to their owners.
 */

/* ---- names ---- */

static iw_status put_names(const iw_log *log, const struct iwi_fleet_cells *cells, struct iwi_parcel *names)
{
    for (size_t i = 1; i < cells->name_count; i++) {
        IW_TRY(iwi_parcel_put(log, names, &cells->names[i].source, sizeof cells->names[i].source));
    }
    return IW_OK;
}

static iw_status add_names(const iw_log *log, struct iwi_fleet_cells *cells, struct iwi_parcel *names)
{
    while (!iwi_parcel_is_empty(names)) {
        iw_source source;
        uint32_t name;

        IW_TRY(iwi_parcel_take(log, names, &source, sizeof source));
        IW_TRY(iwi_fleet_find_name(log, cells, &source, &name));
    }
    return IW_OK;
}

/* Cells say the number that a name has now in place of the one that it had. */
static iw_status renumber(const iw_log *log, struct iwi_fleet_cells *cells, const struct iwi_fleet_name *had,
                          size_t count, size_t family_count)
{
    uint32_t *name_of = iwi_new_array(log, count, sizeof *name_of),
             *family_of = iwi_new_array(log, family_count, sizeof *family_of);
    iw_status status = name_of != NULL && family_of != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t i = 1; i < count && status == IW_OK; i++) {
        status = iwi_fleet_find_name(log, cells, &had[i].source, &name_of[i]);
        family_of[had[i].family] = status == IW_OK ? cells->names[name_of[i]].family : 0;
    }
    for (size_t i = 0; i < cells->count && status == IW_OK; i++) {
        cells->cells[i].name = name_of[cells->cells[i].name];
        cells->cells[i].family = family_of[cells->cells[i].family];
    }
    for (size_t c = 0; c < cells->column_count && status == IW_OK; c++) {
        for (size_t i = 0; i < cells->columns[c].count; i++) {
            cells->columns[c].cells[i].family = family_of[cells->columns[c].cells[i].family];
        }
    }
    free(name_of);
    free(family_of);
    return status;
}

/* The names of all processes, in place of its own. */
static iw_status take_names(const iw_log *log, struct iwi_fleet_cells *cells, struct iwi_parcel *names)
{
    struct iwi_fleet_name *had = cells->names;
    const size_t count = cells->name_count, family_count = cells->family_count;
    iw_status status;

    cells->names = NULL;
    cells->name_capacity = 0;
    status = iwi_grow(log, (void **)&cells->names, &cells->name_capacity, 1, sizeof *cells->names);
    if (status == IW_OK) {
        cells->names[0] = had[0];
        cells->name_count = cells->family_count = 1;
        status = add_names(log, cells, names);
    }
    status = status == IW_OK ? renumber(log, cells, had, count, family_count) : status;
    free(had);
    return status;
}

static iw_status merge_names(const iw_log *log, iw_fleet *fleet)
{
    struct iwi_fleet_cells *cells = fleet->cells;
    struct iwi_parcel own = {.at = 0}, all = {.at = 0};
    const bool is_first = iwi_fleet_is_first(fleet);
    iw_status status = put_names(log, cells, &own);

    status = status == IW_OK ? iwi_share_gather(cells->share, &own) : status;
    if (is_first) {
        status = status == IW_OK ? add_names(log, cells, &own) : status;
        status = status == IW_OK ? put_names(log, cells, &all) : status;
    }
    status = status == IW_OK ? iwi_share_spread(cells->share, &all) : status;
    if (status == IW_OK && !is_first) {
        status = take_names(log, cells, &all);
    }
    iwi_bytes_release(&own.bytes);
    iwi_bytes_release(&all.bytes);
    return status;
}

/* ---- how many have a CPU ---- */

static iw_status add_counts(const iw_log *log, const struct iwi_fleet_cells *cells, struct iwi_parcel *counts)
{
    const size_t bytes = IW_CPU_SET_MOST * sizeof *cells->nodes_with;

    IW_TRY(iwi_parcel_put(log, counts, cells->nodes_with, bytes));
    IW_TRY(iwi_share_gather(cells->share, counts));
    if (cells->share->member.number == 0) {
        memset(cells->nodes_with, 0, bytes);
        while (!iwi_parcel_is_empty(counts)) {
            for (uint32_t cpu = 0; cpu < IW_CPU_SET_MOST; cpu++) {
                uint32_t more;

                IW_TRY(iwi_parcel_take(log, counts, &more, sizeof more));
                cells->nodes_with[cpu] += more;
            }
        }
    }
    counts->bytes.count = counts->at = 0;
    IW_TRY(iwi_parcel_put(log, counts, cells->nodes_with, bytes));
    IW_TRY(iwi_share_spread(cells->share, counts));
    counts->at = 0;
    return iwi_parcel_take(log, counts, cells->nodes_with, bytes);
}

static iw_status merge_counts(const iw_log *log, const struct iwi_fleet_cells *cells)
{
    struct iwi_parcel counts = {.at = 0};
    const iw_status status = add_counts(log, cells, &counts);

    iwi_bytes_release(&counts.bytes);
    return status;
}

/* ---- nodes ---- */

static iw_status put_node(const iw_log *log, const iw_fleet *fleet, size_t node, struct iwi_parcel *parcel)
{
    const struct iwi_fleet_cells *cells = fleet->cells;
    const size_t first = cells->first_cell[node], count = cells->first_cell[node + 1] - first;

    IW_TRY(iwi_parcel_put_text(log, parcel, fleet->nodes[node].name));
    IW_TRY(iwi_parcel_put(log, parcel, &fleet->nodes[node], sizeof fleet->nodes[node]));
    IW_TRY(iwi_fleet_put_facts(log, cells, node, parcel));
    IW_TRY(iwi_parcel_put(log, parcel, &count, sizeof count));
    return iwi_parcel_put(log, parcel, &cells->cells[first], count * sizeof *cells->cells);
}

static iw_status take_cells(const iw_log *log, struct iwi_fleet_cells *cells, uint32_t node,
                            struct iwi_parcel *parcel)
{
    size_t count;

    IW_TRY(iwi_parcel_take(log, parcel, &count, sizeof count));
    IW_TRY(iwi_grow(log, (void **)&cells->first_cell, &cells->first_capacity, (size_t)node + 2,
                    sizeof *cells->first_cell));
    IW_TRY(
        iwi_grow(log, (void **)&cells->cells, &cells->capacity, cells->count + count, sizeof *cells->cells));
    cells->first_cell[node] = cells->count;
    IW_TRY(iwi_parcel_take(log, parcel, &cells->cells[cells->count], count * sizeof *cells->cells));
    for (size_t i = 0; i < count; i++) {
        cells->cells[cells->count++].node = node;
    }
    cells->first_cell[node + 1] = cells->count;
    return IW_OK;
}

static iw_status take_node(const iw_log *log, iw_fleet *fleet, struct iwi_parcel *parcel)
{
    iw_fleet_node node;
    const char *name;

    IW_TRY(iwi_parcel_take_text(log, parcel, &name));
    IW_TRY(iwi_parcel_take(log, parcel, &node, sizeof node));
    IW_TRY(iwi_grow(log, (void **)&fleet->nodes, &fleet->cells->node_capacity, fleet->node_count + 1,
                    sizeof *fleet->nodes));
    node.name = strdup(name);
    if (node.name == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a node");
    }
    fleet->nodes[fleet->node_count++] = node;
    IW_TRY(iwi_fleet_take_facts(log, fleet, parcel));
    return take_cells(log, fleet->cells, (uint32_t)(fleet->node_count - 1), parcel);
}

/* ---- a process ---- */

static iw_status put_all(const iw_log *log, const iw_fleet *fleet, struct iwi_parcel *parcel)
{
    IW_TRY(iwi_parcel_put(log, parcel, &fleet->unreadable_count, sizeof fleet->unreadable_count));
    for (size_t i = 0; i < fleet->unreadable_count; i++) {
        IW_TRY(iwi_parcel_put_text(log, parcel, fleet->unreadable[i].name));
        IW_TRY(iwi_parcel_put_text(log, parcel, fleet->unreadable[i].reason));
    }
    for (size_t i = 0; i < fleet->node_count; i++) {
        IW_TRY(put_node(log, fleet, i, parcel));
    }
    return IW_OK;
}

static iw_status take_all(const iw_log *log, iw_fleet *fleet, struct iwi_parcel *parcel)
{
    size_t unreadable_count;

    IW_TRY(iwi_parcel_take(log, parcel, &unreadable_count, sizeof unreadable_count));
    for (size_t i = 0; i < unreadable_count; i++) {
        const char *name, *reason;

        IW_TRY(iwi_parcel_take_text(log, parcel, &name));
        IW_TRY(iwi_parcel_take_text(log, parcel, &reason));
        IW_TRY(iwi_fleet_note_unreadable(log, fleet, strdup(name), reason));
    }
    while (!iwi_parcel_is_empty(parcel)) {
        IW_TRY(take_node(log, fleet, parcel));
    }
    return IW_OK;
}

static void forget_cells(struct iwi_fleet_cells *cells)
{
    free(cells->cells);
    cells->cells = NULL;
    cells->count = cells->capacity = 0;
}

static iw_status merge_nodes(const iw_log *log, iw_fleet *fleet)
{
    struct iwi_fleet_share *share = fleet->cells->share;
    struct iwi_parcel parcel = {.at = 0};
    iw_status status = IW_OK;

    if (share->member.number != 0) {
        status = put_all(log, fleet, &parcel);
        status = status == IW_OK ? iwi_share_send(share, 0, &parcel) : status;
        forget_cells(fleet->cells);
    }
    for (uint32_t from = 1; share->member.number == 0 && from < share->member.count && status == IW_OK;
         from++) {
        status = iwi_share_receive(share, from, &parcel);
        status = status == IW_OK ? take_all(log, fleet, &parcel) : status;
    }
    iwi_bytes_release(&parcel.bytes);
    return status;
}

iw_status iw_fleet_merge(const iw_log *log, iw_fleet *fleet)
{
    struct iwi_fleet_share *share = fleet->cells->share;
    size_t before;

    if (share == NULL) {
        return IW_OK;
    }
    share->member.log = log;
    share->own_count = fleet->node_count;
    IW_TRY(iwi_share_count(share, fleet->node_count, &before, &share->node_count));
    share->first_node = (uint32_t)before;
    IW_TRY(merge_names(log, fleet));
    IW_TRY(merge_counts(log, fleet->cells));
    IW_TRY(merge_nodes(log, fleet));
    return iwi_fleet_exchange_columns(log, fleet);
}
