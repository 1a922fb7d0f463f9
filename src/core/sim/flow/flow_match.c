/* Static matching: the k-th send with the k-th receive on (source, destination, tag).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/flow/flow_match.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/meetings.h"

/* Receives of one meeting wait in a list through `partner`, in program order; each send takes the first. */
static iw_status match_rank(struct iwi_meetings *m, struct iwi_match *match, uint32_t rank)
{
    const struct iwi_schedule *schedule = m->schedule;

    IW_TRY(iwi_meetings_at(m, rank));
    for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
        const struct iwi_node *op = &schedule->nodes[node];

        match->rank_of[node] = rank;
        if (op->kind == IWI_RECV) {
            struct iwi_meeting *meeting = iwi_meeting_of(m, op->peer, op->tag);
            uint64_t *link =
                meeting->recv == IWI_NO_MEETING ? &meeting->recv : &match->partner[meeting->last_recv];

            *link = meeting->last_recv = node;
        }
    }
    for (uint64_t i = m->first_inbound[rank]; i < m->first_inbound[rank + 1]; i++) {
        const struct iwi_inbound *in = &m->inbound[i];
        struct iwi_meeting *meeting = iwi_meeting_of(m, in->source, in->tag);
        const uint64_t recv = meeting->recv;

        if (recv == IWI_NO_MEETING) {
            iwi_unreceived_add(&match->unreceived, in->send);
        } else {
            meeting->recv = match->partner[recv];
            match->partner[recv] = in->send;
            match->partner[in->send] = recv;
        }
    }
    return IW_OK;
}

/* A receive that is left over has the next one of its list as partner: it has none. */
static void forget_left_over(const struct iwi_schedule *schedule, struct iwi_match *match)
{
    for (uint64_t node = 0; node < schedule->first_node[schedule->ranks]; node++) {
        const uint64_t partner = match->partner[node];

        if (partner != UINT64_MAX && schedule->nodes[partner].kind == schedule->nodes[node].kind) {
            match->partner[node] = UINT64_MAX;
        }
    }
}

static iw_status match_all(const iw_log *log, const struct iwi_schedule *schedule, struct iwi_match *match)
{
    struct iwi_meetings meetings;
    iw_status status;

    IW_TRY(iwi_meetings_init(log, schedule, &meetings));
    memset(match->partner, 0xff, (size_t)schedule->first_node[schedule->ranks] * sizeof *match->partner);
    status = IW_OK;
    for (uint32_t rank = 0; rank < schedule->ranks && status == IW_OK; rank++) {
        status = match_rank(&meetings, match, rank);
    }
    iwi_meetings_release(&meetings);
    forget_left_over(schedule, match);
    return status;
}

iw_status iwi_match_new(const iw_log *log, const struct iwi_schedule *schedule, struct iwi_match **match_p)
{
    const size_t node_count = (size_t)schedule->first_node[schedule->ranks];
    struct iwi_match *match = iwi_new_array(log, 1, sizeof *match);
    iw_status status = IW_ERR_NOMEM;

    if (match != NULL) {
        match->partner = iwi_new_array(log, node_count, sizeof *match->partner);
        match->rank_of = iwi_new_array(log, node_count, sizeof *match->rank_of);
        status =
            match->partner == NULL || match->rank_of == NULL ? IW_ERR_NOMEM : match_all(log, schedule, match);
    }
    if (status != IW_OK) {
        iwi_match_free(match);
        return status;
    }
    *match_p = match;
    return IW_OK;
}

void iwi_match_free(struct iwi_match *match)
{
    if (match != NULL) {
        free(match->partner);
        free(match->rank_of);
        free(match);
    }
}
