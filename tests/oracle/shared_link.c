/* As many pairs as are asked for: the upper half of the ranks sends one message each to the lower half. Rank
 * 0 prints when the last of them ends, in seconds of simulated time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const int bytes = argc > 1 ? atoi(argv[1]) : 1;
    int rank, size;
    double end_s, last_s;
    char *buffer;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    buffer = calloc((size_t)bytes, 1);
    if (rank < size / 2) {
        MPI_Recv(buffer, bytes, MPI_BYTE, rank + size / 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(buffer, bytes, MPI_BYTE, rank - size / 2, 0, MPI_COMM_WORLD);
    }
    end_s = rank < size / 2 ? MPI_Wtime() : 0.0;
    MPI_Reduce(&end_s, &last_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%.12f\n", last_s);
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}
