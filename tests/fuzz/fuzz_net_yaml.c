/* Fuzzes the reader of networks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/net/net.h"
#include "fuzz.h"
#include "kit/files/net/net_yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_net net;
    const iw_status status = iwi_net_read_memory(&log, "fuzz.yaml", (const char *)data, size, NULL, &net);

    iwt_fuzz_check_log(status, errors);
    iwt_fuzz_require(status != IW_OK || iw_net_check(NULL, &net) == IW_OK);
    if (status == IW_OK) {
        iwi_net_release(&net);
    }
    return 0;
}
