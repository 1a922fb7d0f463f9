/* The last steps of reading a trace: messages found, what led nowhere dropped, everything checked.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "kit/files/trace/trace_read.h"

static iw_time add_cpu(iw_time a_ps, iw_time b_ps)
{
    return a_ps < 0 || b_ps < 0 ? -1 : a_ps + b_ps;
}

/* Keeps of a wait what was made, once each; is_made: 1 made, 2 also completed. */
static void keep_completed(struct iwi_trace_rank *rank, struct iwi_call *wait, uint8_t *is_made,
                           uint64_t *used)
{
    const uint32_t first = wait->request, count = wait->request_count;

    wait->request = (uint32_t)*used;
    wait->request_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t request = rank->completed[first + i];

        if (is_made[request] == 1) {
            is_made[request] = 2;
            rank->completed[(*used)++] = request;
            wait->request_count++;
        }
    }
    wait->kind = wait->request_count > 0 ? IWI_CALL_WAIT : IWI_CALL_NOTHING;
}

/* Drops polls and empty waits; what was computed before them counts to the next call. */
static void compact(struct iwi_trace_rank *rank, uint8_t *is_made)
{
    uint64_t kept = 0, used = 0;
    iw_time wall_ps = 0, cpu_ps = 0;

    for (uint64_t i = 0; i < rank->call_count; i++) {
        struct iwi_call call = rank->calls[i];

        if (call.kind == IWI_CALL_ISEND || call.kind == IWI_CALL_IRECV || call.kind == IWI_CALL_ICOLLECTIVE) {
            is_made[call.request] = 1;
        } else if (call.kind == IWI_CALL_WAIT) {
            keep_completed(rank, &call, is_made, &used);
        }
        wall_ps += call.compute_wall_ps;
        cpu_ps = add_cpu(cpu_ps, call.compute_cpu_ps);
        if (call.kind != IWI_CALL_NOTHING) {
            call.compute_wall_ps = wall_ps;
            call.compute_cpu_ps = cpu_ps;
            wall_ps = 0;
            cpu_ps = 0;
            rank->calls[kept++] = call;
        }
    }
    rank->call_count = kept;
    rank->completed_count = used;
    rank->last_compute_wall_ps += wall_ps;
}

iw_status iwi_trace_finish(const struct iwi_trace_ending *finish, struct iw_trace *trace)
{
    trace->threaded = iwi_gaps_threaded(finish->gaps);
    IW_TRY(iwi_trace_match(finish, trace));
    for (uint32_t r = 0; r < trace->rank_count; r++) {
        uint8_t *is_made = iwi_new_array(finish->log, trace->ranks[r].request_count, 1);

        if (is_made == NULL) {
            return IW_ERR_NOMEM;
        }
        compact(&trace->ranks[r], is_made);
        free(is_made);
    }
    return iwi_trace_check(finish->log, trace);
}
