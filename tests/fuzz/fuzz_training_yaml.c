/* Fuzzes the reader of training programs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/training/training_yaml.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_training_sizes sizes;
    iw_training spec;
    iw_status status;

    iw_training_init(&spec);
    status = iwi_training_read_memory(&log, "fuzz.yaml", (const char *)data, size, &spec);
    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) {
        (void)!iw_training_measure(NULL, &spec, &sizes);
    }
    iw_training_release(&spec);
    return 0;
}
