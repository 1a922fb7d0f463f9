/* The figures of benchmarks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_BENCH_FIGURE_H
#define IWI_BENCH_FIGURE_H

#include "report/figure/figure.h"
#include "report/kinds/bench_report.h"

/* How long its phases take, without or with injected noise; both have the same axis, to be compared.
 * *figure_p is NULL where that is not known. */
IW_NODISCARD iw_status iwi_bench_figure(const iw_log *log, const json_t *bench, bool is_noisy,
                                        struct iwi_figure **figure_p);

#endif
