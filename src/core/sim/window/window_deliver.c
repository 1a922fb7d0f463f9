/* Messages of the window engine on their way between ranks: sent into outboxes, and what becomes of them at
 * their rank.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/sim/window/window_fetch.h"

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
        return iwi_window_note_serially(run, place.local);
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

iw_status iwi_window_deliver(struct window_run *run, const struct iwi_window_message *messages, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fetch(run, messages + i, count - i);
        IW_TRY(deliver(run, &messages[i]));
    }
    return IW_OK;
}

iw_status iwi_window_send(struct window_run *run, struct iwi_window_message message)
{
    const bool is_own = message.to - run->first_rank < run->rank_count;
    struct window_outbox *outbox =
        &run->outboxes[is_own ? run->own_outbox : iwi_partition_owner(run->job->partition, message.to)];

    if (outbox->count == outbox->capacity) {
        void *messages = outbox->messages;

        IW_TRY(iwi_grow(run->log, &messages, &outbox->capacity, outbox->count + 1, sizeof message));
        outbox->messages = messages;
    }
    outbox->messages[outbox->count++] = message;
    run->first_sent = is_own ? run->first_sent : iwi_min(run->first_sent, message.notice);
    return IW_OK;
}
