/* Fixture of the tracer: collectives whose partners get different amounts, requests that are no messages,
 * names of communicators; on four ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * argv[1]: what to do, one of the names below.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define W MPI_COMM_WORLD

enum { N = 4, TIMES = 5, MANY = 1 << 20, WAIT_US = 100000 };

static int rank;
static char *out, *in;

/* A ring: a megabyte to each side. */
static void neighbours(void)
{
    const int dims[] = {N}, periods[] = {1};
    MPI_Comm ring;

    MPI_Cart_create(W, 1, dims, periods, 0, &ring);
    for (int i = 0; i < TIMES; i++) {
        MPI_Neighbor_alltoall(out, MANY, MPI_BYTE, in, MANY, MPI_BYTE, ring);
    }
    MPI_Comm_free(&ring);
}

/* Rank 0 sends 4 MB to rank 1; nobody else sends anything. */
static void one_pair(void)
{
    const int nothing[N] = {0};
    int counts[N] = {0};

    counts[rank == 0 ? 1 : 0] = rank < 2 ? 4 * MANY : 0;
    for (int i = 0; i < TIMES; i++) {
        MPI_Alltoallv(out, rank == 0 ? counts : nothing, nothing, MPI_BYTE, in, rank == 1 ? counts : nothing,
                      nothing, MPI_BYTE, W);
    }
}

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int is_complete)
{
    (void)extra;
    (void)is_complete;
    return MPI_SUCCESS;
}

static void *complete_later(void *request)
{
    usleep(WAIT_US);
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

/* As a file that takes its time would be. */
static void unknown_request(void)
{
    MPI_Request request, copy;
    pthread_t thread;

    MPI_Grequest_start(query, release, cancel, NULL, &request);
    copy = request;
    pthread_create(&thread, NULL, complete_later, &copy);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
}

static void names(void)
{
    MPI_Comm half, quarter;

    MPI_Comm_split(W, rank / 2, rank, &half);
    MPI_Comm_set_name(half, "rows");
    MPI_Barrier(half);
    MPI_Comm_free(&half);
    MPI_Comm_split(W, rank % 2, rank, &quarter);
    MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, quarter);
    MPI_Comm_free(&quarter);
}

static void persistent(void)
{
    MPI_Request requests[2];

    MPI_Send_init(out, 100, MPI_BYTE, (rank + 1) % N, 1, W, &requests[0]);
    MPI_Recv_init(in, 100, MPI_BYTE, (rank + N - 1) % N, 1, W, &requests[1]);
    for (int i = 0; i < TIMES; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Alltoall(out, 10, MPI_BYTE, in, 10, MPI_BYTE, W);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*does)(void);
    } parts[] = {{"neighbours", neighbours},
                 {"one_pair", one_pair},
                 {"unknown_request", unknown_request},
                 {"names", names},
                 {"persistent", persistent}};
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(W, &rank);
    out = calloc(4, MANY);
    in = calloc(4, MANY);
    for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(argv[1], parts[i].name) == 0) {
            parts[i].does();
        }
    }
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
