/* The calls of all ranks in one array on one clock, those that are alike, and the detours within them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/lookup.h"
#include "core/base/order.h"
#include "core/noise/recording_head.h"
#include "core/noise/recording_pieces.h"
#include "features/explain/blame/run.h"

static iw_status make_room(struct iwi_blamed_run *run)
{
    const uint32_t ranks = run->trace->rank_count;
    uint64_t calls = 0;

    run->first = iwi_new_array(run->log, (size_t)ranks + 1, sizeof *run->first);
    run->begin_ns = iwi_new_array(run->log, ranks, sizeof *run->begin_ns);
    if (run->first == NULL || run->begin_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t r = 0; r < ranks; r++) {
        run->first[r] = calls;
        calls += run->trace->ranks[r].call_count + 1;
    }
    run->first[ranks] = calls;
    run->rank_of = iwi_new_array(run->log, calls, sizeof *run->rank_of);
    run->enter_ns = iwi_new_array(run->log, calls, sizeof *run->enter_ns);
    run->leave_ns = iwi_new_array(run->log, calls, sizeof *run->leave_ns);
    run->start_ns = iwi_new_array(run->log, calls, sizeof *run->start_ns);
    run->cause = iwi_new_array(run->log, calls, sizeof *run->cause);
    run->alike = iwi_new_array(run->log, calls, sizeof *run->alike);
    return run->rank_of != NULL && run->enter_ns != NULL && run->leave_ns != NULL && run->start_ns != NULL &&
                   run->cause != NULL && run->alike != NULL
               ? IW_OK
               : IW_ERR_NOMEM;
}

/* Polls that found nothing are no calls in a trace. Before a call that completes or receives something they
 * were waiting for it: the call began with them. */
static int64_t polled_ns(const struct iwi_call *call, int64_t gap_ns)
{
    const bool is_waited_for = call->kind == IWI_CALL_WAIT || call->kind == IWI_CALL_RECV;

    return is_waited_for ? iwi_max(0, gap_ns - call->compute_wall_ps / IW_PS_PER_NS) : 0;
}

static void read_rank(struct iwi_blamed_run *run, uint32_t r)
{
    const struct iwi_trace_rank *rank = &run->trace->ranks[r];
    const int64_t zero_ns = run->trace->zero_ns;
    uint64_t at = run->first[r];
    int64_t last_ns = zero_ns;

    if (rank->call_count > 0) {
        last_ns += (rank->calls[0].enter_ps - rank->calls[0].compute_wall_ps) / IW_PS_PER_NS;
    }
    run->begin_ns[r] = last_ns;
    for (uint64_t i = 0; i < rank->call_count; i++, at++) {
        const struct iwi_call *call = &rank->calls[i];

        run->rank_of[at] = r;
        run->enter_ns[at] = iwi_max(last_ns, zero_ns + call->enter_ps / IW_PS_PER_NS);
        run->enter_ns[at] -= polled_ns(call, run->enter_ns[at] - last_ns);
        last_ns = iwi_max(run->enter_ns[at], zero_ns + (call->enter_ps + call->call_ps) / IW_PS_PER_NS);
        run->leave_ns[at] = last_ns;
    }
    run->rank_of[at] = r;
    run->enter_ns[at] = run->leave_ns[at] = last_ns + rank->last_compute_wall_ps / IW_PS_PER_NS;
}

iw_status iwi_run_read_calls(struct iwi_blamed_run *run)
{
    const uint32_t ranks = run->trace->rank_count;

    IW_TRY(make_room(run));
    run->zero_ns = INT64_MAX;
    run->end_ns = INT64_MIN;
    for (uint32_t r = 0; r < ranks; r++) {
        read_rank(run, r);
        run->zero_ns = iwi_min(run->zero_ns, run->begin_ns[r]);
        run->end_ns = iwi_max(run->end_ns, run->leave_ns[run->first[r + 1] - 1]);
    }
    for (uint64_t i = 0; i < run->first[ranks]; i++) {
        run->start_ns[i] = run->enter_ns[i];
        run->cause[i] = IWI_RUN_NONE;
    }
    return IW_OK;
}

void iwi_run_release(struct iwi_blamed_run *run)
{
    free(run->first);
    free(run->rank_of);
    free(run->enter_ns);
    free(run->leave_ns);
    free(run->start_ns);
    free(run->begin_ns);
    free(run->cause);
    free(run->first_dep);
    free(run->deps);
    free(run->first_helper);
    free(run->helpers);
    free(run->groups);
    free(run->members);
    free(run->alike);
    free(run->usual_rest_ns);
    free(run->sources);
    free(run->losses);
    free(run->first_loss);
}

/* ---- calls that are alike, and how long they usually take ---- */

struct rest {
    uint32_t class;
    int64_t ns;
};

IWI_COMPARE(compare_rests, struct rest, IWI_RISING(class), IWI_RISING(ns))

static iw_status number_alike(struct iwi_blamed_run *run)
{
    struct iwi_index index = {0};
    iw_status status = IW_OK;

    for (uint64_t i = 0; i < iwi_run_calls(run) && status == IW_OK; i++) {
        const struct iwi_call *call = iwi_run_call(run, i);
        const bool is_wait = call != NULL && call->kind == IWI_CALL_WAIT;
        const struct iwi_index_key key = {
            call != NULL ? (uint64_t)call->comm << 16 | (uint64_t)call->op << 8 | call->kind : 0,
            is_wait        ? call->request_count
            : call != NULL ? call->bytes
                           : 0};

        status = iwi_index_number(run->log, &index, key, &run->alike[i]);
    }
    run->alike_count = index.count;
    iwi_index_release(&index);
    return status;
}

static iw_status find_usual(struct iwi_blamed_run *run)
{
    const uint64_t count = iwi_run_calls(run);
    struct rest *rests = iwi_new_array(run->log, (size_t)count, sizeof *rests);

    run->usual_rest_ns = iwi_new_array(run->log, run->alike_count, sizeof *run->usual_rest_ns);
    if (rests == NULL || run->usual_rest_ns == NULL) {
        free(rests);
        return IW_ERR_NOMEM;
    }
    for (uint64_t i = 0; i < count; i++) {
        rests[i] = (struct rest){run->alike[i], run->leave_ns[i] - run->start_ns[i]};
    }
    iwi_sort(rests, (size_t)count, compare_rests);
    for (uint64_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && rests[to].class == rests[from].class; to++) {
        }
        run->usual_rest_ns[rests[from].class] = rests[from + (to - from - 1) / 2].ns;
    }
    free(rests);
    return IW_OK;
}

iw_status iwi_run_find_alike(struct iwi_blamed_run *run)
{
    IW_TRY(number_alike(run));
    return find_usual(run);
}

/* ---- detours, cut at the calls ---- */

struct cutter {
    struct iwi_blamed_run *run;
    const uint32_t *map;                 /* of the recording's sources */
    uint64_t call, end;                  /* where the rank is, and behind its last call */
    int64_t zero_ns;                     /* time 0 of the recording on the host's clock */
    int64_t from_ns, to_ns, added_ns[2]; /* the rank's time on that clock, and what to add at its ends */
    iw_status status;
};

/* The offset between the clocks changes evenly from the rank's first event to its last. */
static int64_t on_run_clock(const struct cutter *c, int64_t ns)
{
    const double span = (double)(c->to_ns - c->from_ns);
    const double part = span > 0.0 ? (double)(ns - c->from_ns) / span : 0.0;

    return ns + c->added_ns[0] + (int64_t)(part * (double)(c->added_ns[1] - c->added_ns[0]));
}

static int64_t overlap(int64_t from_ns, int64_t to_ns, int64_t start_ns, int64_t end_ns)
{
    return iwi_max(0, iwi_min(to_ns, end_ns) - iwi_max(from_ns, start_ns));
}

static iw_status add_loss(struct iwi_blamed_run *run, const struct iwi_run_loss *loss)
{
    iw_blame_source *source = &run->sources[loss->source];

    IW_TRY(iwi_grow(run->log, (void **)&run->losses, &run->loss_capacity, run->loss_count + 1,
                    sizeof *run->losses));
    run->losses[run->loss_count++] = *loss;
    source->lost_ns += (double)(loss->gap_ns + loss->wait_ns + loss->rest_ns);
    source->absorbed_ns += (double)loss->wait_ns;
    return IW_OK;
}

/* A piece of a detour; it may lie over several calls. */
static void cut_piece(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    struct cutter *c = arg;
    struct iwi_blamed_run *run = c->run;
    const int64_t from_ns = on_run_clock(c, c->zero_ns + start_ns),
                  to_ns = on_run_clock(c, c->zero_ns + end_ns);
    bool is_first = true;

    while (c->call < c->end && run->leave_ns[c->call] <= from_ns) {
        c->call++;
    }
    for (uint64_t i = c->call; i < c->end && c->status == IW_OK; i++) {
        const int64_t before_ns = iwi_run_before_ns(run, i);
        struct iwi_run_loss loss = {
            .call = i, .source = c->map[source], .at_ns = iwi_max(from_ns, before_ns)};

        if (before_ns >= to_ns) {
            break;
        }
        loss.gap_ns = overlap(from_ns, to_ns, before_ns, run->enter_ns[i]);
        loss.wait_ns = overlap(from_ns, to_ns, run->enter_ns[i], run->start_ns[i]);
        loss.rest_ns = overlap(from_ns, to_ns, run->start_ns[i], run->leave_ns[i]);
        if (loss.gap_ns + loss.wait_ns + loss.rest_ns > 0) {
            c->status = add_loss(run, &loss);
            run->sources[loss.source].detours += is_first;
            is_first = false;
        }
    }
}

static iw_status find_source(struct iwi_blamed_run *run, const iw_source *source, uint32_t *index_p)
{
    char name[IWI_SOURCE_TEXT_SIZE];
    size_t i = 0;

    (void)iwi_source_text(source, name);
    while (i < run->source_count && strcmp(run->sources[i].name, name) != 0) {
        i++;
    }
    if (i == run->source_count) {
        IW_TRY(
            iwi_grow(run->log, (void **)&run->sources, &run->source_capacity, i + 1, sizeof *run->sources));
        run->sources[i] =
            (iw_blame_source){.kind = source->kind, .remedy = iw_remedy_of(source->kind, source->name)};
        snprintf(run->sources[i].name, sizeof run->sources[i].name, "%s", name);
        run->source_count++;
    }
    *index_p = (uint32_t)i;
    return IW_OK;
}

static iw_status cut_rank(struct iwi_blamed_run *run, const iw_recording *recording, size_t cpu,
                          const uint32_t *map, int64_t zero_ns)
{
    const uint32_t rank = recording->cpus[cpu].cpu;
    struct cutter c = {.run = run, .map = map, .zero_ns = zero_ns};

    if (rank >= run->trace->rank_count) {
        return IW_OK;
    }
    c.call = run->first[rank];
    c.end = run->first[rank + 1];
    memcpy(c.added_ns, run->trace->ranks[rank].clock_added_ns, sizeof c.added_ns);
    c.from_ns = run->begin_ns[rank] - c.added_ns[0];
    c.to_ns = run->leave_ns[c.end - 1] - c.added_ns[1];
    iwi_cut_detours(&recording->cpus[cpu],
                    &(struct iwi_piece_sink){cut_piece, &c, recording->cpus[cpu].length_ns, NULL});
    return c.status;
}

static iw_status cut_recording(struct iwi_blamed_run *run, const iw_recording *recording)
{
    const char *start = iw_recording_get(recording, "start_mono_ns");
    uint32_t *map = iwi_new_array(run->log, recording->source_count, sizeof *map);
    iw_status status = map != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t i = 0; status == IW_OK && i < recording->source_count; i++) {
        status = find_source(run, &recording->sources[i], &map[i]);
    }
    for (size_t i = 0; status == IW_OK && i < recording->cpu_count; i++) {
        status = cut_rank(run, recording, i, map, start != NULL ? strtoll(start, NULL, 10) : 0);
    }
    free(map);
    return status;
}

IWI_COMPARE(compare_losses, struct iwi_run_loss, IWI_RISING(call), IWI_RISING(at_ns))

iw_status iwi_run_read_losses(struct iwi_blamed_run *run, const iw_recording *const *kernel, size_t count)
{
    size_t next = 0;

    for (size_t i = 0; i < count; i++) {
        IW_TRY(cut_recording(run, kernel[i]));
    }
    iwi_sort(run->losses, run->loss_count, compare_losses);
    run->first_loss = iwi_new_array(run->log, iwi_run_calls(run) + 1, sizeof *run->first_loss);
    if (run->first_loss == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint64_t call = 0; call <= iwi_run_calls(run); call++) {
        while (next < run->loss_count && run->losses[next].call < call) {
            next++;
        }
        run->first_loss[call] = next;
    }
    return IW_OK;
}

/* ---- looking for them ---- */

static int64_t end_of(const struct iwi_run_loss *loss)
{
    return loss->at_ns + loss->gap_ns + loss->wait_ns + loss->rest_ns;
}

size_t iwi_run_loss_after(const struct iwi_blamed_run *run, uint32_t rank, int64_t at_ns)
{
    size_t at;

    IWI_FIRST_NOT(at, (size_t)run->first_loss[run->first[rank]],
                  (size_t)run->first_loss[run->first[rank + 1]], end_of(&run->losses[at]) <= at_ns);
    return at;
}

int64_t iwi_run_loss_during(const struct iwi_blamed_run *run, const struct iwi_run_loss *loss, uint64_t call)
{
    return iwi_min(end_of(loss), run->leave_ns[call]) - iwi_max(loss->at_ns, run->start_ns[call]);
}
