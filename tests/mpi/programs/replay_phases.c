/* Computes and meets in collectives of all ranks, again and again: compute phases for `replay --sync phase`.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * replay_phases world|part|pcontrol PHASES [MICROSECONDS]: by MPI_Allreduce of all ranks in a communicator of
 * their own, of each rank alone, or by MPI_Pcontrol; so long a computation in each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

static void compute(double seconds)
{
    const double end = MPI_Wtime() + seconds;

    while (MPI_Wtime() < end) {
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    long sum = 0;
    int rank, size;

    MPI_Init(&argc, &argv);
    if (argc < 3) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const char *how = argv[1];
    const long phases = atol(argv[2]);
    const double seconds = argc > 3 ? 1e-6 * atof(argv[3]) : 0.0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, strcmp(how, "world") == 0 ? 0 : rank, 0, &comm);
    MPI_Comm_size(comm, &size);
    if (rank == 0) {
        (void)printf("begins\n");
        (void)fflush(stdout);
    }
    for (long i = 0; i < phases; i++) {
        long one = 1, all = 0;

        compute(seconds);
        if (strcmp(how, "pcontrol") == 0) {
            MPI_Pcontrol(1);
            sum++;
            continue;
        }
        MPI_Allreduce(&one, &all, 1, MPI_LONG, MPI_SUM, comm);
        sum += all / size;
    }
    if (rank == 0) {
        (void)printf("%ld phases\n", sum);
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
