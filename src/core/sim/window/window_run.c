/* Runs a schedule window by window (window_plan.h).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Members have blocks of ranks. After each window they give each other the messages of the window, and tell
 * when they have something to do next: so they agree on the next window without asking.
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/heap.h"
#include "core/sim/window/window_state.h"

enum { TICK_AFTER = 1 << 14 /* events */, TURNS_OF_A_TICK = 1 << 12 };

/* ---- whose turn is next, where all ranks take turns ---- */

/* The events of one instant have the event engine's order: by what they are, then by rank. Each rank still
 * has its own queue; what is sorted over all ranks is only whose turn is next. */
static bool is_before(const struct window_turn *a, const struct window_turn *b)
{
    return ((unsigned __int128)(uint64_t)a->time << 64 | a->kind_and_rank) <
           ((unsigned __int128)(uint64_t)b->time << 64 | b->kind_and_rank);
}

IWI_HEAP(turns, window_turn, is_before)

static struct window_turn turn_of(const struct window_run *run, uint32_t local)
{
    const struct window_rank *rank = &run->ranks[local];
    const uint64_t kind = iwi_window_sees_message(rank) || iwi_window_first(rank) == INT64_MAX
                              ? 0
                              : 1 + iwi_window_kind_of(rank->queue.near[rank->queue.begin].what);

    return (struct window_turn){iwi_window_next(rank), kind << 32 | local};
}

/* The rank may have something to do earlier than before. */
static iw_status note_serially(struct window_run *run, uint32_t local)
{
    struct window_order *order = run->order;
    const struct window_turn turn = turn_of(run, local);
    void *heap = order->heap;

    if (!is_before(&turn, &order->known[local])) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(run->log, &heap, &order->capacity, order->count + 1, sizeof turn));
    order->heap = heap;
    order->known[local] = turn;
    turns_put(order->heap, order->count++, turn);
    return IW_OK;
}

/* ---- messages to their ranks ---- */

enum { AHEAD = 8, FURTHER = 16 };

static iw_status put_into_inbox(struct window_run *run, struct window_rank *rank,
                                const struct iwi_window_message *message)
{
    if (rank->inbox.count == rank->inbox.capacity) {
        void *messages = rank->inbox.messages;
        size_t capacity = rank->inbox.capacity;

        IW_TRY(iwi_grow(run->log, &messages, &capacity, (size_t)rank->inbox.count + 1, sizeof *message));
        rank->inbox.messages = messages;
        rank->inbox.capacity = (uint32_t)capacity;
    }
    iwi_window_inbox_put(&rank->inbox, *message);
    return IW_OK;
}

static iw_status deliver(struct window_run *run, const struct iwi_window_message *message)
{
    const struct window_place place = iwi_window_place(run, message->to - run->first_rank);
    iw_time turn = message->notice;

    if (message->is_answer) {
        IW_TRY(iwi_window_push(run, place.state, message->notice,
                               iwi_window_what(IWI_WINDOW_TOLD, message->send)));
    } else if (message->is_fixed) {
        run->met_at = INT64_MAX;
        IW_TRY(iwi_window_notice_fixed(run, &place, message));
        turn = run->met_at;
    } else if (iwi_window_is_wild(iwi_window_looks_for(&place.state->looks, message->from, message->tag))) {
        IW_TRY(put_into_inbox(run, place.state, message));
    } else {
        run->met_at = INT64_MAX;
        IW_TRY(iwi_window_notice(run, &place, message));
        turn = run->met_at;
    }
    if (run->order != NULL) {
        return note_serially(run, place.local);
    }
    iwi_calendar_note(&run->calendar, place.local, turn);
    return IW_OK;
}

/* `messages` are those from the one at hand on. */
static void fetch(const struct window_run *run, const struct iwi_window_message *messages, size_t left)
{
    if (left > FURTHER) {
        iwi_window_fetch_lines(&run->ranks[messages[FURTHER].to - run->first_rank], sizeof *run->ranks);
    }
    if (left > AHEAD && messages[AHEAD].is_fixed) {
        const struct iwi_window_message *message = &messages[AHEAD];

        __builtin_prefetch(&run->ranks[message->to - run->first_rank].nodes[message->tag], 1);
    }
}

static iw_status deliver_all(struct window_run *run, const struct iwi_window_message *messages, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fetch(run, messages + i, count - i);
        IW_TRY(deliver(run, &messages[i]));
    }
    return IW_OK;
}

/* The messages to ranks of this block that have been sent and not delivered. Answers to them are sent then.
 */
static iw_status window_deliver_own(struct window_run *run)
{
    struct window_outbox *own = &run->outboxes[run->own_outbox];
    const struct window_outbox sent = *own;

    *own = run->delivered;
    own->count = 0;
    run->delivered = sent;
    return deliver_all(run, sent.messages, sent.count);
}

/* ---- without windows: one rank can learn at once what another does ---- */

static void forget_turn(struct window_order *order, uint32_t local)
{
    order->known[local] = (struct window_turn){INT64_MAX, 0};
}

/* One event of a rank, and all that others learn of it. */
static iw_status take_turn(struct window_run *run, uint32_t local)
{
    const struct window_place place = iwi_window_place(run, local);
    iw_time next;

    forget_turn(run->order, local);
    IW_TRY(iwi_window_advance(run, &place, INT64_MIN, &next));
    while (run->outboxes[run->own_outbox].count > 0) {
        IW_TRY(window_deliver_own(run));
    }
    return note_serially(run, local);
}

/* Of what this block has to do. */
static iw_status tick(const struct window_run *run)
{
    const uint64_t nodes = run->schedule->first_node[run->first_rank + run->rank_count] - run->first_node;

    return iwi_tick_part(run->job->ticker, (double)run->done / (double)nodes);
}

static iw_status take_turns(struct window_run *run)
{
    struct window_order *order = run->order;

    for (uint32_t local = 0; local < run->rank_count; local++) {
        forget_turn(order, local);
        IW_TRY(note_serially(run, local));
    }
    while (order->count > 0 && !run->is_too_late) {
        const struct window_turn turn = turns_take(order->heap, order->count--);
        const uint32_t local = (uint32_t)turn.kind_and_rank;

        if (turn.time == order->known[local].time &&
            turn.kind_and_rank == order->known[local].kind_and_rank) {
            IW_TRY(take_turn(run, local));
        }
        run->turns++;
        if (run->turns % TICK_AFTER == 0) {
            IW_TRY(tick(run));
        }
    }
    return iwi_window_check_end(run);
}

/* All events of all ranks, one at a time in the order of time: for messages that take no time. */
static iw_status window_run_serially(struct window_run *run)
{
    struct window_order order = {.heap = NULL};
    iw_status status;

    order.known = iwi_new_array(run->log, run->rank_count, sizeof *order.known);
    if (order.known == NULL) {
        return IW_ERR_NOMEM;
    }
    run->order = &order;
    status = take_turns(run);
    run->order = NULL;
    free(order.heap);
    free(order.known);
    return status;
}

/* ---- messages between members ---- */

/* What an outbox to another member begins with, in the place of a message: the first stretch of time in which
 * its sender, or one that it has sent to, has something to do. */
static iw_status open_outboxes(struct window_run *run)
{
    for (uint32_t m = 0; run->job->member != NULL && m < run->job->member->count; m++) {
        struct window_outbox *outbox = &run->outboxes[m];
        void *messages = outbox->messages;

        if (m != run->own_outbox) {
            IW_TRY(iwi_grow(run->log, &messages, &outbox->capacity, 1, sizeof *outbox->messages));
            outbox->messages = messages;
            outbox->count = 1;
        }
    }
    run->first_sent = INT64_MAX;
    return IW_OK;
}

static iw_status send_outboxes(struct window_run *run, int64_t first, struct iwi_transfer *transfers)
{
    struct iwi_member *member = run->job->member;

    for (uint32_t m = 0; m < member->count; m++) {
        struct window_outbox *outbox = &run->outboxes[m];

        transfers[m] = (struct iwi_transfer){{NULL}};
        if (m == member->number) {
            continue;
        }
        if (outbox->count > IW_LINK_MOST_BYTES / sizeof *outbox->messages) {
            return iwi_fail(run->log, IW_ERR_UNSUPPORTED,
                            "too many messages (%zu) in one time window: use fewer threads and processes",
                            outbox->count);
        }
        outbox->messages[0] = (struct iwi_window_message){.notice = first};
        IW_TRY(iwi_member_send(member, m, outbox->messages, outbox->count * sizeof *outbox->messages,
                               &transfers[m]));
    }
    return IW_OK;
}

/* Outboxes are filled again by answers to what is taken here: all are taken first. */
static iw_status take_messages(struct window_run *run, struct iwi_bytes *inbound,
                               struct iwi_transfer *transfers, int64_t *first_p)
{
    struct iwi_member *member = run->job->member;

    for (uint32_t m = 0; m < member->count; m++) {
        bool has;

        if (m != member->number) {
            IW_TRY(iwi_member_take(member, m, true, &inbound[m], &has));
        }
    }
    IW_TRY(iwi_member_wait(member, transfers, member->count));
    IW_TRY(open_outboxes(run));
    for (uint32_t m = 0; m < member->count; m++) {
        const struct iwi_window_message *messages =
            (const struct iwi_window_message *)(const void *)inbound[m].data;

        if (m != member->number) {
            *first_p = iwi_min(*first_p, messages[0].notice);
            IW_TRY(deliver_all(run, messages + 1, inbound[m].count / sizeof *messages - 1));
        }
    }
    return IW_OK;
}

/* Gives all messages of the window to their receivers, and finds the first stretch in which anybody has
 * something to do; INT64_MAX: there is none. */
static iw_status exchange(struct window_run *run, struct iwi_transfer *transfers, struct iwi_bytes *inbound,
                          int64_t *first_p)
{
    IW_TRY(window_deliver_own(run));
    *first_p = iwi_calendar_first(&run->calendar);
    if (run->job->member == NULL) {
        return IW_OK;
    }
    if (run->first_sent != INT64_MAX) {
        *first_p = iwi_min(*first_p, run->first_sent >> run->calendar.shift);
    }
    if (run->is_too_late) {
        *first_p = INT64_MIN; /* all members end here */
    }
    IW_TRY(send_outboxes(run, *first_p, transfers));
    return take_messages(run, inbound, transfers, first_p);
}

/* ---- windows ---- */

/* All events of a rank up to the end of the window: messages of others may have left it nothing to do. */
static iw_status advance(struct window_run *run, uint32_t local)
{
    const struct window_place place = iwi_window_place(run, local);
    iw_time next = iwi_window_next(place.state);

    if (next < run->window_end) {
        IW_TRY(iwi_window_advance(run, &place, run->window_end, &next));
    }
    iwi_calendar_note(&run->calendar, local, next);
    return IW_OK;
}

static iw_status run_window(struct window_run *run, int64_t stretch)
{
    const uint32_t *active = run->calendar.active;
    const uint32_t count = iwi_calendar_take(&run->calendar, stretch);

    run->window_end = (stretch << run->calendar.shift) + run->plan->lookahead;
    for (uint32_t i = 0; i < count; i++) {
        iwi_window_fetch(run, active + i, count - i);
        IW_TRY(advance(run, active[i]));
    }
    run->turns += count;
    if (run->turns >= TURNS_OF_A_TICK) {
        run->turns = 0;
        return tick(run);
    }
    return IW_OK;
}

/* Until nobody has anything to do. */
static iw_status run_all(struct window_run *run, struct iwi_transfer *transfers, struct iwi_bytes *inbound)
{
    int64_t stretch;

    IW_TRY(open_outboxes(run));
    for (;;) {
        IW_TRY(exchange(run, transfers, inbound, &stretch));
        if (run->plan->has_rendezvous) { /* answers to those */
            IW_TRY(exchange(run, transfers, inbound, &stretch));
        }
        if (stretch == INT64_MAX || stretch < 0 || (run->job->member == NULL && run->is_too_late)) {
            return iwi_window_check_end(run);
        }
        IW_TRY(run_window(run, stretch));
    }
}

static iw_status run_windows(struct window_run *run)
{
    const uint32_t members = run->job->member == NULL ? 0 : run->job->member->count;
    struct iwi_transfer *transfers = iwi_new_array(run->log, members, sizeof *transfers);
    struct iwi_bytes *inbound = iwi_new_array(run->log, members, sizeof *inbound);
    iw_status status = transfers == NULL || inbound == NULL ? IW_ERR_NOMEM : run_all(run, transfers, inbound);

    if (status != IW_OK && run->job->member != NULL) {
        iwi_team_fail(run->job->member->team,
                      status); /* before memory goes that others may be copying from */
    }
    for (uint32_t m = 0; inbound != NULL && m < members; m++) {
        iwi_bytes_release(&inbound[m]);
    }
    free(inbound);
    free(transfers);
    return status;
}

iw_status iwi_window_run(const iw_log *log, const struct iwi_job *job, const struct iwi_window_plan *plan)
{
    const uint32_t number = job->member == NULL ? 0 : job->member->number;
    struct window_run run = {.log = log, .job = job, .plan = plan, .schedule = plan->schedule};
    iw_status status;

    run.first_rank = job->partition == NULL ? 0 : job->partition->first[number];
    run.rank_count =
        job->partition == NULL ? plan->schedule->ranks : job->partition->first[number + 1] - run.first_rank;
    run.first_node = plan->schedule->first_node[run.first_rank];
    run.own_outbox = number;
    status = iwi_window_setup(&run);
    if (status == IW_OK) {
        status = plan->lookahead < 1 ? window_run_serially(&run) : run_windows(&run);
    }
    for (uint32_t local = 0; status == IW_OK && local < run.rank_count; local++) {
        job->end_ps[local] = run.ranks[local].end;
    }
    iwi_window_release(&run);
    return status;
}
