/* What a benchmark measured, as it is named and freed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "features/bench/bench_stats.h"

void iwi_bench_samples_drop(iw_bench_samples *samples)
{
    if (samples == NULL) {
        return;
    }
    free(samples->block);
    free(samples->is_noisy);
    free(samples->qt_ns);
    free(samples->bt_ns);
    free(samples->qtbt_ns);
    free(samples->op_ns);
    free(samples->of_rank);
    free(samples->blocks);
    free(samples);
}
