/* Fuzzes the reader of statistics of run queues.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/fleet/node_digest.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_digest *digest = NULL;
    const iw_status status = iwi_runq_digest(&log, "fuzz.out", "n", (const char *)data, size, &digest);

    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) {
        iwt_fuzz_require(digest->cpu_count == 1 && digest->cpus[0].length_ns > 0);
        for (size_t i = 0; i < digest->source_count; i++) {
            iwt_fuzz_require(digest->sources[i].cell_count <= 1 && digest->sources[i].busy_ns >= 0);
        }
        iw_digest_free(digest);
    }
    return 0;
}
