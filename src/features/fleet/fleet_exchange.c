/* Columns of a fleet that several processes have read parts of.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each process has its nodes' part of every column. Columns are dealt out by turns: the owner of one gets the
 * parts of all, by rank, so it holds what one process would have read. A round deals one column to each
 * process, and what was sent is freed: no process ever has more than its part and its own columns.
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "features/fleet/fleet_share.h"

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
