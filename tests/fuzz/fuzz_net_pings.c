/* Fuzzes the reader of single messages of netgauge.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"
#include "kit/files/net/net_yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    struct iwi_pings pings = {.size_count = 0};
    const iw_status status = iwi_pings_read(&log, "fuzz.out", (const char *)data, size, &pings);

    iwt_fuzz_check_log(status, errors);
    for (size_t i = 0; i < pings.size_count; i++) {
        const struct iwi_ping_times *times = &pings.sizes[i];

        iwt_fuzz_require(times->count > 0 && times->sorted_ps[0] > 0);
        iwt_fuzz_require(iwi_pings_quantile(times, 1) >= iwi_pings_quantile(times, 0.5));
        iwt_fuzz_require(times->lag1 >= -1 && times->lag1 <= 1);
    }
    iwi_pings_release(&pings);
    return 0;
}
