/* The work of a phase, and the operation behind it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MPI_BENCH_H
#define IWI_MPI_BENCH_H

#include <idlewave/internal/bench.h>
#include <mpi.h>

#include "features/bench/bench_keep.h"
#include "mpi/net.h"

/* So many steps of x <- (a x + b) mod p, each of which needs the one before; the result is used. */
uint64_t iwi_bench_spin(uint64_t x, uint64_t iterations);

/* The number of them that takes so long undisturbed: the shortest of many short runs tells. Takes 0.3 s. */
uint64_t iwi_bench_calibrate(double quantum_ns);

/* Sleeps until `end_ns` of CLOCK_MONOTONIC; what a signal ends early. */
void iwi_bench_sleep_until(int64_t end_ns);

struct iwi_bench_operation {
    iw_bench_op op;
    MPI_Comm comm;
    int count, left, right; /* bytes; neighbours in the ring of ranks */
    unsigned char *out, *in, *in_too;
};

IW_NODISCARD iw_status iwi_bench_operation_init(const iw_log *log, const iw_bench_plan *plan, MPI_Comm comm,
                                         struct iwi_bench_operation *op);
void iwi_bench_operation_release(struct iwi_bench_operation *op);

/* By its MPI_ name: libraries that are preloaded see it as one of a program. */
void iwi_bench_operation_run(const struct iwi_bench_operation *op);

/* ---- what all ranks of a benchmark know, and how their times come to rank 0 ---- */

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
