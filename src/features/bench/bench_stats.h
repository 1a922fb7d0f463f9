/* Internals of benchmarks' numbers that the MPI parts share with the library.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_BENCH_STATS_H
#define IWI_BENCH_STATS_H

#include <idlewave/internal/bench.h>

/* iw_bench_samples_free(), under a name that the MPI parts do not export. */
void iwi_bench_samples_drop(iw_bench_samples *samples);

#endif
