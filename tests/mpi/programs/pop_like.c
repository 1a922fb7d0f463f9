/* The communication of the ocean model POP as the SC'10 paper counts it, without the ocean.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * 608 allreduces, 575 barriers, 703 broadcasts; nonblocking exchanges of halos with four neighbours before
 * every second step: 627 million messages on 32,000 ranks, where the paper says more than 625. One rank in
 * 128 has more to do before each collective than all others, which wait for it: so most of the time is spent
 * in collectives (77 % in the paper), though these themselves take little.
 */
#include "app_like.h"

enum {
    SETUP_BCASTS = 128,
    SETUP_ALLREDUCES = 33,
    STEPS = 575,
    NEIGHBOURS = 4,
    HALO_BYTES = 2048,
    BCAST_BYTES = 64
};

struct halo {
    MPI_Comm grid;
    int neighbours[NEIGHBOURS];
    char out[NEIGHBOURS][HALO_BYTES], in[NEIGHBOURS][HALO_BYTES];
};

static void halo_init(struct halo *halo, int ranks)
{
    int dims[2] = {0, 0}, is_periodic[2] = {1, 1};

    memset(halo->out, 1, sizeof halo->out);
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, is_periodic, 0, &halo->grid);
    MPI_Cart_shift(halo->grid, 0, 1, &halo->neighbours[0], &halo->neighbours[1]);
    MPI_Cart_shift(halo->grid, 1, 1, &halo->neighbours[2], &halo->neighbours[3]);
}

/* Directions come in pairs, so the other end's is the one with the last bit flipped. */
static void exchange(struct halo *halo)
{
    MPI_Request requests[2 * NEIGHBOURS];

    for (int d = 0; d < NEIGHBOURS; d++) {
        MPI_Irecv(halo->in[d], HALO_BYTES, MPI_BYTE, halo->neighbours[d], d ^ 1, halo->grid, &requests[d]);
    }
    for (int d = 0; d < NEIGHBOURS; d++) {
        MPI_Isend(halo->out[d], HALO_BYTES, MPI_BYTE, halo->neighbours[d], d, halo->grid,
                  &requests[NEIGHBOURS + d]);
    }
    MPI_Waitall(2 * NEIGHBOURS, requests, MPI_STATUSES_IGNORE);
}

/* Of the work of the rank that has most: the others have 12 % to 32 %, 22 % in the mean. */
static double weight(int rank)
{
    return rank % 128 == 0 ? 1.0 : 0.12 + 0.2 * app_share((uint32_t)rank);
}

static void setup(const struct app *app, double work_us, char *message)
{
    double sum = 0.0, mine = 1.0;

    for (int i = 0; i < app_calls(app, SETUP_BCASTS); i++) {
        app_work(work_us);
        MPI_Bcast(message, BCAST_BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < app_calls(app, SETUP_ALLREDUCES); i++) {
        app_work(work_us);
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct app app = app_start(&argc, &argv, 300);
    const double work_us = app.unit_us * weight(app.rank);
    const int steps = app_calls(&app, STEPS);
    static struct halo halo;
    char message[BCAST_BYTES] = "";
    double sum = 0.0, mine = 1.0;

    halo_init(&halo, app.ranks);
    setup(&app, work_us, message);
    for (int step = 0; step < steps; step++) {
        if (step % 2 == 0) {
            exchange(&halo);
        }
        app_work(work_us);
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        app_work(work_us);
        MPI_Barrier(MPI_COMM_WORLD);
        app_work(work_us);
        MPI_Bcast(message, BCAST_BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    if (app.rank == 0) {
        printf("calls of a rank: allreduce %d barrier %d bcast %d send %d\n",
               app_calls(&app, SETUP_ALLREDUCES) + steps, steps, app_calls(&app, SETUP_BCASTS) + steps,
               NEIGHBOURS * ((steps + 1) / 2));
    }
    MPI_Comm_free(&halo.grid);
    MPI_Finalize();
    return 0;
}
