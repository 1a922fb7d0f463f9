/* The flow engine on patterns: round after round over all active ranks, nothing stored per message.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each round has two passes: all ranks post and send; then all ranks wait. What a rank's wait needs of others
 * (when their sends' CPU parts ended, when their receives were posted) is known after the first pass.
 */
#include "core/base/base.h"
#include "core/sim/flow/flow_exchange.h"
#include "core/sim/flow/flow_grid.h"
#include "core/sim/flow/flow_ring.h"
#include "core/sim/flow/flow_round.h"
#include "core/sim/flow/flow_state.h"

/* First pass: post the receives, issue the sends. */
IWI_STEP void post_and_send(struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t rank,
                            const bool is_explaining)
{
    const struct iwi_role role = round_part_of(flow, run, rank);
    const uint32_t world = round_world_rank(run, rank);
    const size_t base = iwi_flow_at(flow, world);

    if (run->has_rendezvous) {
        if (is_explaining) {
            flow->posted_path[base] = flow->cpu_path[base];
        }
        for (uint32_t lane = 0; lane < flow->lanes; lane++) {
            flow->posted[base + lane] = step_post(
                flow, world, base + lane, is_explaining ? &flow->posted_path[base] : NULL, is_explaining);
        }
    }
    for (uint32_t s = 0; s < role.send_count; s++) {
        const struct iwi_cost *cost = round_cost(flow, run, world, &role.sends[s]);

        for (uint32_t lane = 0; lane < flow->lanes; lane++) {
            const size_t at = round_slot_at(flow, run, s, rank, lane);

            step_send(flow, world, round_world_rank(run, role.sends[s].peer), base + lane, cost,
                      &flow->slots[at], is_explaining ? &flow->slot_path[at] : NULL, is_explaining);
        }
    }
}

/* When one message to `rank` was on the wire, and by which path, if explaining. */
IWI_STEP iw_time departure(struct iwi_flow *flow, const struct iwi_round_run *run, const struct iwi_msg *recv,
                           const struct iwi_cost *cost, uint32_t rank, uint32_t lane, uint32_t *path,
                           const bool is_explaining)
{
    const size_t at = round_slot_at(flow, run, recv->slot, recv->peer, lane);
    const size_t i = round_state_at(flow, run, rank) + lane;

    if (cost->is_rendezvous) {
        return step_transfer_start(flow, cost, flow->slots[at], is_explaining ? flow->slot_path[at] : 0,
                                   flow->posted[i], is_explaining ? flow->posted_path[i] : 0, path,
                                   is_explaining);
    }
    if (is_explaining) {
        *path = flow->slot_path[at];
    }
    return flow->slots[at];
}

IWI_STEP void wait_for_receives(struct iwi_flow *flow, const struct iwi_round_run *run,
                                const struct iwi_role *role, uint32_t rank, uint32_t lane,
                                const bool is_explaining)
{
    const uint32_t world = round_world_rank(run, rank);
    const size_t i = iwi_flow_at(flow, world) + lane;

    for (uint32_t r = 0; r < role->recv_count; r++) {
        const struct iwi_cost *cost = round_cost(flow, run, world, &role->recvs[r]);

        flow->arrivals[r].time =
            departure(flow, run, &role->recvs[r], cost, rank, lane, NULL, false) + cost->wire;
        flow->arrivals[r].index = r;
    }
    if (role->recv_count > 1) {
        iwi_sort_arrivals(flow->arrivals, role->recv_count);
    }
    for (uint32_t r = 0; r < role->recv_count; r++) {
        const struct iwi_msg *recv = &role->recvs[flow->arrivals[r].index];
        const struct iwi_cost *cost = round_cost(flow, run, world, recv);
        uint32_t path = 0;

        if (is_explaining) {
            (void)departure(flow, run, recv, cost, rank, lane, &path, true);
        }
        step_receive(flow, world, i, cost, flow->arrivals[r].time, path, is_explaining);
    }
}

IWI_STEP void wait_for_sends(struct iwi_flow *flow, const struct iwi_round_run *run,
                             const struct iwi_role *role, uint32_t rank, uint32_t lane,
                             const bool is_explaining)
{
    const size_t i = round_state_at(flow, run, rank) + lane;

    for (uint32_t s = 0; s < role->send_count; s++) {
        const struct iwi_cost *cost = round_cost(flow, run, round_world_rank(run, rank), &role->sends[s]);
        const size_t at = round_slot_at(flow, run, s, rank, lane);
        const size_t peer = round_state_at(flow, run, role->sends[s].peer) + lane;

        if (cost->is_rendezvous) {
            uint32_t path = 0;
            const iw_time transfer = step_transfer_start(
                flow, cost, flow->slots[at], is_explaining ? flow->slot_path[at] : 0, flow->posted[peer],
                is_explaining ? flow->posted_path[peer] : 0, &path, is_explaining);

            if (is_explaining && step_is_late_receive(flow, cost, flow->slots[at], flow->posted[peer])) {
                path = step_part(flow, cost, path, IWI_MESSAGE_LATE_RECEIVE);
            }
            step_send_done(flow, i, cost, transfer, path, is_explaining);
        }
    }
}

/* Second pass: wait for all, then reduce and work. */
IWI_STEP void wait_and_work(struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t rank,
                            const bool is_explaining)
{
    const struct iwi_role role = round_part_of(flow, run, rank);
    const uint32_t world = round_world_rank(run, rank);
    const iw_time reduce =
        role.reduce_bytes > 0 ? iwi_bytes_cost(flow->job->program->reduce, role.reduce_bytes) : 0;

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        wait_for_receives(flow, run, &role, rank, lane, is_explaining);
        if (run->has_rendezvous) {
            wait_for_sends(flow, run, &role, rank, lane, is_explaining);
        }
        if (reduce > 0) {
            step_local_work(flow, world, iwi_flow_at(flow, world) + lane, reduce, is_explaining);
        }
    }
    if (role.is_phase) {
        iwi_flow_phase(flow, world, run->phase, role.work_ps);
    }
}

typedef void (*rank_pass)(struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t rank);

static void send_plain(struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t rank)
{
    post_and_send(flow, run, rank, false);
}

static void send_explaining(struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t rank)
{
    post_and_send(flow, run, rank, true);
}

static void wait_plain(struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t rank)
{
    wait_and_work(flow, run, rank, false);
}

static void wait_explaining(struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t rank)
{
    wait_and_work(flow, run, rank, true);
}

static void for_each_active(struct iwi_flow *flow, const struct iwi_round_run *run, rank_pass pass)
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

/* Some message of this operation may be larger than S. */
static bool may_rendezvous(const struct iwi_flow *flow, const struct iwi_operation *op)
{
    const uint64_t S_bytes = flow->job->net->S_bytes;

    return op->bytes > S_bytes / iwi_operation_most_blocks(op) || S_bytes == 0;
}

/* Rounds index ... end - 1 stream, all of them eager or all by rendezvous, which needs a network without
 * levels; returns end. */
static uint64_t streaming_until(const struct iwi_flow *flow, const struct iwi_operation *op, uint64_t index,
                                uint64_t round_count)
{
    const uint64_t S_bytes = flow->job->net->S_bytes;
    struct iwi_round first, round;
    uint64_t end = index;

    op->algorithm->round(op, index, &first);
    for (round = first; end < round_count && iwi_flow_streams(flow->job, &round) &&
                        (round.bytes > S_bytes) == (first.bytes > S_bytes) &&
                        (round.bytes <= S_bytes || flow->job->levels.count == 0);) {
        if (++end < round_count) {
            op->algorithm->round(op, end, &round);
        }
    }
    return end;
}

/* Where ranks of the operation may be that are evaluated here. Replica q of a group is somewhere in ranks
 * offset + q * base and on, so those of a block are some replicas, of which the first and the last may be
 * partly elsewhere. */
static void find_own(const struct iwi_flow *flow, struct iwi_round_run *run)
{
    const struct iwi_flow_group *group = run->group;
    const uint64_t first = flow->first_rank, end = first + flow->ranks;

    run->own_first = 0;
    run->own_end = flow->is_alike ? flow->ranks : run->op->ranks;
    if (flow->partition != NULL && group == NULL) {
        run->own_first = flow->first_rank;
        run->own_end = flow->first_rank + flow->ranks;
    } else if (flow->partition != NULL) {
        const uint64_t low = first < group->offset ? 0 : (first - group->offset) / group->base;
        const uint64_t high = end <= group->offset ? 0 : (end - 1 - group->offset) / group->base + 1;

        run->own_end = (uint32_t)iwi_min((int64_t)(high * group->count), run->op->ranks);
        run->own_first = (uint32_t)iwi_min((int64_t)(low * group->count), run->own_end);
    }
}

static iw_status run_round(struct iwi_flow *flow, const struct iwi_round_run *run)
{
    const bool is_explaining = flow->job->split != NULL;

    if (run->group == NULL && run->round.is_pairs && run->round.bytes <= flow->job->net->S_bytes &&
        !is_explaining) {
        return iwi_flow_pairs(flow, &run->round);
    }
    if (run->group == NULL && iwi_flow_is_all_to_all(flow, &run->round)) {
        return iwi_flow_all_to_all(flow, run->op->ranks, &run->round);
    }
    IW_TRY(iwi_flow_reserve(flow, run->own_end - run->own_first, run->round.fan, run->has_rendezvous));
    if (iwi_flow_is_grid(flow, run)) {
        return iwi_flow_grid(flow, run);
    }
    if (flow->partition != NULL) {
        return iwi_exchange_round(flow, run);
    }
    for_each_active(flow, run, is_explaining ? send_explaining : send_plain);
    for_each_active(flow, run, is_explaining ? wait_explaining : wait_plain);
    return IW_OK;
}

iw_status iwi_flow_operation(struct iwi_flow *flow, const struct iwi_operation *op,
                             const struct iwi_flow_group *group, uint64_t phase)
{
    const uint64_t round_count = op->algorithm->round_count(op), begin = flow->start.round;
    struct iwi_round_run run = {
        .op = op, .group = group, .phase = phase, .has_rendezvous = may_rendezvous(flow, op)};

    if (iwi_flow_is_sweep(flow, op, group)) {
        IW_TRY(iwi_flow_sweep(flow, op, phase));
        return iwi_flow_visit(flow, round_count, 0);
    }
    if (group == NULL && iwi_flow_is_node_rings(flow, op)) {
        return iwi_flow_node_rings(flow, op);
    }
    flow->start.round = 0;
    find_own(flow, &run);
    for (uint64_t index = begin; index < round_count; index++) {
        struct iwi_ring ring;

        if (iwi_ring_find(flow, op, group, index, round_count, &ring)) {
            IW_TRY(iwi_flow_ring(flow, group, &ring));
            index = ring.end - 1;
            continue;
        }
        const uint64_t end = group == NULL ? streaming_until(flow, op, index, round_count) : index;

        if (end > index) {
            IW_TRY(iwi_flow_stream(flow, op, index, end));
            IW_TRY(iwi_flow_visit(flow, end, 0));
            index = end - 1;
            continue;
        }
        op->algorithm->round(op, index, &run.round);
        run.index = index;
        IW_TRY(run_round(flow, &run));
        IW_TRY(iwi_flow_keep_paths(flow));
        IW_TRY(iwi_tick(flow->job->ticker, op->ranks == flow->job->program->ranks ? 1 : 0));
        IW_TRY(iwi_flow_visit(flow, index + 1, 0));
    }
    return IW_OK;
}

/* Compute phases of one repetition before its operation `end`. */
static uint64_t phases_of(const iw_program *program, uint64_t end)
{
    uint64_t phases = iwi_program_starts_with_phase(program);

    for (uint64_t k = 0; k < end; k++) {
        phases += program->operations[k].algorithm->places_compute;
    }
    return phases;
}

iw_status iwi_flow_pattern(struct iwi_flow *flow)
{
    const iw_program *program = flow->job->program;
    const struct iwi_position start = flow->start;
    bool is_behind_phase = start.round > 0 || start.pass > 0; /* points are behind some round or pass */
    uint64_t phase = start.repetition * phases_of(program, program->operation_count);

    for (uint64_t repetition = start.repetition; repetition < program->repeat; repetition++) {
        const uint64_t first = repetition == start.repetition ? start.operation : 0;

        if (is_behind_phase) {
            phase += phases_of(program, first);
            is_behind_phase = false;
        } else if (iwi_program_starts_with_phase(program)) {
            iwi_flow_phase_all(flow, phase++, program->compute_ps);
        }
        for (size_t k = first; k < program->operation_count; k++) {
            flow->at = (struct iwi_position){.repetition = repetition, .operation = k};
            flow->is_first_operation = repetition == 0 && k == 0;
            flow->is_last_operation = repetition + 1 == program->repeat && k + 1 == program->operation_count;
            IW_TRY(iwi_flow_operation(flow, &program->operations[k], NULL, phase));
            phase += program->operations[k].algorithm->places_compute ? 1 : 0;
        }
    }
    return IW_OK;
}
