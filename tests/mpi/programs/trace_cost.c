/* What tracing costs: the same calls by MPI_ (traced) and PMPI_ (not traced) in turns, in one run of two
 * ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints medians over blocks, of rank 0:
 *   pingpong ADDED PLAIN     ns per call of a ping-pong: what the tracer adds, and without it
 *   self ADDED PLAIN         ns per call of messages to itself: no other rank is waited for
 *   compute PERCENT          how much longer work takes that makes three calls each 300 us; shortest blocks:
 * work is what others on the machine lengthen clock NS cpu NS          one reading of the wall clock and of
 * the thread's CPU clock
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BLOCKS = 401, PER_BLOCK = 50, WORK_PER_BLOCK = 1 };

static const double LONGEST_S =
    5; /* of each part: where cores are scarce, a ping-pong takes a time slice a message */

static int rank;

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

/* Functions of the same type: calls by pointers cost the same with and without the tracer. */
struct calls {
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    int (*wait)(MPI_Request *, MPI_Status *);
};

static double pingpong(const struct calls *mpi, int work)
{
    char byte = 0;
    double begin = MPI_Wtime();

    (void)work;
    for (int i = 0; i < PER_BLOCK; i++) {
        if (rank == 0) {
            mpi->send(&byte, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            mpi->recv(&byte, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            mpi->recv(&byte, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            mpi->send(&byte, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - begin) / (2 * PER_BLOCK) * 1e9;
}

static double to_itself(const struct calls *mpi, int work)
{
    char in = 0;
    char out = 0;
    MPI_Request request;
    double begin = MPI_Wtime();

    (void)work;
    for (int i = 0; i < PER_BLOCK; i++) {
        mpi->isend(&out, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request);
        mpi->recv(&in, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        mpi->wait(&request, MPI_STATUS_IGNORE);
    }
    return (MPI_Wtime() - begin) / (3 * PER_BLOCK) * 1e9;
}

static volatile double sink;

static void do_work(int steps)
{
    double sum = 0;

    for (int i = 0; i < steps; i++) {
        sum += 1.0 / (i + 1);
    }
    sink = sum;
}

/* Steps of work that take about 300 us. */
static int calibrate(void)
{
    for (int steps = 1000;; steps += steps / 4) {
        double begin = MPI_Wtime();
        do_work(steps);
        if (MPI_Wtime() - begin > 300e-6) {
            return steps;
        }
    }
}

static double computing(const struct calls *mpi, int work)
{
    char in = 0;
    char out = 0;
    MPI_Request request;
    double begin = MPI_Wtime();

    for (int i = 0; i < WORK_PER_BLOCK; i++) {
        do_work(work);
        mpi->isend(&out, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request);
        mpi->recv(&in, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        mpi->wait(&request, MPI_STATUS_IGNORE);
    }
    return (MPI_Wtime() - begin) * 1e9;
}

/* Blocks in turns; the order changes so that nothing that drifts counts for one side. */
static void compare_blocks(double (*block)(const struct calls *, int), int work, double *added_p,
                           double *plain_p, double *percent_p)
{
    static const struct calls PLAIN = {PMPI_Send, PMPI_Isend, PMPI_Recv, PMPI_Wait};
    static const struct calls TRACED = {MPI_Send, MPI_Isend, MPI_Recv, MPI_Wait};
    double added[BLOCKS];
    double plain[BLOCKS];
    double least_traced = 1e30;
    double least_plain = 1e30;
    int count = 0;
    int is_over = 0;
    double end = MPI_Wtime() + LONGEST_S;

    block(&PLAIN, work);
    block(&TRACED, work);
    while (count < BLOCKS && !is_over) {
        double traced = count % 2 == 0 ? block(&TRACED, work) : 0;
        plain[count] = block(&PLAIN, work);
        traced = count % 2 == 0 ? traced : block(&TRACED, work);
        added[count] = traced - plain[count];
        least_traced = traced < least_traced ? traced : least_traced;
        least_plain = plain[count] < least_plain ? plain[count] : least_plain;
        count++;
        is_over = MPI_Wtime() > end;
        PMPI_Bcast(&is_over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    *added_p = median(added, count);
    *plain_p = median(plain, count);
    *percent_p = (least_traced / least_plain - 1) * 100;
}

static double reading_ns(clockid_t clock)
{
    enum { READINGS = 20000 };
    struct timespec now;
    double begin = MPI_Wtime();

    for (int i = 0; i < READINGS; i++) {
        clock_gettime(clock, &now);
    }
    return (MPI_Wtime() - begin) / READINGS * 1e9;
}

int main(int argc, char **argv)
{
    double added;
    double plain;
    double percent;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int work = calibrate();
    compare_blocks(pingpong, 0, &added, &plain, &percent);
    if (rank == 0) {
        printf("pingpong %.0f %.0f\n", added, plain);
    }
    compare_blocks(to_itself, 0, &added, &plain, &percent);
    if (rank == 0) {
        printf("self %.0f %.0f\n", added, plain);
    }
    compare_blocks(computing, work, &added, &plain, &percent);
    if (rank == 0) {
        printf("compute %.2f\n", percent);
        printf("clock %.0f cpu %.0f\n", reading_ns(CLOCK_MONOTONIC), reading_ns(CLOCK_THREAD_CPUTIME_ID));
    }
    MPI_Finalize();
    return 0;
}
