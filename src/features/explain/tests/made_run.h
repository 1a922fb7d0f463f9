/* Runs made by hand: calls in microseconds, and what ranks lost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_RUN_H
#define IWT_MADE_RUN_H

#include <idlewave/blame.h>

#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/program/trace.h"
#include "support/support.h"

enum { MADE_MOST_CALLS = 4096, MADE_ZERO_NS = 5000000 };
static const iw_time MADE_US = 1000000;

struct made_run {
    struct iw_trace *trace;
    iw_recording *kernel;
};

static inline void made_run_begin(struct made_run *made, uint32_t ranks)
{
    made->trace = iwi_trace_new(NULL, ranks);
    assert_non_null(made->trace);
    made->trace->zero_ns = MADE_ZERO_NS;
    made->trace->comms = calloc(1, sizeof *made->trace->comms);
    made->trace->comms[0].size = ranks;
    made->trace->comm_count = 1;
    assert_ok(iw_recording_new(NULL, ranks, &made->kernel));
    assert_ok(iw_recording_set(NULL, made->kernel, "watched", "ranks"));
    assert_ok(iw_recording_set(NULL, made->kernel, "start_mono_ns", "5000000"));
    for (uint32_t r = 0; r < ranks; r++) {
        iw_detours *cpu = &made->kernel->cpus[r];

        made->trace->ranks[r].calls = calloc(MADE_MOST_CALLS, sizeof(struct iwi_call));
        *cpu = (iw_detours){.cpu = r, .length_ns = INT64_C(1) << 40, .t_min_ns = 1.0, .threshold_ns = 1.0};
        cpu->start_ns = calloc(MADE_MOST_CALLS, sizeof *cpu->start_ns);
        cpu->duration_ns = calloc(MADE_MOST_CALLS, sizeof *cpu->duration_ns);
        cpu->source = calloc(MADE_MOST_CALLS, sizeof *cpu->source);
    }
}

static inline void made_run_end(struct made_run *made)
{
    iw_trace_free(made->trace);
    iw_recording_free(made->kernel);
}

/* All calls are this function, on a communicator of this name. */
static inline void made_name(struct made_run *made, const char *function, const char *comm)
{
    made->trace->uses.count = 1;
    (void)snprintf(made->trace->uses.of[0].name, sizeof made->trace->uses.of[0].name, "%s", function);
    (void)snprintf(made->trace->comms[0].name, sizeof made->trace->comms[0].name, "%s", comm);
    for (uint32_t r = 0; r < made->trace->rank_count; r++) {
        for (uint64_t i = 0; i < made->trace->ranks[r].call_count; i++) {
            made->trace->ranks[r].calls[i].function = 1;
        }
    }
}

/* In us of the run. */
static inline struct iwi_call *made_call(struct made_run *made, uint32_t rank, enum iwi_call_kind kind,
                                         int64_t enter, int64_t leave)
{
    struct iwi_trace_rank *r = &made->trace->ranks[rank];
    struct iwi_call *call = &r->calls[r->call_count];
    const iw_time before_ps = r->call_count > 0 ? call[-1].enter_ps + call[-1].call_ps : 0;

    assert_true(r->call_count < MADE_MOST_CALLS);
    *call = (struct iwi_call){
        .kind = (uint8_t)kind, .enter_ps = enter * MADE_US, .call_ps = (leave - enter) * MADE_US};
    call->compute_wall_ps = call->enter_ps - before_ps;
    r->call_count++;
    return call;
}

static inline void made_allreduce(struct made_run *made, uint32_t rank, int64_t enter, int64_t leave)
{
    struct iwi_call *call = made_call(made, rank, IWI_CALL_COLLECTIVE, enter, leave);

    call->op = IWI_TRACE_ALLREDUCE;
    call->bytes = 8;
}

static inline void made_message(struct made_run *made, uint32_t rank, enum iwi_call_kind kind, uint32_t peer,
                                int64_t enter, int64_t leave)
{
    struct iwi_call *call = made_call(made, rank, kind, enter, leave);

    call->peer = peer;
    call->bytes = 8;
}

static inline void made_detour(struct made_run *made, uint32_t rank, const char *source, int64_t start,
                               int64_t length)
{
    iw_detours *cpu = &made->kernel->cpus[rank];

    assert_ok(iw_recording_source(NULL, made->kernel, IW_CLASS_THREAD, source, &cpu->source[cpu->count]));
    cpu->start_ns[cpu->count] = start * 1000;
    cpu->duration_ns[cpu->count++] = length * 1000;
}

static inline iw_blame *made_blame(const struct made_run *made)
{
    const iw_recording *kernel = made->kernel;
    iw_blame *blame = NULL;

    assert_ok(iw_blame_run(NULL, "made", made->trace, &kernel, 1, &blame));
    return blame;
}

#endif
