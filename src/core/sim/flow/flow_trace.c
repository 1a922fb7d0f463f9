/* Runs the steps of a trace program, segment after segment, replica after replica.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A member of a team runs the replicas that it has, and its parts of those that are cut (flow_trace_cut.c).
 */
#include "core/sim/flow/flow_trace.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/program/trace_resample.h"
#include "core/sim/flow/flow_step.h"
#include "core/sim/flow/flow_trace_share.h"

/* What runs: all replicas that are here as a whole, one after the other, or a part of one. */
struct trace_run {
    struct iwi_flow *flow;
    const struct iwi_trace_program *program;
    const struct iwi_trace_code *code;
    struct iwi_values *values; /* of parts */
    iw_time *slots;            /* local ones, then those kept for each replica; x lanes */
    iw_split *splits;          /* the same when explaining */
    uint32_t first;            /* rank of the replica that runs */
    size_t kept_shift;         /* from the number of a kept slot to its place for that replica */
};

IWI_STEP size_t slot_at(const struct trace_run *run, uint32_t slot)
{
    const size_t at = slot < run->code->local_slots ? slot : slot + run->kept_shift;

    return at << run->flow->lane_shift;
}

IWI_STEP uint32_t peer_of(const struct trace_run *run, const struct iwi_trace_step *step)
{
    return run->first + (uint32_t)(step->amount >> 32);
}

/* Of the message of a step of `rank`. */
IWI_STEP const struct iwi_cost *cost_of(const struct trace_run *run, const struct iwi_trace_step *step,
                                        uint32_t rank)
{
    const uint32_t size = (uint32_t)step->amount;

    return &run->code->costs[size * run->code->level_count +
                             iwi_level_between(&run->flow->job->levels, rank, peer_of(run, step))];
}

IWI_STEP void post(struct trace_run *run, const struct iwi_trace_step *step, uint32_t rank,
                   const bool is_explaining)
{
    const size_t at = slot_at(run, step->posted);
    const size_t i = iwi_flow_at(run->flow, rank);

    if (is_explaining) {
        step_copy(run->flow, &run->splits[at], &run->flow->cpu_split[i]);
    }
    for (uint32_t lane = 0; lane < run->flow->lanes; lane++) {
        run->slots[at + lane] =
            step_post(run->flow, rank, i + lane, is_explaining ? &run->splits[at] : NULL, is_explaining);
    }
}

IWI_STEP void send(struct trace_run *run, const struct iwi_trace_step *step, uint32_t rank,
                   const bool is_explaining)
{
    const struct iwi_cost *cost = cost_of(run, step, rank);
    const size_t at = slot_at(run, step->sent);
    const size_t i = iwi_flow_at(run->flow, rank);

    for (uint32_t lane = 0; lane < run->flow->lanes; lane++) {
        step_send(run->flow, rank, peer_of(run, step), i + lane, cost, &run->slots[at + lane],
                  is_explaining ? &run->splits[at] : NULL, is_explaining);
    }
}

/* Departure (eager) or start of the transfer (rendezvous) of the step's message. */
IWI_STEP iw_time departure(const struct trace_run *run, const struct iwi_trace_step *step,
                           const struct iwi_cost *cost, uint32_t lane, iw_split *split,
                           const bool is_explaining)
{
    const size_t sent = slot_at(run, step->sent);

    if (step->is_rendezvous) {
        const size_t posted = slot_at(run, step->posted);

        return step_transfer_start(run->flow, cost, run->slots[sent + lane],
                                   is_explaining ? &run->splits[sent] : NULL, run->slots[posted + lane],
                                   is_explaining ? &run->splits[posted] : NULL, split, is_explaining);
    }
    if (is_explaining) {
        step_copy(run->flow, split, &run->splits[sent]);
    }
    return run->slots[sent + lane];
}

IWI_STEP void receive(struct trace_run *run, const struct iwi_trace_step *step, uint32_t rank, uint32_t lane,
                      const bool is_explaining)
{
    const struct iwi_cost *cost = cost_of(run, step, rank);
    iw_split split;
    const iw_time left = departure(run, step, cost, lane, &split, is_explaining);

    if (is_explaining) {
        iwi_path_add_wire(&split, cost);
    }
    step_receive(run->flow, rank, iwi_flow_at(run->flow, rank) + lane, cost, left + cost->wire, &split,
                 is_explaining);
}

/* Several receives of one wait: in the order of arrival, which differs between lanes. */
IWI_STEP void wait_for(struct trace_run *run, const struct iwi_trace_step *receives, uint32_t count,
                       uint32_t rank, const bool is_explaining)
{
    struct iwi_arrival *arrivals = run->flow->arrivals;

    for (uint32_t lane = 0; lane < run->flow->lanes; lane++) {
        for (uint32_t k = 0; k < count; k++) {
            const struct iwi_cost *cost = cost_of(run, &receives[k], rank);

            arrivals[k].time = departure(run, &receives[k], cost, lane, NULL, false) + cost->wire;
            arrivals[k].index = k;
        }
        iwi_sort_arrivals(arrivals, count);
        for (uint32_t k = 0; k < count; k++) {
            receive(run, &receives[arrivals[k].index], rank, lane, is_explaining);
        }
    }
}

IWI_STEP void complete_send(struct trace_run *run, const struct iwi_trace_step *step, uint32_t rank,
                            const bool is_explaining)
{
    struct iwi_flow *flow = run->flow;
    const struct iwi_cost *cost = cost_of(run, step, rank);

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        iw_split split;
        const iw_time transfer = departure(run, step, cost, lane, &split, is_explaining);

        if (is_explaining) {
            split.hops += step_is_late_receive(flow, cost, run->slots[slot_at(run, step->sent)],
                                               run->slots[slot_at(run, step->posted)]);
        }
        step_send_done(flow, iwi_flow_at(flow, rank) + lane, cost, transfer, &split, is_explaining);
    }
}

static iw_status run_group(const struct trace_run *run, uint64_t index)
{
    const struct iwi_trace_collective *collective = &run->program->collectives[index];
    const struct iwi_comm *comm = &run->program->comms[collective->comm];
    const struct iwi_flow_group group = {comm->members, comm->size, run->first, run->program->base};

    return iwi_flow_operation(run->flow, &run->program->operations[collective->operation],
                              comm->members == NULL ? NULL : &group, 0);
}

/* Returns the number of steps done. */
IWI_STEP size_t run_step(struct trace_run *run, const struct iwi_trace_step *step, const bool is_explaining)
{
    struct iwi_flow *flow = run->flow;
    const uint32_t rank = run->first + step->rank;

    switch ((enum iwi_step_kind)step->kind) {
    case IWI_STEP_PHASE:
        iwi_flow_phase(flow, rank, step->sent,
                       iwi_trace_compute(run->program, rank, step->sent, (iw_time)step->amount));
        break;
    case IWI_STEP_WORK:
        for (uint32_t lane = 0; lane < flow->lanes; lane++) {
            step_local_work(flow, rank, iwi_flow_at(flow, rank) + lane, (iw_time)step->amount, is_explaining);
        }
        break;
    case IWI_STEP_POST: post(run, step, rank, is_explaining); break;
    case IWI_STEP_SEND: send(run, step, rank, is_explaining); break;
    case IWI_STEP_RECV:
        for (uint32_t lane = 0; lane < flow->lanes; lane++) {
            receive(run, step, rank, lane, is_explaining);
        }
        break;
    case IWI_STEP_SEND_DONE: complete_send(run, step, rank, is_explaining); break;
    case IWI_STEP_WAIT:
        wait_for(run, step + 1, (uint32_t)step->amount, rank, is_explaining);
        return 1 + (size_t)step->amount;
    default: break; /* run_joint_step()'s */
    }
    return 1;
}

/* Those with others: they can fail. */
static iw_status run_joint_step(struct trace_run *run, const struct iwi_trace_step *step)
{
    const struct iwi_value_slots slots = {run->slots, run->splits};

    switch ((enum iwi_step_kind)step->kind) {
    case IWI_STEP_EMIT: return iwi_values_emit(run->values, step->rank, &slots, step->sent);
    case IWI_STEP_TAKE: return iwi_values_take(run->values, step->rank, step->amount, &slots);
    case IWI_STEP_FLUSH: return iwi_values_flush(run->values);
    default: return run_group(run, step->amount);
    }
}

static iw_status run_replica(struct trace_run *run, uint64_t begin, uint64_t end)
{
    const bool is_explaining = run->flow->job->split != NULL;

    for (uint64_t at = begin; at < end;) {
        const struct iwi_trace_step *step = &run->code->steps[at];

        if (step->kind >= IWI_STEP_COLLECTIVE) {
            IW_TRY(run_joint_step(run, step));
        }
        IW_TRY(iwi_tick_rarely(run->flow->job->ticker, at));
        at += is_explaining ? run_step(run, step, true) : run_step(run, step, false);
    }
    return IW_OK;
}

/* Segment s of each replica that is here as a whole. */
static iw_status run_whole(struct trace_run *run, size_t s)
{
    const struct iwi_flow *flow = run->flow;
    const uint32_t base = run->program->base, begin = iwi_trace_first_whole(flow, base);
    const uint64_t first = s == 0 ? 0 : run->code->segments[s - 1].end, end = run->code->segments[s].end;

    for (uint32_t replica = begin; replica < iwi_trace_end_whole(flow, base) && first < end; replica++) {
        run->first = replica * base;
        run->kept_shift = (size_t)(replica - begin) * run->code->kept_slots;
        IW_TRY(run_replica(run, first, end));
    }
    return IW_OK;
}

static iw_status run_part(struct iwi_flow *flow, struct iwi_replica_share *part, size_t s)
{
    struct trace_run run = {.flow = flow,
                            .program = part->code.program,
                            .code = &part->code,
                            .values = &flow->parts->values,
                            .slots = part->slots.times,
                            .splits = part->slots.splits,
                            .first = part->replica * part->code.program->base};

    return run_replica(&run, s == 0 ? 0 : part->code.segments[s - 1].end, part->code.segments[s].end);
}

/* All that is here of segment s, in the order of replicas. */
static iw_status run_segment(struct trace_run *run, size_t s)
{
    struct iwi_replica_shares *parts = run->flow->parts;
    const uint32_t begin = iwi_trace_first_whole(run->flow, run->program->base);
    bool is_whole_done = false;

    for (size_t k = 0; parts != NULL && k < parts->count; k++) {
        if (parts->part[k].replica >= begin && !is_whole_done) {
            IW_TRY(run_whole(run, s));
            is_whole_done = true;
        }
        IW_TRY(run_part(run->flow, &parts->part[k], s));
    }
    return is_whole_done ? IW_OK : run_whole(run, s);
}

/* Of one replica, in a restart point. */
static size_t kept_bytes(const struct trace_run *run)
{
    return (run->code->kept_slots << run->flow->lane_shift) * sizeof *run->slots;
}

/* Between segments, where all replicas are whole, a restart point may be written. */
static iw_status visit(const struct trace_run *run, size_t segment)
{
    struct iwi_flow *flow = run->flow;
    iw_status status;

    if (flow->job->keeper == NULL ||
        (flow->partition != NULL && flow->partition->granule != run->program->base)) {
        return IW_OK;
    }
    flow->at = (struct iwi_position){.operation = segment};
    flow->kept_base = run->program->base;
    flow->kept_bytes = kept_bytes(run);
    flow->kept =
        flow->kept_bytes == 0 ? NULL : run->slots + ((size_t)run->code->local_slots << flow->lane_shift);
    status = iwi_checkpointer_visit(flow->job->keeper, flow, &flow->at);
    flow->kept = NULL;
    return status;
}

static iw_status run_segments(struct trace_run *run)
{
    struct iwi_flow *flow = run->flow;

    for (size_t s = (size_t)flow->start.operation; s < run->code->segment_count; s++) {
        const uint64_t collective = run->code->segments[s].collective;

        IW_TRY(run_segment(run, s));
        if (flow->parts != NULL) {
            IW_TRY(iwi_values_flush(&flow->parts->values));
        }
        IW_TRY(iwi_tick(flow->job->ticker, flow->job->schedule == NULL ? 1 : 0));
        if (collective != IWI_NO_COLLECTIVE && flow->ranks > 0) {
            run->first = 0;
            IW_TRY(run_group(run, collective));
        }
        if (flow->parts != NULL) {
            IW_TRY(iwi_values_settle(&flow->parts->values));
        }
        IW_TRY(visit(run, s + 1));
    }
    return IW_OK;
}

uint64_t iwi_trace_ticks(const struct iwi_trace_program *program, const struct iwi_trace_code *code)
{
    uint64_t ticks = code->segment_count;

    for (size_t s = 0; s < code->segment_count; s++) {
        if (code->segments[s].collective != IWI_NO_COLLECTIVE) {
            const struct iwi_operation *op =
                &program->operations[program->collectives[code->segments[s].collective].operation];

            ticks += op->algorithm->round_count(op);
        }
    }
    return ticks;
}

/* From the restart point, if there is one. */
static iw_status take_kept(const struct trace_run *run)
{
    const struct iwi_flow *flow = run->flow;
    const size_t found_bytes = flow->kept_found != NULL ? flow->kept_bytes : 0;

    if (flow->start.operation == 0 || flow->ranks == 0) {
        return IW_OK;
    }
    if (found_bytes != kept_bytes(run) || (found_bytes != 0 && flow->kept_base != run->program->base)) {
        return iwi_fail(flow->log, IW_ERR_FORMAT,
                        "the restart point is damaged: remove its folder to start again from the beginning");
    }
    if (found_bytes != 0) {
        memcpy(run->slots + ((size_t)run->code->local_slots << flow->lane_shift), flow->kept_found,
               flow->ranks / run->program->base * found_bytes);
    }
    return IW_OK;
}

static iw_status run_all(struct trace_run *run, size_t slots)
{
    struct iwi_flow *flow = run->flow;
    const struct iwi_trace_code *code = run->code;

    run->slots = iwi_new_array(flow->log, slots, sizeof *run->slots);
    run->splits = flow->job->split == NULL ? NULL : iwi_new_array(flow->log, slots, sizeof *run->splits);
    if (run->slots == NULL || (flow->job->split != NULL && run->splits == NULL)) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iwi_flow_reserve_scratch(flow, code->largest_wait > 0 ? code->largest_wait : 1));
    if (flow->partition != NULL && flow->parts == NULL) {
        IW_TRY(iwi_replica_shares_new(flow, code, &flow->parts));
    }
    if (flow->parts != NULL) {
        iwi_values_restart(&flow->parts->values);
    }
    IW_TRY(take_kept(run));
    return run_segments(run);
}

iw_status iwi_flow_trace(struct iwi_flow *flow, const struct iwi_trace_code *code)
{
    const uint32_t base = code->program->base, begin = iwi_trace_first_whole(flow, base);
    const uint32_t end = iwi_trace_end_whole(flow, base), whole = end > begin ? end - begin : 0;
    const size_t slots = whole == 0 ? 0 : code->local_slots + (size_t)code->kept_slots * whole;
    struct trace_run run = {.flow = flow, .program = code->program, .code = code};
    const iw_status status = run_all(&run, slots << flow->lane_shift);

    if (status != IW_OK && flow->member != NULL) { /* before anything is freed that others may wait for */
        iwi_team_fail(flow->member->team, status);
    }
    free(run.slots);
    free(run.splits);
    return status;
}
