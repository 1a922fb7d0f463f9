/* Runs a schedule window by window (window_plan.h).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Members have blocks of ranks. After each window they give each other the messages of the window, and tell
 * when they have something to do next: so they agree on the next window without asking.
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/sim/window/window_fetch.h"

enum { TICK_AFTER = 1 << 12 }; /* turns of ranks */

/* ---- messages of a window ---- */

iw_status iwi_window_deliver_own(struct window_run *run)
{
    struct window_outbox *own = &run->outboxes[run->own_outbox];
    const struct window_outbox sent = *own;

    *own = run->delivered;
    own->count = 0;
    run->delivered = sent;
    return iwi_window_deliver(run, sent.messages, sent.count);
}

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
            return iwi_fail(
                run->log, IW_ERR_UNSUPPORTED,
                "%zu messages in one window of time are too many: use fewer threads and processes",
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
            IW_TRY(iwi_window_deliver(run, messages + 1, inbound[m].count / sizeof *messages - 1));
        }
    }
    return IW_OK;
}

/* Gives all messages of the window to their receivers, and finds the first stretch in which anybody has
 * something to do; INT64_MAX: there is none. */
static iw_status exchange(struct window_run *run, struct iwi_transfer *transfers, struct iwi_bytes *inbound,
                          int64_t *first_p)
{
    IW_TRY(iwi_window_deliver_own(run));
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

static iw_status run_window(struct window_run *run, int64_t stretch)
{
    const uint32_t *active = run->calendar.active;
    const uint32_t count = iwi_calendar_take(&run->calendar, stretch);

    run->window_end = (stretch << run->calendar.shift) + run->plan->lookahead;
    for (uint32_t i = 0; i < count; i++) {
        iwi_window_fetch(run, active + i, count - i);
        IW_TRY(iwi_window_advance(run, active[i]));
    }
    run->turns += count;
    if (run->turns >= TICK_AFTER) {
        run->turns = 0;
        return iwi_tick(run->job->ticker, 0);
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
        status = plan->lookahead < 1 ? iwi_window_run_serially(&run) : run_windows(&run);
    }
    for (uint32_t local = 0; status == IW_OK && local < run.rank_count; local++) {
        job->end_ps[local] = run.ranks[local].end;
    }
    iwi_window_release(&run);
    return status;
}
