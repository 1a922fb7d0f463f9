/* Steps of equal work and a halo exchange on a ring, in blocks: what each block took, as bench/watch_work.c
 * says it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank 0 reads lines "STEPS", and answers each with "WALL_NS PLAIN_NS BEYOND_NS LEFT_OUT" (chunk_times.h) of
 * its steps. It waits in each step for its neighbours, so that what they lose is in its times too. Between
 * blocks all ranks sleep.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>

#include "support/chunk_times.h"

enum { MOST_STEPS = 1 << 16, HALO_BYTES = 1024, WORK = 60000, SLEEP_NS = 200000 };

struct ring {
    int left, right;
    char out[HALO_BYTES], in[2][HALO_BYTES];
    uint64_t state; /* of the work */
};

static void step(struct ring *ring)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];

    for (int i = 0; i < WORK; i++) {
        ring->state = ring->state * UINT64_C(6364136223846793005) + 1;
    }
    memcpy(ring->out, &ring->state, sizeof ring->state);
    MPI_Irecv(ring->in[0], HALO_BYTES, MPI_BYTE, ring->left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(ring->in[1], HALO_BYTES, MPI_BYTE, ring->right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(ring->out, HALO_BYTES, MPI_BYTE, ring->right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(ring->out, HALO_BYTES, MPI_BYTE, ring->left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, statuses);
    ring->state += (uint64_t)ring->in[0][0];
}

/* Its first window, after a sleep, is for caches and clocks to wake. */
static void do_block(struct ring *ring, int steps, int rank)
{
    static int64_t times_ns[MOST_STEPS];
    int64_t start_ns, last_ns;
    struct chunk_sums sums;

    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < CHUNK_WINDOW; i++) {
        step(ring);
    }
    start_ns = last_ns = chunk_now_ns(CLOCK_MONOTONIC_RAW);
    for (int i = 0; i < steps; i++) {
        int64_t done_ns;

        step(ring);
        done_ns = chunk_now_ns(CLOCK_MONOTONIC_RAW);
        times_ns[i] = done_ns - last_ns;
        last_ns = done_ns;
    }
    if (rank == 0) {
        sums = chunk_sums_of(times_ns, (size_t)steps);
        printf("%" PRId64 " %" PRId64 " %" PRId64 " %zu\n", last_ns - start_ns, sums.plain_ns, sums.beyond_ns,
               sums.left_out);
        fflush(stdout);
    }
}

/* The same number for all; 0: no more. */
static int next_block(int rank)
{
    const struct timespec pause = {.tv_nsec = SLEEP_NS};
    MPI_Request request;
    char line[64];
    int steps = 0, is_told = 0;

    if (rank == 0 && fgets(line, sizeof line, stdin) != NULL) {
        steps = atoi(line);
        steps = steps < MOST_STEPS ? steps : MOST_STEPS;
    }
    MPI_Ibcast(&steps, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &is_told, MPI_STATUS_IGNORE);
    while (!is_told) {
        (void)nanosleep(&pause, NULL);
        MPI_Test(&request, &is_told, MPI_STATUS_IGNORE);
    }
    return steps;
}

int main(int argc, char **argv)
{
    static struct ring ring;
    int rank, ranks, steps;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ring.left = (rank + ranks - 1) % ranks;
    ring.right = (rank + 1) % ranks;
    while ((steps = next_block(rank)) > 0) {
        do_block(&ring, steps, rank);
    }
    MPI_Finalize();
    return 0;
}
