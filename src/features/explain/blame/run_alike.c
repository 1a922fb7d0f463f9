/* Calls that are alike, and how long they usually take.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/lookup.h"
#include "core/base/order.h"
#include "features/explain/blame/run.h"

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
