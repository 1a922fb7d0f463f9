/* Fuzzes the reader of Open MPI's rules files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"
#include "kit/files/trace/trace_open.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    const struct iwi_algorithm_overrides no_wishes = {NULL, 0};
    struct iwi_operation op = {.ranks = 100, .bytes = 1000};
    struct iwi_rule_set set;
    const iw_status status = iwi_ompi_rules_read_memory(&log, "fuzz", (const char *)data, size, &set);

    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) {
        for (uint32_t kind = IWI_BARRIER; kind <= IWI_EXSCAN; kind++) {
            iwi_rules_choose(&set, &no_wishes, (enum iwi_op_kind)kind, &op);
            iwt_fuzz_require(op.algorithm->kind == kind);
        }
        iwi_ompi_rules_release(&set);
    }
    return 0;
}
