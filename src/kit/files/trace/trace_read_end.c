/* The end of a rank: requests still open, completions that became known late, arrays handed over.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "kit/files/trace/trace_read.h"

IWI_COMPARE(compare_late, struct iwi_late, IWI_RISING(call), IWI_RISING(request))

/* Puts late completions behind those that their waits have already. */
static iw_status merge_late(struct iwi_builder *b)
{
    const size_t total = b->completed_count + b->late_count;
    uint32_t *merged = iwi_new_array(b->log, total, sizeof *merged);
    size_t used = 0, late = 0;

    if (merged == NULL) {
        return IW_ERR_NOMEM;
    }
    iwi_sort(b->late, b->late_count, compare_late);
    for (size_t i = 0; i < b->call_count; i++) {
        struct iwi_call *call = &b->calls[i];
        const size_t first = used;

        if (call->kind == IWI_CALL_WAIT && call->request_count > 0) {
            memcpy(&merged[used], &b->completed[call->request], call->request_count * sizeof *merged);
            used += call->request_count;
        }
        while (late < b->late_count && b->late[late].call == i) {
            merged[used++] = b->late[late++].request;
        }
        if (used > first) {
            call->kind = IWI_CALL_WAIT;
        }
        if (call->kind == IWI_CALL_WAIT) {
            call->request = (uint32_t)first;
            call->request_count = (uint32_t)(used - first);
        }
    }
    free(b->completed);
    b->completed = merged;
    b->completed_count = used;
    return IW_OK;
}

/* Collectives that no completion explained. */
static void give_up_unknown(struct iwi_builder *b)
{
    for (size_t i = 0; i < b->call_count; i++) {
        struct iwi_call *call = &b->calls[i];

        if (call->kind == IWI_CALL_ICOLLECTIVE && call->comm == IWI_NO_COMM) {
            call->kind = IWI_CALL_OPAQUE;
            iwi_gap_note(b->gaps, IWI_GAP_COLLECTIVE, b->rank, i + 1, NULL);
        }
    }
}

/* Arrays grow by doubling; a trace may stay in memory for long. */
static void shrink(void **array, size_t count, size_t element_size)
{
    void *smaller = count > 0 ? realloc(*array, count * element_size) : NULL;

    if (smaller != NULL) {
        *array = smaller;
    }
}

iw_status iwi_build_end(struct iwi_builder *builder, iw_time end_ps, struct iwi_trace_rank *rank)
{
    struct iwi_request *request;

    while ((request = iwi_open_requests_oldest(&builder->requests)) != NULL) {
        IW_TRY(iwi_build_complete_late(builder, request));
    }
    if (builder->late_count > 0) {
        IW_TRY(merge_late(builder));
    }
    give_up_unknown(builder);
    shrink((void **)&builder->calls, builder->call_count, sizeof *builder->calls);
    shrink((void **)&builder->completed, builder->completed_count, sizeof *builder->completed);
    end_ps = iwi_max(end_ps, builder->end_ps);
    *rank = (struct iwi_trace_rank){
        .calls = builder->calls,
        .call_count = builder->call_count,
        .completed = builder->completed,
        .completed_count = builder->completed_count,
        .request_count = builder->request_count,
        .last_compute_wall_ps = builder->has_begun ? builder->wall_ps + end_ps - builder->end_ps : 0,
        .wall_ps = builder->has_begun ? end_ps - builder->begin_ps : 0,
    };
    builder->calls = NULL;
    builder->completed = NULL;
    return IW_OK;
}
