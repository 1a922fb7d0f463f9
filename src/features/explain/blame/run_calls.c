/* Brings the calls of all ranks into one array, on CLOCK_MONOTONIC of rank 0's host.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

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
