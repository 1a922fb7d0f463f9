/* End times of all ranks as a file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/result.h>

#include "core/base/base.h"
#include "kit/text/words.h"

static void write_trial(const iw_sim_result *result, uint64_t index, FILE *out)
{
    const iw_time *end_ps = &result->end_ps[index * result->ranks];
    char ns[IWI_NS_TEXT_SIZE];

    for (uint32_t rank = 0; rank < result->ranks; rank++) {
        if (result->trials > 1) {
            (void)fprintf(out, "%" PRIu64 ",", result->first_trial + index);
        }
        (void)fprintf(out, "%" PRIu32 ",%s\n", rank, iwi_ns_text(end_ps[rank], ns));
    }
}

static iw_status write_end_times(const iw_log *log, void *arg, FILE *out)
{
    const iw_sim_result *result = arg;

    (void)log;
    (void)fputs(result->trials > 1 ? "trial,rank,end_ns\n" : "rank,end_ns\n", out);
    for (uint64_t i = 0; i < result->trials; i++) {
        write_trial(result, i, out);
    }
    return IW_OK;
}

iw_status iw_result_write_end_times(const iw_log *log, const iw_sim_result *result, const char *path)
{
    if (result->end_ps == NULL) {
        return iwi_fail(log, IW_ERR_USAGE, "the end times were not kept: set want_end_times");
    }
    return iw_write_file(log, path, write_end_times, (void *)(uintptr_t)result); /* only read */
}
