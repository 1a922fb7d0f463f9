/* Fixture of the tracer: processes outside of MPI_COMM_WORLD, and what came with MPI 4, on two ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * argv[1]: the folder for the lists; "child" in what it starts itself; "sessions": only these, without
 * MPI_Init.
 */
#include "trace_expect.h"

#include <string.h>

#define W MPI_COMM_WORLD

static void child(void)
{
    MPI_Comm parent;
    MPI_Comm merged;
    int value = -1;

    MPI_Comm_get_parent(&parent);
    MPI_Recv(&value, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 0, 2, parent);
    MPI_Intercomm_merge(parent, 1, &merged);
    MPI_Barrier(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&parent);
}

/* Members outside of the world are not named: the groups of these communicators are empty. False: this MPI
 * starts no processes (Debian's MPICH 4.0.2 does not); then the call is all there is. */
static int spawn(char *program)
{
    char word[] = "child";
    char *arguments[] = {word, NULL};
    MPI_Comm children;
    MPI_Comm merged;
    int value = 7;

    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    int code = MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, W, &children, MPI_ERRCODES_IGNORE);
    expect("MPI_Comm_spawn");
    MPI_Comm_set_errhandler(W, MPI_ERRORS_ARE_FATAL);
    if (code != MPI_SUCCESS) {
        return 0;
    }
    if (rank == 0) {
        MPI_Send(&value, 1, MPI_INT, 0, 1, children);
        expect("MPI_Send: send 0 1 4 0,1|");
        value = 0;
        MPI_Recv(&value, 1, MPI_INT, 0, 2, children, MPI_STATUS_IGNORE);
        expect("MPI_Recv: recv 0 2 4 0,1|");
        must(value == 7, "message to a child and back");
    }
    MPI_Intercomm_merge(children, 0, &merged);
    expect("MPI_Intercomm_merge: collective CREATE_HANDLE 0,1| root=- 0 0 new=");
    MPI_Barrier(merged);
    expect("MPI_Barrier: collective BARRIER  root=- 0 0");
    MPI_Comm_free(&merged);
    expect("MPI_Comm_free");
    MPI_Comm_disconnect(&children);
    expect("MPI_Comm_disconnect");
    return 1;
}

/* Both ends are in the world, but need not be: messages between them are not followed. */
static void connect_two(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;

    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        expect("MPI_Open_port");
    }
    MPI_Bcast(port, (int)sizeof port, MPI_CHAR, 0, W);
    expect("MPI_Bcast: collective BCAST 0,1 root=0 %d %d bytes=%d", rank == 0 ? 2 * (int)sizeof port : 0,
           (int)sizeof port, (int)sizeof port);
    if (rank == 0) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        expect("MPI_Comm_accept");
        MPI_Close_port(port);
        expect("MPI_Close_port");
    } else {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        expect("MPI_Comm_connect");
    }
    MPI_Comm_disconnect(&other);
    expect("MPI_Comm_disconnect");
}

#if MPI_VERSION >= 4
/* Only messages of whole buffers are understood. */
static void partitioned(void)
{
    MPI_Request request;
    int value = rank == 0 ? 5 : 0;

    if (rank == 0) {
        MPI_Psend_init(&value, 1, 1, MPI_INT, 1, 3, W, MPI_INFO_NULL, &request);
        expect("MPI_Psend_init");
    } else {
        MPI_Precv_init(&value, 1, 1, MPI_INT, 0, 3, W, MPI_INFO_NULL, &request);
        expect("MPI_Precv_init");
    }
    MPI_Start(&request);
    expect("MPI_Start");
    if (rank == 0) {
        MPI_Pready(0, request);
        expect("MPI_Pready");
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait");
    MPI_Request_free(&request);
    expect("MPI_Request_free");
    must(value == 5, "partitioned message");
}

/* A communicator from a group, without a parent, while the world is there too. */
static void session(void)
{
    MPI_Session handle;
    MPI_Group group;
    MPI_Comm comm;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &handle);
    MPI_Group_from_session_pset(handle, "mpi://WORLD", &group);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_create_from_group(group, i == 0 ? "one" : "other", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                   &comm);
        expect("MPI_Comm_create_from_group: collective CREATE_HANDLE 0,1 root=- 0 0 new=0,1");
        MPI_Barrier(comm);
        expect("MPI_Barrier: collective BARRIER 0,1 root=- 0 0");
        MPI_Comm_free(&comm);
        expect("MPI_Comm_free");
    }
    const int own[1] = {rank};
    const int others[1] = {1 - rank};
    MPI_Group local;
    MPI_Group remote;
    MPI_Group_incl(group, 1, own, &local);
    MPI_Group_incl(group, 1, others, &remote);
    MPI_Intercomm_create_from_groups(local, 0, remote, 0, "between", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                     &comm);
    expect("MPI_Intercomm_create_from_groups: collective CREATE_HANDLE 0|1 root=- 0 0 new=0|1");
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free");
    MPI_Group_free(&local);
    MPI_Group_free(&remote);
    MPI_Group_free(&group);
    MPI_Session_finalize(&handle);
}

static int only_sessions(void)
{
    MPI_Session handle;
    MPI_Group group;
    MPI_Comm comm;
    int one = 1;
    int sum = 0;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &handle);
    MPI_Group_from_session_pset(handle, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        printf("sum %d\n", sum);
    }
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    return MPI_Session_finalize(&handle);
}
#endif

int main(int argc, char **argv)
{
#if MPI_VERSION >= 4
    if (argc > 1 && strcmp(argv[1], "sessions") == 0) {
        return only_sessions();
    }
#endif
    MPI_Init(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "child") == 0) {
        child();
        MPI_Finalize();
        return 0;
    }
    expect_open(argc, argv, "MPI_Init");
    if (spawn(argv[0])) {
        connect_two();
    }
#if MPI_VERSION >= 4
    partitioned();
    session();
#endif
    expect_close();
    MPI_Finalize();
    return 0;
}
