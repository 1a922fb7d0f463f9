/* Sends messages there and back between ranks 0 and 1, and prints the median time of one way for each size.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: pingpong [ROUNDS [LARGEST_BYTES]]; prints "bytes median_ns low_ns high_ns" a line: the median and
 * the 25 % and 75 % quantiles of the medians of the rounds. Rounds go over all sizes, as those of `idlewave
 * net` do.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES_MOST = 64, ROUNDS_MOST = 100, REPETITIONS_MOST = 200 };

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

/* Half of the median round trip, in nanoseconds. */
static double exchange(int rank, int bytes, int repetitions, char *out, char *in)
{
    double times[REPETITIONS_MOST];

    for (int i = -1; i < repetitions; i++) { /* the first one warms up */
        const double start = MPI_Wtime();

        if (rank == 0) {
            MPI_Send(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(in, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        times[i < 0 ? 0 : i] = (MPI_Wtime() - start) * 1e9 / 2;
    }
    return quantile(times, repetitions, 0.5);
}

int main(int argc, char **argv)
{
    static double medians[SIZES_MOST][ROUNDS_MOST];
    const int rounds = argc > 1 ? atoi(argv[1]) : 30, largest = argc > 2 ? atoi(argv[2]) : 1 << 20;
    char *out = malloc((size_t)largest), *in = malloc((size_t)largest);
    int rank, size_count = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (out == NULL || in == NULL || rounds < 1 || rounds > ROUNDS_MOST) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    memset(out, 1, (size_t)largest);
    memset(in, 2, (size_t)largest);
    for (int round = 0; round < rounds; round++) {
        size_count = 0;
        /* sizes that `net` does not measure, so that what lies between is tested */
        for (int bytes = 1; bytes <= largest && rank < 2;
             bytes = bytes < 4 ? bytes * 3 : bytes * 2 - bytes / 4) {
            medians[size_count++][round] = exchange(rank, bytes, bytes < 65536 ? 100 : 10, out, in);
        }
    }
    for (int i = 0, bytes = 1; rank == 0 && i < size_count; i++) {
        const double middle = quantile(medians[i], rounds, 0.5);

        printf("%d %.1f %.1f %.1f\n", bytes, middle, quantile(medians[i], rounds, 0.25),
               quantile(medians[i], rounds, 0.75));
        bytes = bytes < 4 ? bytes * 3 : bytes * 2 - bytes / 4;
    }
    fflush(stdout);
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
