/* What the EZTrace archives in tests/data/traces were made of: calls whose events EZTrace writes, writes
 * wrongly, or leaves out. Run it with 4 ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <mpi.h>
#include <unistd.h>

enum { WORDS = 100, ROUNDS = 3 };

static int sent[WORDS], received[4 * WORDS];

/* Requests whose completion EZTrace does not write. */
static void ring(int left, int right)
{
    MPI_Request requests[2];

    for (int i = 0; i < ROUNDS; i++) {
        MPI_Irecv(received, 10, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, 10, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[1]);
        usleep(1000);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void waits_and_tests(int left, int right)
{
    MPI_Request requests[2];
    MPI_Status status;
    int is_done = 0, index;

    MPI_Irecv(received, 20, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, 20, MPI_INT, right, 6, MPI_COMM_WORLD, &requests[1]);
    while (!is_done) {
        usleep(2000);
        MPI_Test(&requests[0], &is_done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&requests[1], &status);
    MPI_Send_init(sent, 5, MPI_INT, right, 15, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(received, 5, MPI_INT, left, 15, MPI_COMM_WORLD, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitany(2, requests, &index, &status);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void pairs(int rank)
{
    if (rank % 2 == 0) {
        MPI_Send(sent, 3, MPI_DOUBLE, rank + 1, 8, MPI_COMM_WORLD);
        MPI_Ssend(sent, 3, MPI_DOUBLE, rank + 1, 9, MPI_COMM_WORLD);
    } else {
        MPI_Recv(received, 3, MPI_DOUBLE, rank - 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(received, 3, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Send(sent, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
}

/* Two halves, in reverse order. */
static void halves(int rank)
{
    MPI_Comm half;
    int half_rank;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &half_rank);
    MPI_Allreduce(sent, received, 4, MPI_INT, MPI_SUM, half);
    if (half_rank == 0) {
        MPI_Send(sent, 1, MPI_INT, 1, 11, half);
    } else {
        MPI_Recv(received, 1, MPI_INT, 0, 11, half, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(sent, 20, MPI_INT, 1, half);
    MPI_Comm_free(&half);
}

static void collectives(int rank)
{
    const int counts[] = {1, 2, 3, 4}, places[] = {0, 1, 3, 6};
    MPI_Request request;

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Gather(sent, 2, MPI_INT, received, 2, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Alltoall(sent, 2, MPI_INT, received, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(sent, rank + 1, MPI_INT, received, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Iallreduce(sent, received, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ring((rank + size - 1) % size, (rank + 1) % size);
    waits_and_tests((rank + size - 1) % size, (rank + 1) % size);
    pairs(rank);
    MPI_Sendrecv(sent, 7, MPI_INT, (rank + 1) % size, 7, received, 7, MPI_INT, (rank + size - 1) % size, 7,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    halves(rank);
    collectives(rank);
    MPI_Finalize();
    return 0;
}
