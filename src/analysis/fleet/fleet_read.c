/* Reads a fleet from a stream of digests, which may hold several of a node.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/fleet/fleet_judge.h"
#include "base/base.h"

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

static iw_status take_columns(const iw_log *log, iw_fleet *fleet, uint32_t node, const iw_digest *digest)
{
    if (node >= fleet->node_count || strcmp(fleet->nodes[node].name, digest->node) != 0) {
        return fail_changed(log, fleet);
    }
    return iwi_fleet_add_cells(log, fleet->cells, node, digest, false);
}

iw_status iwi_fleet_read_columns(const iw_log *log, iw_fleet *fleet, uint32_t first_cpu)
{
    size_t count;

    iwi_fleet_drop_columns(fleet->cells, first_cpu);
    IW_TRY(read_all(log, fleet, take_columns, &count));
    return count == fleet->node_count ? IW_OK : fail_changed(log, fleet);
}

/* ---- of several digests of a node the latest ---- */

struct dated {
    const char *node;
    int64_t start_ns;
    size_t number;
};

/* Those of a node together, the latest last; of the same time, the last one read. */
static int by_node_and_time(const void *a, const void *b)
{
    const struct dated *x = a, *y = b;
    const int by_node = strcmp(x->node, y->node);

    if (by_node != 0) {
        return by_node;
    }
    return x->start_ns != y->start_ns ? (x->start_ns < y->start_ns ? -1 : 1)
                                      : (x->number > y->number) - (x->number < y->number);
}

static int ascending(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static iw_status find_older(const iw_log *log, const iw_fleet *fleet, struct iwi_fleet_older *older)
{
    struct dated *dated = iwi_new_array(log, fleet->node_count, sizeof *dated);

    older->numbers = iwi_new_array(log, fleet->node_count, sizeof *older->numbers);
    if (dated == NULL || older->numbers == NULL) {
        free(dated);
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < fleet->node_count; i++) {
        dated[i] = (struct dated){fleet->nodes[i].name, fleet->nodes[i].start_ns, i};
    }
    qsort(dated, fleet->node_count, sizeof *dated, by_node_and_time);
    for (size_t i = 0; i + 1 < fleet->node_count; i++) {
        if (strcmp(dated[i].node, dated[i + 1].node) == 0) {
            older->numbers[older->count++] = dated[i].number;
        }
    }
    qsort(older->numbers, older->count, sizeof *older->numbers, ascending);
    free(dated);
    return IW_OK;
}

/* The fleet as it was before any node was added, but for what is skipped from now on. */
static iw_status start_again(const iw_log *log, iw_fleet *fleet, const struct iwi_fleet_older *older)
{
    const iw_digest_stream *stream = fleet->cells->stream;
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
    iwi_fleet_cells_free(fleet->cells);
    fleet->cells = cells;
    cells->stream = stream;
    cells->older = *older;
    return IW_OK;
}

iw_status iw_fleet_read(const iw_log *log, iw_fleet *fleet, const iw_digest_stream *stream)
{
    struct iwi_fleet_older older = {0, NULL};
    size_t count;
    iw_status status;

    fleet->cells->stream = stream;
    IW_TRY(read_all(log, fleet, take_node, &count));
    status = find_older(log, fleet, &older);
    if (status != IW_OK || older.count == 0) {
        free(older.numbers);
        return status;
    }
    if (start_again(log, fleet, &older) != IW_OK) {
        free(older.numbers);
        return IW_ERR_NOMEM;
    }
    return read_all(log, fleet, take_node, &count);
}
