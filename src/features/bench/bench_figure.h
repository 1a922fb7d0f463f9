/* The figures of benchmarks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_BENCH_FIGURE_H
#define IWI_BENCH_FIGURE_H

#include <idlewave/internal/bench.h>

#include "kit/figure/figure.h"

/* How long phases of a kind take; both kinds have the same axis, to be compared. */
IW_NODISCARD iw_status iwi_bench_figure(const iw_log *log, const iw_bench_result *result, int kind,
                                        struct iwi_figure **figure_p);

#endif
