/* Messages inside a host, between two hosts, and both at once: the median time of each for each size.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: level_mix [ROUNDS [LARGEST_BYTES]], on 4 ranks, 0 and 1 on one host, 2 and 3 on the other; prints
 * "case bytes median_ns low_ns high_ns" a line:
 *     inside     half a round trip of ranks 0 and 1
 *     outside    half a round trip of ranks 0 and 2
 *     halo       an exchange of all ranks with both neighbours on a ring
 *     allreduce  recursive doubling of that many bytes, without the reduction
 *     alltoall   all messages posted at once
 * Ranks that wait give their core away, since there may be more of them than cores; ranks that have no part
 * sleep.
 */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANKS = 4, ROUNDS_MOST = 100, SIZES_MOST = 16, STEPS = 4, CASES = 5 };

struct buffers {
    char *out, *in; /* RANKS times the largest size each */
};

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void wait_for(int count, MPI_Request *requests, const struct timespec *nap)
{
    MPI_Status statuses[2 * RANKS];
    int is_done = 0;

    while (MPI_Testall(count, requests, &is_done, statuses) == MPI_SUCCESS && !is_done) {
        (void)(nap != NULL ? nanosleep(nap, NULL) : sched_yield());
    }
}

static void wait_asleep_for_all(void)
{
    const struct timespec nap = {0, 200000};
    MPI_Request request;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait_for(1, &request, &nap);
}

/* To each of so many peers, and from it; all at once. */
static void exchange(const int *peers, int count, int bytes, const struct buffers *buffers)
{
    MPI_Request requests[2 * RANKS];

    for (int i = 0; i < count; i++) { /* with two messages of one pair the first meets the other's second */
        MPI_Irecv(buffers->in + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, peers[count - 1 - i], 0,
                  MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < count; i++) {
        MPI_Isend(buffers->out, bytes, MPI_BYTE, peers[i], 0, MPI_COMM_WORLD, &requests[count + i]);
    }
    wait_for(2 * count, requests, NULL);
}

static void bounce(int rank, int peer, int bytes, const struct buffers *buffers)
{
    MPI_Request request;

    for (int turn = 0; turn < 2; turn++) {
        if ((rank == 0) == (turn == 0)) {
            MPI_Isend(buffers->out, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &request);
        } else {
            MPI_Irecv(buffers->in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &request);
        }
        wait_for(1, &request, NULL);
    }
}

static void pingpong(int rank, int other, int bytes, const struct buffers *buffers)
{
    if (rank == 0 || rank == other) {
        bounce(rank, other - rank, bytes, buffers);
    }
}

static void inside(int rank, int bytes, const struct buffers *buffers)
{
    pingpong(rank, 1, bytes, buffers);
}

static void outside(int rank, int bytes, const struct buffers *buffers)
{
    pingpong(rank, 2, bytes, buffers);
}

static void halo(int rank, int bytes, const struct buffers *buffers)
{
    exchange((int[]){(rank + 1) % RANKS, (rank + RANKS - 1) % RANKS}, 2, bytes, buffers);
}

static void allreduce(int rank, int bytes, const struct buffers *buffers)
{
    for (int mask = 1; mask < RANKS; mask *= 2) {
        exchange((int[]){rank ^ mask}, 1, bytes, buffers);
    }
}

static void alltoall(int rank, int bytes, const struct buffers *buffers)
{
    exchange((int[]){(rank + 1) % RANKS, (rank + 2) % RANKS, (rank + 3) % RANKS}, 3, bytes, buffers);
}

static const struct {
    const char *name;
    void (*run)(int rank, int bytes, const struct buffers *buffers);
    int messages; /* of a step in a row: what is printed is one's time */
} cases[CASES] = {
    {"inside", inside, 2},       {"outside", outside, 2},   {"halo", halo, 1},
    {"allreduce", allreduce, 1}, {"alltoall", alltoall, 1},
};

/* Nanoseconds of a step; the first, which nobody has waited for, does not count. */
static double run_steps(int number, int rank, int bytes, const struct buffers *buffers)
{
    double start, time;

    wait_asleep_for_all();
    cases[number].run(rank, bytes, buffers);
    start = MPI_Wtime();
    for (int step = 0; step < STEPS; step++) {
        cases[number].run(rank, bytes, buffers);
    }
    time = (MPI_Wtime() - start) * 1e9 / STEPS / cases[number].messages;
    wait_asleep_for_all();
    return time;
}

static void print_case(int number, int bytes, double *times, int rounds)
{
    qsort(times, (size_t)rounds, sizeof *times, by_value);
    printf("%s %d %.1f %.1f %.1f\n", cases[number].name, bytes, times[rounds / 2], times[rounds / 4],
           times[rounds - 1 - rounds / 4]);
}

int main(int argc, char **argv)
{
    static double times[CASES][SIZES_MOST][ROUNDS_MOST];
    const int rounds = argc > 1 ? atoi(argv[1]) : 9, largest = argc > 2 ? atoi(argv[2]) : 1 << 15;
    struct buffers buffers = {calloc(RANKS, (size_t)largest), calloc(RANKS, (size_t)largest)};
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (buffers.out == NULL || buffers.in == NULL || rounds < 1 || rounds > ROUNDS_MOST || ranks != RANKS) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int round = 0; round < rounds; round++) {
        for (int bytes = 8, size = 0; bytes <= largest; bytes *= 16, size++) {
            for (int number = 0; number < CASES; number++) {
                times[number][size][round] = run_steps(number, rank, bytes, &buffers);
            }
        }
    }
    for (int number = 0; rank == 0 && number < CASES; number++) {
        for (int bytes = 8, size = 0; bytes <= largest; bytes *= 16, size++) {
            print_case(number, bytes, times[number][size], rounds);
        }
    }
    (void)fflush(stdout);
    MPI_Finalize();
    free(buffers.out);
    free(buffers.in);
    return 0;
}
