/* Fuzzes the reader of launches of `net`, and what is made of two of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/net_measure.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_net_launch launches[2], all;
    iw_status status = iw_net_read_json(&log, "fuzz.json", (const char *)data, size, &launches[0]);

    iwt_fuzz_check_log(status, errors);
    if (status != IW_OK) {
        return 0;
    }
    launches[1] = launches[0];
    status = iw_net_combine(&log, launches, 2, &all);
    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) {
        iw_net_launch_release(&all);
    }
    iw_net_launch_release(&launches[0]);
    return 0;
}
