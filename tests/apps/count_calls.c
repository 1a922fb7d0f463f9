/* Preloaded into an MPI program, counts its calls: the tests' own measure of what a trace must hold.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Finalize writes COUNT_CALLS_DIR/RANK, a line "MPI_Send 12" for each function that was called. Calls are
 * counted as the program makes them: those that MPI makes inside a call are not. One library for all MPIs, as
 * it needs no mpi.h: arguments of MPI functions are integers and pointers, so that passing on as many machine
 * words as the longest list has passes on any list, in the calling conventions of Linux on 64 bits.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* name in C, name in Fortran; all that communicate, or make what communicates. Asking functions are left out.
 */
/* clang-format off */
#define CALLS(X)                                                                                             \
    X(Init, init) X(Init_thread, init_thread) X(Finalize, finalize)                                          \
    X(Send, send) X(Bsend, bsend) X(Ssend, ssend) X(Rsend, rsend)                                            \
    X(Isend, isend) X(Ibsend, ibsend) X(Issend, issend) X(Irsend, irsend)                                    \
    X(Send_init, send_init) X(Bsend_init, bsend_init) X(Ssend_init, ssend_init) X(Rsend_init, rsend_init)    \
    X(Recv, recv) X(Irecv, irecv) X(Recv_init, recv_init)                                                    \
    X(Sendrecv, sendrecv) X(Sendrecv_replace, sendrecv_replace)                                              \
    X(Probe, probe) X(Iprobe, iprobe) X(Mprobe, mprobe) X(Improbe, improbe) X(Mrecv, mrecv) X(Imrecv, imrecv)\
    X(Buffer_detach, buffer_detach) X(Start, start) X(Startall, startall)                                    \
    X(Wait, wait) X(Waitall, waitall) X(Waitany, waitany) X(Waitsome, waitsome)                              \
    X(Test, test) X(Testall, testall) X(Testany, testany) X(Testsome, testsome)                              \
    X(Request_get_status, request_get_status) X(Request_free, request_free) X(Cancel, cancel)                \
    X(Barrier, barrier) X(Bcast, bcast) X(Gather, gather) X(Gatherv, gatherv)                                \
    X(Scatter, scatter) X(Scatterv, scatterv) X(Allgather, allgather) X(Allgatherv, allgatherv)              \
    X(Alltoall, alltoall) X(Alltoallv, alltoallv) X(Alltoallw, alltoallw)                                    \
    X(Reduce, reduce) X(Allreduce, allreduce) X(Reduce_scatter, reduce_scatter)                              \
    X(Reduce_scatter_block, reduce_scatter_block) X(Scan, scan) X(Exscan, exscan)                            \
    X(Neighbor_allgather, neighbor_allgather) X(Neighbor_allgatherv, neighbor_allgatherv)                    \
    X(Neighbor_alltoall, neighbor_alltoall) X(Neighbor_alltoallv, neighbor_alltoallv)                        \
    X(Neighbor_alltoallw, neighbor_alltoallw)                                                                \
    X(Ibarrier, ibarrier) X(Ibcast, ibcast) X(Igather, igather) X(Igatherv, igatherv)                        \
    X(Iscatter, iscatter) X(Iscatterv, iscatterv) X(Iallgather, iallgather) X(Iallgatherv, iallgatherv)      \
    X(Ialltoall, ialltoall) X(Ialltoallv, ialltoallv) X(Ialltoallw, ialltoallw)                              \
    X(Ireduce, ireduce) X(Iallreduce, iallreduce) X(Ireduce_scatter, ireduce_scatter)                        \
    X(Ireduce_scatter_block, ireduce_scatter_block) X(Iscan, iscan) X(Iexscan, iexscan)                      \
    X(Ineighbor_allgather, ineighbor_allgather) X(Ineighbor_allgatherv, ineighbor_allgatherv)                \
    X(Ineighbor_alltoall, ineighbor_alltoall) X(Ineighbor_alltoallv, ineighbor_alltoallv)                    \
    X(Ineighbor_alltoallw, ineighbor_alltoallw)                                                              \
    X(Comm_dup, comm_dup) X(Comm_dup_with_info, comm_dup_with_info) X(Comm_idup, comm_idup)                  \
    X(Comm_split, comm_split) X(Comm_split_type, comm_split_type) X(Comm_create, comm_create)                \
    X(Comm_create_group, comm_create_group) X(Comm_free, comm_free) X(Comm_disconnect, comm_disconnect)      \
    X(Cart_create, cart_create) X(Cart_sub, cart_sub) X(Graph_create, graph_create)                          \
    X(Dist_graph_create, dist_graph_create) X(Dist_graph_create_adjacent, dist_graph_create_adjacent)        \
    X(Intercomm_create, intercomm_create) X(Intercomm_merge, intercomm_merge)                                \
    X(Comm_spawn, comm_spawn) X(Comm_accept, comm_accept) X(Comm_connect, comm_connect)                      \
    X(Win_create, win_create) X(Win_allocate, win_allocate) X(Win_allocate_shared, win_allocate_shared)      \
    X(Win_create_dynamic, win_create_dynamic) X(Win_attach, win_attach) X(Win_detach, win_detach)            \
    X(Win_free, win_free) X(Win_fence, win_fence) X(Win_lock, win_lock) X(Win_unlock, win_unlock)            \
    X(Win_lock_all, win_lock_all) X(Win_unlock_all, win_unlock_all) X(Win_sync, win_sync)                    \
    X(Win_flush, win_flush) X(Win_flush_all, win_flush_all) X(Win_flush_local, win_flush_local)              \
    X(Win_flush_local_all, win_flush_local_all) X(Win_post, win_post) X(Win_start, win_start)                \
    X(Win_complete, win_complete) X(Win_wait, win_wait) X(Win_test, win_test)                                \
    X(Put, put) X(Get, get) X(Accumulate, accumulate) X(Get_accumulate, get_accumulate)                      \
    X(Fetch_and_op, fetch_and_op) X(Compare_and_swap, compare_and_swap) X(Rput, rput) X(Rget, rget)          \
    X(File_open, file_open) X(File_close, file_close) X(File_set_view, file_set_view)                        \
    X(File_read, file_read) X(File_read_at, file_read_at) X(File_read_all, file_read_all)                    \
    X(File_read_at_all, file_read_at_all) X(File_write, file_write) X(File_write_at, file_write_at)          \
    X(File_write_all, file_write_all) X(File_write_at_all, file_write_at_all) X(File_sync, file_sync)
/* clang-format on */

#define NUMBER(name, low) CALL_##name,
enum call { CALLS(NUMBER) CALL_COUNT };

#define NAME(name, low) "MPI_" #name,
static const char *const names[CALL_COUNT] = {CALLS(NAME)};

enum { WORDS = 14 };
typedef long function(long, long, long, long, long, long, long, long, long, long, long, long, long, long);

static atomic_llong counts[CALL_COUNT];
static _Thread_local int depth;

static void write_counts(void)
{
    const char *folder = getenv("COUNT_CALLS_DIR");
    const char *rank =
        getenv("OMPI_COMM_WORLD_RANK") != NULL ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    char path[4096];
    FILE *file = NULL;

    if (folder == NULL || rank == NULL) {
        return;
    }
    (void)snprintf(path, sizeof path, "%s/%s", folder, rank);
    file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        return;
    }
    for (int i = 0; i < CALL_COUNT; i++) {
        if (counts[i] > 0) {
            (void)fprintf(file, "%s %lld\n", names[i], counts[i]);
        }
    }
    (void)fclose(file);
}

static long count_and_call(enum call call, _Atomic(function *) *next, const char *symbol, const long *w)
{
    function *real = *next;
    long result = 0;

    if (real == NULL) {
        void *found = dlsym(RTLD_NEXT, symbol);

        if (found == NULL) {
            (void)fprintf(stderr, "count_calls: there is no %s\n", symbol);
            abort();
        }
        memcpy(&real, &found, sizeof real);
        *next = real;
    }
    if (depth == 0) {
        counts[call]++;
    }
    depth++;
    result = real(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13]);
    depth--;
    if (call == CALL_Finalize && depth == 0) {
        write_counts();
    }
    return result;
}

#define SYMBOL(call, symbol)                                                                            \
    function symbol __attribute__((visibility("default")));                                             \
    long symbol(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, \
                long l, long m, long n)                                                                 \
    {                                                                                                   \
        static _Atomic(function *) next;                                                                \
        const long words[WORDS] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n};                           \
                                                                                                        \
        return count_and_call(call, &next, #symbol, words);                                             \
    }

/* C, mpif.h and `use mpi`, and the two forms of `use mpi_f08` */
#define SYMBOLS(name, low)                \
    SYMBOL(CALL_##name, MPI_##name)       \
    SYMBOL(CALL_##name, mpi_##low##_)     \
    SYMBOL(CALL_##name, mpi_##low##_f08_) \
    SYMBOL(CALL_##name, mpi_##low##_f08ts_)

CALLS(SYMBOLS)
