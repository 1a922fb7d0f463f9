/* Steps of work that end in a collective; one rank works longer in all of them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: slow_rank barrier|allreduce|begun|halo STEPS WORK_US RANK PER_CENT
 *
 * Work is sleeping, and with meet_asleep.c so is waiting: more ranks than CPUs hardly disturb each other.
 * `begun`: an MPI_Iallreduce that is waited for. `halo` exchanges with both neighbours on a ring before it
 * reduces.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void sleep_us(long us)
{
    struct timespec left = {us / 1000000, us % 1000000 * 1000};

    while (nanosleep(&left, &left) != 0) {
    }
}

static void exchange(int rank, int ranks)
{
    static char out[64], in[128];
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Request requests[4];
    MPI_Status statuses[4];

    MPI_Irecv(in, 64, MPI_BYTE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + 64, 64, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, 64, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out, 64, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, statuses);
}

static void meet(const char *kind, int rank, int ranks)
{
    double mine = rank, sum = 0.0;
    MPI_Request request;
    MPI_Status status;

    if (strcmp(kind, "halo") == 0) {
        exchange(rank, ranks);
    }
    if (strcmp(kind, "barrier") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(kind, "begun") == 0) {
        MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Waitall(1, &request, &status);
    } else {
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 6) {
        (void)fprintf(stderr, "slow_rank KIND STEPS WORK_US RANK PER_CENT\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    for (long step = 0, steps = strtol(argv[2], NULL, 10); step < steps; step++) {
        const long work_us = strtol(argv[3], NULL, 10);
        const int is_slow = rank == strtol(argv[4], NULL, 10);

        sleep_us(work_us + (is_slow ? work_us * strtol(argv[5], NULL, 10) / 100 : 0));
        meet(argv[1], rank, ranks);
    }
    MPI_Finalize();
    return 0;
}
