/* Fixture of the tracer: communicators of every kind, and messages on them, on four ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "trace_expect.h"

#define W MPI_COMM_WORLD
#define ALL "0,1,2,3"

static int request_number;

static void made(const char *name, const char *over, const char *members)
{
    expect("%s: collective CREATE_HANDLE %s root=- 0 0 new=%s", name, over, members);
}

static void drop(MPI_Comm *comm)
{
    MPI_Comm_free(comm);
    expect("MPI_Comm_free");
}

static void barrier(MPI_Comm comm, const char *members)
{
    MPI_Barrier(comm);
    expect("MPI_Barrier: collective BARRIER %s root=- 0 0", members);
}

static void duplicates(void)
{
    MPI_Comm comm;
    MPI_Comm again;
    MPI_Request request;

    MPI_Comm_dup(W, &comm);
    made("MPI_Comm_dup", ALL, ALL);
    MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &again);
    made("MPI_Comm_dup_with_info", ALL, ALL);
    barrier(again, ALL);
    drop(&comm);
    MPI_Comm_idup(again, &comm, &request);
    int number = ++request_number;
    expect("MPI_Comm_idup: icollective " ALL " #%d", number);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait: icollective_complete CREATE_HANDLE " ALL " root=- 0 0 #%d new=" ALL, number);
    barrier(comm, ALL);
    drop(&comm);
    drop(&again);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    char own[8];
    snprintf(own, sizeof own, "%d", rank);
    made("MPI_Comm_dup", "self", own);
    barrier(comm, own);
    barrier(MPI_COMM_SELF, "self");
    drop(&comm);
}

/* Two halves with the ranks turned round; a message inside: partners are ranks of the communicator. */
static void splits(void)
{
    MPI_Comm half;
    const char *members = rank % 2 == 0 ? "2,0" : "3,1";
    int half_rank;
    int value = rank;

    MPI_Comm_split(W, rank % 2, -rank, &half);
    made("MPI_Comm_split", ALL, members);
    MPI_Comm_rank(half, &half_rank);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, 1 - half_rank, 5, 1 - half_rank, 5, half, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv_replace: send %d 5 4 %s; recv %d 5 4 %s", 1 - half_rank, members, 1 - half_rank,
           members);
    must(value == (rank + 2) % 4, "message in a half");
    MPI_Bcast(&value, 1, MPI_INT, 1, half);
    expect("MPI_Bcast: collective BCAST %s root=1 %d 4 bytes=4", members, half_rank == 1 ? 8 : 0);
    drop(&half);
    MPI_Comm_split(W, rank == 0 ? MPI_UNDEFINED : 1, 0, &half);
    if (rank == 0) {
        expect("MPI_Comm_split: collective CREATE_HANDLE " ALL " root=- 0 0");
    } else {
        made("MPI_Comm_split", ALL, "1,2,3");
        barrier(half, "1,2,3");
        drop(&half);
    }
    MPI_Comm_split_type(W, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &half);
    made("MPI_Comm_split_type", ALL, ALL);
    drop(&half);
}

static void groups(void)
{
    MPI_Group world;
    MPI_Group some;
    MPI_Comm comm;
    const int chosen[2] = {3, 1};

    MPI_Comm_group(W, &world);
    MPI_Group_incl(world, 2, chosen, &some);
    MPI_Comm_create(W, some, &comm);
    if (rank % 2 == 1) {
        made("MPI_Comm_create", ALL, "3,1");
        drop(&comm);
        /* only members call it: the others make nothing at that time */
        for (int tag = 0; tag < 2; tag++) {
            MPI_Comm_create_group(W, some, tag, &comm);
            made("MPI_Comm_create_group", "3,1", "3,1");
            barrier(comm, "3,1");
            drop(&comm);
        }
    } else {
        expect("MPI_Comm_create: collective CREATE_HANDLE " ALL " root=- 0 0");
    }
    MPI_Group_free(&some);
    MPI_Group_free(&world);
    /* after ranks made different numbers of communicators, they still agree on the next */
    MPI_Comm_dup(W, &comm);
    made("MPI_Comm_dup", ALL, ALL);
    barrier(comm, ALL);
    drop(&comm);
}

static void topologies(void)
{
    const int dims[2] = {2, 2};
    const int periods[2] = {1, 0};
    const int keep[2] = {0, 1};
    const int index[4] = {1, 2, 3, 4};
    const int edges[4] = {1, 0, 3, 2};
    const int to[1] = {(rank + 1) % 4};
    const int from[1] = {(rank + 3) % 4};
    const int one[1] = {1};
    const int self[1] = {rank};
    MPI_Comm comm;
    MPI_Comm row;

    MPI_Cart_create(W, 2, dims, periods, 0, &comm);
    made("MPI_Cart_create", ALL, ALL);
    MPI_Cart_sub(comm, keep, &row);
    made("MPI_Cart_sub", ALL, rank < 2 ? "0,1" : "2,3");
    barrier(row, rank < 2 ? "0,1" : "2,3");
    drop(&row);
    drop(&comm);
    MPI_Graph_create(W, 4, index, edges, 0, &comm);
    made("MPI_Graph_create", ALL, ALL);
    drop(&comm);
    MPI_Dist_graph_create_adjacent(W, 1, from, one, 1, to, one, MPI_INFO_NULL, 0, &comm);
    made("MPI_Dist_graph_create_adjacent", ALL, ALL);
    int value = rank;
    int got = -1;
    MPI_Neighbor_alltoall(&value, 1, MPI_INT, &got, 1, MPI_INT, comm);
    expect("MPI_Neighbor_alltoall: collective ALLTOALL " ALL " root=- 4 4 bytes=4");
    must(got == from[0], "Neighbor_alltoall");
    drop(&comm);
    MPI_Dist_graph_create(W, 1, self, one, to, one, MPI_INFO_NULL, 0, &comm);
    made("MPI_Dist_graph_create", ALL, ALL);
    drop(&comm);
}

/* The odds send to rank 0; each process passes only what MPI reads of it. */
static void gather_between(MPI_Comm inter)
{
    const int counts[2] = {1, 1};
    const int offsets[2] = {0, 1};
    int got[2] = {-1, -1};

    if (rank % 2 == 1) {
        MPI_Gatherv(&rank, 1, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 0, inter);
        expect("MPI_Gatherv: collective GATHERV 0,2|1,3 root=0 4 0 bytes=4");
    } else if (rank == 0) {
        MPI_Gatherv(NULL, 77, MPI_DATATYPE_NULL, got, counts, offsets, MPI_INT, MPI_ROOT, inter);
        expect("MPI_Gatherv: collective GATHERV 0,2|1,3 root=self 0 8 bytes=4");
        must(got[0] == 1 && got[1] == 3, "Gatherv between groups");
    } else {
        MPI_Gatherv(NULL, 77, MPI_DATATYPE_NULL, NULL, NULL, NULL, MPI_DATATYPE_NULL, MPI_PROC_NULL, inter);
        expect("MPI_Gatherv: collective GATHERV 0,2|1,3 root=this_group 0 0");
    }
}

/* Evens and odds; the intercommunicator lists the group of rank 0 first. */
static void between(void)
{
    MPI_Comm half;
    MPI_Comm inter;
    MPI_Comm merged;
    int is_odd = rank % 2;
    int half_rank;
    int value = rank;
    int other = -1;

    MPI_Comm_split(W, is_odd, rank, &half);
    made("MPI_Comm_split", ALL, is_odd ? "1,3" : "0,2");
    MPI_Comm_rank(half, &half_rank);
    MPI_Intercomm_create(half, 0, W, is_odd ? 0 : 1, 9, &inter);
    made("MPI_Intercomm_create", "0,2|1,3", "0,2|1,3");
    MPI_Sendrecv(&value, 1, MPI_INT, half_rank, 6, &other, 1, MPI_INT, half_rank, 6, inter,
                 MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv: send %d 6 4 0,2|1,3; recv %d 6 4 0,2|1,3", half_rank, half_rank);
    must(other == (is_odd ? rank - 1 : rank + 1), "message between groups");
    if (is_odd) {
        MPI_Bcast(&value, 1, MPI_INT, 0, inter);
        expect("MPI_Bcast: collective BCAST 0,2|1,3 root=0 0 4 bytes=4");
    } else if (rank == 0) {
        MPI_Bcast(&value, 1, MPI_INT, MPI_ROOT, inter);
        expect("MPI_Bcast: collective BCAST 0,2|1,3 root=self 8 4 bytes=4");
    } else {
        MPI_Bcast(&value, 1, MPI_INT, MPI_PROC_NULL, inter);
        expect("MPI_Bcast: collective BCAST 0,2|1,3 root=this_group 0 0");
    }
    gather_between(inter);
    MPI_Intercomm_merge(inter, is_odd, &merged);
    made("MPI_Intercomm_merge", "0,2|1,3", "0,2,1,3");
    barrier(merged, "0,2,1,3");
    drop(&merged);
    drop(&inter);
    drop(&half);
}

/* Handles are used again for other communicators. */
static void reuse(void)
{
    for (int i = 0; i < 20; i++) {
        MPI_Comm comm;
        int is_low = rank < 1 + i % 3;
        static const char *const LOW[] = {"0", "0,1", "0,1,2"};
        static const char *const HIGH[] = {"1,2,3", "2,3", "3"};
        MPI_Comm_split(W, is_low, rank, &comm);
        made("MPI_Comm_split", ALL, is_low ? LOW[i % 3] : HIGH[i % 3]);
        barrier(comm, is_low ? LOW[i % 3] : HIGH[i % 3]);
        drop(&comm);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    expect_open(argc, argv, "MPI_Init");
    duplicates();
    splits();
    groups();
    topologies();
    between();
    reuse();
    expect_close();
    MPI_Finalize();
    return 0;
}
