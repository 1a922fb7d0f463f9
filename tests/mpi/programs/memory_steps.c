/* Two ranks that move data and then pause, in step and taking turns: how long moving takes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: mpirun -n 2 memory_steps PHASE_BYTES ARRAY_BYTES PAUSE_S BLOCKS STEPS
 *
 * A step moves PHASE_BYTES by the STREAM triad (24 bytes for each element), continuing where the last one
 * stopped in arrays of ARRAY_BYTES, and then sleeps for PAUSE_S (who spins instead is sent to the end of the
 * queue when it has to work, on a machine with other processes). Blocks of STEPS steps alternate: in step
 * (both begin at once) and taking turns (rank 1 begins PAUSE_S later). Phases in which another process had
 * the CPU for over 2 % of the time do not count. Prints the median time of a phase of each kind, and how many
 * counted: in-step 0.0101 240 turns 0.0098 231
 */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHUNK = 8192, KINDS = 2 };

struct ring_of_data {
    double *a, *b, *c;
    size_t chunks, at;
};

struct phases {
    double *seconds;
    int count;
};

static double seconds(clockid_t which)
{
    struct timespec now;

    clock_gettime(which, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* To the rank-th of the CPUs that the process may use. */
static void pin(int rank)
{
    cpu_set_t all, one;
    int seen = 0;

    sched_getaffinity(0, sizeof all, &all);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &all) && seen++ == rank) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
        }
    }
}

static double *new_array(size_t chunks, double value)
{
    double *array = malloc(chunks * CHUNK * sizeof *array);

    if (array == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    for (size_t i = 0; i < chunks * CHUNK; i++) {
        array[i] = value;
    }
    return array;
}

static void triad(double *restrict a, const double *restrict b, const double *restrict c)
{
    for (int i = 0; i < CHUNK; i++) {
        a[i] = b[i] + 3.0 * c[i];
    }
}

static void move(struct ring_of_data *data, size_t chunks)
{
    for (size_t i = 0; i < chunks; i++) {
        const size_t at = data->at * CHUNK;

        triad(data->a + at, data->b + at, data->c + at);
        data->at = (data->at + 1) % data->chunks;
    }
}

static void sleep_s(double time_s)
{
    const struct timespec pause = {(time_t)time_s, (long)((time_s - (double)(time_t)time_s) * 1e9)};

    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* One step; the phase is kept if nobody else had the CPU. */
static void step(struct ring_of_data *data, size_t chunks, double pause_s, struct phases *phases)
{
    const double begin_s = seconds(CLOCK_MONOTONIC), cpu_s = seconds(CLOCK_THREAD_CPUTIME_ID);
    double took_s, held_s;

    move(data, chunks);
    held_s = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_s;
    took_s = seconds(CLOCK_MONOTONIC) - begin_s;
    if (held_s >= 0.98 * took_s) {
        phases->seconds[phases->count++] = took_s;
    }
    sleep_s(pause_s);
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* The medians of both ranks, averaged. */
static void print_kind(const char *name, struct phases *phases, int rank)
{
    double median, sum;
    int count;

    qsort(phases->seconds, (size_t)phases->count, sizeof(double), compare);
    median = phases->count > 0 ? phases->seconds[phases->count / 2] : 0.0;
    MPI_Reduce(&median, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&phases->count, &count, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%s %.9f %d\n", name, sum / 2, count);
    }
}

int main(int argc, char **argv)
{
    struct phases kinds[KINDS];
    struct ring_of_data data = {0};
    int rank, blocks, steps;
    size_t chunks;
    double pause_s;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 6) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    chunks = strtoull(argv[1], NULL, 10) / (CHUNK * 24);
    data.chunks = strtoull(argv[2], NULL, 10) / (CHUNK * 24);
    pause_s = strtod(argv[3], NULL);
    blocks = atoi(argv[4]);
    steps = atoi(argv[5]);
    pin(rank);
    data.a = new_array(data.chunks, 0.0);
    data.b = new_array(data.chunks, 1.0);
    data.c = new_array(data.chunks, 2.0);
    for (int kind = 0; kind < KINDS; kind++) {
        kinds[kind] = (struct phases){malloc((size_t)(blocks * steps) * sizeof(double)), 0};
    }
    for (int block = 0; block < KINDS * blocks; block++) {
        const int takes_turns = block % KINDS;

        MPI_Barrier(MPI_COMM_WORLD);
        sleep_s(takes_turns && rank == 1 ? pause_s : 0.0);
        for (int i = 0; i < steps; i++) {
            step(&data, chunks, pause_s, &kinds[takes_turns]);
        }
    }
    print_kind("in-step", &kinds[0], rank);
    print_kind("turns", &kinds[1], rank);
    MPI_Finalize();
    return 0;
}
