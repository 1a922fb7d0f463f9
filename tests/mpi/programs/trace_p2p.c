/* Fixture of the tracer: point-to-point calls in all modes, between two ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "trace_expect.h"

#include <string.h>

#define W MPI_COMM_WORLD

static int request_number;

static int next(void)
{
    return ++request_number;
}

/* 0 sends in each mode, 1 receives: wildcards, a shorter message, no status. */
static void blocking(void)
{
    static char buffer[1 << 16];
    int data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    MPI_Status status;
    void *detached;
    int detached_size;

    if (rank == 0) {
        MPI_Send(data, 3, MPI_INT, 1, 7, W);
        expect("MPI_Send: send 1 7 12 0,1");
        MPI_Buffer_attach(buffer, sizeof buffer);
        MPI_Bsend(data, 2, MPI_INT, 1, 8, W);
        expect("MPI_Bsend: send 1 8 8 0,1 mode=1");
        MPI_Buffer_detach(&detached, &detached_size);
        expect("MPI_Buffer_detach");
        MPI_Ssend(data, 1, MPI_INT, 1, 9, W);
        expect("MPI_Ssend: send 1 9 4 0,1 mode=2");
        MPI_Recv(data, 0, MPI_INT, 1, 10, W, MPI_STATUS_IGNORE);
        expect("MPI_Recv: recv 1 10 0 0,1");
        MPI_Rsend(data, 4, MPI_INT, 1, 11, W);
        expect("MPI_Rsend: send 1 11 16 0,1 mode=3");
        MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 11, W);
        expect("MPI_Send");
        MPI_Recv(data, 1, MPI_INT, MPI_PROC_NULL, 11, W, &status);
        expect("MPI_Recv");
    } else {
        int got[8] = {0};
        MPI_Request request;
        MPI_Recv(got, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, W, MPI_STATUS_IGNORE);
        expect("MPI_Recv: recv 0 7 12 0,1 posted=-1,-1 room=32");
        must(got[0] == 1 && got[2] == 3 && got[3] == 0, "received data");
        MPI_Recv(got, 2, MPI_INT, 0, MPI_ANY_TAG, W, &status);
        expect("MPI_Recv: recv 0 8 8 0,1 posted=0,-1");
        must(status.MPI_TAG == 8 && status.MPI_SOURCE == 0, "status");
        MPI_Recv(got, 1, MPI_INT, MPI_ANY_SOURCE, 9, W, &status);
        expect("MPI_Recv: recv 0 9 4 0,1 posted=-1,9");
        MPI_Irecv(got, 4, MPI_INT, 0, 11, W, &request);
        int number = next();
        expect("MPI_Irecv: irecv_request 0 11 16 0,1 #%d", number);
        MPI_Send(NULL, 0, MPI_INT, 0, 10, W);
        expect("MPI_Send: send 0 10 0 0,1");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect("MPI_Wait: irecv 0 11 16 0,1 #%d", number);
    }
}

/* Each rank sends to and receives from the other; requests 1 and 2 of a pair. */
static void nonblocking(void)
{
    int other = 1 - rank;
    int out[4] = {rank, 1, 2, 3};
    int in[4] = {-1};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    static const struct {
        const char *name;
        int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
        const char *mode;
    } SENDS[] = {{"MPI_Isend", MPI_Isend, ""},
                 {"MPI_Issend", MPI_Issend, " mode=2"},
                 {"MPI_Irsend", MPI_Irsend, " mode=3"}};

    for (int i = 0; i < 3; i++) {
        MPI_Irecv(in, 4, MPI_INT, other, 20 + i, W, &requests[0]);
        int recv = next();
        expect("MPI_Irecv: irecv_request %d %d 16 0,1 #%d", other, 20 + i, recv);
        MPI_Barrier(W);
        expect("MPI_Barrier: collective BARRIER 0,1 root=- 0 0");
        SENDS[i].send(out, 4, MPI_INT, other, 20 + i, W, &requests[1]);
        int send = next();
        expect("%s: isend %d %d 16 0,1 #%d%s", SENDS[i].name, other, 20 + i, send, SENDS[i].mode);
        MPI_Waitall(2, requests, i == 1 ? statuses : MPI_STATUSES_IGNORE);
        expect("MPI_Waitall: irecv %d %d 16 0,1 #%d; isend_complete #%d", other, 20 + i, recv, send);
        must(in[0] == other && requests[0] == MPI_REQUEST_NULL, "nonblocking data");
    }
}

/* Waitany, Waitsome and the tests complete one request after the other; which one is told by MPI. */
static void completion(void)
{
    enum { N = 4 };
    int other = 1 - rank;
    int in[N];
    int numbers[N];
    MPI_Request requests[N];

    for (int i = 0; i < N; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, 30 + i, W, &requests[i]);
        numbers[i] = next();
        expect("MPI_Irecv: irecv_request -1 %d 4 0,1 #%d", 30 + i, numbers[i]);
    }
    for (int i = 0; i < N; i++) {
        MPI_Send(&i, 1, MPI_INT, other, 30 + i, W);
        expect("MPI_Send: send %d %d 4 0,1", other, 30 + i);
    }
    int index = -1;
    MPI_Waitany(N, requests, &index, MPI_STATUS_IGNORE);
    expect("MPI_Waitany: irecv %d %d 4 0,1 #%d", other, 30 + index, numbers[index]);
    must(in[index] == index, "Waitany");
    int flag = 0;
    while (!flag) {
        MPI_Testany(N, requests, &index, &flag, MPI_STATUS_IGNORE);
    }
    expect("MPI_Testany: irecv %d %d 4 0,1 #%d", other, 30 + index, numbers[index]);
    int done[N];
    int count = 0;
    for (int left = N - 2; left > 0; left -= count) {
        char line[256] = "";
        if (left == 2) {
            MPI_Waitsome(N, requests, &count, done, MPI_STATUSES_IGNORE);
        } else {
            count = 0;
            while (count == 0) {
                MPI_Testsome(N, requests, &count, done, MPI_STATUSES_IGNORE);
            }
        }
        for (int i = 0; i < count; i++) {
            size_t length = strlen(line);
            snprintf(line + length, sizeof line - length, "%s irecv %d %d 4 0,1 #%d", i == 0 ? "" : ";",
                     other, 30 + done[i], numbers[done[i]]);
        }
        expect("%s:%s", left == 2 ? "MPI_Waitsome" : "MPI_Testsome", line);
    }
    MPI_Waitany(N, requests, &index, MPI_STATUS_IGNORE);
    expect("MPI_Waitany");
    must(index == MPI_UNDEFINED, "Waitany of null requests");
    MPI_Waitsome(N, requests, &count, done, MPI_STATUSES_IGNORE);
    expect("MPI_Waitsome");
    must(count == MPI_UNDEFINED, "Waitsome of null requests");
}

/* Polls that find nothing are counted only; rank 1 polls until rank 0 sends. */
static void polling(void)
{
    int other = 1 - rank;
    int value = 5;
    int flag = 0;
    MPI_Request requests[2];
    MPI_Status status;

    if (rank == 1) {
        MPI_Irecv(&value, 1, MPI_INT, 0, 40, W, &requests[0]);
        int number = next();
        expect("MPI_Irecv: irecv_request 0 40 4 0,1 #%d", number);
        for (int i = 0; i < 10; i++) {
            MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
            MPI_Iprobe(0, 41, W, &flag, &status);
            MPI_Request_get_status(requests[0], &flag, &status);
        }
        MPI_Send(&value, 1, MPI_INT, 0, 42, W);
        expect("MPI_Send: send 0 42 4 0,1");
        flag = 0;
        while (!flag) {
            MPI_Test(&requests[0], &flag, &status);
        }
        expect("MPI_Test: irecv 0 40 4 0,1 #%d", number);
        must(status.MPI_TAG == 40 && value == 77, "status of MPI_Test");
    } else {
        MPI_Recv(&value, 1, MPI_INT, 1, 42, W, MPI_STATUS_IGNORE);
        expect("MPI_Recv: recv 1 42 4 0,1");
        value = 77;
        MPI_Send(&value, 1, MPI_INT, 1, 40, W);
        expect("MPI_Send: send 1 40 4 0,1");
    }
    MPI_Irecv(&value, 1, MPI_INT, other, 43, W, &requests[0]);
    int recv = next();
    expect("MPI_Irecv: irecv_request %d 43 4 0,1 #%d", other, recv);
    MPI_Isend(&rank, 1, MPI_INT, other, 43, W, &requests[1]);
    int send = next();
    expect("MPI_Isend: isend %d 43 4 0,1 #%d", other, send);
    flag = 0;
    while (!flag) {
        MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    }
    expect("MPI_Testall: irecv %d 43 4 0,1 #%d; isend_complete #%d", other, recv, send);
}

static void persistent(void)
{
    int other = 1 - rank;
    int in = -1;
    MPI_Request requests[2];

    MPI_Recv_init(&in, 1, MPI_INT, other, 50, W, &requests[0]);
    expect("MPI_Recv_init");
    MPI_Ssend_init(&rank, 1, MPI_INT, other, 50, W, &requests[1]);
    expect("MPI_Ssend_init");
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* inactive */
    expect("MPI_Waitall");
    for (int i = 0; i < 2; i++) {
        int recv = next();
        int send = next();
        if (i == 0) {
            MPI_Startall(2, requests);
            expect("MPI_Startall: irecv_request %d 50 4 0,1 #%d; isend %d 50 4 0,1 #%d mode=2", other, recv,
                   other, send);
        } else {
            MPI_Start(&requests[0]);
            expect("MPI_Start: irecv_request %d 50 4 0,1 #%d", other, recv);
            MPI_Start(&requests[1]);
            expect("MPI_Start: isend %d 50 4 0,1 #%d mode=2", other, send);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect("MPI_Waitall: irecv %d 50 4 0,1 #%d; isend_complete #%d", other, recv, send);
        must(in == other, "persistent data");
    }
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&requests[i]);
        expect("MPI_Request_free");
    }
}

static void both_ways(void)
{
    int other = 1 - rank;
    int in[4] = {0};
    int out[2] = {rank, rank};
    MPI_Status status;

    MPI_Sendrecv(out, 2, MPI_INT, other, 60, in, 4, MPI_INT, MPI_ANY_SOURCE, 60, W, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv: send %d 60 8 0,1; recv %d 60 8 0,1 posted=-1,60 room=16", other, other);
    must(in[0] == other, "Sendrecv");
    MPI_Sendrecv_replace(out, 2, MPI_INT, other, 61, other, 61, W, &status);
    expect("MPI_Sendrecv_replace: send %d 61 8 0,1; recv %d 61 8 0,1", other, other);
    must(out[1] == other && status.MPI_SOURCE == other, "Sendrecv_replace");
    MPI_Sendrecv(out, 1, MPI_INT, rank == 0 ? 1 : MPI_PROC_NULL, 62, in, 1, MPI_INT,
                 rank == 0 ? MPI_PROC_NULL : 0, 62, W, &status);
    expect(rank == 0 ? "MPI_Sendrecv: send 1 62 4 0,1" : "MPI_Sendrecv: recv 0 62 4 0,1");
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI_Isendrecv(out, 2, MPI_INT, other, 63, in, 2, MPI_INT, other, 63, W, &request);
    int send = next();
    int recv = next();
    expect("MPI_Isendrecv: isend %d 63 8 0,1 #%d; irecv_request %d 63 8 0,1 #%d", other, send, other, recv);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait: isend_complete #%d; irecv %d 63 8 0,1 #%d", send, other, recv);
    MPI_Send_c(out, 1, MPI_INT, other, 64, W);
    expect("MPI_Send_c: send %d 64 4 0,1", other);
    MPI_Recv_c(in, 1, MPI_INT, other, 64, W, MPI_STATUS_IGNORE);
    expect("MPI_Recv_c: recv %d 64 4 0,1", other);
#endif
}

static void probing(void)
{
    int value = rank;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int flag = 0;

    if (rank == 0) {
        for (int tag = 70; tag < 74; tag++) {
            MPI_Send(&value, 1, MPI_INT, 1, tag, W);
            expect("MPI_Send: send 1 %d 4 0,1", tag);
        }
        return;
    }
    MPI_Probe(0, 70, W, &status);
    expect("MPI_Probe");
    MPI_Recv(&value, 1, MPI_INT, 0, 70, W, MPI_STATUS_IGNORE);
    expect("MPI_Recv: recv 0 70 4 0,1");
    while (!flag) {
        MPI_Iprobe(MPI_ANY_SOURCE, 71, W, &flag, MPI_STATUS_IGNORE);
    }
    expect("MPI_Iprobe");
    MPI_Recv(&value, 1, MPI_INT, 0, 71, W, MPI_STATUS_IGNORE);
    expect("MPI_Recv: recv 0 71 4 0,1");
    MPI_Mprobe(0, 72, W, &message, &status);
    expect("MPI_Mprobe");
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    expect("MPI_Mrecv: recv 0 72 4 0,1");
    flag = 0;
    while (!flag) {
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, W, &flag, &message, MPI_STATUS_IGNORE);
    }
    expect("MPI_Improbe");
    MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
    int number = next();
    expect("MPI_Imrecv: irecv_request -1 -1 4 0,1 #%d", number);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait: irecv 0 73 4 0,1 #%d", number);
}

static void cancelling(void)
{
    int value;
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 80, W, &request);
    int number = next();
    expect("MPI_Irecv: irecv_request %d 80 4 0,1 #%d", 1 - rank, number);
    MPI_Cancel(&request);
    expect("MPI_Cancel");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait: cancelled #%d", number);
    MPI_Isend(&value, 0, MPI_INT, 1 - rank, 81, W, &request);
    expect("MPI_Isend: isend %d 81 0 0,1 #%d", 1 - rank, next());
    MPI_Request_free(&request);
    expect("MPI_Request_free");
    MPI_Recv(&value, 0, MPI_INT, 1 - rank, 81, W, MPI_STATUS_IGNORE);
    expect("MPI_Recv: recv %d 81 0 0,1", 1 - rank);
}

/* Derived types count by size, not by extent; MPI_BOTTOM passes through. */
static void datatypes(void)
{
    int data[12];
    int other = 1 - rank;
    MPI_Datatype vector;
    MPI_Datatype absolute;
    MPI_Aint address;
    int length = 3;

    for (int i = 0; i < 12; i++) {
        data[i] = rank == 0 ? i : -1;
    }
    MPI_Type_vector(4, 2, 3, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    MPI_Get_address(data, &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    if (rank == 0) {
        MPI_Send(data, 1, vector, other, 90, W);
        expect("MPI_Send: send 1 90 32 0,1");
        MPI_Send(MPI_BOTTOM, 1, absolute, other, 91, W);
        expect("MPI_Send: send 1 91 12 0,1");
    } else {
        MPI_Recv(data, 1, vector, other, 90, W, MPI_STATUS_IGNORE);
        expect("MPI_Recv: recv 0 90 32 0,1");
        must(data[0] == 0 && data[1] == 1 && data[2] == -1 && data[3] == 3, "vector");
        MPI_Recv(MPI_BOTTOM, 1, absolute, other, 91, W, MPI_STATUS_IGNORE);
        expect("MPI_Recv: recv 0 91 12 0,1");
        must(data[2] == 2, "MPI_BOTTOM");
    }
    MPI_Type_free(&vector);
    MPI_Type_free(&absolute);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    expect_open(argc, argv, "MPI_Init");
    blocking();
    nonblocking();
    completion();
    polling();
    persistent();
    both_ways();
    probing();
    cancelling();
    datatypes();
    expect_close();
    MPI_Finalize();
    return 0;
}
