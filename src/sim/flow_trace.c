/* Runs the steps of a trace program, segment after segment, replica after replica.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/flow_trace.h"

#include <stdlib.h>

#include "base/base.h"
#include "sim/flow_step.h"

struct trace_run {
    struct iwi_flow *flow;
    const struct iwi_trace_program *program;
    const struct iwi_trace_code *code;
    iw_time *slots;    /* local ones, then those kept for each replica; x lanes */
    iw_split *splits;  /* the same when explaining */
    uint32_t first;    /* rank of the replica that runs */
    size_t kept_shift; /* from the number of a kept slot to its place for that replica */
};

IWI_STEP size_t slot_at(const struct trace_run *run, uint32_t slot)
{
    const size_t at = slot < run->code->local_slots ? slot : slot + run->kept_shift;

    return at << run->flow->lane_shift;
}

IWI_STEP void post(struct trace_run *run, const struct iwi_trace_step *step, uint32_t rank,
                   const bool is_explaining)
{
    const size_t at = slot_at(run, step->posted);
    const size_t i = (size_t)rank << run->flow->lane_shift;

    for (uint32_t lane = 0; lane < run->flow->lanes; lane++) {
        run->slots[at + lane] = run->flow->cpu[i + lane];
    }
    if (is_explaining) {
        run->splits[at] = run->flow->cpu_split[i];
    }
}

IWI_STEP void send(struct trace_run *run, const struct iwi_trace_step *step, uint32_t rank,
                   const bool is_explaining)
{
    const struct iwi_cost *cost = &run->code->costs[step->amount];
    const size_t at = slot_at(run, step->sent);
    const size_t i = (size_t)rank << run->flow->lane_shift;

    for (uint32_t lane = 0; lane < run->flow->lanes; lane++) {
        step_send(run->flow, rank, i + lane, cost, &run->slots[at + lane],
                  is_explaining ? &run->splits[at] : NULL, is_explaining);
    }
}

/* Departure (eager) or start of the transfer (rendezvous) of the step's message. */
IWI_STEP iw_time departure(const struct trace_run *run, const struct iwi_trace_step *step, uint32_t lane,
                           iw_split *split, const bool is_explaining)
{
    const size_t sent = slot_at(run, step->sent);

    if (step->is_rendezvous) {
        const size_t posted = slot_at(run, step->posted);

        return step_transfer_start(run->flow, run->slots[sent + lane],
                                   is_explaining ? &run->splits[sent] : NULL, run->slots[posted + lane],
                                   is_explaining ? &run->splits[posted] : NULL, split, is_explaining);
    }
    if (is_explaining) {
        *split = run->splits[sent];
    }
    return run->slots[sent + lane];
}

IWI_STEP void receive(struct trace_run *run, const struct iwi_trace_step *step, uint32_t rank, uint32_t lane,
                      const bool is_explaining)
{
    const struct iwi_cost *cost = &run->code->costs[step->amount];
    iw_split split;
    const iw_time left = departure(run, step, lane, &split, is_explaining);

    if (is_explaining) {
        step_onto_wire(cost, &split);
    }
    step_receive(run->flow, rank, ((size_t)rank << run->flow->lane_shift) + lane, cost, left + cost->wire,
                 &split, is_explaining);
}

/* Several receives of one wait: in the order of arrival, which differs between lanes. */
IWI_STEP void wait_for(struct trace_run *run, const struct iwi_trace_step *receives, uint32_t count,
                       uint32_t rank, const bool is_explaining)
{
    struct iwi_arrival *arrivals = run->flow->arrivals;

    for (uint32_t lane = 0; lane < run->flow->lanes; lane++) {
        for (uint32_t k = 0; k < count; k++) {
            arrivals[k].time =
                departure(run, &receives[k], lane, NULL, false) + run->code->costs[receives[k].amount].wire;
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
    const struct iwi_cost *cost = &run->code->costs[step->amount];

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        iw_split split;
        const iw_time transfer = departure(run, step, lane, &split, is_explaining);

        if (is_explaining) {
            split.hops += step_is_late_receive(flow, run->slots[slot_at(run, step->sent)],
                                               run->slots[slot_at(run, step->posted)]);
        }
        step_send_done(flow, ((size_t)rank << flow->lane_shift) + lane, cost, transfer, &split,
                       is_explaining);
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
    case IWI_STEP_PHASE: iwi_flow_phase(flow, rank, step->sent, (iw_time)step->amount); break;
    case IWI_STEP_WORK:
        for (uint32_t lane = 0; lane < flow->lanes; lane++) {
            step_local_work(flow, rank, ((size_t)rank << flow->lane_shift) + lane, (iw_time)step->amount,
                            is_explaining);
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
    case IWI_STEP_COLLECTIVE: break; /* the caller's: it can fail */
    }
    return 1;
}

static iw_status run_replica(struct trace_run *run, uint64_t begin, uint64_t end)
{
    const bool is_explaining = run->flow->job->split != NULL;

    for (uint64_t at = begin; at < end;) {
        const struct iwi_trace_step *step = &run->code->steps[at];

        if (step->kind == IWI_STEP_COLLECTIVE) {
            IW_TRY(run_group(run, step->amount));
        }
        at += is_explaining ? run_step(run, step, true) : run_step(run, step, false);
    }
    return IW_OK;
}

static iw_status run_segments(struct trace_run *run)
{
    uint64_t begin = 0;

    for (size_t s = 0; s < run->code->segment_count; s++) {
        const struct iwi_trace_segment *segment = &run->code->segments[s];

        for (uint32_t replica = 0; replica < run->program->replicas && begin < segment->end; replica++) {
            run->first = replica * run->program->base;
            run->kept_shift = (size_t)replica * run->code->kept_slots;
            IW_TRY(run_replica(run, begin, segment->end));
        }
        begin = segment->end;
        iwi_tick(run->flow->job->ticker, 1);
        if (segment->collective != IWI_NO_COLLECTIVE) {
            run->first = 0;
            IW_TRY(run_group(run, segment->collective));
        }
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

iw_status iwi_flow_trace(struct iwi_flow *flow, const struct iwi_trace_code *code)
{
    struct trace_run run = {.flow = flow, .program = flow->job->program->trace, .code = code};
    const size_t slots = (code->local_slots + (size_t)code->kept_slots * run.program->replicas)
                         << flow->lane_shift;
    iw_status status = IW_ERR_NOMEM;

    run.slots = iwi_new_array(flow->log, slots, sizeof *run.slots);
    run.splits = flow->job->split == NULL ? NULL : iwi_new_array(flow->log, slots, sizeof *run.splits);
    if (run.slots != NULL && (flow->job->split == NULL || run.splits != NULL)) {
        status = iwi_flow_reserve_scratch(flow, code->largest_wait > 0 ? code->largest_wait : 1);
    }
    if (status == IW_OK) {
        status = run_segments(&run);
    }
    free(run.slots);
    free(run.splits);
    return status;
}
