/* Fixture of the tracer: threads that call MPI at once (MPI_THREAD_MULTIPLE), on two ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Thread t of each rank exchanges ROUNDS messages with thread t of the other rank under tag 100 + t. The
 * lists of threads are expect.RANK.TAG; the main thread hands a request to a thread, which completes it.
 */
#include "trace_expect.h"

#include <pthread.h>

#define W MPI_COMM_WORLD

enum { THREADS = 3, ROUNDS = 50 };

static const char *folder;
static MPI_Request handed_over;
static int handed_value;
static pthread_barrier_t all_done; /* a thread that begins after another ended would take over its location */

static void *exchange(void *arg)
{
    int tag = *(const int *)arg;
    int other = 1 - rank;
    char path[4096];

    snprintf(path, sizeof path, "%s/expect.%d.%d", folder, rank, tag);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request request;
        int in = -1;
        int out = rank * 1000 + i;
        MPI_Irecv(&in, 1, MPI_INT, other, tag, W, &request);
        fprintf(file, "MPI_Irecv: irecv_request %d %d 4 0,1 #%d\n", other, tag, i + 1);
        MPI_Send(&out, 1, MPI_INT, other, tag, W);
        fprintf(file, "MPI_Send: send %d %d 4 0,1\n", other, tag);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        fprintf(file, "MPI_Wait: irecv %d %d 4 0,1 #%d\n", other, tag, i + 1);
        must(in == other * 1000 + i, "exchange of threads");
    }
    if (tag == 100) {
        MPI_Wait(&handed_over, MPI_STATUS_IGNORE);
        fprintf(file, "MPI_Wait: irecv %d 99 4 0,1 #%d\n", other, ROUNDS + 1);
    }
    fclose(file);
    pthread_barrier_wait(&all_done);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];
    int tags[THREADS];

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    expect_open(argc, argv, "MPI_Init_thread");
    folder = argc > 1 ? argv[1] : ".";
    must(provided == MPI_THREAD_MULTIPLE, "level of threads");
    MPI_Irecv(&handed_value, 1, MPI_INT, 1 - rank, 99, W, &handed_over);
    expect("MPI_Irecv: irecv_request %d 99 4 0,1 #1", 1 - rank);
    must(pthread_barrier_init(&all_done, NULL, THREADS) == 0, "pthread_barrier_init");
    for (int i = 0; i < THREADS; i++) {
        tags[i] = 100 + i;
        must(pthread_create(&threads[i], NULL, exchange, &tags[i]) == 0, "pthread_create");
    }
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 99, W);
    expect("MPI_Send: send %d 99 4 0,1", 1 - rank);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&all_done);
    must(handed_value == 1 - rank, "request completed by another thread");
    expect_close();
    MPI_Finalize();
    return 0;
}
