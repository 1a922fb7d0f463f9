/* A ring of 8-byte messages, for what tracing a call costs (bench/run.py).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: trace_ring isend|sendrecv STEPS [compare]
 *   isend      a step is MPI_Irecv from the left, MPI_Isend to the right and MPI_Wait for both: four calls
 *   sendrecv   a step is one MPI_Sendrecv
 *   compare    the same calls by MPI_ (traced) and by PMPI_ (not traced) in turns; rank 0 prints "ADDED
 * PLAIN": ns per call that the tracer adds, the median, and the least without it
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_PER_BLOCK = 50, TAG = 1 };

struct ring {
    int left, right;
    int (*irecv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*wait)(MPI_Request *, MPI_Status *);
    int (*sendrecv)(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm,
                    MPI_Status *);
};

typedef void step_function(const struct ring *ring);

static void step_isend(const struct ring *ring)
{
    double in = 0;
    double out = 1;
    MPI_Request requests[2];

    ring->irecv(&in, 1, MPI_DOUBLE, ring->left, TAG, MPI_COMM_WORLD, &requests[0]);
    ring->isend(&out, 1, MPI_DOUBLE, ring->right, TAG, MPI_COMM_WORLD, &requests[1]);
    ring->wait(&requests[0], MPI_STATUS_IGNORE);
    ring->wait(&requests[1], MPI_STATUS_IGNORE);
}

static void step_sendrecv(const struct ring *ring)
{
    double in = 0;
    double out = 1;

    ring->sendrecv(&out, 1, MPI_DOUBLE, ring->right, TAG, &in, 1, MPI_DOUBLE, ring->left, TAG, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
}

static double block_s(const struct ring *ring, step_function *step)
{
    double begin = MPI_Wtime();

    for (int i = 0; i < STEPS_PER_BLOCK; i++) {
        step(ring);
    }
    return MPI_Wtime() - begin;
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Blocks in turns; the order changes so that nothing that drifts counts for one side. */
static void compare(const struct ring *traced, const struct ring *plain, step_function *step,
                    int calls_per_step, long steps)
{
    long blocks = steps / STEPS_PER_BLOCK + 1;
    double *added_s = calloc((size_t)blocks, sizeof *added_s);
    double least_s = 1e30;
    int rank;

    if (added_s == NULL) {
        return;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long i = 0; i < blocks; i++) {
        double traced_s = i % 2 == 0 ? block_s(traced, step) : 0;
        double plain_s = block_s(plain, step);
        traced_s = i % 2 == 0 ? traced_s : block_s(traced, step);
        added_s[i] = traced_s - plain_s;
        least_s = plain_s < least_s ? plain_s : least_s;
    }
    qsort(added_s, (size_t)blocks, sizeof *added_s, compare_doubles);
    if (rank == 0) {
        double to_ns = 1e9 / (STEPS_PER_BLOCK * calls_per_step);
        printf("%.1f %.1f\n", added_s[blocks / 2] * to_ns, least_s * to_ns);
    }
    free(added_s);
}

int main(int argc, char **argv)
{
    struct ring traced = {0, 0, MPI_Irecv, MPI_Isend, MPI_Wait, MPI_Sendrecv};
    struct ring plain = {0, 0, PMPI_Irecv, PMPI_Isend, PMPI_Wait, PMPI_Sendrecv};
    int rank;
    int size;

    if (argc < 3 || (strcmp(argv[1], "isend") != 0 && strcmp(argv[1], "sendrecv") != 0)) {
        fprintf(stderr, "usage: trace_ring isend|sendrecv STEPS [compare]\n");
        return 2;
    }
    int is_isend = strcmp(argv[1], "isend") == 0;
    step_function *step = is_isend ? step_isend : step_sendrecv;
    long steps = atol(argv[2]);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    traced.left = plain.left = (rank + size - 1) % size;
    traced.right = plain.right = (rank + 1) % size;
    if (argc > 3) {
        compare(&traced, &plain, step, is_isend ? 4 : 1, steps);
    } else {
        for (long i = 0; i < steps; i++) {
            step(&traced);
        }
    }
    MPI_Finalize();
    return 0;
}
