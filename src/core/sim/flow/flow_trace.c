/* Runs the steps of a trace program, segment after segment, replica after replica.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A member of a team runs the replicas that it has, and its parts of those that are cut (flow_trace_cut.c).
 */
#include "core/sim/flow/flow_trace_share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/program/trace_resample.h"
#include "core/sim/flow/flow_step.h"
#include "core/sim/flow/flow_trace.h"
#include "core/sim/flow/flow_trace_rank.h"

/* The parts of replicas that a member has: made once, used in every run. */

static iw_status add_part(const struct iwi_flow *flow, const struct iwi_trace_code *code,
                          struct iwi_replica_shares *parts, uint32_t replica)
{
    struct iwi_replica_share *part = &parts->part[parts->count++];
    size_t slots;

    part->replica = replica;
    IW_TRY(iwi_trace_cut(flow, code, &parts->values, part));
    slots = part->code.local_slots;
    part->slots = iwi_new_array(flow->log, slots << flow->lane_shift, sizeof *part->slots);
    return part->slots == NULL ? IW_ERR_NOMEM : IW_OK;
}

static iw_status add_parts(const struct iwi_flow *flow, const struct iwi_trace_code *code,
                           struct iwi_replica_shares *parts)
{
    const uint32_t base = code->program->base, end = flow->first_rank + flow->ranks;

    if (flow->first_rank % base != 0 && flow->ranks > 0) {
        IW_TRY(add_part(flow, code, parts, flow->first_rank / base));
    }
    if (end % base != 0 && flow->ranks > 0 && (parts->count == 0 || parts->part[0].replica != end / base)) {
        IW_TRY(add_part(flow, code, parts, end / base));
    }
    return iwi_values_start(&parts->values);
}

static iw_status replica_shares_new(const struct iwi_flow *flow, const struct iwi_trace_code *code,
                                    struct iwi_replica_shares **parts_p)
{
    struct iwi_replica_shares *parts = iwi_new_array(flow->log, 1, sizeof *parts);
    iw_status status;

    if (parts == NULL) {
        return IW_ERR_NOMEM;
    }
    parts->values = (struct iwi_values){.log = flow->log, .member = flow->member, .lanes = flow->lanes};
    status = add_parts(flow, code, parts);
    if (status != IW_OK) {
        iwi_replica_shares_free(parts);
        return status;
    }
    *parts_p = parts;
    return IW_OK;
}

void iwi_replica_shares_free(struct iwi_replica_shares *parts)
{
    if (parts == NULL) {
        return;
    }
    iwi_values_release(&parts->values);
    for (size_t k = 0; k < parts->count; k++) {
        free(parts->part[k].code.steps);
        free(parts->part[k].code.segments);
        free(parts->part[k].slots);
    }
    free(parts);
}

/* Finds an order in which the operations of a trace program can be evaluated, without any times.
 *
 * Each base rank goes on until it needs what another has not done, as in flow_schedule.c. A collective runs
 * when all its members have come; one over all ranks ends the segment.
 */

static iw_status end_segment(struct iwi_trace_compiler *c, uint64_t collective)
{
    void *segments = c->code->segments;

    IW_TRY(iwi_grow(c->log, &segments, &c->segment_capacity, c->code->segment_count + 1,
                    sizeof *c->code->segments));
    c->code->segments = segments;
    c->code->segments[c->code->segment_count++] = (struct iwi_trace_segment){c->code->step_count, collective};
    return IW_OK;
}

/* All ranks have come to the same collective over all of them. */
static bool is_cut(const struct iwi_trace_compiler *c)
{
    for (uint32_t rank = 1; rank < c->program->base; rank++) {
        if (c->at_cut[rank] != c->at_cut[0]) {
            return false;
        }
    }
    return c->cut_count == c->program->base;
}

static bool is_done(const struct iwi_trace_compiler *c)
{
    for (uint32_t rank = 0; rank < c->program->base; rank++) {
        if (c->cursor[rank] < c->schedule->first_node[rank + 1]) {
            return false;
        }
    }
    return true;
}

static void start_all(struct iwi_trace_compiler *c, bool is_behind_cut)
{
    for (uint32_t rank = 0; rank < c->program->base; rank++) {
        c->cursor[rank] += is_behind_cut;
        c->at_cut[rank] = IWI_NO_COLLECTIVE;
        c->work[rank] = rank;
    }
    c->work_first = 0;
    c->work_count = c->program->base;
    c->cut_count = 0;
}

/* Some rank waits for a message without a partner: no order helps. */
static bool is_hopeless(const struct iwi_trace_compiler *c)
{
    for (uint32_t rank = 0; rank < c->program->base; rank++) {
        const uint64_t node = c->awaited[rank];

        if (node != IWI_NO_PARTNER && c->match->partner[node] == IWI_NO_PARTNER) {
            return true;
        }
    }
    return false;
}

/* Those without a partner are the cause; where ranks took turns, those that wait for them are told of too. */
static uint64_t stuck_node(const void *arg, uint32_t rank)
{
    const struct iwi_trace_compiler *c = arg;
    const uint64_t node = c->awaited[rank];
    const bool is_told =
        node != IWI_NO_PARTNER && (c->order == IWI_ORDER_TURNS || c->match->partner[node] == IWI_NO_PARTNER);

    return is_told ? c->cursor[rank] : IWI_NOT_STUCK;
}

/* Why segments do not do: one rank that holds the others up, and where. */
static void explain_refusal(const struct iwi_trace_compiler *c, char *note, size_t size)
{
    for (uint32_t rank = 0; rank < c->program->base; rank++) {
        if (c->awaited[rank] != IWI_NO_PARTNER) {
            const uint64_t needed = c->awaited[rank];

            (void)snprintf(note, size,
                           "stored message by message: rank %" PRIu32 "'s call %" PRIu32
                           " waits for rank %" PRIu32 "'s call %" PRIu32 " across a collective",
                           rank, c->schedule->call_of[c->cursor[rank]], c->match->rank_of[needed],
                           c->schedule->call_of[needed]);
            return;
        }
    }
    (void)snprintf(note, size,
                   "stored message by message: ranks run collectives of different communicators in "
                   "different orders");
}

static iw_status run_queue(struct iwi_trace_compiler *c)
{
    while (c->work_count > 0) {
        const uint32_t rank = c->work[c->work_first];

        c->work_first = (c->work_first + 1) % c->program->base;
        c->work_count--;
        IW_TRY(iwi_trace_run_rank(c, rank));
    }
    return IW_OK;
}

static iw_status trace_compile_run_segments(struct iwi_trace_compiler *c, char *note, size_t note_size)
{
    start_all(c, false);
    for (;;) {
        IW_TRY(run_queue(c));
        if (is_cut(c)) {
            IW_TRY(end_segment(c, c->at_cut[0]));
            start_all(c, true);
        } else if (is_done(c)) {
            return end_segment(c, IWI_NO_COLLECTIVE);
        } else if (is_hopeless(c) || c->order == IWI_ORDER_TURNS) {
            return iwi_report_stuck_ranks(c->log, c->schedule, stuck_node, c);
        } else {
            explain_refusal(c, note, note_size);
            return IW_OK;
        }
    }
}

static iw_status allocate(struct iwi_trace_compiler *c)
{
    const size_t nodes = (size_t)c->schedule->first_node[c->program->base];
    const size_t ranks = c->program->base;

    if (nodes > UINT32_MAX) {
        return iwi_fail(c->log, IW_ERR_RANGE, "the trace has more than 2^32 operations");
    }
    c->code = iwi_new_array(c->log, 1, sizeof *c->code);
    c->is_marked = iwi_new_array(c->log, nodes, sizeof *c->is_marked);
    c->cursor = iwi_new_array(c->log, ranks, sizeof *c->cursor);
    c->phases = iwi_new_array(c->log, ranks, sizeof *c->phases);
    c->satisfied = iwi_new_array(c->log, ranks, sizeof *c->satisfied);
    c->awaited = iwi_new_array(c->log, ranks, sizeof *c->awaited);
    c->at_cut = iwi_new_array(c->log, ranks, sizeof *c->at_cut);
    c->work = iwi_new_array(c->log, ranks, sizeof *c->work);
    c->arrived = iwi_new_array(c->log, (size_t)c->program->collective_count, sizeof *c->arrived);
    if (c->code == NULL || c->is_marked == NULL || c->cursor == NULL || c->phases == NULL ||
        c->satisfied == NULL || c->awaited == NULL || c->at_cut == NULL || c->work == NULL ||
        c->arrived == NULL) {
        return IW_ERR_NOMEM;
    }
    c->code->program = c->program;
    for (uint32_t rank = 0; rank < c->program->base; rank++) {
        c->cursor[rank] = c->schedule->first_node[rank];
        c->awaited[rank] = IWI_NO_PARTNER;
    }
    return IW_OK;
}

static void release(struct iwi_trace_compiler *c)
{
    iwi_match_free(c->match);
    iwi_index_release(&c->sizes);
    free(c->is_marked);
    free(c->cursor);
    free(c->phases);
    free(c->satisfied);
    free(c->awaited);
    free(c->at_cut);
    free(c->arrived);
    free(c->work);
}

static iw_status compile(struct iwi_trace_compiler *c, char *note, size_t note_size)
{
    IW_TRY(allocate(c));
    IW_TRY(iwi_match_new(c->log, c->schedule, &c->match));
    IW_TRY(trace_compile_run_segments(c, note, note_size));
    c->code->unreceived = c->match->unreceived;
    c->code->unreceived.count *= c->program->replicas;
    return note[0] == '\0'
               ? iwi_trace_assign_slots(c->log, c->schedule->first_node[c->program->base], c->code)
               : IW_OK;
}

iw_status iwi_trace_compile(const iw_log *log, const struct iwi_trace_program *program, const iw_net *net,
                            enum iwi_trace_order order, char *note, size_t note_size,
                            struct iwi_trace_code **code_p)
{
    struct iwi_trace_compiler c = {
        .log = log, .program = program, .schedule = program->schedule, .net = net, .order = order};
    iw_status status;

    note[0] = '\0';
    status = compile(&c, note, note_size);
    release(&c);
    if (status != IW_OK || note[0] != '\0') {
        iwi_trace_code_free(c.code);
        c.code = NULL;
    }
    *code_p = c.code;
    return status;
}

void iwi_trace_code_free(struct iwi_trace_code *code)
{
    if (code != NULL) {
        free(code->steps);
        free(code->segments);
        free(code->costs);
        free(code);
    }
}

/* What runs: all replicas that are here as a whole, one after the other, or a part of one. */
struct trace_run {
    struct iwi_flow *flow;
    const struct iwi_trace_program *program;
    const struct iwi_trace_code *code;
    struct iwi_trace_rows *rows; /* of whole replicas; NULL: one after the other */
    struct iwi_values *values;   /* of parts */
    iw_time *slots;              /* local ones, then those kept for each replica; x lanes */
    uint32_t *paths;             /* the same when explaining; lanes is 1 then */
    uint32_t first;              /* rank of the replica that runs */
    size_t kept_shift;           /* from the number of a kept slot to its place for that replica */
    uint64_t turns;              /* of the loop over steps, since the run began */
    uint64_t steps, before;      /* of the segment in all replicas; in those before the one that runs */
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
        run->paths[at] = run->flow->cpu_path[i];
    }
    for (uint32_t lane = 0; lane < run->flow->lanes; lane++) {
        run->slots[at + lane] =
            step_post(run->flow, rank, i + lane, is_explaining ? &run->paths[at] : NULL, is_explaining);
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
                  is_explaining ? &run->paths[at] : NULL, is_explaining);
    }
}

/* Departure (eager) or start of the transfer (rendezvous) of the step's message. */
IWI_STEP iw_time departure(const struct trace_run *run, const struct iwi_trace_step *step,
                           const struct iwi_cost *cost, uint32_t lane, uint32_t *path,
                           const bool is_explaining)
{
    const size_t sent = slot_at(run, step->sent);

    if (step->is_rendezvous) {
        const size_t posted = slot_at(run, step->posted);

        return step_transfer_start(run->flow, cost, run->slots[sent + lane],
                                   is_explaining ? run->paths[sent] : 0, run->slots[posted + lane],
                                   is_explaining ? run->paths[posted] : 0, path, is_explaining);
    }
    if (is_explaining) {
        *path = run->paths[sent];
    }
    return run->slots[sent + lane];
}

IWI_STEP void receive(struct trace_run *run, const struct iwi_trace_step *step, uint32_t rank, uint32_t lane,
                      const bool is_explaining)
{
    const struct iwi_cost *cost = cost_of(run, step, rank);
    uint32_t path = 0;
    const iw_time left = departure(run, step, cost, lane, &path, is_explaining);

    step_receive(run->flow, rank, iwi_flow_at(run->flow, rank) + lane, cost, left + cost->wire, path,
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
        uint32_t path = 0;
        const iw_time transfer = departure(run, step, cost, lane, &path, is_explaining);

        if (is_explaining && step_is_late_receive(flow, cost, run->slots[slot_at(run, step->sent)],
                                                  run->slots[slot_at(run, step->posted)])) {
            path = step_part(flow, cost, path, IWI_MESSAGE_LATE_RECEIVE);
        }
        step_send_done(flow, iwi_flow_at(flow, rank) + lane, cost, transfer, path, is_explaining);
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
    switch ((enum iwi_step_kind)step->kind) {
    case IWI_STEP_EMIT: return iwi_values_emit(run->values, step->rank, run->slots, step->sent);
    case IWI_STEP_TAKE: return iwi_values_take(run->values, step->rank, step->amount, run->slots);
    case IWI_STEP_FLUSH: return iwi_values_flush(run->values);
    default: return run_group(run, step->amount);
    }
}

static iw_status run_replica(struct trace_run *run, uint64_t begin, uint64_t end)
{
    enum { STEPS_A_LOOK = 16 }; /* at how many paths there are: a few more do no harm */
    const bool is_explaining = run->flow->job->split != NULL;

    for (uint64_t at = begin, turn = 0; at < end; turn++) {
        const struct iwi_trace_step *step = &run->code->steps[at];

        if (step->kind >= IWI_STEP_COLLECTIVE) {
            IW_TRY(run_joint_step(run, step));
        }
        IW_TRY(iwi_tick_rarely(run->flow->job->ticker, run->turns++, run->before + at - begin, run->steps));
        if (is_explaining && turn % STEPS_A_LOOK == 0) {
            IW_TRY(iwi_flow_keep_paths(run->flow));
        }
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
    const uint32_t end_replica = iwi_trace_end_whole(flow, base);
    uint32_t replica = begin;

    run->steps = (end_replica - begin) * (end - first);
    if (first < end && begin < end_replica) {
        IW_TRY(iwi_trace_rows_run(run->rows, first, end, &replica, end_replica));
    }
    for (; replica < end_replica && first < end; replica++) {
        run->first = replica * base;
        run->before = (replica - begin) * (end - first);
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
                            .slots = part->slots,
                            .first = part->replica * part->code.program->base};
    const uint64_t begin = s == 0 ? 0 : part->code.segments[s - 1].end, end = part->code.segments[s].end;

    run.steps = end - begin;
    return run_replica(&run, begin, end);
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

static iw_status trace_run_segments(struct trace_run *run)
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
                        "the checkpoint is damaged: remove its folder to start from the beginning");
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
    run->paths = flow->paths == NULL ? NULL : iwi_new_array(flow->log, slots, sizeof *run->paths);
    if (run->slots == NULL || (flow->paths != NULL && run->paths == NULL)) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iwi_trace_rows_new(flow, code, &run->rows));
    flow->kept_paths[0] =
        (struct iwi_path_roots){run->paths, run->paths == NULL ? 0 : slots, sizeof *run->paths};
    IW_TRY(iwi_flow_reserve_scratch(flow, code->largest_wait > 0 ? code->largest_wait : 1));
    if (flow->partition != NULL && flow->parts == NULL) {
        IW_TRY(replica_shares_new(flow, code, &flow->parts));
    }
    if (flow->parts != NULL) {
        iwi_values_restart(&flow->parts->values);
    }
    IW_TRY(take_kept(run));
    return trace_run_segments(run);
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
    iwi_trace_rows_free(run.rows);
    free(run.slots);
    free(run.paths);
    memset(flow->kept_paths, 0, sizeof flow->kept_paths);
    return status;
}
