/* Solves a heat equation on a line by conjugate gradients: halos by MPI_Sendrecv, sums by MPI_Allreduce.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the residual and the solution's sum to the last bit: the same in every run on as many ranks.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

enum { CELLS = 20000, STEPS = 150 };

static int rank, size;

static double sum_of_products(const double *a, const double *b)
{
    double own = 0, all = 0;

    for (int i = 1; i <= CELLS; i++) {
        own += a[i] * b[i];
    }
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* result = A v, with A the second difference plus a little; v's halo is filled. */
static void apply(double *v, double *result)
{
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;

    v[0] = v[CELLS + 1] = 0;
    MPI_Sendrecv(&v[1], 1, MPI_DOUBLE, left, 0, &v[CELLS + 1], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&v[CELLS], 1, MPI_DOUBLE, right, 1, &v[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i <= CELLS; i++) {
        result[i] = 2.0001 * v[i] - v[i - 1] - v[i + 1];
    }
}

int main(int argc, char **argv)
{
    static double x[CELLS + 2], r[CELLS + 2], p[CELLS + 2], ap[CELLS + 2], ones[CELLS + 2];
    double rr;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i <= CELLS; i++) {
        r[i] = p[i] = ((rank * CELLS + i) % 97) / 97.0;
        ones[i] = 1;
    }
    rr = sum_of_products(r, r);
    for (int step = 0; step < STEPS; step++) {
        apply(p, ap);
        const double alpha = rr / sum_of_products(p, ap);
        for (int i = 1; i <= CELLS; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
        }
        const double before = rr;
        rr = sum_of_products(r, r);
        for (int i = 1; i <= CELLS; i++) {
            p[i] = r[i] + rr / before * p[i];
        }
    }
    const double sum = sum_of_products(x, ones);
    if (rank == 0) {
        (void)printf("residual %.17g sum %.17g\n", rr, sum);
    }
    MPI_Finalize();
    return 0;
}
