/* A small MPI program: a ring of messages and an allreduce; tells what it was given, ends with the code asked
 * for.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: hello [CODE [ARGUMENT...]]: rank 0 prints "ranks N sum S" and its arguments; all end with CODE.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, token = 0, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &token, 1, MPI_INT, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("ranks %d sum %d", size, sum);
        for (int i = 2; i < argc; i++) {
            printf(" '%s'", argv[i]);
        }
        printf("\n");
    }
    MPI_Finalize();
    return argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
}
