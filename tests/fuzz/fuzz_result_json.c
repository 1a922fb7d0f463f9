/* Fuzzes the reader of the JSON of simulations, and the reports of what it accepts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/result.h>

#include "fuzz_report.h"

static void plot(const char *path, bool is_good)
{
    char folder[IWT_FUZZ_PATH_SIZE];
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    const iw_status status = iw_result_report_gnuplot(&log, path, iwt_fuzz_path("plots", folder));

    iwt_fuzz_check_log(status, errors);
    iwt_fuzz_require(is_good || status != IW_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[IWT_FUZZ_PATH_SIZE];
    const bool is_good = iwt_fuzz_report(iw_result_report_text, iwt_fuzz_json(data, size, path));

    iwt_fuzz_require(iwt_fuzz_report(iw_result_report_csv, path) == is_good);
    iwt_fuzz_require(iwt_fuzz_report(iw_result_write_html, path) == is_good);
    plot(path, is_good);
    return 0;
}
