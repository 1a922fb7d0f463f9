/* Fixture of the tracer: opaque calls, switching on and off, CPU time beside wall time, on two ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * argv[1]: the folder for the lists, and for a file.
 */
#include "trace_expect.h"

#include <unistd.h>

#define W MPI_COMM_WORLD

/* What arrives is not looked at: Debian's MPICH 4.0.2 reads from elsewhere between processes of one machine.
 */
static void one_sided(void)
{
    int window[2] = {0, 0};
    int value = 0;
    MPI_Win win;

    MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, W, &win);
    expect("MPI_Win_create");
    MPI_Win_fence(0, win);
    expect("MPI_Win_fence");
    MPI_Get(&value, 1, MPI_INT, 1 - rank, 1, 1, MPI_INT, win);
    expect("MPI_Get");
    MPI_Win_fence(0, win);
    expect("MPI_Win_fence");
    MPI_Win_free(&win);
    expect("MPI_Win_free");
}

static void file(const char *folder)
{
    char path[4096];
    MPI_File handle;

    snprintf(path, sizeof path, "%s/data", folder);
    MPI_File_open(W, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &handle);
    expect("MPI_File_open");
    MPI_File_write_at_all(handle, (MPI_Offset)(4 * (size_t)rank), &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    expect("MPI_File_write_at_all");
    MPI_File_close(&handle);
    expect("MPI_File_close");
}

static void switching(void)
{
    MPI_Comm comm;
    MPI_Request request;
    int value = 0;

    MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 3, W, &request);
    expect("MPI_Irecv: irecv_request %d 3 4 0,1 #1", 1 - rank);
    MPI_Pcontrol(0);
    expect("off");
    MPI_Barrier(W);
    MPI_Comm_dup(W, &comm); /* is known afterwards */
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 3, W);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("irecv %d 3 4 0,1 #1", 1 - rank); /* was made while on */
    MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 4, W, &request);
    MPI_Pcontrol(1);
    expect("on");
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 4, W);
    expect("MPI_Send: send %d 4 4 0,1", 1 - rank);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait"); /* of a request that was made while off */
    MPI_Barrier(comm);
    expect("MPI_Barrier: collective BARRIER 0,1 root=- 0 0");
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free");
    MPI_Pcontrol(7); /* other levels mean nothing */
}

/* The test looks at the time before these: 30 ms of sleep, then 30 ms of work. */
static void sleep_and_work(void)
{
    MPI_Barrier(MPI_COMM_SELF);
    expect("MPI_Barrier: collective BARRIER self root=- 0 0");
    usleep(30000);
    MPI_Scan(&rank, &(int){0}, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    expect("MPI_Scan: collective SCAN self root=- 4 4 bytes=4");
    double end = MPI_Wtime() + 0.03;
    while (MPI_Wtime() < end) {
    }
    MPI_Exscan(&rank, &(int){0}, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    expect("MPI_Exscan: collective EXSCAN self root=- 4 4 bytes=4");
}

int main(int argc, char **argv)
{
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    expect_open(argc, argv, "MPI_Init_thread");
    one_sided();
    file(argc > 1 ? argv[1] : ".");
    switching();
    sleep_and_work();
    expect_close();
    MPI_Finalize();
    return 0;
}
