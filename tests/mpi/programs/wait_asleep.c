/* Linked into a program that is traced: MPI_Waitall() sleeps until all is there, as some MPIs can be told to
 * do.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * MPIs wait busily. With more ranks than CPUs those that wait then take the CPU from those that have
 * something to do: every wait is as long as the scheduler makes it, and an idle wave drowns. The tracer calls
 * PMPI_Waitall(), which it finds here before it finds the library's.
 */
#include <mpi.h>
#include <time.h>

__attribute__((visibility("default"))) int PMPI_Waitall(int count, MPI_Request requests[],
                                                        MPI_Status statuses[])
{
    const struct timespec nap = {0, 100000};

    for (;;) {
        int is_done = 0;
        const int code = PMPI_Testall(count, requests, &is_done, statuses);

        if (code != MPI_SUCCESS || is_done) {
            return code;
        }
        (void)nanosleep(&nap, NULL);
    }
}
