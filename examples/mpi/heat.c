/* A heat equation on a line of ranks: a stencil, an exchange with both neighbours, now and then a sum over
 * all.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: mpirun -n RANKS heat [STEPS]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 200000, SUM_EVERY = 10 };

static double cells[CELLS + 2], next[CELLS + 2];

static void exchange(int below, int above)
{
    MPI_Sendrecv(&cells[1], 1, MPI_DOUBLE, below, 0, &cells[CELLS + 1], 1, MPI_DOUBLE, above, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&cells[CELLS], 1, MPI_DOUBLE, above, 0, &cells[0], 1, MPI_DOUBLE, below, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static double stencil(void)
{
    double heat = 0;

    for (int i = 1; i <= CELLS; i++) {
        next[i] = cells[i] + 0.25 * (cells[i - 1] - 2 * cells[i] + cells[i + 1]);
        heat += next[i];
    }
    for (int i = 1; i <= CELLS; i++) {
        cells[i] = next[i];
    }
    return heat;
}

int main(int argc, char **argv)
{
    const int steps = argc > 1 ? atoi(argv[1]) : 1000;
    int rank, ranks;
    double heat = 0, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    cells[CELLS / 2] = rank + 1;
    for (int step = 0; step < steps; step++) {
        exchange(rank > 0 ? rank - 1 : MPI_PROC_NULL, rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL);
        heat = stencil();
        if (step % SUM_EVERY == 0) {
            MPI_Allreduce(&heat, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
    if (rank == 0) {
        printf("%d steps on %d ranks, heat %g\n", steps, ranks, all);
    }
    MPI_Finalize();
    return 0;
}
