/* Reading nodes from a stream; which digests are older ones of a node that has several.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/fleet/fleet_share.h"

/* ======== columns of several processes ======== */

/* Each process has its nodes' part of every column. Columns are dealt out by turns: the owner of one gets the
 * parts of all, by rank, so it holds what one process would have read. A round deals one column to each
 * process, and what was sent is freed: no process ever has more than its part and its own columns.
 */

/* A message that may take two: how long CPUs were watched, and cells. */
enum { MESSAGES = 2 };

struct dealing {
    const iw_log *log;
    struct iwi_fleet_cells *cells;
    struct iwi_fleet_share *share;
    size_t cpu_count;
    uint32_t *cpus;                 /* of the columns, ascending */
    struct iwi_fleet_column *owned; /* by this process, ascending */
    size_t owned_count;
};

/* ---- who has which ---- */

static bool is_dealt(const struct iwi_fleet_cells *cells, uint32_t cpu)
{
    return cpu >= cells->first_cpu && cpu < cells->end_cpu && cells->nodes_with[cpu] > 0;
}

static uint32_t owner_of(const struct iwi_fleet_cells *cells, uint32_t cpu)
{
    uint32_t number = 0;

    for (uint32_t before = cells->first_cpu; before < cpu; before++) {
        number += is_dealt(cells, before);
    }
    return number % cells->share->member.count;
}

/* Columns that not all processes had room for come later. */
static iw_status agree_on_end(struct iwi_fleet_cells *cells)
{
    int64_t negative_end = -(int64_t)cells->end_cpu;

    IW_TRY(iwi_member_max(&cells->share->member, &negative_end, 1));
    while (cells->column_count > 0 && (int64_t)cells->columns[cells->column_count - 1].cpu >= -negative_end) {
        iwi_fleet_drop_last_column(cells);
    }
    cells->end_cpu = (uint32_t)-negative_end;
    return IW_OK;
}

static iw_status list_cpus(struct dealing *d)
{
    size_t capacity = 0;

    for (uint32_t cpu = d->cells->first_cpu; cpu < d->cells->end_cpu; cpu++) {
        if (is_dealt(d->cells, cpu)) {
            IW_TRY(iwi_grow(d->log, (void **)&d->cpus, &capacity, d->cpu_count + 1, sizeof *d->cpus));
            d->cpus[d->cpu_count++] = cpu;
        }
    }
    d->owned = iwi_new_array(d->log, d->cpu_count / d->share->member.count + 1, sizeof *d->owned);
    return d->owned != NULL ? IW_OK : IW_ERR_NOMEM;
}

/* ---- messages ---- */

static iw_status send_part(struct iwi_member *member, uint32_t to, const struct iwi_fleet_column *part,
                           struct iwi_transfer transfers[MESSAGES])
{
    const size_t bytes = part->count * sizeof *part->cells;

    if (bytes > IW_LINK_MOST_BYTES) {
        return iwi_fail(member->log, IW_ERR_UNSUPPORTED,
                        "CPU %" PRIu32 " has too many sources for one message; use more processes",
                        part->cpu);
    }
    IW_TRY(iwi_member_send(member, to, part->lengths, part->length_count * sizeof *part->lengths,
                           &transfers[0]));
    return iwi_member_send(member, to, part->cells, bytes, &transfers[1]);
}

static iw_status take_part(struct dealing *d, uint32_t from, struct iwi_fleet_column *column)
{
    struct iwi_bytes lengths = {NULL, 0, 0}, cells = {NULL, 0, 0};
    bool has;
    iw_status status = iwi_member_take(&d->share->member, from, true, &lengths, &has);

    status = status == IW_OK ? iwi_member_take(&d->share->member, from, true, &cells, &has) : status;
    if (status == IW_OK) {
        const struct iwi_fleet_column part = {.length_count = lengths.count / sizeof *part.lengths,
                                              .lengths = (struct iwi_fleet_length *)(void *)lengths.data,
                                              .count = cells.count / sizeof *part.cells,
                                              .cells = (struct iwi_fleet_cell *)(void *)cells.data};

        status = iwi_fleet_fill_column(d->log, d->cells, column, &part);
    }
    iwi_bytes_release(&lengths);
    iwi_bytes_release(&cells);
    return status;
}

/* ---- dealing ---- */

/* Nodes of cells: numbers in the fleet, no longer in this process. */
static void move_columns(struct iwi_fleet_cells *cells)
{
    const uint32_t by = cells->share->first_node;

    for (size_t c = 0; c < cells->column_count; c++) {
        struct iwi_fleet_column *column = &cells->columns[c];

        for (size_t i = 0; i < column->length_count; i++) {
            column->lengths[i].node += by;
        }
        for (size_t i = 0; i < column->count; i++) {
            column->cells[i].node += by;
        }
    }
}

/* The parts of this process of `count` columns go to their owners, but for its own one. */
static iw_status send_parts(struct dealing *d, const uint32_t *cpus, uint32_t count,
                            struct iwi_transfer *transfers)
{
    static const struct iwi_fleet_column nothing = {.cpu = 0};

    for (uint32_t to = 0; to < count; to++) {
        const struct iwi_fleet_column *part = iwi_fleet_column_of(d->cells, cpus[to]);

        if (to != d->share->member.number) {
            IW_TRY(send_part(&d->share->member, to, part != NULL ? part : &nothing,
                             &transfers[(size_t)MESSAGES * to]));
        }
    }
    return IW_OK;
}

/* The parts of all of this process's column, by rank. */
static iw_status take_parts(struct dealing *d, uint32_t cpu)
{
    struct iwi_fleet_column *column = &d->owned[d->owned_count++];
    const struct iwi_fleet_column *part = iwi_fleet_column_of(d->cells, cpu);

    column->cpu = cpu;
    for (uint32_t from = 0; from < d->share->member.count; from++) {
        if (from != d->share->member.number) {
            IW_TRY(take_part(d, from, column));
        } else if (part != NULL) {
            IW_TRY(iwi_fleet_fill_column(d->log, d->cells, column, part));
        }
    }
    return IW_OK;
}

static iw_status deal_round(struct dealing *d, size_t first, struct iwi_transfer *transfers)
{
    const uint32_t number = d->share->member.number,
                   count = (uint32_t)iwi_min(d->share->member.count, (int64_t)(d->cpu_count - first));

    IW_TRY(send_parts(d, &d->cpus[first], count, transfers));
    if (number < count) {
        IW_TRY(take_parts(d, d->cpus[first + number]));
    }
    IW_TRY(iwi_member_wait(&d->share->member, transfers, (size_t)MESSAGES * count));
    for (uint32_t i = 0; i < count; i++) {
        struct iwi_fleet_column *part;

        IW_TRY(iwi_fleet_add_column(d->log, d->cells, d->cpus[first + i], &part));
        iwi_fleet_empty_column(d->cells, part);
    }
    return IW_OK;
}

static iw_status deal_all(struct dealing *d)
{
    const uint32_t count = d->share->member.count;
    struct iwi_transfer *transfers = iwi_new_array(d->log, (size_t)MESSAGES * count, sizeof *transfers);
    iw_status status = transfers != NULL ? list_cpus(d) : IW_ERR_NOMEM;

    for (size_t first = 0; first < d->cpu_count && status == IW_OK; first += count) {
        status = deal_round(d, first, transfers);
    }
    if (status != IW_OK) { /* before memory that messages know of goes away */
        iwi_team_fail(d->share->team, status);
    }
    free(transfers);
    return status;
}

/* The owned ones take the place of the parts, which are empty by now. */
static void keep_owned(struct dealing *d)
{
    struct iwi_fleet_cells *cells = d->cells;

    free(cells->columns);
    cells->columns = d->owned;
    cells->column_count = cells->column_capacity = d->owned_count;
    d->owned = NULL;
}

iw_status iwi_fleet_exchange_columns(const iw_log *log, iw_fleet *fleet)
{
    struct dealing d = {.log = log, .cells = fleet->cells, .share = fleet->cells->share};
    iw_status status;

    if (d.share == NULL) {
        return IW_OK;
    }
    d.share->member.log = log;
    move_columns(d.cells);
    IW_TRY(agree_on_end(d.cells));
    status = deal_all(&d);
    if (status == IW_OK) {
        keep_owned(&d);
    }
    for (size_t i = 0; d.owned != NULL && i < d.owned_count; i++) {
        iwi_fleet_empty_column(d.cells, &d.owned[i]);
    }
    free(d.owned);
    free(d.cpus);
    return status;
}

/* ---- to the first process ---- */

iw_status iwi_fleet_bring_column(const iw_log *log, iw_fleet *fleet, uint32_t cpu,
                                 const struct iwi_fleet_column **column_p)
{
    struct iwi_fleet_cells *cells = fleet->cells;
    struct iwi_fleet_share *share = cells->share;
    struct iwi_transfer transfers[MESSAGES] = {{{NULL}}};
    uint32_t owner;

    if (cpu < cells->first_cpu || cpu >= cells->end_cpu) {
        IW_TRY(iwi_fleet_read_columns(log, fleet, cpu));
    }
    *column_p = iwi_fleet_column_of(cells, cpu);
    owner = share != NULL ? owner_of(cells, cpu) : 0;
    if (owner == 0 || (share->member.number != 0 && share->member.number != owner)) {
        return IW_OK;
    }
    share->member.log = log;
    if (share->member.number == owner) {
        IW_TRY(send_part(&share->member, 0, *column_p, transfers));
        return iwi_member_wait(&share->member, transfers, MESSAGES);
    }
    share->guest.cpu = cpu;
    iwi_fleet_empty_column(cells, &share->guest);
    *column_p = &share->guest;
    return take_part(&(struct dealing){.log = log, .cells = cells, .share = share}, owner, &share->guest);
}

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

/* Of this process's nodes, by the columns that there are; if there are none, as if each node's sources came
 * on all of its CPUs. */
static double usual_column_bytes(const iw_fleet *fleet)
{
    const struct iwi_fleet_cells *cells = fleet->cells;
    const size_t nodes = own_count(fleet), parts = cells->share != NULL ? cells->share->member.count : 1;

    if (cells->column_count > 0) {
        return (double)cells->column_bytes / (double)cells->column_count / (double)parts;
    }
    return nodes > 0 ? (double)cells->first_cell[nodes] * sizeof(struct iwi_fleet_cell) +
                           (double)nodes * sizeof(struct iwi_fleet_length)
                     : 0.0;
}

/* As many as fit, at least one; CPU numbers that no node has go along. */
static void want_columns(struct iwi_fleet_cells *cells, uint32_t first_cpu, double column_bytes)
{
    double bytes = 0.0;
    uint32_t end = first_cpu;

    while (end < IW_CPU_SET_MOST && (cells->nodes_with[end] == 0 || bytes == 0.0 ||
                                     bytes + column_bytes <= (double)cells->most_bytes)) {
        bytes += cells->nodes_with[end++] > 0 ? fmax(column_bytes, 1.0) : 0.0;
    }
    cells->end_cpu = end;
    cells->room = (size_t)(column_bytes / sizeof(struct iwi_fleet_cell));
    cells->stream->want(cells->stream->arg, first_cpu, end);
}

iw_status iwi_fleet_read_columns(const iw_log *log, iw_fleet *fleet, uint32_t first_cpu)
{
    const iw_digest_stream *stream = fleet->cells->stream;
    const double column_bytes = usual_column_bytes(fleet);
    size_t count;

    iwi_fleet_drop_columns(fleet->cells, first_cpu);
    if (stream->want != NULL) {
        want_columns(fleet->cells, first_cpu, column_bytes);
    }
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
