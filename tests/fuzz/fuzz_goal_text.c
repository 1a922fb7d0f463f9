/* Fuzzes the reader of GOAL text and, with what it accepts, the writers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz_goal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct iwi_schedule *schedule = iwt_fuzz_read(iwi_goal_read_text, (const char *)data, size, false);

    /* a few bytes can ask for a million empty ranks: fine, but slow to write six times */
    if (schedule != NULL && schedule->ranks > 4096) {
        iwi_schedule_free(schedule);
        return 0;
    }
    if (schedule != NULL) {
        iwt_fuzz_check_round_trip(schedule, false);
    }
    return 0;
}
