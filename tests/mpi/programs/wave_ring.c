/* Steps of work and an exchange with the neighbours on a ring; one rank is late once: an idle wave to look
 * at.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: wave_ring [STEPS [WORK_US [DELAY_US [DELAY_RANK [DELAY_STEP [BYTES [joint|uni|split [NOISE
 *     [SEED]]]]]]]]]
 *
 * By default 40 steps of 3000 us; rank 1 sleeps 30000 us more in step 10 (from 0); 1024 bytes to both
 * neighbours. `uni`: to the higher one only. `split`: to both, with a wait for each direction instead of one
 * for all. NOISE: each work takes longer by an exponential time, whose mean is so many per cent of it. Work
 * is sleeping, so that more ranks than CPUs do not disturb each other. Rank 0 prints the time of all steps in
 * microseconds, that of the last rank. Built with WAIT_PATIENTLY, ranks sleep on sockets while they wait.
 */
#include <mpi.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef WAIT_PATIENTLY
#include "process/mpi_run.h"
#endif

struct ring {
    long steps, work_us, delay_us, delay_rank, delay_step, bytes;
    int is_one_way, is_split;
    double noise_share;
    uint64_t seed;
};

/* In (0, 1], for each rank and step another: splitmix64. */
static double draw(const struct ring *ring, int rank, long step)
{
    uint64_t z = (ring->seed * 1000003 + (uint64_t)rank) * 1000003 + (uint64_t)step;

    z = (z + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (double)(((z ^ (z >> 31)) >> 11) + 1) * 0x1p-53;
}

static long work_of(const struct ring *ring, int rank, long step)
{
    const int is_late = rank == ring->delay_rank && step == ring->delay_step;
    const double noise_us = -log(draw(ring, rank, step)) * ring->noise_share * (double)ring->work_us;

    return ring->work_us + (is_late ? ring->delay_us : 0) + lround(noise_us);
}

static void sleep_us(long us)
{
    struct timespec left = {us / 1000000, us % 1000000 * 1000};

    while (nanosleep(&left, &left) != 0) {
    }
}

static void exchange(const struct ring *ring, int rank, int ranks, const char *out, char *in)
{
    const int bytes = (int)ring->bytes, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    int count = 0;

    MPI_Irecv(in, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, &requests[count++]);
    MPI_Isend(out, bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[count++]);
    if (ring->is_split) {
        MPI_Waitall(count, requests, statuses);
        count = 0;
    }
    if (!ring->is_one_way) {
        MPI_Irecv(in + bytes, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[count++]);
        MPI_Isend(out, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[count++]);
    }
    MPI_Waitall(count, requests, statuses);
}

static struct ring read_arguments(int argc, char **argv)
{
    struct ring ring = {40, 3000, 30000, 1, 10, 1024, 0, 0, 0.0, 1};
    long *values[] = {&ring.steps,      &ring.work_us,    &ring.delay_us,
                      &ring.delay_rank, &ring.delay_step, &ring.bytes};

    for (int i = 1; i < argc && i <= (int)(sizeof values / sizeof values[0]); i++) {
        *values[i - 1] = strtol(argv[i], NULL, 10);
    }
    ring.is_one_way = argc > 7 && strcmp(argv[7], "uni") == 0;
    ring.is_split = argc > 7 && strcmp(argv[7], "split") == 0;
    ring.noise_share = argc > 8 ? strtod(argv[8], NULL) / 100 : 0.0;
    ring.seed = argc > 9 ? strtoull(argv[9], NULL, 10) : 1;
    return ring;
}

int main(int argc, char **argv)
{
    struct ring ring;
    int rank, ranks;
    double start, seconds, longest = 0.0;
    char *out, *in;

#ifdef WAIT_PATIENTLY
    sleeping_polls_use();
#endif
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ring = read_arguments(argc, argv);
    out = calloc((size_t)ring.bytes + 1, 1);
    in = calloc(2 * (size_t)ring.bytes + 1, 1);
    if (out == NULL || in == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    exchange(&ring, rank, ranks, out, in); /* connections are made */
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (long step = 0; step < ring.steps; step++) {
        sleep_us(work_of(&ring, rank, step));
        exchange(&ring, rank, ranks, out, in);
    }
    seconds = MPI_Wtime() - start;
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%.0f\n", 1e6 * longest);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
