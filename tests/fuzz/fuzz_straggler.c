/* Fuzzes the reader of training timelines, and what is computed of those that can be read.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/stragglers/pipeline.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    struct iw_straggler_job *job = iwi_pipe_new(&log, "fuzz");
    iw_stragglers *result = NULL;
    iw_status status;

    iwt_fuzz_require(job != NULL);
    status = iwi_straggler_read_memory(job, "fuzz", data, size);
    if (status == IW_OK) {
        status = iwi_pipe_finish(job);
    }
    if (status == IW_OK) {
        status = iw_straggler_run(&log, job, &result);
    }
    iwt_fuzz_check_log(status, errors);
    iw_stragglers_free(result);
    iw_straggler_job_free(job);
    return 0;
}
