/* The flow engine on patterns: round after round over all active ranks, nothing stored per message.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each round has two passes: all ranks post and send; then all ranks wait. What a rank's wait needs of others
 * (when their sends' CPU parts ended, when their receives were posted) is known after the first pass.
 */
#include "base/base.h"
#include "sim/flow_step.h"

struct round_run {
    const struct iwi_operation *op;
    const struct iwi_flow_group *group; /* NULL: rank r of the operation is rank r of the program */
    uint64_t index, phase;
    struct iwi_round round;
    bool has_rendezvous;
};

/* Ranks are the operation's; state_at() tells where the rank of the program has its times. */
IWI_STEP size_t slot_at(const struct iwi_flow *flow, const struct round_run *run, uint32_t slot,
                        uint32_t rank, uint32_t lane)
{
    return (((size_t)slot * run->op->ranks + rank) << flow->lane_shift) + lane;
}

IWI_STEP uint32_t world_rank(const struct round_run *run, uint32_t rank)
{
    return run->group == NULL ? rank : iwi_flow_group_rank(run->group, rank);
}

IWI_STEP size_t state_at(const struct iwi_flow *flow, const struct round_run *run, uint32_t rank)
{
    return (size_t)world_rank(run, rank) << flow->lane_shift;
}

IWI_STEP struct iwi_part part_of(struct iwi_flow *flow, const struct round_run *run, uint32_t rank)
{
    struct iwi_part part = {.sends = flow->sends, .recvs = flow->recvs};

    run->op->algorithm->part(run->op, run->index, rank, &part);
    return part;
}

/* First pass: post the receives, issue the sends. */
IWI_STEP void post_and_send(struct iwi_flow *flow, const struct round_run *run, uint32_t rank,
                            const bool is_explaining)
{
    const struct iwi_part part = part_of(flow, run, rank);
    const uint32_t world = world_rank(run, rank);
    const size_t base = (size_t)world << flow->lane_shift;

    if (run->has_rendezvous) {
        for (uint32_t lane = 0; lane < flow->lanes; lane++) {
            flow->posted[base + lane] = flow->cpu[base + lane];
        }
        if (is_explaining) {
            flow->posted_split[base] = flow->cpu_split[base];
        }
    }
    for (uint32_t s = 0; s < part.send_count; s++) {
        const struct iwi_cost *cost = flow_cost(flow, part.sends[s].bytes);

        for (uint32_t lane = 0; lane < flow->lanes; lane++) {
            const size_t at = slot_at(flow, run, s, rank, lane);

            step_send(flow, world, base + lane, cost, &flow->slots[at],
                      is_explaining ? &flow->slot_split[at] : NULL, is_explaining);
        }
    }
}

/* Arrival of one message at `rank`; `split` is set if explaining. */
IWI_STEP iw_time arrival_of(struct iwi_flow *flow, const struct round_run *run, const struct iwi_msg *recv,
                            uint32_t rank, uint32_t lane, iw_split *split, const bool is_explaining)
{
    const struct iwi_cost *cost = flow_cost(flow, recv->bytes);
    const size_t at = slot_at(flow, run, recv->slot, recv->peer, lane);
    const size_t i = state_at(flow, run, rank) + lane;
    iw_time left = flow->slots[at];

    if (cost->is_rendezvous) {
        left = step_transfer_start(flow, left, is_explaining ? &flow->slot_split[at] : NULL, flow->posted[i],
                                   is_explaining ? &flow->posted_split[i] : NULL, split, is_explaining);
    } else if (is_explaining) {
        *split = flow->slot_split[at];
    }
    if (is_explaining) {
        step_onto_wire(cost, split);
    }
    return left + cost->wire;
}

IWI_STEP void wait_for_receives(struct iwi_flow *flow, const struct round_run *run,
                                const struct iwi_part *part, uint32_t rank, uint32_t lane,
                                const bool is_explaining)
{
    const uint32_t world = world_rank(run, rank);
    const size_t i = ((size_t)world << flow->lane_shift) + lane;
    iw_split split;

    for (uint32_t r = 0; r < part->recv_count; r++) {
        flow->arrivals[r].time = arrival_of(flow, run, &part->recvs[r], rank, lane, &split, is_explaining);
        flow->arrivals[r].index = r;
    }
    if (part->recv_count > 1) {
        iwi_sort_arrivals(flow->arrivals, part->recv_count);
    }
    for (uint32_t r = 0; r < part->recv_count; r++) {
        const struct iwi_msg *recv = &part->recvs[flow->arrivals[r].index];

        if (is_explaining) {
            (void)arrival_of(flow, run, recv, rank, lane, &split, true);
        }
        step_receive(flow, world, i, flow_cost(flow, recv->bytes), flow->arrivals[r].time, &split,
                     is_explaining);
    }
}

IWI_STEP void wait_for_sends(struct iwi_flow *flow, const struct round_run *run, const struct iwi_part *part,
                             uint32_t rank, uint32_t lane, const bool is_explaining)
{
    const size_t i = state_at(flow, run, rank) + lane;
    iw_split split;

    for (uint32_t s = 0; s < part->send_count; s++) {
        const struct iwi_cost *cost = flow_cost(flow, part->sends[s].bytes);
        const size_t at = slot_at(flow, run, s, rank, lane);
        const size_t peer = state_at(flow, run, part->sends[s].peer) + lane;

        if (cost->is_rendezvous) {
            const iw_time transfer = step_transfer_start(
                flow, flow->slots[at], is_explaining ? &flow->slot_split[at] : NULL, flow->posted[peer],
                is_explaining ? &flow->posted_split[peer] : NULL, &split, is_explaining);

            if (is_explaining) {
                split.hops += step_is_late_receive(flow, flow->slots[at], flow->posted[peer]);
            }
            step_send_done(flow, i, cost, transfer, &split, is_explaining);
        }
    }
}

/* Second pass: wait for all, then reduce and work. */
IWI_STEP void wait_and_work(struct iwi_flow *flow, const struct round_run *run, uint32_t rank,
                            const bool is_explaining)
{
    const struct iwi_part part = part_of(flow, run, rank);
    const uint32_t world = world_rank(run, rank);
    const iw_time reduce =
        part.reduce_bytes > 0 ? iwi_bytes_cost(flow->job->program->reduce, part.reduce_bytes) : 0;

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        wait_for_receives(flow, run, &part, rank, lane, is_explaining);
        if (run->has_rendezvous) {
            wait_for_sends(flow, run, &part, rank, lane, is_explaining);
        }
        if (reduce > 0) {
            step_local_work(flow, world, ((size_t)world << flow->lane_shift) + lane, reduce, is_explaining);
        }
    }
    if (part.is_phase) {
        iwi_flow_phase(flow, world, run->phase, part.work_ps);
    }
}

typedef void (*rank_pass)(struct iwi_flow *flow, const struct round_run *run, uint32_t rank);

static void send_plain(struct iwi_flow *flow, const struct round_run *run, uint32_t rank)
{
    post_and_send(flow, run, rank, false);
}

static void send_explaining(struct iwi_flow *flow, const struct round_run *run, uint32_t rank)
{
    post_and_send(flow, run, rank, true);
}

static void wait_plain(struct iwi_flow *flow, const struct round_run *run, uint32_t rank)
{
    wait_and_work(flow, run, rank, false);
}

static void wait_explaining(struct iwi_flow *flow, const struct round_run *run, uint32_t rank)
{
    wait_and_work(flow, run, rank, true);
}

static void for_each_active(struct iwi_flow *flow, const struct round_run *run, rank_pass pass)
{
    const int64_t ranks = run->op->ranks;

    for (uint32_t k = 0; k < run->round.range_count; k++) {
        const struct iwi_range *range = &run->round.active[k];
        const int64_t stride = (range->stride % ranks + ranks) % ranks;
        int64_t rank = range->first;

        for (uint32_t n = 0; n < range->count; n++) {
            pass(flow, run, (uint32_t)rank);
            rank += stride;
            rank -= rank >= ranks ? ranks : 0;
        }
    }
}

bool iwi_flow_streams(const struct iwi_job *job, const struct iwi_round *round)
{
    return (round->is_shift || round->is_flip) && job->split == NULL &&
           !(job->steps != NULL && job->has_few_steps);
}

/* Some message of this operation may be larger than S. */
static bool may_rendezvous(const struct iwi_flow *flow, const struct iwi_operation *op)
{
    const uint64_t S_bytes = flow->job->net->S_bytes;

    return op->bytes > (iwi_operation_joins_blocks(op) ? S_bytes / op->ranks : S_bytes) || S_bytes == 0;
}

/* Rounds index ... end - 1 stream, all of them eager or all by rendezvous; returns end. */
static uint64_t streaming_until(const struct iwi_flow *flow, const struct iwi_operation *op, uint64_t index,
                                uint64_t round_count)
{
    const uint64_t S_bytes = flow->job->net->S_bytes;
    struct iwi_round first, round;
    uint64_t end = index;

    op->algorithm->round(op, index, &first);
    for (round = first; end < round_count && iwi_flow_streams(flow->job, &round) &&
                        (round.bytes > S_bytes) == (first.bytes > S_bytes);) {
        if (++end < round_count) {
            op->algorithm->round(op, end, &round);
        }
    }
    return end;
}

iw_status iwi_flow_operation(struct iwi_flow *flow, const struct iwi_operation *op,
                             const struct iwi_flow_group *group, uint64_t phase)
{
    const bool is_explaining = flow->job->split != NULL;
    const uint64_t round_count = op->algorithm->round_count(op);
    struct round_run run = {
        .op = op, .group = group, .phase = phase, .has_rendezvous = may_rendezvous(flow, op)};

    for (uint64_t index = 0; index < round_count; index++) {
        const uint64_t end = group == NULL ? streaming_until(flow, op, index, round_count) : index;

        if (end > index) {
            IW_TRY(iwi_flow_stream(flow, op, index, end));
            index = end - 1;
            continue;
        }
        op->algorithm->round(op, index, &run.round);
        iwi_tick(op->ranks == flow->ranks ? flow->job->ticker : NULL, 1);
        if (group == NULL && run.round.is_pairs && run.round.bytes <= flow->job->net->S_bytes &&
            !is_explaining) {
            iwi_flow_pairs(flow, &run.round);
            continue;
        }
        run.index = index;
        IW_TRY(iwi_flow_reserve(flow, op->ranks, run.round.fan, run.has_rendezvous));
        for_each_active(flow, &run, is_explaining ? send_explaining : send_plain);
        for_each_active(flow, &run, is_explaining ? wait_explaining : wait_plain);
    }
    return IW_OK;
}

iw_status iwi_flow_pattern(struct iwi_flow *flow)
{
    const iw_program *program = flow->job->program;
    uint64_t phase = 0;

    for (uint64_t repetition = 0; repetition < program->repeat; repetition++) {
        if (iwi_program_starts_with_phase(program)) {
            for (uint32_t rank = 0; rank < flow->ranks; rank++) {
                iwi_flow_phase(flow, rank, phase, program->compute_ps);
            }
            phase++;
        }
        for (size_t k = 0; k < program->operation_count; k++) {
            flow->is_last_operation = repetition + 1 == program->repeat && k + 1 == program->operation_count;
            IW_TRY(iwi_flow_operation(flow, &program->operations[k], NULL, phase));
            phase += program->operations[k].algorithm->places_compute ? 1 : 0;
        }
    }
    return IW_OK;
}
