/* Fixture of the tracer: collectives of all forms, blocking, nonblocking and persistent, on four ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank r contributes r + 1 integers to v-forms; sent and received bytes are counted as
 * docs/reference/formats/trace.md says.
 */
#include "trace_expect.h"

#include <string.h>

#if defined(OPEN_MPI) && MPI_VERSION < 4
#include <mpi-ext.h>
#endif

#define W MPI_COMM_WORLD
#define ALL "0,1,2,3"

enum { N = 4, ROOM = 64 };

static int in[ROOM], out[ROOM];
static int counts[N], offsets[N], byte_offsets[N], same[N], same_offsets[N];
static MPI_Datatype types[N];
static int request_number;

/* What the call must have said, as "OP COMM root=R SENT RECEIVED bytes=B". */
struct wanted {
    char op[40];
    int root; /* -1: none */
    int sent, received, bytes;
};

static struct wanted wanted(const char *op, int root, int sent, int received, int bytes)
{
    struct wanted w = {.root = root, .sent = sent, .received = received, .bytes = bytes};

    snprintf(w.op, sizeof w.op, "%s", op);
    return w;
}

static void root_text(const struct wanted *w, char *text, size_t size_of_text)
{
    if (w->root < 0) {
        snprintf(text, size_of_text, "-");
    } else {
        snprintf(text, size_of_text, "%d", w->root);
    }
}

static void bytes_text(const struct wanted *w, char *text, size_t size_of_text)
{
    text[0] = '\0';
    if (w->bytes > 0) {
        snprintf(text, size_of_text, " bytes=%d", w->bytes);
    }
}

static void blocking(const char *name, struct wanted w)
{
    char root[16];
    char bytes[32];

    root_text(&w, root, sizeof root);
    bytes_text(&w, bytes, sizeof bytes);
    expect("%s: collective %s " ALL " root=%s %d %d%s", name, w.op, root, w.sent, w.received, bytes);
}

/* Waits for the request, and expects both lines. */
static void nonblocking(const char *name, struct wanted w, MPI_Request *request)
{
    char root[16];
    char bytes[32];
    int number = ++request_number;

    root_text(&w, root, sizeof root);
    bytes_text(&w, bytes, sizeof bytes);
    expect("%s: icollective " ALL " #%d%s", name, number, bytes);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    expect("MPI_Wait: icollective_complete %s " ALL " root=%s %d %d #%d", w.op, root, w.sent, w.received,
           number);
}

#if MPI_VERSION >= 4
#define PERSISTENT_NAME(name) MPI_##name##_init
#define PERSISTENT_TEXT(name) "MPI_" #name "_init"
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define PERSISTENT_NAME(name) MPIX_##name##_init
#define PERSISTENT_TEXT(name) "MPIX_" #name "_init"
#endif

#ifdef PERSISTENT_NAME
/* Starts it once; the broadcast twice: MPICH 4.0.2 fails to start some others again. */
static void persistent(const char *name, struct wanted w, MPI_Request *request)
{
    int starts = strcmp(w.op, "BCAST") == 0 ? 2 : 1;

    expect("%s", name);
    for (int i = 0; i < starts; i++) {
        MPI_Start(request);
        nonblocking("MPI_Start", w, request);
    }
    MPI_Request_free(request);
    expect("MPI_Request_free");
}
#define PERSISTENT(name, w, ...)                                     \
    do {                                                             \
        PERSISTENT_NAME(name)(__VA_ARGS__, MPI_INFO_NULL, &request); \
        persistent(PERSISTENT_TEXT(name), w, &request);              \
    } while (0)
#else
#define PERSISTENT(name, w, ...) ((void)0)
#endif

/* The three forms of one collective, in turn. */
#define EACH(name, iname, w, ...)                \
    do {                                         \
        MPI_##name(__VA_ARGS__);                 \
        blocking("MPI_" #name, w);               \
        MPI_##iname(__VA_ARGS__, &request);      \
        nonblocking("MPI_" #iname, w, &request); \
        PERSISTENT(name, w, __VA_ARGS__);        \
    } while (0)

static void prepare(void)
{
    int sum = 0;

    for (int i = 0; i < N; i++) {
        counts[i] = i + 1;
        offsets[i] = sum;
        byte_offsets[i] = 4 * sum;
        sum += i + 1;
        same[i] = 2;
        same_offsets[i] = 2 * i;
        types[i] = MPI_INT;
    }
    for (int i = 0; i < ROOM; i++) {
        out[i] = rank;
    }
}

static void rooted(void)
{
    int is_root = rank == 2;
    int own = 4 * (rank + 1);
    struct wanted v = wanted("GATHERV", 2, own, is_root ? 40 : 0, own);
    MPI_Request request;

    EACH(Bcast, Ibcast, wanted("BCAST", 2, is_root ? 4 * 12 : 0, 12, 12), out, 3, MPI_INT, 2, W);
    EACH(Reduce, Ireduce, wanted("REDUCE", 2, 12, is_root ? 4 * 12 : 0, 12), out, in, 3, MPI_INT, MPI_SUM, 2,
         W);
    EACH(Gather, Igather, wanted("GATHER", 2, 8, is_root ? 32 : 0, 8), out, 2, MPI_INT, in, 2, MPI_INT, 2, W);
    EACH(Scatter, Iscatter, wanted("SCATTER", 2, is_root ? 32 : 0, 8, 8), out, 2, MPI_INT, in, 2, MPI_INT, 2,
         W);
    EACH(Gatherv, Igatherv, v, out, rank + 1, MPI_INT, in, counts, offsets, MPI_INT, 2, W);
    v = wanted("SCATTERV", 2, is_root ? 40 : 0, own, own);
    EACH(Scatterv, Iscatterv, v, out, counts, offsets, MPI_INT, in, rank + 1, MPI_INT, 2, W);
}

/* Of gathers and scatters, what only the root's MPI reads: the others may pass anything. */
static void insignificant(void)
{
    int is_root = rank == 2;
    int own = 4 * (rank + 1);
    struct wanted gather = wanted("GATHER", 2, 8, is_root ? 32 : 0, 8);
    struct wanted scatter = wanted("SCATTER", 2, is_root ? 32 : 0, 8, 8);
    struct wanted gatherv = wanted("GATHERV", 2, own, is_root ? 40 : 0, own);
    struct wanted scatterv = wanted("SCATTERV", 2, is_root ? 40 : 0, own, own);
    int *const bad[] = {NULL, (int *)8};
    MPI_Request request;

    for (int i = 0; i < 2; i++) {
        int *there = is_root ? in : bad[i];
        int *from = is_root ? out : bad[i];
        int *their_counts = is_root ? counts : bad[i];
        int *their_offsets = is_root ? offsets : bad[i];
        int count = is_root ? 2 : 77;
        MPI_Datatype type = is_root ? MPI_INT : MPI_DATATYPE_NULL;
        EACH(Gather, Igather, gather, out, 2, MPI_INT, there, count, type, 2, W);
        EACH(Scatter, Iscatter, scatter, from, count, type, in, 2, MPI_INT, 2, W);
        EACH(Gatherv, Igatherv, gatherv, out, rank + 1, MPI_INT, there, their_counts, their_offsets, type, 2,
             W);
        EACH(Scatterv, Iscatterv, scatterv, from, their_counts, their_offsets, type, in, rank + 1, MPI_INT, 2,
             W);
    }
}

static void everyone(void)
{
    int own = 4 * (rank + 1);
    MPI_Request request;

    MPI_Barrier(W);
    blocking("MPI_Barrier", wanted("BARRIER", -1, 0, 0, 0));
    MPI_Ibarrier(W, &request);
    nonblocking("MPI_Ibarrier", wanted("BARRIER", -1, 0, 0, 0), &request);
    PERSISTENT(Barrier, wanted("BARRIER", -1, 0, 0, 0), W);
    EACH(Allreduce, Iallreduce, wanted("ALLREDUCE", -1, 12, 12, 12), out, in, 3, MPI_INT, MPI_SUM, W);
    EACH(Scan, Iscan, wanted("SCAN", -1, 4, 4, 4), out, in, 1, MPI_INT, MPI_SUM, W);
    EACH(Exscan, Iexscan, wanted("EXSCAN", -1, 4, 4, 4), out, in, 1, MPI_INT, MPI_SUM, W);
    EACH(Allgather, Iallgather, wanted("ALLGATHER", -1, 8, 32, 8), out, 2, MPI_INT, in, 2, MPI_INT, W);
    EACH(Allgatherv, Iallgatherv, wanted("ALLGATHERV", -1, own, 40, own), out, rank + 1, MPI_INT, in, counts,
         offsets, MPI_INT, W);
    EACH(Alltoall, Ialltoall, wanted("ALLTOALL", -1, 32, 32, 8), out, 2, MPI_INT, in, 2, MPI_INT, W);
    EACH(Alltoallv, Ialltoallv, wanted("ALLTOALLV", -1, 32, 32, 8), out, same, same_offsets, MPI_INT, in,
         same, same_offsets, MPI_INT, W);
    EACH(Alltoallw, Ialltoallw, wanted("ALLTOALLW", -1, 32, 32, 8), out, same, byte_offsets, types, in, same,
         byte_offsets, types, W);
    EACH(Reduce_scatter, Ireduce_scatter, wanted("REDUCE_SCATTER", -1, 40, own, own), out, in, counts,
         MPI_INT, MPI_SUM, W);
    EACH(Reduce_scatter_block, Ireduce_scatter_block, wanted("REDUCE_SCATTER_BLOCK", -1, 16, 4, 4), out, in,
         1, MPI_INT, MPI_SUM, W);
}

/* Rank r sends r + 1 integers to rank 0 and none to others: means are rounded up. Rank 0 sends to itself
 * only, so all others get the same from it. */
static void uneven(void)
{
    int send_counts[N] = {rank + 1, 0, 0, 0};
    int recv_counts[N] = {0};
    int own = 4 * (rank + 1);

    if (rank == 0) {
        memcpy(recv_counts, counts, sizeof counts);
    }
    MPI_Alltoallv(out, send_counts, same_offsets, MPI_INT, in, recv_counts, offsets, MPI_INT, W);
    blocking("MPI_Alltoallv",
             wanted("ALLTOALLV", -1, own, rank == 0 ? 40 : 0, rank == 0 ? 0 : (own + 3) / 4));
    must(rank != 0 || in[9] == 3, "Alltoallv");
}

/* In place the other arguments name the part; results must be right. */
static void in_place(void)
{
    int all[ROOM];
    int own = 4 * (rank + 1);

    all[0] = rank;
    MPI_Allreduce(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, W);
    blocking("MPI_Allreduce", wanted("ALLREDUCE", -1, 4, 4, 4));
    must(all[0] == 6, "Allreduce in place");
    all[rank] = rank;
    MPI_Allgather(MPI_IN_PLACE, 77, MPI_DATATYPE_NULL, all, 1, MPI_INT, W);
    blocking("MPI_Allgather", wanted("ALLGATHER", -1, 4, 16, 4));
    must(all[3] == 3 && all[1] == 1, "Allgather in place");
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, offsets, MPI_INT, W);
    blocking("MPI_Allgatherv", wanted("ALLGATHERV", -1, own, 40, own));
    all[rank] = rank;
    if (rank == 0) {
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, 0, W);
    } else {
        MPI_Gather(&rank, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, W);
    }
    blocking("MPI_Gather", wanted("GATHER", 0, 4, rank == 0 ? 16 : 0, 4));
    must(rank != 0 || (all[0] == 0 && all[3] == 3), "Gather in place");
    if (rank == 0) {
        MPI_Scatter(all, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, W);
    } else {
        MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, 0, W);
    }
    blocking("MPI_Scatter", wanted("SCATTER", 0, rank == 0 ? 16 : 0, 4, 4));
    must(all[0] == rank, "Scatter in place");
    if (rank == 0) {
        MPI_Gatherv(MPI_IN_PLACE, 77, MPI_DATATYPE_NULL, all, counts, offsets, MPI_INT, 0, W);
    } else {
        MPI_Gatherv(all, rank + 1, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 0, W);
    }
    blocking("MPI_Gatherv", wanted("GATHERV", 0, own, rank == 0 ? 40 : 0, own));
    if (rank == 0) {
        MPI_Scatterv(all, counts, offsets, MPI_INT, MPI_IN_PLACE, 77, MPI_DATATYPE_NULL, 0, W);
    } else {
        MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, all, rank + 1, MPI_INT, 0, W);
    }
    blocking("MPI_Scatterv", wanted("SCATTERV", 0, rank == 0 ? 40 : 0, own, own));
    all[0] = 1;
    if (rank == 0) {
        MPI_Reduce(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, 0, W);
    } else {
        MPI_Reduce(all, NULL, 1, MPI_INT, MPI_SUM, 0, W);
    }
    blocking("MPI_Reduce", wanted("REDUCE", 0, 4, rank == 0 ? 16 : 0, 4));
    must(rank != 0 || all[0] == 4, "Reduce in place");
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, W);
    blocking("MPI_Alltoall", wanted("ALLTOALL", -1, 16, 16, 4));
}

#define NEIGHBORS(name, iname, w, ...)                     \
    do {                                                   \
        MPI_Neighbor_##name(__VA_ARGS__);                  \
        blocking("MPI_Neighbor_" #name, w);                \
        MPI_Ineighbor_##iname(__VA_ARGS__, &request);      \
        nonblocking("MPI_Ineighbor_" #iname, w, &request); \
        PERSISTENT(Neighbor_##name, w, __VA_ARGS__);       \
    } while (0)

/* A ring: each rank has two neighbours. */
static void neighbors(void)
{
    const int dims[1] = {N};
    const int periods[1] = {1};
    const int two[2] = {1, 3};
    const int two_offsets[2] = {0, 4};
    const MPI_Aint two_bytes[2] = {0, 16};
    const MPI_Datatype two_types[2] = {MPI_INT, MPI_INT};
    MPI_Comm ring;
    MPI_Request request;

    MPI_Cart_create(W, 1, dims, periods, 0, &ring);
    expect("MPI_Cart_create: collective CREATE_HANDLE " ALL " root=- 0 0 new=" ALL);
    NEIGHBORS(allgather, allgather, wanted("ALLGATHER", -1, 8, 16, 8), out, 2, MPI_INT, in, 2, MPI_INT, ring);
    NEIGHBORS(allgatherv, allgatherv, wanted("ALLGATHERV", -1, 8, 16, 8), out, 2, MPI_INT, in, same,
              two_offsets, MPI_INT, ring);
    NEIGHBORS(alltoall, alltoall, wanted("ALLTOALL", -1, 16, 16, 8), out, 2, MPI_INT, in, 2, MPI_INT, ring);
    /* what goes left (1) comes from the right: received the other way round */
    const int turned[2] = {3, 1};
    NEIGHBORS(alltoallv, alltoallv, wanted("ALLTOALLV", -1, 16, 16, 8), out, two, two_offsets, MPI_INT, in,
              turned, two_offsets, MPI_INT, ring);
    NEIGHBORS(alltoallw, alltoallw, wanted("ALLTOALLW", -1, 16, 16, 8), out, two, two_bytes, two_types, in,
              turned, two_bytes, two_types, ring);
    MPI_Comm_free(&ring);
    expect("MPI_Comm_free");
}

#if MPI_VERSION >= 4
/* Counts of another type, and one that no int holds: a datatype without data makes it cheap. */
static void large(void)
{
    MPI_Count large_counts[N];
    MPI_Aint large_offsets[N];
    int own = 4 * (rank + 1);
    MPI_Datatype nothing;
    MPI_Request request;

    for (int i = 0; i < N; i++) {
        large_counts[i] = counts[i];
        large_offsets[i] = offsets[i];
    }
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Bcast_c(out, (MPI_Count)1 << 40, nothing, 2, W);
    blocking("MPI_Bcast_c", wanted("BCAST", 2, 0, 0, 0));
    MPI_Type_free(&nothing);
    MPI_Allreduce_c(out, in, 3, MPI_INT, MPI_SUM, W);
    blocking("MPI_Allreduce_c", wanted("ALLREDUCE", -1, 12, 12, 12));
    MPI_Allgatherv_c(out, rank + 1, MPI_INT, in, large_counts, large_offsets, MPI_INT, W);
    blocking("MPI_Allgatherv_c", wanted("ALLGATHERV", -1, own, 40, own));
    MPI_Ireduce_scatter_c(out, in, large_counts, MPI_INT, MPI_SUM, W, &request);
    nonblocking("MPI_Ireduce_scatter_c", wanted("REDUCE_SCATTER", -1, 40, own, own), &request);
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    expect_open(argc, argv, "MPI_Init");
    prepare();
    rooted();
    insignificant();
    everyone();
    uneven();
    in_place();
    neighbors();
#if MPI_VERSION >= 4
    large();
#endif
    expect_close();
    MPI_Finalize();
    return 0;
}
