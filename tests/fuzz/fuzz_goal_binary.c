/* Fuzzes the reader of binary GOAL and, with what it accepts, the writers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz_goal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct iwi_schedule *schedule = iwt_fuzz_read(iwi_goal_read_binary, (const char *)data, size, false);

    if (schedule != NULL) {
        iwt_fuzz_check_round_trip(schedule, true);
    }
    return 0;
}
