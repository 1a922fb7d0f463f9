/* Fuzzes the reader of liballprof traces: the texts of up to four ranks, divided by lines "--".
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include <idlewave/files.h>

#include "fuzz.h"
#include "kit/files/trace/trace_allprof.h"

enum { RANKS_MAX = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    struct iwi_allprof_text texts[RANKS_MAX];
    const char *at = (const char *)data, *end = at + size;
    uint32_t ranks = 0;
    iw_trace *trace = NULL;
    iw_trace_info info;
    iw_status status;

    while (ranks < RANKS_MAX && at != NULL) {
        const char *next =
            ranks + 1 < RANKS_MAX && end - at > 4 ? memmem(at, (size_t)(end - at), "\n--\n", 4) : NULL;

        texts[ranks++] =
            (struct iwi_allprof_text){"in", at, (size_t)(next != NULL ? next + 1 - at : end - at)};
        at = next != NULL ? next + 4 : NULL;
    }
    status = iwi_trace_allprof(&log, "in", texts, ranks, &trace);
    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) { /* it was checked; every message has two sides */
        iw_trace_describe(trace, &info);
        iwt_fuzz_require(info.sends == info.receives && info.ranks == ranks);
        iw_trace_free(trace);
    }
    return 0;
}
