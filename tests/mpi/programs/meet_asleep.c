/* Linked into a program that is traced, beside wait_asleep.c: MPI_Barrier() and MPI_Allreduce() sleep until
 * all have come.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With more ranks than CPUs those that wait busily take the CPU from the one that everybody waits for: then
 * it is the scheduler who makes ranks late, not their work. The tracer calls PMPI_Barrier(), which it finds
 * here before it finds the library's.
 */
#include <mpi.h>

#pragma GCC visibility push(default)

int PMPI_Barrier(MPI_Comm comm)
{
    MPI_Request request;
    MPI_Status status;
    const int code = PMPI_Ibarrier(comm, &request);

    return code != MPI_SUCCESS ? code : PMPI_Waitall(1, &request, &status);
}

int PMPI_Allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Status status;
    const int code = PMPI_Iallreduce(mine, all, count, type, op, comm, &request);

    return code != MPI_SUCCESS ? code : PMPI_Waitall(1, &request, &status);
}

#pragma GCC visibility pop
