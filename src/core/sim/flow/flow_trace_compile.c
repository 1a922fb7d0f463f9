/* Finds an order in which the operations of a trace program can be evaluated, without any times.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each base rank goes on until it needs what another has not done, as in flow_schedule.c. A collective runs
 * when all its members have come; one over all ranks ends the segment.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_trace_rank.h"

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

static iw_status run_segments(struct iwi_trace_compiler *c, char *note, size_t note_size)
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
    IW_TRY(run_segments(c, note, note_size));
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
