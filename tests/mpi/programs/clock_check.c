/* Synchronises clocks whose offsets and drifts are known, and prints how far off the result is and what it
 * claims.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: clock_check skewed|host WINDOW_MS. "skewed": each rank's clock is CLOCK_MONOTONIC of this machine
 * (which all ranks share, even in different network namespaces) with an offset and a drift of its own;
 * "host": the plain clock, shared by the processes of a host. Prints "rank error_ns bound_ns drift_error
 * drift_bound is_measured" of each rank, at once and 0.2 s later, and again with the models of both times
 * joined.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/clock_sync.h"

struct skew {
    double offset_ns, drift;
    int64_t start_ns;
};

static int64_t monotonic_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t skewed(const struct skew *skew, int64_t true_ns)
{
    return true_ns + llround(skew->offset_ns + skew->drift * (double)(true_ns - skew->start_ns));
}

static int64_t skewed_now_ns(void *arg)
{
    return skewed(arg, monotonic_ns());
}

/* Of `rank`: offsets of seconds and drifts up to 50 ppm, both signs. */
static struct skew skew_of(int rank, int is_skewed, int64_t start_ns)
{
    const double sign = rank % 2 == 0 ? 1 : -1;

    return is_skewed ? (struct skew){sign * 1.7e9 * (rank + 1), sign * 1.3e-5 * ((rank % 4) + 0.5), start_ns}
                     : (struct skew){0, 0, start_ns};
}

static void report(const char *when, const struct iwi_clock_model *model, const struct skew *mine,
                   const struct skew *reference)
{
    const int64_t true_ns = monotonic_ns(), local_ns = skewed(mine, true_ns);
    const int64_t error_ns = iwi_clock_to_reference(model, local_ns) - skewed(reference, true_ns);
    const double drift = (1 + reference->drift) / (1 + mine->drift) - 1;
    const double line[6] = {(double)error_ns,           (double)iwi_clock_error(model, local_ns),
                            fabs(model->drift - drift), model->drift_error,
                            (double)model->error_ns,    (double)(model->offset_ns != 0)};
    double all[64 * 6];
    int rank, ranks;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Gather(line, 6, MPI_DOUBLE, all, 6, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int r = 0; rank == 0 && r < ranks; r++) {
        printf("%s %d %.0f %.0f %.3e %.3e %.0f\n", when, r, all[6 * r], all[6 * r + 1], all[6 * r + 2],
               all[6 * r + 3], all[6 * r + 5]);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const struct timespec pause = {.tv_nsec = 200000000};
    const int is_skewed = argc > 1 && strcmp(argv[1], "skewed") == 0;
    const int64_t window_ns = argc > 2 ? (int64_t)atoi(argv[2]) * 1000000 : 0;
    struct iwi_clock_model begin, end;
    struct skew mine, reference;
    struct iwi_local_clock clock = {.now_ns = skewed_now_ns, .arg = &mine, .is_of_host = !is_skewed};
    int64_t start_ns = monotonic_ns();
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Bcast(&start_ns, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    mine = skew_of(rank, is_skewed, start_ns);
    reference = skew_of(0, is_skewed, start_ns);
    if (ranks > 64 || iwi_clock_sync(MPI_COMM_WORLD, &clock, window_ns, &begin) != IW_OK) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    report("begin", &begin, &mine, &reference);
    (void)nanosleep(&pause, NULL);
    report("later", &begin, &mine, &reference);
    if (iwi_clock_sync(MPI_COMM_WORLD, &clock, 0, &end) != IW_OK) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    begin = iwi_clock_join(&begin, &end);
    report("joined", &begin, &mine, &reference);
    MPI_Finalize();
    return 0;
}
