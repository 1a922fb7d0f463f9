/* One round of an operation in the flow engine, rank by rank.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_ROUND_H
#define IWI_FLOW_ROUND_H

#include "core/sim/flow/flow_step.h"

struct iwi_round_run {
    const struct iwi_operation *op;
    const struct iwi_flow_group *group; /* NULL: rank r of the operation is rank r of the program */
    uint64_t index, phase;
    struct iwi_round round;
    bool has_rendezvous;
    uint32_t own_first, own_end; /* only ranks of the operation among these may be evaluated here */
};

/* Ranks are the operation's; round_state_at() tells where the rank of the program has its times. */
IWI_STEP size_t round_slot_at(const struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t slot,
                              uint32_t rank, uint32_t lane)
{
    return (((size_t)slot * (run->own_end - run->own_first) + (rank - run->own_first)) << flow->lane_shift) +
           lane;
}

IWI_STEP uint32_t round_world_rank(const struct iwi_round_run *run, uint32_t rank)
{
    return run->group == NULL ? rank : iwi_flow_group_rank(run->group, rank);
}

IWI_STEP size_t round_state_at(const struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t rank)
{
    return iwi_flow_at(flow, round_world_rank(run, rank));
}

/* Of a message of `world`, a rank of the program, with a peer, a rank of the operation. */
IWI_STEP const struct iwi_cost *round_cost(struct iwi_flow *flow, const struct iwi_round_run *run,
                                           uint32_t world, const struct iwi_msg *message)
{
    return flow_cost(flow, world, round_world_rank(run, message->peer), message->bytes);
}

IWI_STEP struct iwi_role round_part_of(struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t rank)
{
    struct iwi_role role = {.sends = flow->sends, .recvs = flow->recvs};

    run->op->algorithm->role(run->op, run->index, rank, &role);
    return role;
}

#endif
