/* Fuzzes the reader of networks of osu_latency.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/tables.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_net net;
    const iw_status status = iwi_osu_net_reader.read(&log, "fuzz.out", (const char *)data, size, &net);

    iwt_fuzz_check_log(status, errors);
    iwt_fuzz_require(status != IW_OK || iw_net_check(NULL, &net) == IW_OK);
    return 0;
}
