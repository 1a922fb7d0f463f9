/* The work of a phase, a linear congruential generator, and the operation behind it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/bench.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/base.h"
#include "mpi/net.h"

static const uint64_t A = 16807, B = 12345, P = 2147483647; /* P = 2^31 - 1 */

uint64_t iwi_bench_spin(uint64_t x, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        x = (A * x + B) % P;
        __asm__ volatile("" : "+r"(x)); /* each step stays one, whatever the compiler knows of generators */
    }
    return x;
}

void iwi_bench_sleep_until(int64_t end_ns)
{
    const struct timespec end = {.tv_sec = (time_t)(end_ns / 1000000000),
                                 .tv_nsec = (long)(end_ns % 1000000000)};

    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

/* ---- calibration ---- */

static double time_of_ns(uint64_t iterations, volatile uint64_t *x)
{
    const int64_t start_ns = iwi_net_now_ns();

    *x = iwi_bench_spin(*x, iterations);
    return (double)(iwi_net_now_ns() - start_ns);
}

/* Pieces are short, so that some are undisturbed even on a busy host; their number of steps is large against
 * what a reading of the clock takes. */
uint64_t iwi_bench_calibrate(double quantum_ns)
{
    enum { FIRST = 1000, LEAST_RUNS = 20 };
    static const double PIECE_NS = 5e4, DURATION_NS = 3e8;
    volatile uint64_t x = 1;
    const uint64_t steps = (uint64_t)(FIRST * PIECE_NS / fmax(time_of_ns(FIRST, &x), 1.0)) + FIRST;
    const int64_t start_ns = iwi_net_now_ns();
    double shortest_ns = INFINITY;

    for (int i = 0; i < LEAST_RUNS || (double)(iwi_net_now_ns() - start_ns) < DURATION_NS; i++) {
        shortest_ns = fmin(shortest_ns, time_of_ns(steps, &x));
    }
    return (uint64_t)fmax((double)steps * quantum_ns / fmax(shortest_ns, 1.0), 1.0);
}

/* ---- operations ---- */

iw_status iwi_bench_operation_init(const iw_log *log, const iw_bench_plan *plan, MPI_Comm comm,
                            struct iwi_bench_operation *op)
{
    const size_t size = plan->bytes > 0 ? (size_t)plan->bytes : 1;
    int rank, ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    *op = (struct iwi_bench_operation){.op = plan->op,
                                .comm = comm,
                                .count = (int)plan->bytes,
                                .left = (rank + ranks - 1) % ranks,
                                .right = (rank + 1) % ranks};
    op->out = iwi_new_array(log, size, 1);
    op->in = iwi_new_array(log, size, 1);
    op->in_too = iwi_new_array(log, size, 1);
    return op->out != NULL && op->in != NULL && op->in_too != NULL ? IW_OK : IW_ERR_NOMEM;
}

void iwi_bench_operation_release(struct iwi_bench_operation *op)
{
    free(op->out);
    free(op->in);
    free(op->in_too);
}

/* What goes to the right comes from the left; tags tell directions apart where both neighbours are one. */
static void exchange(const struct iwi_bench_operation *op)
{
    enum { TO_RIGHT = 1, TO_LEFT = 2 };
    MPI_Request requests[4];
    MPI_Status statuses[4]; /* MPICH's MPI_STATUSES_IGNORE makes compilers warn */

    MPI_Irecv(op->in, op->count, MPI_BYTE, op->left, TO_RIGHT, op->comm, &requests[0]);
    MPI_Irecv(op->in_too, op->count, MPI_BYTE, op->right, TO_LEFT, op->comm, &requests[1]);
    MPI_Isend(op->out, op->count, MPI_BYTE, op->right, TO_RIGHT, op->comm, &requests[2]);
    MPI_Isend(op->out, op->count, MPI_BYTE, op->left, TO_LEFT, op->comm, &requests[3]);
    MPI_Waitall(4, requests, statuses);
}

void iwi_bench_operation_run(const struct iwi_bench_operation *op)
{
    switch (op->op) {
    case IW_BENCH_ALLREDUCE: /* without arithmetic that could trap */
        MPI_Allreduce(op->out, op->in, op->count, MPI_UNSIGNED_CHAR, MPI_BOR, op->comm);
        break;
    case IW_BENCH_HALO: exchange(op); break;
    default: MPI_Barrier(op->comm); break;
    }
}
