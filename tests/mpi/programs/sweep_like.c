/* The communication of the neutron transport code Sweep3D as the SC'10 paper counts it, without the neutrons.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * 16 iterations of 8 octants (4 corners of the grid of ranks, up and down) in 76 blocks each: a block needs
 * the faces of the neighbours before it, by blocking receives, and hands its own on by blocking sends. On 128
 * ranks these are 17,632 messages of a rank in the mean and, with 32 allreduces, 3 barriers and 4 broadcasts,
 * 290 million on 16,000 ranks, where the paper says more than 289. Ranks wait while a wave fills and drains,
 * and for ranks that took longer: 17 % of the time in the paper.
 */
#include "app_like.h"

enum {
    ITERATIONS = 16,
    CORNERS = 4,
    OCTANTS = 2,
    BLOCKS = 76,
    BCASTS = 4,
    BARRIERS = 3,
    ALLREDUCES = 2,
    FACE_BYTES = 2048
};

struct sweep {
    MPI_Comm grid;
    int dims[2];
    int low[2], high[2]; /* neighbours, MPI_PROC_NULL at the edge */
    char face[FACE_BYTES];
};

static void sweep_init(struct sweep *sweep, int ranks)
{
    int is_periodic[2] = {0, 0};

    MPI_Dims_create(ranks, 2, sweep->dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sweep->dims, is_periodic, 0, &sweep->grid);
    MPI_Cart_shift(sweep->grid, 0, 1, &sweep->low[0], &sweep->high[0]);
    MPI_Cart_shift(sweep->grid, 1, 1, &sweep->low[1], &sweep->high[1]);
}

/* The ends of the grid are asked for here, so that no call is made for nothing. */
static void do_block(struct sweep *sweep, const int *from, const int *to, double work_us)
{
    for (int i = 0; i < 2; i++) {
        if (from[i] != MPI_PROC_NULL) {
            MPI_Recv(sweep->face, FACE_BYTES, MPI_BYTE, from[i], 0, sweep->grid, MPI_STATUS_IGNORE);
        }
    }
    app_work(work_us);
    for (int i = 0; i < 2; i++) {
        if (to[i] != MPI_PROC_NULL) {
            MPI_Send(sweep->face, FACE_BYTES, MPI_BYTE, to[i], 0, sweep->grid);
        }
    }
}

/* From each corner in turn, the next one beside it. */
static void do_iteration(struct sweep *sweep, int blocks, double work_us)
{
    for (int corner = 0; corner < CORNERS; corner++) {
        const int is_back[2] = {corner == 1 || corner == 2, corner >= 2};
        int from[2], to[2];

        for (int i = 0; i < 2; i++) {
            from[i] = is_back[i] ? sweep->high[i] : sweep->low[i];
            to[i] = is_back[i] ? sweep->low[i] : sweep->high[i];
        }
        for (int block = 0; block < OCTANTS * blocks; block++) {
            do_block(sweep, from, to, work_us);
        }
    }
}

/* In one block of each rank: over every edge of the grid one. */
static int edges(const struct sweep *sweep)
{
    return (sweep->dims[0] - 1) * sweep->dims[1] + sweep->dims[0] * (sweep->dims[1] - 1);
}

int main(int argc, char **argv)
{
    struct app app = app_start(&argc, &argv, 20);
    const int iterations = app_calls(&app, ITERATIONS);
    static struct sweep sweep;
    double error = 1.0, largest = 0.0;

    sweep_init(&sweep, app.ranks);
    for (int i = 0; i < BCASTS; i++) {
        MPI_Bcast(sweep.face, 64, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < BARRIERS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < iterations; i++) {
        do_iteration(&sweep, BLOCKS, app.unit_us);
        for (int k = 0; k < ALLREDUCES; k++) {
            MPI_Allreduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        }
    }
    if (app.rank == 0) {
        printf("calls of a rank: allreduce %d barrier %d bcast %d; of all ranks: send %d\n",
               iterations * ALLREDUCES, BARRIERS, BCASTS,
               iterations * CORNERS * OCTANTS * BLOCKS * edges(&sweep));
    }
    MPI_Comm_free(&sweep.grid);
    MPI_Finalize();
    return 0;
}
