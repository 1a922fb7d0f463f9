/* Fuzzes the reader of OTF2 archives; libotf2 works in a process of its own, and may crash there.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/otf2/trace_otf2.h"

#include "fuzz_child.h"
#include "fuzz_folder.h"
#include <idlewave/files.h>

/* Locations as our tracer and Score-P number them (rank, or thread << 32 | rank), then those of EZTrace. */
static const char *const names[] = {
    "t.otf2",          "t.def",           "t/0.evt",          "t/0.def",          "t/1.evt",
    "t/1.def",         "t/2.evt",         "t/2.def",          "t/4294967296.evt", "t/4294967296.def",
    "t/536870911.evt", "t/536870911.def", "t/1073741822.evt", "t/1073741822.def", "t/1610612733.evt",
    "t/1610612733.def"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[IWT_FUZZ_PATH_SIZE];
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_trace *trace = NULL;
    iw_trace_info info;
    iw_status status;

    iwt_fuzz_child_begin("trace-format");
    iwt_fuzz_empty(iwt_fuzz_folder());
    iwt_fuzz_make_folder("t");
    iwt_fuzz_lay_out(data, size, names, sizeof names / sizeof names[0]);
    status = iwi_trace_otf2(&log, iwt_fuzz_path("t.otf2", path), &trace);
    iwt_fuzz_child_end();
    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) { /* it was checked; every message has two sides */
        iw_trace_describe(trace, &info);
        iwt_fuzz_require(info.sends == info.receives && info.ranks > 0);
        iw_trace_free(trace);
    }
    return 0;
}
