/* What the programs that imitate applications share: work in CPU time, options, a grid of ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * They have an application's communication and none of its mathematics. Work is spinning until the thread has
 * had the CPU for so long, so that it is the same on a machine with fewer cores than ranks.
 */
#ifndef IWT_APP_LIKE_H
#define IWT_APP_LIKE_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct app {
    int rank, ranks;
    int part;       /* of the calls only one in so many is made */
    double unit_us; /* of work */
};

static inline double app_cpu_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static inline void app_work(double us)
{
    const double end_us = app_cpu_us() + us;
    volatile uint32_t sink = 1;

    while (app_cpu_us() < end_us) {
        for (int i = 0; i < 200; i++) {
            sink = sink * UINT32_C(1664525) + UINT32_C(1013904223);
        }
    }
}

/* A number in [0, 1) that is the same in every run. */
static inline double app_share(uint32_t number)
{
    return (double)(number * UINT32_C(2654435761) >> 8) / (double)(1 << 24);
}

/* PROGRAM [--part N] [--unit-us US]; others end the program. */
static inline struct app app_start(int *argc, char ***argv, double unit_us)
{
    struct app app = {.part = 1, .unit_us = unit_us};
    int bad = 0;

    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &app.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &app.ranks);
    for (int i = 1; i + 1 < *argc; i += 2) {
        if (strcmp((*argv)[i], "--part") == 0) {
            app.part = (int)strtol((*argv)[i + 1], NULL, 10);
        } else if (strcmp((*argv)[i], "--unit-us") == 0) {
            app.unit_us = strtod((*argv)[i + 1], NULL);
        } else {
            bad = 1;
        }
    }
    if (bad || *argc % 2 == 0 || app.part < 1 || !(app.unit_us >= 0)) {
        if (app.rank == 0) {
            fprintf(stderr, "usage: %s [--part N] [--unit-us US]\n", (*argv)[0]);
        }
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return app;
}

/* So many of `calls`, but one at least. */
static inline int app_calls(const struct app *app, int calls)
{
    return calls >= app->part ? calls / app->part : 1;
}

#endif
