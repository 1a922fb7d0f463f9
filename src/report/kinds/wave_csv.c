/* Waves as CSV: one line a front.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/timeline.h>

#include "base/base.h"
#include "report/kinds/wave_report.h"

iw_status iw_waves_write_csv(const iw_log *log, const iw_waves *waves, FILE *out)
{
    char lead[IWI_NS_TEXT_SIZE], trail[IWI_NS_TEXT_SIZE], idle[IWI_NS_TEXT_SIZE];

    (void)fputs("wave,rank,distance,step,lead_ns,trail_ns,idle_ns\n", out);
    for (size_t i = 0; i < waves->wave_count; i++) {
        for (size_t k = 0; k < waves->waves[i].front_count; k++) {
            const iw_front *front = &waves->waves[i].fronts[k];

            (void)fprintf(out, "%zu,%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%s,%s,%s\n", i + 1, front->rank,
                          front->distance, iwi_step_number(front->step), iwi_ns_text(front->lead_ps, lead),
                          iwi_ns_text(front->trail_ps, trail), iwi_ns_text(front->idle_ps, idle));
        }
    }
    return iwi_check_written(log, out, "the fronts");
}
