/* Fixture of the tracer: programs that die, or whose tracer runs out of something, on two ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: trace_death HOW [CALLS]. First CALLS messages to itself (default 1000), then:
 *   fine      nothing; ends as programs do
 *   segv      rank 1 gets SIGSEGV
 *   kill      rank 1 gets SIGKILL
 *   abort     rank 1 calls MPI_Abort
 *   exit      all ranks exit without MPI_Finalize
 *   disk      before the messages files may not grow beyond 2 MiB; ends as programs do
 *   files     a thread of rank 1 calls MPI while no file can be opened; ends as programs do
 *   no-room   ... while files cannot grow at all
 *   threads   20 threads call MPI one after the other (MPI_THREAD_SERIALIZED)
 *   longjmp   rank 1 leaves a call by longjmp() before the messages
 *   alone     MPI_Init is not seen by the tracer
 *   memory    before the messages no memory is left; ends as programs do
 * Prints "sum S" at the end and exits with 0 where it can: tracing must not change that.
 */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Address space: less than what is mapped now, so that nothing can be added. */
static void take_memory(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%ld", &pages) != 1) {
        exit(2);
    }
    fclose(file);
    const struct rlimit limit = {(rlim_t)(pages - 2048) * (rlim_t)sysconf(_SC_PAGESIZE), RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0) {
        perror("setrlimit");
        exit(2);
    }
}

static void give_memory_back(void)
{
    const struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

    (void)setrlimit(RLIMIT_AS, &limit);
}

static void limit_files(void)
{
    const struct rlimit limit = {2 << 20, RLIM_INFINITY};

    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        perror("setrlimit");
        exit(2);
    }
}

static void die(const char *how, int rank)
{
    if (strcmp(how, "exit") == 0) {
        usleep(300000); /* MPICH's launcher ends the other ranks when the first exits so */
        _Exit(0);
    }
    if (rank != 1) {
        return;
    }
    if (strcmp(how, "segv") == 0) {
        raise(SIGSEGV);
    } else if (strcmp(how, "kill") == 0) {
        raise(SIGKILL);
    } else if (strcmp(how, "abort") == 0) {
        MPI_Abort(MPI_COMM_WORLD, 5);
    }
}

static void send_to_self(long calls, int rank)
{
    int one = 1;
    int got = 0;

    for (long i = 0; i < calls; i++) {
        MPI_Sendrecv(&one, 1, MPI_INT, rank, 0, &got, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void *call_once(void *arg)
{
    send_to_self(1, *(const int *)arg);
    return NULL;
}

static void call_in_thread(int rank)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, call_once, &rank) != 0 || pthread_join(thread, NULL) != 0) {
        exit(2);
    }
}

/* While the resource is limited to nothing. */
static void call_in_thread_without(int resource, int rank)
{
    struct rlimit before;

    if (rank == 1 && getrlimit((__rlimit_resource_t)resource, &before) == 0) {
        const struct rlimit none = {0, before.rlim_max};
        (void)setrlimit((__rlimit_resource_t)resource, &none);
        call_in_thread(rank);
        (void)setrlimit((__rlimit_resource_t)resource, &before);
    }
}

static jmp_buf before_call;

static void leave_call(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    longjmp(before_call, 1);
}

static void leave_a_call(void)
{
    MPI_Errhandler handler;
    int value = 1;

    MPI_Comm_create_errhandler(leave_call, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (setjmp(before_call) == 0) {
        MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD); /* there is no such rank */
    }
}

static void start(const char *how, int *argc, char ***argv)
{
    int provided;

    if (strcmp(how, "alone") == 0) {
        PMPI_Init(argc, argv);
    } else if (strcmp(how, "threads") == 0 || strcmp(how, "files") == 0 || strcmp(how, "no-room") == 0) {
        MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &provided);
    } else {
        MPI_Init(argc, argv);
    }
}

static void call_from_threads(const char *how, int rank)
{
    if (strcmp(how, "files") == 0) {
        call_in_thread_without(RLIMIT_NOFILE, rank);
    } else if (strcmp(how, "no-room") == 0) {
        call_in_thread_without(RLIMIT_FSIZE, rank);
    } else if (strcmp(how, "threads") == 0) {
        for (int i = 0; i < 20; i++) {
            call_in_thread(rank);
        }
    } else if (strcmp(how, "longjmp") == 0 && rank == 1) {
        leave_a_call();
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "fine";
    long calls = argc > 2 ? atol(argv[2]) : 1000;
    int rank;
    int sum = 0;
    int one = 1;

    start(how, &argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "memory") == 0) {
        send_to_self(100, rank); /* MPI takes its own memory before */
        take_memory();
    }
    if (strcmp(how, "disk") == 0) {
        limit_files();
    }
    call_from_threads(how, rank);
    send_to_self(calls, rank);
    give_memory_back();
    MPI_Barrier(MPI_COMM_WORLD);
    die(how, rank);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("sum %d\n", sum);
    }
    MPI_Finalize();
    return 0;
}
