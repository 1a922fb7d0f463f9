/* The communication of the multigrid solver AMG2006 as the SC'10 paper counts it, without the equations.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * 24 allgathers, 356 allreduces, a barrier, 23 broadcasts, 8 scans; 115 cycles over four levels of a cube of
 * ranks. On each level a rank exchanges small nonblocking messages with other partners: six faces on the
 * finest, all 26 neighbours on the next, then those two and four ranks away. Coarse levels have fewer ranks,
 * and no communicators: who has no part in them goes on to the next allreduce and waits there. On 125 ranks
 * these are 8,420 messages of a rank in the mean; with the collectives, 222 million on 16,000 ranks, where
 * the paper says more than 222.
 */
#include "app_like.h"

enum {
    LEVELS = 4,
    CYCLES = 115,
    CYCLE_ALLREDUCES = 3,
    EXCHANGES = 3, /* on each level: two on the way down, one on the way up */
    SETUP_ALLGATHERS = 24,
    SETUP_ALLREDUCES = 11,
    SETUP_BCASTS = 23,
    SETUP_SCANS = 8,
    MOST_NEIGHBOURS = 26,
    MOST_BYTES = 2048
};

/* Ranks whose coordinates are multiples of the stride take part. */
static const struct level {
    int stride, has_edges; /* with edges and corners: 26 neighbours; without: 6 */
    int bytes;
    double work; /* share of a unit */
} levels[LEVELS] = {{1, 0, 2048, 1.0}, {1, 1, 512, 1.0 / 4}, {2, 1, 128, 1.0 / 16}, {4, 1, 64, 1.0 / 64}};

struct cube {
    int dims[3], at[3];
    int count[LEVELS], neighbours[LEVELS][MOST_NEIGHBOURS];
    int is_active[LEVELS];
    char out[MOST_BYTES], in[MOST_NEIGHBOURS][MOST_BYTES];
};

/* The rank `step` away, -1 outside of the cube. */
static int rank_at(const struct cube *cube, const int *step)
{
    int rank = 0;

    for (int d = 0; d < 3; d++) {
        const int at = cube->at[d] + step[d];

        if (at < 0 || at >= cube->dims[d]) {
            return -1;
        }
        rank = rank * cube->dims[d] + at;
    }
    return rank;
}

static void find_neighbours(struct cube *cube, int l)
{
    const struct level *level = &levels[l];

    cube->is_active[l] = cube->at[0] % level->stride == 0 && cube->at[1] % level->stride == 0 &&
                         cube->at[2] % level->stride == 0;
    for (int i = 0; i < 27 && cube->is_active[l]; i++) {
        const int way[3] = {i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1};
        const int faces = abs(way[0]) + abs(way[1]) + abs(way[2]);
        const int step[3] = {level->stride * way[0], level->stride * way[1], level->stride * way[2]};
        const int rank = rank_at(cube, step);

        if (rank >= 0 && faces > 0 && (faces == 1 || level->has_edges)) {
            cube->neighbours[l][cube->count[l]++] = rank;
        }
    }
}

static void cube_init(struct cube *cube, const struct app *app)
{
    memset(cube, 0, sizeof *cube);
    MPI_Dims_create(app->ranks, 3, cube->dims);
    cube->at[0] = app->rank / (cube->dims[1] * cube->dims[2]);
    cube->at[1] = app->rank / cube->dims[2] % cube->dims[1];
    cube->at[2] = app->rank % cube->dims[2];
    for (int l = 0; l < LEVELS; l++) {
        find_neighbours(cube, l);
    }
}

static void exchange(struct cube *cube, int l)
{
    MPI_Request requests[2 * MOST_NEIGHBOURS];
    const int count = cube->count[l];

    for (int i = 0; i < count; i++) {
        MPI_Irecv(cube->in[i], levels[l].bytes, MPI_BYTE, cube->neighbours[l][i], l, MPI_COMM_WORLD,
                  &requests[i]);
    }
    for (int i = 0; i < count; i++) {
        MPI_Isend(cube->out, levels[l].bytes, MPI_BYTE, cube->neighbours[l][i], l, MPI_COMM_WORLD,
                  &requests[count + i]);
    }
    if (count > 0) {
        MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    }
}

static void do_level(struct cube *cube, int l, int exchanges, double unit_us)
{
    for (int i = 0; i < exchanges && cube->is_active[l]; i++) {
        app_work(unit_us * levels[l].work);
        exchange(cube, l);
    }
}

static void do_cycle(struct cube *cube, double unit_us)
{
    double sum = 0.0, mine = 1.0;

    for (int l = 0; l < LEVELS; l++) {
        do_level(cube, l, EXCHANGES - 1, unit_us);
    }
    for (int l = LEVELS - 1; l >= 0; l--) {
        do_level(cube, l, 1, unit_us);
    }
    for (int i = 0; i < CYCLE_ALLREDUCES; i++) {
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void setup(struct cube *cube, const struct app *app)
{
    double *all = calloc((size_t)app->ranks, sizeof *all), mine = 1.0, sum = 0.0;

    if (all == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < app_calls(app, SETUP_BCASTS); i++) {
        MPI_Bcast(cube->out, 64, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < app_calls(app, SETUP_ALLGATHERS); i++) {
        MPI_Allgather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    for (int i = 0; i < app_calls(app, SETUP_SCANS); i++) {
        MPI_Scan(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    for (int i = 0; i < app_calls(app, SETUP_ALLREDUCES); i++) {
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    exchange(cube, 1);
    free(all);
}

/* Of this rank: in one exchange on each level. */
static int neighbours(const struct cube *cube)
{
    int sum = 0;

    for (int l = 0; l < LEVELS; l++) {
        sum += cube->count[l];
    }
    return sum;
}

int main(int argc, char **argv)
{
    struct app app = app_start(&argc, &argv, 100);
    const int cycles = app_calls(&app, CYCLES);
    static struct cube cube;
    int sends, all_sends = 0;

    cube_init(&cube, &app);
    setup(&cube, &app);
    for (int cycle = 0; cycle < cycles; cycle++) {
        do_cycle(&cube, app.unit_us);
    }
    sends = EXCHANGES * cycles * neighbours(&cube) + cube.count[1];
    PMPI_Reduce(&sends, &all_sends, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (app.rank == 0) {
        printf(
            "calls of a rank: allgather %d allreduce %d barrier 1 bcast %d scan %d; of all ranks: send %d\n",
            app_calls(&app, SETUP_ALLGATHERS), app_calls(&app, SETUP_ALLREDUCES) + cycles * CYCLE_ALLREDUCES,
            app_calls(&app, SETUP_BCASTS), app_calls(&app, SETUP_SCANS), all_sends);
    }
    MPI_Finalize();
    return 0;
}
