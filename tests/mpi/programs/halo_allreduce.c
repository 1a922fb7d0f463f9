/* Steps of a halo exchange with both neighbours on a ring and an allreduce, and the median time of a step for
 * each size.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: halo_allreduce [ROUNDS [LARGEST_BYTES]]; prints "bytes median_ns low_ns high_ns" a line, as pingpong
 * does. The allreduce, of 8 bytes, is recursive doubling by point-to-point messages, so that it is the same
 * with each MPI; the number of ranks must be a power of two.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES_MOST = 64, ROUNDS_MOST = 100, STEPS = 20 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(double *values, int count, double share)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[(int)(share * (count - 1) + 0.5)];
}

static void halo(int rank, int ranks, int bytes, char *out, char *in)
{
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Request requests[4];
    MPI_Status statuses[4];

    MPI_Irecv(in, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + bytes, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, statuses);
}

static void allreduce(int rank, int ranks)
{
    double mine = rank, other = 0;

    for (int mask = 1; mask < ranks; mask *= 2) {
        MPI_Request requests[2];
        MPI_Status statuses[2];

        MPI_Irecv(&other, 1, MPI_DOUBLE, rank ^ mask, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&mine, 1, MPI_DOUBLE, rank ^ mask, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        mine += other;
    }
}

/* Nanoseconds of a step. */
static double run_steps(int rank, int ranks, int bytes, char *out, char *in)
{
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    halo(rank, ranks, bytes, out, in);
    start = MPI_Wtime();
    for (int step = 0; step < STEPS; step++) {
        halo(rank, ranks, bytes, out, in);
        allreduce(rank, ranks);
    }
    return (MPI_Wtime() - start) * 1e9 / STEPS;
}

int main(int argc, char **argv)
{
    static double times[SIZES_MOST][ROUNDS_MOST];
    const int rounds = argc > 1 ? atoi(argv[1]) : 30, largest = argc > 2 ? atoi(argv[2]) : 1 << 18;
    char *out = malloc((size_t)largest), *in = malloc(2 * (size_t)largest);
    int rank, ranks, size_count = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (out == NULL || in == NULL || rounds < 1 || rounds > ROUNDS_MOST || (ranks & (ranks - 1)) != 0) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    memset(out, 1, (size_t)largest);
    memset(in, 2, 2 * (size_t)largest);
    for (int round = 0; round < rounds; round++) {
        size_count = 0;
        for (int bytes = 8; bytes <= largest; bytes *= 8) {
            times[size_count++][round] = run_steps(rank, ranks, bytes, out, in);
        }
    }
    for (int i = 0, bytes = 8; rank == 0 && i < size_count; i++, bytes *= 8) {
        const double middle = quantile(times[i], rounds, 0.5);

        printf("%d %.1f %.1f %.1f\n", bytes, middle, quantile(times[i], rounds, 0.25),
               quantile(times[i], rounds, 0.75));
    }
    fflush(stdout);
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
