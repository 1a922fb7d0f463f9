/* What the table of the plugin is made of (plugin.c): the link between the processes of a run, over MPI.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_MPI_LINK_H
#define IW_MPI_LINK_H

#include <idlewave/internal/bench.h>
#include <idlewave/internal/link.h>
#include <idlewave/internal/mpi.h>
#include <idlewave/internal/net_measure.h>

/* Collective over all processes; iw_mpi_plugin.link_open. */
IW_NODISCARD iw_status iwi_mpi_link_open(const iw_log *log, const iw_link **link_p);
/* Before MPI ends; nothing if it was not opened. */
void iwi_mpi_link_close(void);

/* ---- what the part of an MPI offers to `bench`: phases of work and an operation, timed on all ranks ---- */

/* Collective over all processes; iw_mpi_plugin.bench_measure. */
IW_NODISCARD iw_status iwi_bench_measure(const iw_log *log, const struct iw_bench_plan *plan,
                                         struct iw_bench_samples **samples_p);

/* ---- what the part of an MPI offers to `net`: measuring message times between ranks ---- */

/* Collective over all processes; iw_mpi_plugin.net_measure. */
IW_NODISCARD iw_status iwi_net_measure(const iw_log *log, const struct iw_net_plan *plan,
                                       struct iw_net_samples **samples_p);

#endif
