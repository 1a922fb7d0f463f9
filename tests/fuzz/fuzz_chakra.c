/* Fuzzes the reader of Chakra's execution traces: the same bytes as the files of two ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/chakra/chakra.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    struct iwi_chakra all;
    struct iwi_visits visits;
    iw_status status;

    iwi_chakra_init(&all, &log);
    iwi_visits_init(&visits, &log, "Chakra");
    status = iwi_chakra_read(&all, NULL, "fuzz.0.et", data, size);
    if (status == IW_OK) {
        status = iwi_chakra_read(&all, NULL, "fuzz.1.et", data, size);
    }
    if (status == IW_OK) {
        status = iwi_chakra_fill(&all, &visits);
    }
    iwt_fuzz_check_log(status, errors);
    iwi_visits_release(&visits);
    iwi_chakra_release(&all);
    return 0;
}
