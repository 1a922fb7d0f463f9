/* Runs one MPI collective in many sizes, for SimGrid to tell which messages each run sends.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: collectives OPERATION RANKS:BYTES:ROOT...      operations as in `idlewave schedule --list`
 * Each case runs on the first RANKS ranks of MPI_COMM_WORLD and keeps their numbers. Elements are bytes: what
 * is cut into pieces is cut by bytes, as idlewave cuts.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

struct run {
    MPI_Comm comm;
    int ranks, bytes, root;
    char *in, *out;
};

static void run_barrier(const struct run *run)
{
    MPI_Barrier(run->comm);
}

static void run_bcast(const struct run *run)
{
    MPI_Bcast(run->out, run->bytes, MPI_BYTE, run->root, run->comm);
}

static void run_reduce(const struct run *run)
{
    MPI_Reduce(run->in, run->out, run->bytes, MPI_BYTE, MPI_BOR, run->root, run->comm);
}

static void run_allreduce(const struct run *run)
{
    MPI_Allreduce(run->in, run->out, run->bytes, MPI_BYTE, MPI_BOR, run->comm);
}

static void run_gather(const struct run *run)
{
    MPI_Gather(run->in, run->bytes, MPI_BYTE, run->out, run->bytes, MPI_BYTE, run->root, run->comm);
}

static void run_scatter(const struct run *run)
{
    MPI_Scatter(run->in, run->bytes, MPI_BYTE, run->out, run->bytes, MPI_BYTE, run->root, run->comm);
}

static void run_allgather(const struct run *run)
{
    MPI_Allgather(run->in, run->bytes, MPI_BYTE, run->out, run->bytes, MPI_BYTE, run->comm);
}

static void run_alltoall(const struct run *run)
{
    MPI_Alltoall(run->in, run->bytes, MPI_BYTE, run->out, run->bytes, MPI_BYTE, run->comm);
}

static void run_reduce_scatter(const struct run *run)
{
    MPI_Reduce_scatter_block(run->in, run->out, run->bytes, MPI_BYTE, MPI_BOR, run->comm);
}

struct operation {
    const char *name;
    void (*run)(const struct run *run);
    bool has_blocks; /* buffers hold `bytes` for each rank */
};

static const struct operation operations[] = {
    {"barrier", run_barrier, false},
    {"bcast", run_bcast, false},
    {"reduce", run_reduce, false},
    {"allreduce", run_allreduce, false},
    {"gather", run_gather, true},
    {"scatter", run_scatter, true},
    {"allgather", run_allgather, true},
    {"alltoall", run_alltoall, true},
    {"reduce_scatter", run_reduce_scatter, true},
};

static const struct operation *find_operation(const char *name)
{
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (strcmp(operations[i].name, name) == 0) {
            return &operations[i];
        }
    }
    return NULL;
}

static void run_case(const struct operation *operation, struct run run)
{
    const size_t size = (size_t)run.bytes * (operation->has_blocks ? (size_t)run.ranks : 1);
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < run.ranks ? 0 : MPI_UNDEFINED, rank, &run.comm);
    if (run.comm == MPI_COMM_NULL) {
        return;
    }
    run.in = calloc(1, size);
    run.out = calloc(1, size);
    if (run.in == NULL || run.out == NULL) {
        fprintf(stderr, "no memory for 2 x %zu bytes\n", size);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    operation->run(&run);
    free(run.in);
    free(run.out);
    MPI_Comm_free(&run.comm);
}

static struct run read_case(const char *text)
{
    struct run run = {.comm = MPI_COMM_NULL};

    if (sscanf(text, "%d:%d:%d", &run.ranks, &run.bytes, &run.root) != 3) {
        fprintf(stderr, "'%s' is not RANKS:BYTES:ROOT\n", text);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return run;
}

int main(int argc, char **argv)
{
    const struct operation *operation;

    MPI_Init(&argc, &argv);
    operation = argc > 1 ? find_operation(argv[1]) : NULL;
    if (operation == NULL) {
        fprintf(stderr, "usage: collectives OPERATION RANKS:BYTES:ROOT...\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    for (int i = 2; i < argc; i++) {
        run_case(operation, read_case(argv[i]));
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
