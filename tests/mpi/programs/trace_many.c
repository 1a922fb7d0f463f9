/* Fixture of the tracer: very many calls; does memory stay bounded?
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: trace_many CALLS [OUTSTANDING]. Each rank prints the growth of its largest resident size over the
 * calls and over MPI_Finalize, and that size, in KiB. Ranks exchange with their neighbour in pairs, a single
 * rank with itself: CALLS times MPI_Sendrecv; with OUTSTANDING, CALLS of MPI_Isend, as many of MPI_Recv, and
 * so many requests are open at a time.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static int partner;

static long largest_kib(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void exchange(long calls)
{
    char in;
    char out = 1;

    for (long i = 0; i < calls; i++) {
        MPI_Sendrecv(&out, 1, MPI_CHAR, partner, 1, &in, 1, MPI_CHAR, partner, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

static void open_many(long calls, int outstanding)
{
    MPI_Request *requests = calloc((size_t)outstanding, sizeof *requests);
    char in;
    char out = 1;

    if (requests == NULL) {
        exit(2);
    }
    for (long done = 0; done < calls; done += outstanding) {
        for (int i = 0; i < outstanding; i++) {
            MPI_Isend(&out, 1, MPI_CHAR, partner, 1, MPI_COMM_WORLD, &requests[i]);
        }
        for (int i = 0; i < outstanding; i++) {
            MPI_Recv(&in, 1, MPI_CHAR, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Waitall(outstanding, requests, MPI_STATUSES_IGNORE);
    }
    free(requests);
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 100000;
    int outstanding = argc > 2 ? atoi(argv[2]) : 0;
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &partner);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    partner = (partner ^ 1) < size ? partner ^ 1 : partner;
    exchange(1000);
    long before = largest_kib();
    if (outstanding > 0) {
        open_many(calls, outstanding);
    } else {
        exchange(calls);
    }
    printf("calls %ld grew %ld to %ld\n", calls, largest_kib() - before, largest_kib());
    fflush(stdout);
    MPI_Finalize();
    printf("finalize grew %ld to %ld\n", largest_kib() - before, largest_kib());
    return 0;
}
