/* Whether a run can only end later for more noise.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It can where every time is a sum or a maximum of times that noise only delays: finish(t, d) does not
 * decrease with t nor with what is busy. The exceptions, which choose by time what comes first or share
 * what others leave, are listed in docs/explanation/semantics.md, 9.
 */
#include "core/sim/monotone.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/net/cost.h"
#include "core/net/memory.h"
#include "core/program/trace_program.h"
#include "core/sim/flow/flow_match.h"

/* On a network with levels messages of one size have different gaps: waits for several are uneven. Whether
 * those of a wait do meet at different levels is not looked at. */
static bool has_uneven_levels(const iw_net *net)
{
    return net->inner_count > 0;
}

/* Who is disturbed leaves more of the bandwidth to others. */
static bool shares_memory(const iw_program *program, const iw_net *net)
{
    return program->compute_bytes > 0 && net->memory.ranks > 0 &&
           iwi_memory_saturates(&net->memory, program->ranks);
}

/* ---- rounds ---- */

/* Scratch for the part of one rank in a round. */
struct room {
    bool has_levels;
    struct iwi_msg *sends, *recvs;
    size_t send_capacity, recv_capacity;
};

/* A round is one wait: its receives are to be of one size. */
static bool is_part_even(const struct iwi_role *role)
{
    for (uint32_t i = 1; i < role->recv_count; i++) {
        if (role->recvs[i].bytes != role->recvs[0].bytes) {
            return false;
        }
    }
    return true;
}

static bool is_round_even(const struct iwi_operation *op, uint64_t index, const struct iwi_round *round,
                          const struct room *room)
{
    for (uint32_t a = 0; a < round->range_count; a++) {
        for (uint32_t i = 0; i < round->active[a].count; i++) {
            struct iwi_role role = {.sends = room->sends, .recvs = room->recvs};

            op->algorithm->role(op, index, iwi_range_rank(&round->active[a], op->ranks, i), &role);
            if (!is_part_even(&role)) {
                return false;
            }
        }
    }
    return true;
}

static iw_status check_operation(const iw_log *log, const struct iwi_operation *op, struct room *room,
                                 bool *is_even_p)
{
    const uint64_t round_count = op->algorithm->round_count(op);

    for (uint64_t index = 0; index < round_count && *is_even_p; index++) {
        struct iwi_round round;

        op->algorithm->round(op, index, &round);
        if (round.fan > 1) {
            IW_TRY(
                iwi_grow(log, (void **)&room->sends, &room->send_capacity, round.fan, sizeof *room->sends));
            IW_TRY(
                iwi_grow(log, (void **)&room->recvs, &room->recv_capacity, round.fan, sizeof *room->recvs));
            *is_even_p = !room->has_levels && is_round_even(op, index, &round, room);
        }
    }
    return IW_OK;
}

static iw_status check_operations(const iw_log *log, const struct iwi_operation *operations, size_t count,
                                  const iw_net *net, bool *is_even_p)
{
    struct room room = {.has_levels = has_uneven_levels(net)};
    iw_status status = IW_OK;

    for (size_t k = 0; k < count && *is_even_p && status == IW_OK; k++) {
        status = check_operation(log, &operations[k], &room, is_even_p);
    }
    free(room.sends);
    free(room.recvs);
    return status;
}

/* ---- stored operations ---- */

/* `match` tells the sizes of the messages that come; NULL: the receives have them. */
static bool is_wait_even(const struct iwi_schedule *schedule, const struct iwi_match *match,
                         const iw_net *net, uint64_t first, uint64_t wait)
{
    const struct iwi_node *one = NULL;
    uint64_t one_bytes = 0;

    for (uint64_t d = schedule->first_dep[wait]; d < schedule->first_dep[wait + 1]; d++) {
        const uint64_t node = first + schedule->deps[d].node;
        const struct iwi_node *recv = &schedule->nodes[node];
        const uint64_t partner = match == NULL ? UINT64_MAX : match->partner[node];
        const uint64_t bytes = partner == UINT64_MAX ? recv->amount : schedule->nodes[partner].amount;

        if (recv->kind != IWI_RECV) {
            continue;
        }
        if (one != NULL && (recv->nic != one->nic || bytes != one_bytes || has_uneven_levels(net))) {
            return false;
        }
        one = recv;
        one_bytes = bytes;
    }
    return true;
}

static bool are_waits_even(const struct iwi_schedule *schedule, const struct iwi_match *match,
                           const iw_net *net)
{
    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        const uint64_t first = schedule->first_node[rank];

        for (uint64_t node = first; node < schedule->first_node[rank + 1]; node++) {
            if (schedule->nodes[node].kind == IWI_WAIT && !is_wait_even(schedule, match, net, first, node)) {
                return false;
            }
        }
    }
    return true;
}

static iw_status check_schedule(const iw_log *log, const struct iwi_schedule *schedule, const iw_net *net,
                                bool *is_monotone_p)
{
    struct iwi_match *match;

    *is_monotone_p = schedule->is_in_order && !iwi_schedule_facts(schedule).has_wildcards;
    if (*is_monotone_p) {
        IW_TRY(iwi_match_new(log, schedule, &match));
        *is_monotone_p = are_waits_even(schedule, match, net);
        iwi_match_free(match);
    }
    return IW_OK;
}

iw_status iwi_is_monotone(const iw_log *log, const iw_program *program, const iw_net *net, iw_rules rules,
                          iw_sync sync, bool *is_monotone_p)
{
    bool is_monotone = rules == IW_RULES_IDLEWAVE && sync != IW_SYNC_PHASE && !iwi_net_has_queues(net) &&
                       net->noise.series.count == 0 && !shares_memory(program, net);

    if (is_monotone && program->schedule != NULL) {
        IW_TRY(check_schedule(log, program->schedule, net, &is_monotone));
    } else if (is_monotone && program->trace != NULL) {
        is_monotone = are_waits_even(program->trace->schedule, NULL, net);
        IW_TRY(check_operations(log, program->trace->operations, program->trace->operation_count, net,
                                &is_monotone));
    } else if (is_monotone) {
        IW_TRY(check_operations(log, program->operations, program->operation_count, net, &is_monotone));
    }
    *is_monotone_p = is_monotone;
    return IW_OK;
}
