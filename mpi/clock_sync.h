/* Clock synchronisation over MPI: the offset and drift of each process's clock against that of rank 0.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Uses PMPI_ calls only, so a tracer may call it from its own MPI_Init and MPI_Finalize:
 *
 *     struct iwi_local_clock clock = {my_now_ns, NULL, true};
 *     struct iwi_clock_model begin, end, whole;
 *     iwi_clock_sync(MPI_COMM_WORLD, &clock, 0, &begin);     at Init: a few exchanges
 *     iwi_clock_sync(MPI_COMM_WORLD, &clock, 0, &end);       at Finalize
 *     whole = iwi_clock_join(&begin, &end);                  offset and drift over the whole run
 *     t_global = iwi_clock_to_reference(&whole, t_local);
 *
 * Needs src/core/stats/clock_fit.c, mpi/clock_sync.c and mpi/clock_host.c, and src/core/base.
 */
#ifndef IWI_CLOCK_SYNC_H
#define IWI_CLOCK_SYNC_H

#include <idlewave/status.h>

#include <mpi.h>

#include "core/stats/clock_fit.h"

struct iwi_local_clock {
    int64_t (*now_ns)(void *arg);
    void *arg;
    /* All processes of a host read the same clock (CLOCK_MONOTONIC, ...): one of them is measured, the others
     * copy its model. Hosts are told apart by name, boot id, clock source and time namespace. */
    bool is_of_host;
};

/* Collective over `comm`, which is duplicated for it. The reference is the clock of rank 0. ceil(log2(hosts))
 * rounds: who has a model serves one who has none. `window_ns`: measure for so long to fit the drift; 0: the
 * offset only, some dozen exchanges. IW_ERR_IO if MPI fails, IW_ERR_NOMEM; nothing is logged. *model_p is set
 * on success only. */
IW_NODISCARD iw_status iwi_clock_sync(MPI_Comm comm, const struct iwi_local_clock *clock, int64_t window_ns,
                                      struct iwi_clock_model *model_p);

/* A number for the clock of this host; equal numbers: the same clock. */
uint64_t iwi_clock_host_key(void);

#endif
