/* Fuzzes the reader of the JSON of benchmarks, the reports of what it accepts, and the baseline in it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/bench.h>

#include "fuzz_report.h"

static iw_status load_baseline(const iw_log *log, const char *path, FILE *out)
{
    iw_bench_baseline baseline;

    (void)out;
    IW_TRY(iw_bench_load_baseline(log, path, &baseline));
    iwt_fuzz_require(strlen(baseline.op) < sizeof baseline.op &&
                     strlen(baseline.path) < sizeof baseline.path);
    return IW_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[IWT_FUZZ_PATH_SIZE];
    const bool is_good = iwt_fuzz_report(iw_bench_report_text, iwt_fuzz_json(data, size, path));

    iwt_fuzz_require(iwt_fuzz_report(iw_bench_write_html, path) == is_good);
    iwt_fuzz_require(iwt_fuzz_report(load_baseline, path) == is_good);
    iwt_fuzz_require(iw_bench_is_result(path) || !is_good);
    return 0;
}
