/* The processes that judge one fleet together: messages, joining of nodes, columns at their owners.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/fleet/fleet_share.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* ======== messages ======== */

iw_status iwi_fleet_share_open(const iw_log *log, const struct iw_link *link,
                               struct iwi_fleet_share **share_p)
{
    struct iwi_fleet_share *share;
    iw_status status;

    *share_p = NULL;
    if (link == NULL || link->size == 1) {
        return IW_OK;
    }
    share = iwi_new_array(log, 1, sizeof *share);
    if (share == NULL) {
        return IW_ERR_NOMEM;
    }
    status = iwi_team_new(log, link, 1, &share->team);
    if (status != IW_OK) {
        free(share);
        return status;
    }
    share->member =
        (struct iwi_member){share->team, log, iwi_team_first(share->team), iwi_team_size(share->team)};
    *share_p = share;
    return IW_OK;
}

void iwi_fleet_share_close(struct iwi_fleet_share *share)
{
    if (share != NULL) {
        free(share->guest.lengths);
        free(share->guest.cells);
        iwi_team_free(share->team);
        free(share);
    }
}

bool iwi_fleet_is_first(const iw_fleet *fleet)
{
    return fleet->cells->share == NULL || fleet->cells->share->member.number == 0;
}

/* ---- parcels ---- */

iw_status iwi_parcel_put(const iw_log *log, struct iwi_parcel *parcel, const void *data, size_t bytes)
{
    struct iwi_bytes *to = &parcel->bytes;

    IW_TRY(iwi_grow(log, (void **)&to->data, &to->capacity, to->count + bytes, 1));
    if (bytes > 0) {
        memcpy(to->data + to->count, data, bytes);
    }
    to->count += bytes;
    return IW_OK;
}

iw_status iwi_parcel_put_text(const iw_log *log, struct iwi_parcel *parcel, const char *text)
{
    return iwi_parcel_put(log, parcel, text, strlen(text) + 1);
}

static iw_status fail_short(const iw_log *log)
{
    return iwi_fail(log, IW_ERR_FORMAT,
                    "another process sent less than is expected: do all of them run the same idlewave?");
}

iw_status iwi_parcel_take(const iw_log *log, struct iwi_parcel *parcel, void *data, size_t bytes)
{
    if (bytes > parcel->bytes.count - parcel->at) {
        return fail_short(log);
    }
    if (bytes > 0) {
        memcpy(data, parcel->bytes.data + parcel->at, bytes);
    }
    parcel->at += bytes;
    return IW_OK;
}

iw_status iwi_parcel_take_text(const iw_log *log, struct iwi_parcel *parcel, const char **text_p)
{
    const size_t left = parcel->bytes.count - parcel->at;
    const char *text = (const char *)parcel->bytes.data + parcel->at;
    const char *end = left > 0 ? memchr(text, '\0', left) : NULL;

    if (end == NULL) {
        return fail_short(log);
    }
    parcel->at += (size_t)(end - text) + 1;
    *text_p = text;
    return IW_OK;
}

bool iwi_parcel_is_empty(const struct iwi_parcel *parcel)
{
    return parcel->at == parcel->bytes.count;
}

/* ---- messages ---- */

static size_t piece_of(size_t left)
{
    return left < IW_LINK_MOST_BYTES ? left : IW_LINK_MOST_BYTES;
}

static iw_status send_now(struct iwi_member *member, uint32_t to, const void *data, size_t bytes)
{
    struct iwi_transfer transfer = {{NULL}};

    IW_TRY(iwi_member_send(member, to, data, bytes, &transfer));
    return iwi_member_wait(member, &transfer, 1);
}

static iw_status receive_now(struct iwi_member *member, uint32_t from, void *data, size_t bytes)
{
    struct iwi_transfer transfer = {{NULL}};

    IW_TRY(iwi_member_receive(member, from, data, bytes, &transfer));
    return iwi_member_wait(member, &transfer, 1);
}

static iw_status share_send(struct iwi_fleet_share *share, uint32_t to, const struct iwi_parcel *parcel)
{
    const uint64_t count = parcel->bytes.count;

    IW_TRY(send_now(&share->member, to, &count, sizeof count));
    for (size_t at = 0; at < count; at += piece_of(count - at)) {
        IW_TRY(send_now(&share->member, to, parcel->bytes.data + at, piece_of(count - at)));
    }
    return IW_OK;
}

/* Into an empty one, or over what it held. */
static iw_status share_receive(struct iwi_fleet_share *share, uint32_t from, struct iwi_parcel *parcel)
{
    uint64_t count;

    IW_TRY(receive_now(&share->member, from, &count, sizeof count));
    IW_TRY(iwi_grow(share->member.log, (void **)&parcel->bytes.data, &parcel->bytes.capacity, count, 1));
    for (size_t at = 0; at < count; at += piece_of(count - at)) {
        IW_TRY(receive_now(&share->member, from, parcel->bytes.data + at, piece_of(count - at)));
    }
    parcel->bytes.count = count;
    parcel->at = 0;
    return IW_OK;
}

iw_status iwi_share_spread(struct iwi_fleet_share *share, struct iwi_parcel *parcel)
{
    if (share->member.number != 0) {
        return share_receive(share, 0, parcel);
    }
    for (uint32_t to = 1; to < share->member.count; to++) {
        IW_TRY(share_send(share, to, parcel));
    }
    return IW_OK;
}

iw_status iwi_share_gather(struct iwi_fleet_share *share, struct iwi_parcel *parcel)
{
    struct iwi_parcel theirs = {.at = 0};
    iw_status status = IW_OK;

    if (share->member.number != 0) {
        return share_send(share, 0, parcel);
    }
    for (uint32_t from = 1; from < share->member.count && status == IW_OK; from++) {
        status = share_receive(share, from, &theirs);
        status = status == IW_OK
                     ? iwi_parcel_put(share->member.log, parcel, theirs.bytes.data, theirs.bytes.count)
                     : status;
    }
    iwi_bytes_release(&theirs.bytes);
    return status;
}

static iw_status count_up(struct iwi_fleet_share *share, struct iwi_parcel *counts, uint64_t own,
                          size_t *before_p, size_t *all_p)
{
    const iw_log *log = share->member.log;

    IW_TRY(iwi_parcel_put(log, counts, &own, sizeof own));
    IW_TRY(iwi_share_gather(share, counts));
    IW_TRY(iwi_share_spread(share, counts));
    *before_p = *all_p = 0;
    for (uint32_t p = 0; p < share->member.count; p++) {
        uint64_t count;

        IW_TRY(iwi_parcel_take(log, counts, &count, sizeof count));
        *before_p += p < share->member.number ? count : 0;
        *all_p += count;
    }
    return IW_OK;
}

iw_status iwi_share_count(struct iwi_fleet_share *share, size_t own, size_t *before_p, size_t *all_p)
{
    struct iwi_parcel counts = {.at = 0};
    const iw_status status = count_up(share, &counts, own, before_p, all_p);

    iwi_bytes_release(&counts.bytes);
    return status;
}

/* ======== joining nodes ======== */

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
        status = status == IW_OK ? share_send(share, 0, &parcel) : status;
        forget_cells(fleet->cells);
    }
    for (uint32_t from = 1; share->member.number == 0 && from < share->member.count && status == IW_OK;
         from++) {
        status = share_receive(share, from, &parcel);
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

/* ======== columns ======== */

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
                        "CPU %" PRIu32 " has too many sources for one message: use more processes",
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

static iw_status add_alarms(struct iwi_fleet_trial *judge, struct iwi_parcel *alarms)
{
    while (!iwi_parcel_is_empty(alarms)) {
        IW_TRY(iwi_grow(judge->log, (void **)&judge->alarms, &judge->alarm_capacity, judge->alarm_count + 1,
                        sizeof *judge->alarms));
        IW_TRY(
            iwi_parcel_take(judge->log, alarms, &judge->alarms[judge->alarm_count], sizeof *judge->alarms));
        judge->alarm_count++;
    }
    return IW_OK;
}

iw_status iwi_fleet_bring_alarms(struct iwi_fleet_trial *judge)
{
    struct iwi_fleet_share *share = judge->fleet->cells->share;
    struct iwi_parcel alarms = {.at = 0};
    iw_status status;

    if (share == NULL) {
        return IW_OK;
    }
    status = iwi_parcel_put(judge->log, &alarms, judge->alarms,
                            (share->member.number > 0 ? judge->alarm_count : 0) * sizeof *judge->alarms);
    status = status == IW_OK ? iwi_share_gather(share, &alarms) : status;
    if (status == IW_OK && share->member.number == 0) {
        status = add_alarms(judge, &alarms);
    }
    iwi_bytes_release(&alarms.bytes);
    return status;
}
