/* What the part of an MPI offers to `bench`: phases of work and an operation, timed on all ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MPI_BENCH_H
#define IWI_MPI_BENCH_H

#include <idlewave/internal/mpi.h>
#include <idlewave/internal/bench.h>

/* Collective over all processes; iw_mpi_plugin.bench_measure. */
IW_NODISCARD iw_status iwi_bench_measure(const iw_log *log, const struct iw_bench_plan *plan,
                                         struct iw_bench_samples **samples_p);

#endif
