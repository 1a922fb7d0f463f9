/* Fuzzes the reader of the JSON of what-ifs, and the reports of what it accepts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/whatif.h>

#include "fuzz_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[IWT_FUZZ_PATH_SIZE];
    const bool is_good = iwt_fuzz_report(iw_whatif_report_text, iwt_fuzz_json(data, size, path));

    iwt_fuzz_require(iwt_fuzz_report(iw_whatif_report_csv, path) == is_good);
    iwt_fuzz_require(iwt_fuzz_report(iw_whatif_write_html, path) == is_good);
    iwt_fuzz_require(iw_whatif_is_answer(path) || !is_good);
    return 0;
}
