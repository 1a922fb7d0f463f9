/* What the second half of a run costs, trial by trial.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/later_half.h"

bool iwi_later_half(const iw_sim_result *whole, const iw_sim_result *half, double *slowdowns)
{
    const double quiet_ps = (double)(whole->noiseless_ps - half->noiseless_ps);

    if (!(quiet_ps > 0.0)) {
        return false;
    }
    for (uint64_t i = 0; i < half->trials; i++) {
        const double later_ps = (double)whole->makespan_ps[i] - (double)half->makespan_ps[i];

        slowdowns[i] = later_ps / quiet_ps - 1.0;
    }
    return true;
}
