/* Looks at many pairs of ranks briefly, to find slow ones and typical ones.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_SCAN_H
#define IWI_NET_SCAN_H

#include <mpi.h>

#include "mpi/net_place.h"

#define IWI_SCAN_SMALL_BYTES UINT64_C(8)
#define IWI_SCAN_LARGE_BYTES (UINT64_C(64) << 10)

/* Collective. Rank 0 gets the links in samples->links, by rank; suspects have been looked at again, alone.
 * IW_ERR_NOMEM on all ranks. */
IW_NODISCARD iw_status iwi_net_scan(const iw_log *log, MPI_Comm comm, const iw_net_plan *plan,
                                    const struct iwi_process_place *places, iw_net_samples *samples);

/* Waits for all ranks and leaves the CPU to others meanwhile. */
void iwi_quiet_barrier(MPI_Comm comm);

/* IW_OK if all ranks come with IW_OK, else the worst of theirs. */
IW_NODISCARD iw_status iwi_net_agree(MPI_Comm comm, iw_status status);

#endif
