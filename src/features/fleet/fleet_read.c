/* Reading nodes from a stream; which digests are older ones of a node that has several.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/fleet/fleet_share.h"

/* ======== older digests ======== */

struct dated {
    const char *node;
    int64_t start_ns;
    size_t number;
};

/* Those of a node together, the latest last; of the same time, the last one read. */
IWI_COMPARE(by_node_and_time, struct dated, IWI_TEXT(node), IWI_RISING(start_ns), IWI_RISING(number))

IWI_COMPARE(ascending, size_t, IWI_ORDER(*left, *right))

/* Names and times of the nodes of this process. */
static iw_status put_nodes(const iw_log *log, const iw_fleet *fleet, struct iwi_parcel *nodes)
{
    for (size_t i = 0; i < fleet->node_count; i++) {
        IW_TRY(iwi_parcel_put(log, nodes, &fleet->nodes[i].start_ns, sizeof fleet->nodes[i].start_ns));
        IW_TRY(iwi_parcel_put_text(log, nodes, fleet->nodes[i].name));
    }
    return IW_OK;
}

static iw_status take_nodes(const iw_log *log, struct iwi_parcel *nodes, struct dated *dated, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        dated[i].number = i;
        IW_TRY(iwi_parcel_take(log, nodes, &dated[i].start_ns, sizeof dated[i].start_ns));
        IW_TRY(iwi_parcel_take_text(log, nodes, &dated[i].node));
    }
    return IW_OK;
}

/* Numbers, ascending, of those of which there are later ones. */
static iw_status list_older(const iw_log *log, struct iwi_parcel *nodes, size_t count,
                            struct iwi_parcel *numbers)
{
    struct dated *dated = iwi_new_array(log, count, sizeof *dated);
    iw_status status = dated != NULL ? take_nodes(log, nodes, dated, count) : IW_ERR_NOMEM;

    if (status == IW_OK && count > 0) {
        iwi_sort(dated, count, by_node_and_time);
    }
    for (size_t i = 0; i + 1 < count && status == IW_OK; i++) {
        if (strcmp(dated[i].node, dated[i + 1].node) == 0) {
            status = iwi_parcel_put(log, numbers, &dated[i].number, sizeof dated[i].number);
        }
    }
    if (numbers->bytes.count > 0) {
        qsort(numbers->bytes.data, numbers->bytes.count / sizeof(size_t), sizeof(size_t), ascending);
    }
    free(dated);
    return status;
}

/* Of the numbers, those of `count` nodes from `first` on. */
static iw_status take_own(const iw_log *log, struct iwi_parcel *numbers, size_t first, size_t count,
                          struct iwi_fleet_older *older)
{
    older->numbers = iwi_new_array(log, count, sizeof *older->numbers);
    if (older->numbers == NULL) {
        return IW_ERR_NOMEM;
    }
    while (!iwi_parcel_is_empty(numbers)) {
        size_t number;

        IW_TRY(iwi_parcel_take(log, numbers, &number, sizeof number));
        if (number >= first && number - first < count) {
            older->numbers[older->count++] = number - first;
        }
    }
    return IW_OK;
}

static iw_status find_all(const iw_log *log, const iw_fleet *fleet, struct iwi_parcel *nodes,
                          struct iwi_parcel *numbers, struct iwi_fleet_older *older)
{
    struct iwi_fleet_share *share = fleet->cells->share;
    size_t first = 0, all = fleet->node_count;

    IW_TRY(put_nodes(log, fleet, nodes));
    if (share != NULL) {
        IW_TRY(iwi_share_count(share, fleet->node_count, &first, &all));
        IW_TRY(iwi_share_gather(share, nodes));
    }
    if (iwi_fleet_is_first(fleet)) {
        IW_TRY(list_older(log, nodes, all, numbers));
    }
    if (share != NULL) {
        IW_TRY(iwi_share_spread(share, numbers));
    }
    return take_own(log, numbers, first, fleet->node_count, older);
}

/* Which digests of this process are older ones of a node that has several; whether any process has such. */
static iw_status fleet_find_older(const iw_log *log, const iw_fleet *fleet, struct iwi_fleet_older *older,
                                  bool *is_any_p)
{
    struct iwi_parcel nodes = {.at = 0}, numbers = {.at = 0};
    const iw_status status = find_all(log, fleet, &nodes, &numbers, older);

    *is_any_p = numbers.bytes.count > 0;
    iwi_bytes_release(&nodes.bytes);
    iwi_bytes_release(&numbers.bytes);
    return status;
}

/* ======== reading ======== */

typedef iw_status (*take_fn)(const iw_log *log, iw_fleet *fleet, uint32_t node, const iw_digest *digest);

/* Each digest that is not skipped, in order. */
static iw_status read_all(const iw_log *log, iw_fleet *fleet, take_fn take, size_t *count_p)
{
    const iw_digest_stream *stream = fleet->cells->stream;
    const struct iwi_fleet_older *older = &fleet->cells->older;
    size_t skipped = 0;
    uint32_t node = 0;

    IW_TRY(stream->rewind(log, stream->arg));
    for (size_t number = 0;; number++) {
        iw_digest *digest;
        iw_status status = IW_OK;

        IW_TRY(stream->next(log, stream->arg, &digest));
        if (digest == NULL) {
            *count_p = node;
            return IW_OK;
        }
        if (skipped < older->count && older->numbers[skipped] == number) {
            skipped++;
        } else {
            status = take(log, fleet, node++, digest);
        }
        iw_digest_free(digest);
        IW_TRY(status);
    }
}

static iw_status take_node(const iw_log *log, iw_fleet *fleet, uint32_t node, const iw_digest *digest)
{
    (void)node;
    return iw_fleet_add_digest(log, fleet, digest);
}

static iw_status fail_changed(const iw_log *log, const iw_fleet *fleet)
{
    return iwi_fail(log, IW_ERR_IO, "'%s' changed while it was read; try again", fleet->name);
}

/* Nodes that this process reads; they come first where it has those of others too. */
static size_t own_count(const iw_fleet *fleet)
{
    return fleet->cells->share != NULL ? fleet->cells->share->own_count : fleet->node_count;
}

static iw_status take_columns(const iw_log *log, iw_fleet *fleet, uint32_t node, const iw_digest *digest)
{
    if (node >= own_count(fleet) || strcmp(fleet->nodes[node].name, digest->node) != 0) {
        return fail_changed(log, fleet);
    }
    return iwi_fleet_add_cells(log, fleet->cells, node, digest, false);
}

iw_status iwi_fleet_read_columns(const iw_log *log, iw_fleet *fleet, uint32_t first_cpu)
{
    size_t count;

    iwi_fleet_drop_columns(fleet->cells, first_cpu);
    IW_TRY(read_all(log, fleet, take_columns, &count));
    if (count != own_count(fleet)) {
        return fail_changed(log, fleet);
    }
    return iwi_fleet_exchange_columns(log, fleet);
}

/* ---- again ---- */

/* The fleet as it was before any node was added, but for what is skipped from now on. */
static iw_status start_again(const iw_log *log, iw_fleet *fleet, const struct iwi_fleet_older *older)
{
    struct iwi_fleet_cells *cells = NULL;

    for (size_t i = 0; i < fleet->node_count; i++) {
        free(fleet->nodes[i].name);
    }
    fleet->node_count = 0;
    free(fleet->nodes);
    fleet->nodes = NULL;
    if (iwi_fleet_cells_new(log, &cells) != IW_OK) {
        iwi_fleet_cells_free(cells);
        return IW_ERR_NOMEM;
    }
    iwi_fleet_set_stream(cells, fleet->cells->stream, fleet->cells->share);
    fleet->cells->share = NULL;
    iwi_fleet_cells_free(fleet->cells);
    fleet->cells = cells;
    cells->older = *older;
    return IW_OK;
}

/* Until this process has what is its own: of a file that several read, that is known once the part before it
 * has been read. */
static iw_status read_own(const iw_log *log, iw_fleet *fleet)
{
    const iw_digest_stream *stream = fleet->cells->stream;
    const struct iwi_fleet_older none = {0, NULL};
    bool is_other = false;
    size_t count;

    for (;;) {
        IW_TRY(read_all(log, fleet, take_node, &count));
        if (stream->settle != NULL) {
            IW_TRY(stream->settle(log, stream->arg, &is_other));
        }
        if (!is_other) {
            return IW_OK;
        }
        IW_TRY(start_again(log, fleet, &none));
    }
}

iw_status iw_fleet_read(const iw_log *log, iw_fleet *fleet, const iw_digest_stream *stream)
{
    struct iwi_fleet_older older = {0, NULL};
    struct iwi_fleet_share *share;
    bool is_any = false;
    size_t count;
    iw_status status;

    IW_TRY(iwi_fleet_share_open(log, stream->link, &share));
    iwi_fleet_set_stream(fleet->cells, stream, share);
    IW_TRY(read_own(log, fleet));
    status = fleet_find_older(log, fleet, &older, &is_any);
    if (status == IW_OK && is_any) {
        status = start_again(log, fleet, &older);
        older.numbers = status == IW_OK ? NULL : older.numbers;
        status = status == IW_OK ? read_all(log, fleet, take_node, &count) : status;
    }
    free(older.numbers);
    return status;
}
