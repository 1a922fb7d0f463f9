/* The flow engine on stored in-order schedules: ranks take turns until nobody can go on.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/flow/flow_schedule.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_schedule_rank.h"
#include "core/sim/unreceived.h"

enum { LEAST_SLOTS = 1 << 16, NODES_PER_SLOT = 8 }; /* of idle channels */

const char *iwi_flow_refusal(const struct iwi_schedule *schedule)
{
    if (schedule->cpu_count > 1 || schedule->nic_count > 1) {
        return "the schedule uses several CPUs or NICs on a rank";
    }
    return iwi_schedule_facts(schedule).has_wildcards
               ? "the schedule has receives from any source or with any tag"
               : NULL;
}

/* ---- the end ---- */

static uint64_t stuck_node(const void *arg, uint32_t rank)
{
    const struct schedule_run *run = arg;
    const uint64_t next = run->ranks[rank].next;

    return next < run->schedule->first_node[rank + 1] ? next : IWI_NOT_STUCK;
}

static bool has_unreceived(const struct iwi_channels *channels)
{
    for (size_t at = 0; at < channels->slots; at++) {
        if (channels->table[at].room != 0 && channels->table[at].sent > channels->table[at].posted) {
            return true;
        }
    }
    return false;
}

/* What is left in a channel are its last sends. */
static void warn_unreceived(struct schedule_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;
    struct iwi_unreceived unreceived = {.count = 0};

    for (uint32_t rank = schedule->ranks; has_unreceived(&run->channels) && rank-- > 0;) {
        for (uint64_t node = schedule->first_node[rank + 1]; node-- > schedule->first_node[rank];) {
            const struct iwi_node *op = &schedule->nodes[node];

            if (op->kind == IWI_SEND) {
                struct iwi_flow_channel *channel = iwi_channel_find(&run->channels, rank, op->peer, op->tag);

                if (channel->sent > channel->posted) { /* also false of an empty slot */
                    channel->sent--;
                    iwi_unreceived_add(&unreceived, node);
                }
            }
        }
    }
    iwi_warn_unreceived(run->flow->log, schedule, &unreceived);
}

/* ---- the run ---- */

static iw_status allocate(struct schedule_run *run)
{
    const struct iwi_flow *flow = run->flow;
    const uint64_t slots = run->schedule->first_node[run->schedule->ranks] / NODES_PER_SLOT;

    run->ranks = iwi_new_array(flow->log, flow->ranks, sizeof *run->ranks);
    run->work = iwi_new_array(flow->log, flow->ranks, sizeof *run->work);
    if (run->ranks == NULL || run->work == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iwi_flow_reserve_scratch(run->flow, (uint32_t)iwi_schedule_facts(run->schedule).longest_wait));
    return iwi_channels_init(flow->log, flow->lanes, flow->job->split != NULL,
                             (size_t)(slots > LEAST_SLOTS ? slots : LEAST_SLOTS), &run->channels);
}

static iw_status run_all(struct schedule_run *run)
{
    struct iwi_flow *flow = run->flow;

    IW_TRY(allocate(run));
    for (uint32_t rank = 0; rank < flow->ranks; rank++) {
        run->ranks[rank].next = run->schedule->first_node[rank];
        run->work[flow->ranks - 1 - rank] = rank; /* taken from the end: rank 0 first */
    }
    run->work_count = flow->ranks;
    for (uint64_t turn = 0; run->work_count > 0; turn++) {
        IW_TRY(iwi_schedule_run_rank(run, run->work[--run->work_count]));
        IW_TRY(iwi_tick_rarely(flow->job->ticker, turn));
    }
    IW_TRY(iwi_report_stuck_ranks(flow->log, run->schedule, stuck_node, run));
    if (flow->job->want_warnings) {
        warn_unreceived(run);
    }
    return IW_OK;
}

iw_status iwi_flow_schedule(struct iwi_flow *flow)
{
    struct schedule_run run = {.flow = flow, .schedule = flow->job->schedule};
    const iw_status status = run_all(&run);

    for (uint32_t rank = 0; run.ranks != NULL && rank < flow->ranks; rank++) {
        free(run.ranks[rank].requests.list);
    }
    iwi_channels_release(&run.channels);
    free(run.ranks);
    free(run.work);
    return status;
}
