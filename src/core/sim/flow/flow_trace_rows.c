/* Segments of a trace, over many replicas at once.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All replicas take the same steps. So replicas side by side, with all their lanes, take a step as vectors:
 * of each base rank a row of each time, copied from the flow's arrays before a segment and back behind it. As
 * in passes, a step is computed as if there were no detour, and elements that meet one are computed again.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/program/trace_resample.h"
#include "core/sim/engine.h"
#include "core/sim/flow/flow_pass.h"
#include "core/sim/flow/flow_step.h"
#include "core/sim/flow/flow_trace_share.h"

enum {
    WIDTH = IWI_PICKED_MOST,
    MOST_BYTES = 1 << 20, /* more do not stay in the cache */
    MOST_SORTED = 16,     /* receives of a wait */
    FEW_BEHIND = 8        /* elements that each look for their next detour themselves */
};

enum { CPU, NEXT_DETOUR, SEND_GAP, RECV_GAP, VALUES };

struct iwi_trace_rows {
    struct iwi_flow *flow;
    const struct iwi_trace_code *code;
    iw_time (*of)[VALUES][WIDTH]; /* by base rank */
    iw_time (*slots)[WIDTH];
    uint32_t first; /* rank of the first replica */
    uint64_t turns; /* of the loop over steps */
};

/* Elements of a row whose messages are at one level. */
struct stretch {
    size_t begin, end;
    const struct iwi_cost *cost;
};

/* Nothing is told or drawn of single ranks but their detours and the length of their phases. */
static bool is_fit(const struct iwi_flow *flow, const struct iwi_trace_code *code)
{
    const struct iwi_job *job = flow->job;
    const size_t rows = (size_t)code->program->base * VALUES + code->local_slots;

    return iwi_flow_has_even_phases(flow) && flow->sends_before == NULL &&
           !(job->has_delays && job->program->delay_count > 0) &&
           rows <= MOST_BYTES / (WIDTH * sizeof(iw_time)) && (WIDTH >> flow->lane_shift) > 1;
}

iw_status iwi_trace_rows_new(struct iwi_flow *flow, const struct iwi_trace_code *code,
                             struct iwi_trace_rows **rows_p)
{
    struct iwi_trace_rows *rows;

    *rows_p = NULL;
    if (!is_fit(flow, code)) {
        return IW_OK;
    }
    *rows_p = rows = iwi_new_array(flow->log, 1, sizeof *rows);
    if (rows == NULL) {
        return IW_ERR_NOMEM;
    }
    rows->flow = flow;
    rows->code = code;
    rows->of = iwi_new_array(flow->log, code->program->base, sizeof *rows->of);
    rows->slots = iwi_new_array(flow->log, code->local_slots, sizeof *rows->slots);
    return rows->of == NULL || rows->slots == NULL ? IW_ERR_NOMEM : IW_OK;
}

void iwi_trace_rows_free(struct iwi_trace_rows *rows)
{
    if (rows != NULL) {
        free(rows->of);
        free(rows->slots);
        free(rows);
    }
}

/* ---- from the flow's arrays and back ---- */

static void copy_rows(struct iwi_trace_rows *rows, bool is_back)
{
    struct iwi_flow *flow = rows->flow;
    iw_time *const arrays[VALUES] = {flow->cpu, flow->next_detour, flow->send_gap, flow->recv_gap};
    const size_t base = rows->code->program->base, lanes = flow->lanes;

    for (size_t v = 0; v < VALUES; v++) {
        iw_time *array = arrays[v] + iwi_flow_at(flow, rows->first);

        for (size_t k = 0; k < WIDTH; k += lanes) {
            for (size_t rank = 0; rank < base; rank++, array += lanes) {
                for (size_t lane = 0; lane < lanes; lane++) {
                    iw_time *in_place = &array[lane], *in_row = &rows->of[rank][v][k + lane];

                    *(is_back ? in_place : in_row) = *(is_back ? in_row : in_place);
                }
            }
        }
    }
}

/* ---- work ---- */

/* Those elements of a row that meet a detour; done[n] is the end without it, and becomes the true one. */
static void finish_some(struct iwi_trace_rows *rows, uint32_t rank, struct stretch at, const iw_time *start,
                        iw_time *done, iw_time touch)
{
    struct iwi_flow *flow = rows->flow;
    const struct iwi_span span = {.count = WIDTH,
                                  .next_detour = rows->of[rank][NEXT_DETOUR],
                                  .first = iwi_flow_at(flow, rows->first + rank),
                                  .stride = (size_t)rows->code->program->base << flow->lane_shift,
                                  .width_shift = flow->lane_shift};
    const size_t count = at.end - at.begin;
    uint64_t behind = iwi_pick_behind(span.next_detour + at.begin, done + at.begin, touch, count);

    if (__builtin_popcountll(behind) > FEW_BEHIND) { /* most of these may be over */
        iwi_span_seek(flow, &span, at.begin, start + at.begin, count);
        behind = iwi_pick_behind(span.next_detour + at.begin, done + at.begin, touch, count);
    }
    IWI_FOR_PICKED (n, behind) {
        const size_t k = at.begin + n;

        done[k] = iwi_span_work(flow, &span, k, start[k], done[k] - start[k], touch);
    }
}

IWI_STEP iw_time slack_of(const iw_time *restrict next, const iw_time *restrict done, iw_time touch,
                          size_t begin, size_t end)
{
    iw_time slack = 0; /* negative as soon as one element meets a detour */

    for (size_t n = begin; n < end; n++) {
        slack |= next[n] - done[n] - touch;
    }
    return slack;
}

/* The CPU of a rank is busy from start[] to its row of times, unless detours come in between. */
IWI_STEP void finish(struct iwi_trace_rows *rows, uint32_t rank, struct stretch at, const iw_time *start,
                     iw_time *done, iw_time touch)
{
    if (slack_of(rows->of[rank][NEXT_DETOUR], done, touch, at.begin, at.end) < 0) {
        finish_some(rows, rank, at, start, done, touch);
    }
}

/* ---- steps ---- */

static void fill_phase(const struct iwi_trace_rows *rows, const struct iwi_trace_step *step, iw_time *work)
{
    const struct iwi_flow *flow = rows->flow;
    const uint32_t base = rows->code->program->base;
    iw_time amounts[WIDTH] = {0};

    iwi_trace_compute_row(rows->code->program, rows->first / base, (uint32_t)WIDTH >> flow->lane_shift,
                          step->rank, step->sent, (iw_time)step->amount, amounts);
    for (size_t k = 0; k < WIDTH; k++) {
        work[k] = iwi_max(amounts[k >> flow->lane_shift], flow->job->memory_ps);
    }
}

static const struct stretch WHOLE = {0, WIDTH, NULL};

IWI_VECTOR_VERSIONS static void run_phase(struct iwi_trace_rows *rows, const struct iwi_trace_step *step)
{
    iw_time *restrict cpu = rows->of[step->rank][CPU];
    iw_time start[WIDTH], work[WIDTH];

    if (step->kind == IWI_STEP_PHASE) {
        fill_phase(rows, step, work);
    } else {
        for (size_t n = 0; n < WIDTH; n++) {
            work[n] = (iw_time)step->amount;
        }
    }
    for (size_t n = 0; n < WIDTH; n++) {
        start[n] = cpu[n];
        cpu[n] += work[n];
    }
    finish(rows, step->rank, WHOLE, start, cpu, 0);
}

/* As step_post(). */
IWI_VECTOR_VERSIONS static void run_post(struct iwi_trace_rows *rows, const struct iwi_trace_step *step)
{
    iw_time *posted = rows->slots[step->posted];

    memcpy(posted, rows->of[step->rank][CPU], sizeof rows->slots[0]);
    finish(rows, step->rank, WHOLE, rows->of[step->rank][CPU], posted, rows->flow->post_touch);
}

/* As step_send(). */
IWI_VECTOR_VERSIONS static void run_send(struct iwi_trace_rows *rows, const struct iwi_trace_step *step,
                                         struct stretch at)
{
    iw_time *restrict cpu = rows->of[step->rank][CPU], *restrict send_gap = rows->of[step->rank][SEND_GAP];
    const iw_time work = at.cost->send_cpu, gap = at.cost->gap;
    iw_time start[WIDTH];

    for (size_t n = at.begin; n < at.end; n++) {
        start[n] = iwi_max(cpu[n], send_gap[n]);
        send_gap[n] = start[n] + gap;
        cpu[n] = start[n] + work;
    }
    finish(rows, step->rank, at, start, cpu, at.cost->send_touch);
    memcpy(&rows->slots[step->sent][at.begin], &cpu[at.begin], (at.end - at.begin) * sizeof *cpu);
}

/* Departure (eager) or start of the transfer (rendezvous) of the step's message, `later` behind it. */
IWI_STEP void fill_departures(const struct iwi_trace_rows *rows, const struct iwi_trace_step *step,
                              struct stretch at, iw_time later, iw_time *restrict times)
{
    const iw_time *restrict sent = rows->slots[step->sent];

    if (step->is_rendezvous) {
        const iw_time *restrict posted = rows->slots[step->posted];
        const iw_time notice = iwi_cost_notice(at.cost->costs, rows->flow->job->rendezvous);
        const iw_time handshake = iwi_cost_handshake(at.cost->costs, rows->flow->job->rendezvous) + later;

        for (size_t n = at.begin; n < at.end; n++) {
            times[n] = iwi_max(posted[n], sent[n] + notice) + handshake;
        }
        return;
    }
    for (size_t n = at.begin; n < at.end; n++) {
        times[n] = sent[n] + later;
    }
}

/* As step_receive(), of messages that arrive at `arrival`. */
IWI_STEP void serve(struct iwi_trace_rows *rows, uint32_t rank, struct stretch at,
                    const iw_time *restrict arrival)
{
    iw_time *restrict cpu = rows->of[rank][CPU], *restrict recv_gap = rows->of[rank][RECV_GAP];
    const iw_time work = at.cost->recv_cpu, gap = at.cost->gap;
    iw_time start[WIDTH];

    for (size_t n = at.begin; n < at.end; n++) {
        start[n] = iwi_max(iwi_max(cpu[n], arrival[n]), recv_gap[n]);
        recv_gap[n] = start[n] + gap;
        cpu[n] = start[n] + work;
    }
    finish(rows, rank, at, start, cpu, at.cost->recv_touch);
}

IWI_VECTOR_VERSIONS static void run_receive(struct iwi_trace_rows *rows, const struct iwi_trace_step *step,
                                            struct stretch at)
{
    iw_time arrival[WIDTH];

    fill_departures(rows, step, at, at.cost->wire, arrival);
    serve(rows, step->rank, at, arrival);
}

/* As step_send_done(). */
IWI_VECTOR_VERSIONS static void run_send_done(struct iwi_trace_rows *rows, const struct iwi_trace_step *step,
                                              struct stretch at)
{
    iw_time *restrict cpu = rows->of[step->rank][CPU], *restrict send_gap = rows->of[step->rank][SEND_GAP];
    iw_time transfer[WIDTH];

    fill_departures(rows, step, at, 0, transfer);
    for (size_t n = at.begin; n < at.end; n++) {
        send_gap[n] = iwi_max(send_gap[n], transfer[n] + at.cost->gap);
        cpu[n] = iwi_max(cpu[n], transfer[n]);
    }
}

/* ---- several receives of one wait ---- */

/* The earlier of two times to `a`, the later one to `b`. */
IWI_STEP void put_in_order(iw_time *restrict a, iw_time *restrict b, struct stretch at)
{
    for (size_t n = at.begin; n < at.end; n++) {
        const iw_time first = iwi_min(a[n], b[n]), second = iwi_max(a[n], b[n]);

        a[n] = first;
        b[n] = second;
    }
}

/* All cost the same, so that it does not matter which is which: their arrivals are sorted as rows. */
IWI_VECTOR_VERSIONS static void run_wait(struct iwi_trace_rows *rows, const struct iwi_trace_step *receives,
                                         size_t count, struct stretch at)
{
    iw_time arrivals[MOST_SORTED][WIDTH];

    for (size_t k = 0; k < count; k++) {
        fill_departures(rows, &receives[k], at, at.cost->wire, arrivals[k]);
        for (size_t before = k; before > 0; before--) {
            put_in_order(arrivals[before - 1], arrivals[before], at);
        }
    }
    for (size_t k = 0; k < count; k++) {
        serve(rows, receives[0].rank, at, arrivals[k]);
    }
}

/* ---- costs ---- */

static const struct iwi_cost *cost_of(const struct iwi_trace_rows *rows, const struct iwi_trace_step *step,
                                      size_t k)
{
    const struct iwi_trace_code *code = rows->code;
    const uint32_t first =
        rows->first + (uint32_t)(k >> rows->flow->lane_shift) * (uint32_t)code->program->base;
    const uint32_t peer = first + (uint32_t)(step->amount >> 32);

    return &code->costs[(uint32_t)step->amount * code->level_count +
                        iwi_level_between(&rows->flow->job->levels, first + step->rank, peer)];
}

/* Elements from `begin` on whose `count` messages, of this step and those behind it, cost what those of the
 * first of them do. */
static struct stretch stretch_at(const struct iwi_trace_rows *rows, const struct iwi_trace_step *steps,
                                 size_t count, size_t begin)
{
    struct stretch at = {begin, WIDTH, cost_of(rows, steps, begin)};
    const bool has_levels = rows->flow->job->levels.count > 0;

    for (size_t s = 0; s < count; s++) {
        for (size_t k = begin; has_levels && k < at.end; k += rows->flow->lanes) {
            if (cost_of(rows, &steps[s], k) != cost_of(rows, &steps[s], begin)) {
                at.end = k;
            }
        }
    }
    return at;
}

/* All receives of a wait cost the same, for any element. */
static bool is_even_wait(const struct iwi_trace_rows *rows, const struct iwi_trace_step *wait)
{
    const struct iwi_trace_step *receives = wait + 1;

    for (uint64_t k = 1; k < wait->amount; k++) {
        if ((uint32_t)receives[k].amount != (uint32_t)receives[0].amount) {
            return false;
        }
        for (size_t n = 0; rows->flow->job->levels.count > 0 && n < WIDTH; n += rows->flow->lanes) {
            if (cost_of(rows, &receives[k], n) != cost_of(rows, &receives[0], n)) {
                return false;
            }
        }
    }
    return wait->amount <= MOST_SORTED;
}

/* Element by element: the order of arrival differs. */
static void run_uneven_wait(struct iwi_trace_rows *rows, const struct iwi_trace_step *receives, size_t count)
{
    struct iwi_arrival *arrivals = rows->flow->arrivals;

    for (size_t n = 0; n < WIDTH; n++) {
        iw_time times[WIDTH];
        struct stretch one = {n, n + 1, NULL};

        for (size_t k = 0; k < count; k++) {
            one.cost = cost_of(rows, &receives[k], n);
            fill_departures(rows, &receives[k], one, one.cost->wire, times);
            arrivals[k] = (struct iwi_arrival){.time = times[n], .index = (uint32_t)k};
        }
        iwi_sort_arrivals(arrivals, count);
        for (size_t k = 0; k < count; k++) {
            one.cost = cost_of(rows, &receives[arrivals[k].index], n);
            times[n] = arrivals[k].time;
            serve(rows, receives[0].rank, one, times);
        }
    }
}

static void run_message(struct iwi_trace_rows *rows, const struct iwi_trace_step *step,
                        void (*run)(struct iwi_trace_rows *, const struct iwi_trace_step *, struct stretch))
{
    struct stretch at = {.end = 0};

    while (at.end < WIDTH) {
        at = stretch_at(rows, step, 1, at.end);
        run(rows, step, at);
    }
}

static void run_even_wait(struct iwi_trace_rows *rows, const struct iwi_trace_step *receives, size_t count)
{
    struct stretch at = {.end = 0};

    while (at.end < WIDTH) {
        at = stretch_at(rows, receives, count, at.end);
        run_wait(rows, receives, count, at);
    }
}

/* Returns the number of steps done. */
static size_t run_step(struct iwi_trace_rows *rows, const struct iwi_trace_step *step)
{
    switch ((enum iwi_step_kind)step->kind) {
    case IWI_STEP_PHASE:
    case IWI_STEP_WORK: run_phase(rows, step); break;
    case IWI_STEP_POST: run_post(rows, step); break;
    case IWI_STEP_SEND: run_message(rows, step, run_send); break;
    case IWI_STEP_RECV: run_message(rows, step, run_receive); break;
    case IWI_STEP_SEND_DONE: run_message(rows, step, run_send_done); break;
    default: /* IWI_STEP_WAIT: others are not in rows */
        if (is_even_wait(rows, step)) {
            run_even_wait(rows, step + 1, (size_t)step->amount);
        } else {
            run_uneven_wait(rows, step + 1, (size_t)step->amount);
        }
        return 1 + (size_t)step->amount;
    }
    return 1;
}

/* No step is one with other ranks, and no value crosses the end of the segment. */
static bool are_for_rows(const struct iwi_trace_code *code, uint64_t begin, uint64_t end)
{
    for (uint64_t at = begin; at < end; at++) {
        const struct iwi_trace_step *step = &code->steps[at];
        const bool is_done = step->kind == IWI_STEP_RECV || step->kind == IWI_STEP_SEND_DONE;
        const bool has_sent = is_done || step->kind == IWI_STEP_SEND;
        const bool has_posted = (is_done && step->is_rendezvous) || step->kind == IWI_STEP_POST;

        if (step->kind >= IWI_STEP_COLLECTIVE || (has_sent && step->sent >= code->local_slots) ||
            (has_posted && step->posted >= code->local_slots)) {
            return false;
        }
    }
    return true;
}

iw_status iwi_trace_rows_run(struct iwi_trace_rows *rows, uint64_t begin, uint64_t end, uint32_t *replica_p,
                             uint32_t replica_end)
{
    const uint32_t at_once = rows == NULL ? 0 : (uint32_t)WIDTH >> rows->flow->lane_shift;
    const uint64_t steps = end - begin, all = (replica_end - *replica_p) * steps;
    uint64_t before = 0;

    if (rows == NULL || !are_for_rows(rows->code, begin, end)) {
        return IW_OK;
    }
    for (; replica_end - *replica_p >= at_once; *replica_p += at_once, before += at_once * steps) {
        rows->first = *replica_p * rows->code->program->base;
        copy_rows(rows, false);
        for (uint64_t at = begin; at < end;) {
            IW_TRY(iwi_tick_rarely(rows->flow->job->ticker, rows->turns++, before + at_once * (at - begin),
                                   all));
            at += run_step(rows, &rows->code->steps[at]);
        }
        copy_rows(rows, true);
    }
    return IW_OK;
}
