/* Finds the messages of which it is known before the run which receive they meet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/base.h"
#include "core/sim/meetings.h"
#include "core/sim/window/window_plan.h"

static void note(uint64_t *first_p, struct iwi_meeting *meeting, uint64_t node)
{
    meeting->has_several |= *first_p != IWI_NO_MEETING;
    *first_p = node;
}

/* The meeting of a receive that names its source and tag; NULL: it is none. */
static struct iwi_meeting *meeting_of_receive(struct iwi_meetings *m, const struct iwi_window_looks *looks,
                                              uint64_t node)
{
    const struct iwi_node *recv = &m->schedule->nodes[node];

    return recv->kind == IWI_RECV && recv->peer != IWI_ANY && recv->tag != IWI_ANY &&
                   !iwi_window_is_wild(iwi_window_looks_for(looks, recv->peer, recv->tag))
               ? iwi_meeting_of(m, recv->peer, recv->tag)
               : NULL;
}

/* Bytes that a receive has room to remember (struct window_node). */
static bool is_short(const struct iwi_node *send)
{
    return send->amount <= UINT32_MAX;
}

static iw_status find_in_rank(struct iwi_meetings *m, struct iwi_window_plan *plan, uint32_t rank)
{
    const uint64_t *first_node = m->schedule->first_node;

    IW_TRY(iwi_meetings_at(m, rank));
    for (uint64_t i = m->first_inbound[rank]; i < m->first_inbound[rank + 1]; i++) {
        const struct iwi_inbound *in = &m->inbound[i];
        struct iwi_meeting *meeting = iwi_meeting_of(m, in->source, in->tag);

        __builtin_prefetch(&plan->partners[in->send], 1);
        note(&meeting->send, meeting, in->send);
    }
    for (uint64_t node = first_node[rank]; node < first_node[rank + 1]; node++) {
        struct iwi_meeting *meeting = meeting_of_receive(m, &plan->looks[rank], node);

        if (meeting != NULL) {
            note(&meeting->recv, meeting, node);
        }
    }
    for (uint64_t node = first_node[rank]; node < first_node[rank + 1]; node++) {
        const struct iwi_meeting *meeting = meeting_of_receive(m, &plan->looks[rank], node);

        if (meeting != NULL && !meeting->has_several && meeting->send != IWI_NO_MEETING &&
            is_short(&m->schedule->nodes[meeting->send])) {
            plan->partners[node] = (uint32_t)(meeting->send - first_node[meeting->source]);
            plan->partners[meeting->send] = (uint32_t)(node - first_node[rank]);
        }
    }
    return IW_OK;
}

iw_status iwi_window_find_partners(const iw_log *log, struct iwi_window_plan *plan)
{
    const uint64_t nodes = plan->schedule->first_node[plan->schedule->ranks];
    struct iwi_meetings meetings;
    iw_status status = IW_OK;

    for (uint64_t node = 0; node < nodes; node++) {
        plan->partners[node] = IWI_WINDOW_NO_PARTNER;
    }
    IW_TRY(iwi_meetings_init(log, plan->schedule, &meetings));
    for (uint32_t rank = 0; status == IW_OK && rank < plan->schedule->ranks; rank++) {
        status = find_in_rank(&meetings, plan, rank);
    }
    iwi_meetings_release(&meetings);
    return status;
}
