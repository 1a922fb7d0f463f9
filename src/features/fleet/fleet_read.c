/* Reads a fleet from a stream of digests, which may hold several of a node.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/fleet/fleet_share.h"

/* ---- reading ---- */

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
    status = iwi_fleet_find_older(log, fleet, &older, &is_any);
    if (status == IW_OK && is_any) {
        status = start_again(log, fleet, &older);
        older.numbers = status == IW_OK ? NULL : older.numbers;
        status = status == IW_OK ? read_all(log, fleet, take_node, &count) : status;
    }
    free(older.numbers);
    return status;
}
