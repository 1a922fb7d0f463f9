/* What all ranks of a benchmark know, and how their times come to rank 0.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_BENCH_COLLECT_H
#define IWI_BENCH_COLLECT_H

#include <idlewave/internal/bench.h>

#include <mpi.h>

#include "mpi/bench_work.h"
#include "mpi/net_place.h"
#include "features/bench/bench_keep.h"

struct iwi_bench_session {
    const iw_log *log;
    const iw_bench_plan *plan;
    MPI_Comm comm;
    int rank, ranks;
    struct iwi_process_place *places; /* of all ranks */
    iw_bench_place place;     /* of this one */
    struct iwi_bench_operation op;
    uint64_t iterations, x; /* of the generator: for a quantum; where it is */
    uint64_t block_phases, left_out;
    struct iwi_bench_keep keep;
};

/* Collective. Rank 0 gets the samples, the others NULL. IW_ERR_NOMEM on all if one has none. */
IW_NODISCARD iw_status iwi_bench_collect(struct iwi_bench_session *s, iw_bench_samples **samples_p);

#endif
