/* Runs inside SimGrid: phases of work, each closed by a dissemination barrier, on hosts that stand still
 * while a detour has the CPU. Prints when the last rank ended, in seconds.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: noise PHASES FLOPS
 */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>

static void barrier(int rank, int ranks)
{
    char out = 0, in = 0;

    for (int shift = 1; shift < ranks; shift *= 2) {
        MPI_Request requests[2];

        MPI_Irecv(&in, 1, MPI_CHAR, (rank - shift + ranks) % ranks, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&out, 1, MPI_CHAR, (rank + shift) % ranks, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks;
    double end_s, last_s = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (long phase = 0; phase < strtol(argv[1], NULL, 10); phase++) {
        smpi_execute_flops(strtod(argv[2], NULL));
        barrier(rank, ranks);
    }
    end_s = MPI_Wtime();
    MPI_Reduce(&end_s, &last_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%.9f\n", last_s);
    }
    MPI_Finalize();
    return 0;
}
