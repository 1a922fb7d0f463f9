/* Passes with long shifts on a partition, several at once: members pass each other whole columns.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Made one by one, such passes stream all arrays through the memory. Columns of all ranks fit into the cache:
 * in a turn each member has some columns for itself. It gets the rows of others, makes all passes, and sends
 * their rows back, while what the next turn needs is on its way.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_exchange.h"
#include "core/sim/flow/flow_stream.h"

/* Passes with shifts that are multiples of one number Q, several at once.
 *
 * Elements that differ by multiples of Q are closed in themselves: some such columns are copied together,
 * passed, and copied back.
 */

/* Of elements: `width` neighbours of each stretch of `stride`, a row. */
struct iwi_columns {
    size_t rows, width, stride;
    bool has_gaps, is_rendezvous;
};

enum { LEAST_WIDTH = 8 /* columns side by side: a line of the cache */ };

static size_t reach(const struct iwi_pass *pass)
{
    return !pass->has_receive ? 0 : pass->is_flip ? pass->flip : pass->shift;
}

/* The first `rows` rows of an array to a copy of them one behind the other, or back. */
static void columns_copy(iw_time *array, iw_time *copy, struct iwi_columns shape, size_t rows, bool is_back)
{
    for (size_t row = 0; row < rows; row++) {
        memcpy(is_back ? array : copy, is_back ? copy : array, shape.width * sizeof *copy);
        array += shape.stride;
        copy += shape.width;
    }
}

/* Columns `first` and on; `odd` is 1 after an odd number of passes. */
static void copy_columns(struct iwi_flow *flow, struct iwi_columns shape, size_t first, size_t odd,
                         bool is_back)
{
    iw_time(*copies)[IWI_COPIED] = flow->stream->copies;

    columns_copy(flow->cpu + first, copies[IWI_COPY_CPU + odd], shape, shape.rows, is_back);
    columns_copy(flow->next_detour + first, copies[IWI_COPY_NEXT_DETOUR], shape, shape.rows, is_back);
    if (shape.has_gaps) {
        columns_copy(flow->send_gap + first, copies[IWI_COPY_SEND_GAP], shape, shape.rows, is_back);
        columns_copy(flow->recv_gap + first, copies[IWI_COPY_RECV_GAP], shape, shape.rows, is_back);
    }
    if (shape.is_rendezvous) {
        columns_copy(flow->posted + first, copies[IWI_COPY_POSTED + odd], shape, shape.rows, is_back);
    }
}

static void pass_all(struct iwi_flow *flow, struct iwi_pass *passes, size_t pass_count,
                     struct iwi_columns shape)
{
    iw_time(*copies)[IWI_COPIED] = flow->stream->copies;
    struct iwi_span span = {.count = shape.rows * shape.width,
                            .next_detour = copies[IWI_COPY_NEXT_DETOUR],
                            .send_gap = copies[IWI_COPY_SEND_GAP],
                            .recv_gap = copies[IWI_COPY_RECV_GAP],
                            .stride = shape.stride,
                            .width_shift = (uint32_t)__builtin_ctzll(shape.width)};

    for (span.first = 0; span.first < shape.stride; span.first += shape.width) {
        const iw_time begun = flow->cpu[span.first];

        for (size_t row = 0; row < shape.rows; row++) {
            iwi_flow_fetch(flow, span.first + row * shape.stride, flow->stream->lasted, shape.width);
        }
        copy_columns(flow, shape, span.first, 0, false);
        for (size_t p = 0; p < pass_count; p++) {
            const size_t now = p & 1, out = !now;

            if (shape.is_rendezvous) {
                iwi_pass_rendezvous(flow, &span, &passes[p], copies[IWI_COPY_CPU + now],
                                    copies[IWI_COPY_POSTED + now], copies[IWI_COPY_CPU + out],
                                    copies[IWI_COPY_POSTED + out]);
            } else {
                iwi_pass_closed(flow, &span, &passes[p], copies[IWI_COPY_CPU + now],
                                copies[IWI_COPY_CPU + now], copies[IWI_COPY_CPU + out]);
            }
        }
        copy_columns(flow, shape, span.first, pass_count & 1, true);
        flow->stream->lasted = flow->cpu[span.first] - begun;
    }
}

/* How many passes from `number` on can be made on columns of so many elements, with shifts as they are among
 * copies, and the shape. */
static size_t columns_find(const struct iwi_run *run, uint64_t number, size_t elements,
                           struct iwi_pass *passes, struct iwi_columns *shape)
{
    size_t count = 0;

    *shape = (struct iwi_columns){0};
    while (count < IWI_PASSES && number + count <= run->last_pass) {
        passes[count] = iwi_run_pass(run, number + count);
        if (!passes[count].has_receive) {
            break;
        }
        if (count == 0) {
            shape->stride =
                reach(&passes[0]) & -reach(&passes[0]); /* its largest factor that is a power of two */
            shape->rows = elements / shape->stride;
            if (elements % shape->stride != 0 || shape->stride < LEAST_WIDTH ||
                shape->rows * LEAST_WIDTH > IWI_COPIED) {
                break;
            }
        }
        if (reach(&passes[count]) % shape->stride != 0) {
            break;
        }
        shape->has_gaps |= passes[count].has_gaps;
        shape->is_rendezvous = passes[count].is_rendezvous;
        count++;
    }
    shape->width = LEAST_WIDTH;
    while (shape->width * 2 <= shape->stride && shape->rows * shape->width * 2 <= IWI_COPIED) {
        shape->width *= 2;
    }
    for (size_t p = 0; p < count; p++) {
        passes[p].shift = passes[p].shift / shape->stride * shape->width;
        passes[p].flip = passes[p].flip / shape->stride * shape->width;
    }
    return count;
}

size_t iwi_pass_columns(const struct iwi_run *run, uint64_t number)
{
    struct iwi_pass passes[IWI_PASSES];
    struct iwi_columns shape;
    const size_t count = columns_find(run, number, run->flow->count, passes, &shape);

    if (count < 2) {
        return 0;
    }
    pass_all(run->flow, passes, count, shape);
    return count;
}

/* Fewer passes are not worth the way of all elements to and fro. */
enum { LEAST_PASSES = 4 };

/* What goes with the ranks; the last two only where gaps count. */
enum { CPU, NEXT_DETOUR, SEND_GAP, RECV_GAP, VALUES };

/* A turn under way; two alternate. */
struct turn {
    iw_time *own[VALUES];        /* of the member's own columns, all rows */
    iw_time *other;              /* what own[CPU] becomes in a pass */
    iw_time *away;               /* of others' columns, this member's rows: of each member all values */
    iw_time (*room)[IWI_COPIED]; /* of the second turn */
    struct iwi_transfer *transfers;
    size_t transfer_count, received_count; /* of the transfers, those that bring the member's own columns */
};

struct exchange_run {
    struct iwi_flow *flow;
    struct iwi_pass passes[IWI_PASSES];
    size_t pass_count;
    struct iwi_columns shape;
    size_t sent,
        returned; /* how many of the values go out and come back: nobody looks at all of them again */
    struct turn turns[2];
};

/* ---- who has what ---- */

static size_t first_row(const struct exchange_run *run, uint32_t member)
{
    return ((size_t)run->flow->partition->first[member] << run->flow->lane_shift) / run->shape.stride;
}

static size_t row_count(const struct exchange_run *run, uint32_t member)
{
    return first_row(run, member + 1) - first_row(run, member);
}

static uint32_t self(const struct exchange_run *run)
{
    return run->flow->member->number;
}

/* The first column that a member has in a turn; behind the last: it has none. */
static size_t column_of(const struct exchange_run *run, size_t turn, uint32_t member)
{
    return (turn * run->flow->partition->members + member) * run->shape.width;
}

static bool has_columns(const struct exchange_run *run, size_t turn, uint32_t member)
{
    return column_of(run, turn, member) < run->shape.stride;
}

/* This member's rows of another's columns. */
static iw_time *away_of(const struct exchange_run *run, const struct turn *turn, uint32_t member,
                        size_t value)
{
    return turn->away + (member * run->sent + value) * row_count(run, self(run)) * run->shape.width;
}

static iw_time *value_of(const struct iwi_flow *flow, size_t value)
{
    iw_time *const values[VALUES] = {flow->cpu, flow->next_detour, flow->send_gap, flow->recv_gap};

    return values[value];
}

/* ---- messages ---- */

static iw_status send_value(struct exchange_run *run, struct turn *turn, uint32_t to, const iw_time *value,
                            size_t rows)
{
    return iwi_member_send(run->flow->member, to, value, rows * run->shape.width * sizeof *value,
                           &turn->transfers[turn->transfer_count++]);
}

static iw_status receive_value(struct exchange_run *run, struct turn *turn, uint32_t from, iw_time *value,
                               size_t rows)
{
    return iwi_member_receive(run->flow->member, from, value, rows * run->shape.width * sizeof *value,
                              &turn->transfers[turn->transfer_count++]);
}

/* The rows of a member in the own columns, and its own rows in the columns of that member: to and fro. */
static iw_status receive_columns(struct exchange_run *run, struct turn *turn, uint32_t from)
{
    const size_t at = first_row(run, from) * run->shape.width, rows = row_count(run, from);

    for (size_t v = 0; v < run->sent; v++) {
        IW_TRY(receive_value(run, turn, from, turn->own[v] + at, rows));
    }
    return IW_OK;
}

static iw_status send_rows(struct exchange_run *run, struct turn *turn, uint32_t to, size_t column)
{
    const size_t rows = row_count(run, self(run));

    for (size_t v = 0; v < run->sent; v++) {
        iw_time *away = away_of(run, turn, to, v);

        columns_copy(value_of(run->flow, v) + column, away, run->shape, rows, false);
        IW_TRY(send_value(run, turn, to, away, rows));
    }
    return IW_OK;
}

static iw_status send_back(struct exchange_run *run, struct turn *turn, uint32_t to)
{
    const size_t at = first_row(run, to) * run->shape.width, rows = row_count(run, to);

    for (size_t v = 0; v < run->returned; v++) {
        IW_TRY(send_value(run, turn, to, turn->own[v] + at, rows));
    }
    return IW_OK;
}

static iw_status receive_back(struct exchange_run *run, struct turn *turn, uint32_t from)
{
    for (size_t v = 0; v < run->returned; v++) {
        IW_TRY(receive_value(run, turn, from, away_of(run, turn, from, v), row_count(run, self(run))));
    }
    return IW_OK;
}

/* ---- turns ---- */

/* Own rows of the first `values`, to the own columns or back. */
static void copy_own(const struct exchange_run *run, const struct turn *turn, size_t column, size_t values,
                     bool is_back)
{
    const size_t at = first_row(run, self(run)) * run->shape.width, rows = row_count(run, self(run));

    for (size_t v = 0; v < values; v++) {
        columns_copy(value_of(run->flow, v) + column, turn->own[v] + at, run->shape, rows, is_back);
    }
}

/* What all need for this turn sets out. */
static iw_status begin_turn(struct exchange_run *run, size_t number)
{
    const uint32_t members = run->flow->partition->members, me = self(run);
    struct turn *turn = &run->turns[number & 1];

    turn->transfer_count = 0;
    for (uint32_t m = 0; m < members && has_columns(run, number, me); m++) {
        if (m != me) {
            IW_TRY(receive_columns(run, turn, m));
        }
    }
    turn->received_count = turn->transfer_count;
    for (uint32_t m = 0; m < members; m++) {
        if (m != me && has_columns(run, number, m)) {
            IW_TRY(send_rows(run, turn, m, column_of(run, number, m)));
        }
    }
    if (has_columns(run, number, me)) {
        copy_own(run, turn, column_of(run, number, me), run->sent, false);
    }
    return IW_OK;
}

static void pass_columns(struct exchange_run *run, struct turn *turn)
{
    /* rows of other members have no place in this flow: `first` and `stride` stay 0, and nobody may ask for
     * the rank of an element (is_fit) */
    const struct iwi_span span = {.count = run->shape.rows * run->shape.width,
                                  .next_detour = turn->own[NEXT_DETOUR],
                                  .send_gap = turn->own[SEND_GAP],
                                  .recv_gap = turn->own[RECV_GAP],
                                  .width_shift = (uint32_t)__builtin_ctzll(run->shape.width)};

    for (size_t p = 0; p < run->pass_count; p++) {
        iw_time *now = turn->own[CPU];

        iwi_pass_closed(run->flow, &span, &run->passes[p], now, now, turn->other);
        turn->own[CPU] = turn->other;
        turn->other = now;
    }
}

/* Makes the passes on the own columns; their rows set out for those who have them. */
static iw_status make_turn(struct exchange_run *run, size_t number)
{
    const uint32_t members = run->flow->partition->members, me = self(run);
    struct turn *turn = &run->turns[number & 1];

    IW_TRY(iwi_member_wait(run->flow->member, turn->transfers, turn->received_count));
    if (has_columns(run, number, me)) {
        pass_columns(run, turn);
        copy_own(run, turn, column_of(run, number, me), run->returned, true);
    }
    /* rows of others' columns come back to where they were sent from */
    IW_TRY(iwi_member_wait(run->flow->member, turn->transfers + turn->received_count,
                           turn->transfer_count - turn->received_count));
    turn->transfer_count = 0;
    for (uint32_t m = 0; m < members; m++) {
        if (m != me && has_columns(run, number, m)) {
            IW_TRY(receive_back(run, turn, m));
        }
    }
    for (uint32_t m = 0; m < members && has_columns(run, number, me); m++) {
        if (m != me) {
            IW_TRY(send_back(run, turn, m));
        }
    }
    return IW_OK;
}

static iw_status end_turn(struct exchange_run *run, size_t number)
{
    const uint32_t members = run->flow->partition->members, me = self(run);
    const size_t rows = row_count(run, me);
    struct turn *turn = &run->turns[number & 1];

    IW_TRY(iwi_member_wait(run->flow->member, turn->transfers, turn->transfer_count));
    for (uint32_t m = 0; m < members; m++) {
        const size_t column = column_of(run, number, m);

        for (size_t v = 0; v < run->returned && m != me && has_columns(run, number, m); v++) {
            columns_copy(value_of(run->flow, v) + column, away_of(run, turn, m, v), run->shape, rows, true);
        }
    }
    return IW_OK;
}

static iw_status make_turns(struct exchange_run *run)
{
    const size_t members = run->flow->partition->members, slices = run->shape.stride / run->shape.width;
    const size_t turns = (slices + members - 1) / members;

    IW_TRY(begin_turn(run, 0));
    for (size_t number = 0; number < turns; number++) {
        if (number > 0) {
            IW_TRY(end_turn(run, number - 1));
        }
        if (number + 1 < turns) {
            IW_TRY(begin_turn(run, number + 1));
        }
        IW_TRY(make_turn(run, number));
    }
    return end_turn(run, turns - 1);
}

/* ---- whether, and with what room ---- */

/* Rows must be whole in a block. Noise must need nothing but the next detour: neither the rank nor words; and
 * the costs of messages not the rank. */
static bool is_fit(const struct exchange_run *run)
{
    const struct iwi_flow *flow = run->flow;
    const size_t granule = (size_t)flow->partition->granule << flow->lane_shift;

    return run->pass_count >= LEAST_PASSES && !run->shape.is_rendezvous && granule % run->shape.stride == 0 &&
           flow->partition->smallest > 0 && flow->job->levels.count == 0 &&
           (flow->job->noise == NULL || (flow->has_closed_form && flow->words == 0));
}

/* Nothing comes after the passes before `number`. */
static bool is_end(const struct iwi_run *run, uint64_t number)
{
    return run->flow->is_last_operation && number > run->last_pass &&
           run->first + run->last_pass == run->op->algorithm->round_count(run->op);
}

/* The first turn works where the columns of one member alone do. */
static iw_status reserve(struct exchange_run *run)
{
    static const size_t places[VALUES] = {IWI_COPY_CPU, IWI_COPY_NEXT_DETOUR, IWI_COPY_SEND_GAP,
                                          IWI_COPY_RECV_GAP};
    const size_t members = run->flow->partition->members;
    const size_t away = members * run->sent * row_count(run, self(run)) * run->shape.width;

    run->turns[1].room = iwi_new_array(run->flow->log, IWI_COPIES, sizeof *run->turns[1].room);
    for (size_t t = 0; t < 2; t++) {
        struct turn *turn = &run->turns[t];
        iw_time(*copies)[IWI_COPIED] = t == 0 ? run->flow->stream->copies : turn->room;

        turn->away = iwi_new_array(run->flow->log, away, sizeof *turn->away);
        turn->transfers = iwi_new_array(run->flow->log, 2 * members * run->sent, sizeof *turn->transfers);
        if (copies == NULL || turn->away == NULL || turn->transfers == NULL) {
            return IW_ERR_NOMEM;
        }
        for (size_t v = 0; v < VALUES; v++) {
            turn->own[v] = copies[places[v]];
        }
        turn->other = copies[IWI_COPY_CPU + 1];
    }
    return IW_OK;
}

iw_status iwi_exchange_columns(const struct iwi_run *run, uint64_t number, size_t *count_p)
{
    struct iwi_flow *flow = run->flow;
    struct exchange_run exchange = {.flow = flow};
    iw_status status;

    exchange.pass_count = columns_find(run, number, (size_t)flow->partition->ranks << flow->lane_shift,
                                       exchange.passes, &exchange.shape);
    *count_p = 0;
    if (!is_fit(&exchange)) {
        return IW_OK;
    }
    exchange.sent = exchange.shape.has_gaps ? VALUES : NEXT_DETOUR + 1;
    exchange.returned = is_end(run, number + exchange.pass_count) ? CPU + 1 : exchange.sent;
    status = iwi_exchange_finish_pass(flow);
    if (status == IW_OK) {
        status = reserve(&exchange);
    }
    if (status == IW_OK) {
        status = make_turns(&exchange);
    }
    if (status != IW_OK) {
        iwi_team_fail(flow->member->team, status); /* so that nobody writes into what is freed now */
    }
    for (size_t t = 0; t < 2; t++) {
        free(exchange.turns[t].room);
        free(exchange.turns[t].away);
        free(exchange.turns[t].transfers);
    }
    *count_p = exchange.pass_count;
    return status;
}
