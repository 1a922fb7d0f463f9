/* What the window engine knows of a schedule before it runs: successors, phases, and how long windows are.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/window/window_plan.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/net/cost.h"
#include "core/noise/stream.h"

/* ---- how far ranks can look ahead ---- */

/* From the start of a send until others can learn of it; and, by rendezvous, from the posting of its receive
 * until the sender can. At any level of the network: which one is not asked. */
static iw_time reach_of(const iw_net *net, iw_rendezvous rendezvous, const struct iwi_node *send)
{
    iw_time least = IWI_LATEST;

    for (uint32_t level = 0; level <= net->inner_count; level++) {
        const struct iwi_cost cost = iwi_cost_of_send(net, level, send);
        const iw_time seen = cost.is_rendezvous
                                 ? iwi_min(cost.send_cpu + iwi_cost_notice(cost.costs, rendezvous),
                                           iwi_cost_handshake(cost.costs, rendezvous))
                                 : cost.send_cpu + cost.wire;

        least = iwi_min(least, seen);
    }
    return least;
}

/* What all sends of a schedule have in common. */
struct survey {
    iw_time lookahead;  /* of all messages the least; IWI_LATEST where there are none */
    uint64_t immediate; /* the first that others may learn of at once, UINT64_MAX: none */
};

static bool is_rendezvous(const iw_net *net, const struct iwi_node *send)
{
    return send->amount > net->S_bytes || (send->flags & IWI_NODE_SYNCHRONOUS) != 0;
}

/* A large message takes longer than a small one, but where the network has segments. */
static bool has_segments(const iw_net *net)
{
    bool has = net->costs.segment_count > 0;

    for (uint32_t i = 0; i < net->inner_count; i++) {
        has |= net->inner[i].costs.segment_count > 0;
    }
    return has;
}

static struct survey survey_of(const struct iwi_schedule *schedule, const iw_net *net,
                               iw_rendezvous rendezvous)
{
    struct survey survey = {IWI_LATEST, UINT64_MAX};
    uint64_t least[2] = {UINT64_MAX, UINT64_MAX}; /* bytes: eager, and by rendezvous */
    const bool all_count = has_segments(net);

    for (uint64_t node = 0; node < schedule->first_node[schedule->ranks]; node++) {
        const struct iwi_node *op = &schedule->nodes[node];
        uint64_t *most = &least[is_rendezvous(net, op)];
        iw_time reach;

        if (op->kind == IWI_SEND && (op->amount < *most || all_count)) {
            *most = op->amount;
            reach = reach_of(net, rendezvous, op);
            survey.lookahead = iwi_min(survey.lookahead, reach);
            survey.immediate = reach < 1 && survey.immediate == UINT64_MAX ? node : survey.immediate;
        }
    }
    return survey;
}

/* UINT64_MAX: no send has any tag. */
static uint64_t first_open_tag(const struct iwi_schedule *schedule)
{
    for (uint64_t node = 0; node < schedule->first_node[schedule->ranks]; node++) {
        if (schedule->nodes[node].kind == IWI_SEND && schedule->nodes[node].tag == IWI_ANY) {
            return node;
        }
    }
    return UINT64_MAX;
}

static bool has_large_rank(const struct iwi_schedule *schedule)
{
    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        const uint64_t first = schedule->first_node[rank], end = schedule->first_node[rank + 1];

        if (end - first >= UINT32_MAX / 2 ||
            schedule->first_dep[end] - schedule->first_dep[first] >= UINT32_MAX) {
            return true;
        }
    }
    return false;
}

const char *iwi_window_refusal(const struct iwi_schedule *schedule, const iw_net *net, uint64_t *node_p)
{
    *node_p = UINT64_MAX;
    if (schedule->is_in_order) {
        return "the schedule is a program with waits";
    }
    if (iwi_net_has_queues(net)) {
        return "messages wait for NICs in the order of time";
    }
    if (has_large_rank(schedule)) {
        return "a rank has more than 2^31 operations";
    }
    *node_p = first_open_tag(schedule);
    return *node_p == UINT64_MAX ? NULL : "a send has any tag";
}

static const char *say_immediate(const iw_net *net, iw_rendezvous rendezvous, const struct iwi_node *send)
{
    return rendezvous == IW_RENDEZVOUS_IDEAL && is_rendezvous(net, send) &&
                   reach_of(net, IW_RENDEZVOUS_RTS_CTS, send) > 0
               ? "in the order of time: senders learn at once that a receive is posted (ideal rendezvous)"
               : "in the order of time: messages take no time";
}

/* ---- what follows what ---- */

static void list_successors(struct iwi_window_plan *plan, uint32_t rank)
{
    const struct iwi_schedule *schedule = plan->schedule;
    const uint64_t first = schedule->first_node[rank], end = schedule->first_node[rank + 1];
    uint32_t *first_successor = plan->first_successor + first;
    uint32_t *successors = plan->successors + schedule->first_dep[first];
    const uint32_t base = (uint32_t)schedule->first_dep[first];
    uint32_t position = base;

    for (uint64_t d = schedule->first_dep[first]; d < schedule->first_dep[end]; d++) {
        first_successor[schedule->deps[d].node]++;
    }
    for (uint64_t node = 0; node < end - first; node++) { /* from counts to ends */
        position += first_successor[node];
        first_successor[node] = position;
    }
    for (uint64_t node = end; node-- > first;) { /* ends move down to beginnings */
        for (uint64_t d = schedule->first_dep[node]; d < schedule->first_dep[node + 1]; d++) {
            const struct iwi_dep dep = schedule->deps[d];

            successors[--first_successor[dep.node] - base] = 2 * (uint32_t)(node - first) + dep.is_start;
        }
    }
}

static void note_look(struct iwi_window_looks *looks, uint32_t peer, uint32_t tag)
{
    const enum iwi_window_look look = iwi_window_look_of(peer, tag);

    looks->all |= (uint8_t)(1 << look);
    looks->tags |= (uint64_t)(look == IWI_LOOK_ANY_SOURCE) << tag % 64;
    looks->sources |= (uint64_t)(look == IWI_LOOK_ANY_TAG) << peer % 64;
}

static void describe(struct iwi_window_plan *plan, const iw_net *net, uint32_t rank)
{
    const struct iwi_schedule *schedule = plan->schedule;

    for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
        const struct iwi_node *op = &schedule->nodes[node];
        const bool is_phase = op->kind == IWI_CALC && (op->flags & IWI_NODE_PHASE) != 0;

        plan->phase_bits[node / 64] |= (uint64_t)is_phase << node % 64;
        plan->has_rendezvous |= op->kind == IWI_SEND && is_rendezvous(net, op);
        if (op->kind == IWI_RECV) {
            note_look(&plan->looks[rank], op->peer, op->tag);
        }
    }
}

iw_status iwi_window_plan_new(const iw_log *log, const struct iwi_schedule *schedule, const iw_net *net,
                              iw_rendezvous rendezvous, struct iwi_window_plan **plan_p)
{
    const size_t nodes = (size_t)schedule->first_node[schedule->ranks];
    struct iwi_window_plan *plan = iwi_new_array(log, 1, sizeof *plan);
    struct survey survey;

    if (plan == NULL ||
        (plan->first_successor = iwi_new_array(log, nodes + 1, sizeof *plan->first_successor)) == NULL ||
        (plan->phase_bits = iwi_new_array(log, nodes / 64 + 1, sizeof *plan->phase_bits)) == NULL ||
        (plan->phase_counts = iwi_new_array(log, nodes / 64 + 1, sizeof *plan->phase_counts)) == NULL ||
        (plan->looks = iwi_new_array(log, schedule->ranks, sizeof *plan->looks)) == NULL ||
        (plan->partners = iwi_new_array(log, nodes, sizeof *plan->partners)) == NULL ||
        (plan->successors =
             iwi_new_array(log, (size_t)schedule->first_dep[nodes], sizeof *plan->successors)) == NULL) {
        iwi_window_plan_free(plan);
        return IW_ERR_NOMEM;
    }
    plan->schedule = schedule;
    survey = survey_of(schedule, net, rendezvous);
    plan->lookahead = survey.lookahead;
    plan->immediate_node = survey.immediate;
    plan->immediate = survey.immediate == UINT64_MAX
                          ? NULL
                          : say_immediate(net, rendezvous, &schedule->nodes[survey.immediate]);
    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        describe(plan, net, rank);
        list_successors(plan, rank);
    }
    plan->first_successor[nodes] = (uint32_t)schedule->first_dep[nodes];
    for (size_t i = 1; i <= nodes / 64; i++) {
        plan->phase_counts[i] =
            plan->phase_counts[i - 1] + (uint32_t)__builtin_popcountll(plan->phase_bits[i - 1]);
    }
    if (iwi_window_find_partners(log, plan) != IW_OK) {
        iwi_window_plan_free(plan);
        return IW_ERR_NOMEM;
    }
    *plan_p = plan;
    return IW_OK;
}

void iwi_window_plan_free(struct iwi_window_plan *plan)
{
    if (plan != NULL) {
        free(plan->first_successor);
        free(plan->phase_bits);
        free(plan->phase_counts);
        free(plan->looks);
        free(plan->successors);
        free(plan->partners);
        free(plan);
    }
}
