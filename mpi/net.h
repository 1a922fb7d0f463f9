/* What the part of an MPI offers to `net`: measuring message times between ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MPI_NET_H
#define IWI_MPI_NET_H

#include <idlewave/internal/mpi.h>
#include <idlewave/internal/net_measure.h>

/* Collective over all processes; iw_mpi_plugin.net_measure. */
IW_NODISCARD iw_status iwi_net_measure(const iw_log *log, const struct iw_net_plan *plan,
                                       struct iw_net_samples **samples_p);

#endif
