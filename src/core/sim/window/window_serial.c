/* Runs a schedule without windows, where one rank can learn at once what another does: event by event in the
 * order of time.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The events of one instant have the event engine's order: by what they are, then by rank. Each rank still
 * has its own queue; what is sorted over all ranks is only whose turn is next.
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/heap.h"
#include "core/sim/window/window_state.h"

enum { TICK_AFTER = 1 << 14 }; /* events */

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

iw_status iwi_window_note_serially(struct window_run *run, uint32_t local)
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

static void forget_turn(struct window_order *order, uint32_t local)
{
    order->known[local] = (struct window_turn){INT64_MAX, 0};
}

/* One event of a rank, and all that others learn of it. */
static iw_status take_turn(struct window_run *run, uint32_t local)
{
    const struct window_place place = iwi_window_place(run, local);

    forget_turn(run->order, local);
    IW_TRY(iwi_window_step(run, &place));
    while (run->outboxes[run->own_outbox].count > 0) {
        IW_TRY(iwi_window_deliver_own(run));
    }
    return iwi_window_note_serially(run, local);
}

static iw_status take_turns(struct window_run *run)
{
    struct window_order *order = run->order;

    for (uint32_t local = 0; local < run->rank_count; local++) {
        forget_turn(order, local);
        IW_TRY(iwi_window_note_serially(run, local));
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
            IW_TRY(iwi_tick(run->job->ticker, 0));
        }
    }
    return iwi_window_check_end(run);
}

iw_status iwi_window_run_serially(struct window_run *run)
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
