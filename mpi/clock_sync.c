/* Hierarchical clock synchronisation: between hosts along a binomial tree, inside a host by copying.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/clock_sync.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/order.h"

enum {
    TAG = 7,
    MOST_BURST = 60,      /* exchanges of one burst */
    BURST_UNCHANGED = 15, /* a burst ends when so many were no shorter than the shortest before */
    MOST_POINTS = 32,     /* bursts of one window */
    REQUEST_TIME = 1,
    REQUEST_END = 2
};

/* One process per clock takes part in the exchanges: the first rank that has it. */
struct leaders {
    int *ranks;
    int count;
    int index;    /* of this process's leader in ranks */
    bool is_mine; /* this process is one */
};

/* The reference's time as the one who is asked knows it, and how wrong that may be. */
struct answer {
    int64_t reference_ns, error_ns;
    double drift_error;
};

struct sync {
    MPI_Comm comm;
    const struct iwi_local_clock *clock;
    int64_t window_ns;
    struct iwi_clock_model model;
};

static bool is_good(int mpi_result)
{
    return mpi_result == MPI_SUCCESS;
}

static int64_t now_ns(const struct sync *sync)
{
    return sync->clock->now_ns(sync->clock->arg);
}

/* ---- who measures ---- */

struct keyed {
    uint64_t key;
    int rank;
};

IWI_COMPARE(by_key_and_rank, struct keyed, IWI_RISING(key), IWI_RISING(rank))

IWI_COMPARE(by_value, int, IWI_ORDER(*left, *right))

static void choose_leaders(struct keyed *all, int size, uint64_t my_key, int my_rank, struct leaders *leaders)
{
    int mine = my_rank;

    iwi_sort(all, (size_t)size, by_key_and_rank);
    leaders->count = 0;
    for (int i = 0; i < size; i++) {
        if (i == 0 || all[i].key != all[i - 1].key) {
            leaders->ranks[leaders->count++] = all[i].rank;
            mine = all[i].key == my_key ? all[i].rank : mine;
        }
    }
    iwi_sort(leaders->ranks, (size_t)leaders->count, by_value);
    leaders->is_mine = mine == my_rank;
    leaders->index = 0;
    while (leaders->ranks[leaders->index] != mine) {
        leaders->index++;
    }
}

/* A clock that is not the host's gets a key that no other process has. */
static iw_status find_leaders(const struct sync *sync, struct leaders *leaders)
{
    int rank, size;
    uint64_t key, *keys;
    struct keyed *all;
    iw_status status = IW_ERR_NOMEM;

    if (!is_good(PMPI_Comm_rank(sync->comm, &rank)) || !is_good(PMPI_Comm_size(sync->comm, &size))) {
        return IW_ERR_IO;
    }
    key = sync->clock->is_of_host ? iwi_clock_host_key() : (uint64_t)rank;
    keys = calloc((size_t)size, sizeof *keys);
    all = calloc((size_t)size, sizeof *all);
    leaders->ranks = calloc((size_t)size, sizeof *leaders->ranks);
    if (keys != NULL && all != NULL && leaders->ranks != NULL) {
        status = is_good(PMPI_Allgather(&key, 1, MPI_UINT64_T, keys, 1, MPI_UINT64_T, sync->comm))
                     ? IW_OK
                     : IW_ERR_IO;
    }
    if (status == IW_OK) {
        for (int i = 0; i < size; i++) {
            all[i] = (struct keyed){keys[i], i};
        }
        choose_leaders(all, size, key, rank, leaders);
    }
    free(all);
    free(keys);
    return status;
}

/* ---- one pair ---- */

static iw_status serve(const struct sync *sync, int child)
{
    int64_t request = REQUEST_TIME;

    while (request == REQUEST_TIME) {
        struct answer answer = {.drift_error = sync->model.drift_error};

        if (!is_good(PMPI_Recv(&request, 1, MPI_INT64_T, child, TAG, sync->comm, MPI_STATUS_IGNORE))) {
            return IW_ERR_IO;
        }
        answer.reference_ns = now_ns(sync);
        answer.error_ns = iwi_clock_error(&sync->model, answer.reference_ns);
        answer.reference_ns = iwi_clock_to_reference(&sync->model, answer.reference_ns);
        if (request == REQUEST_TIME &&
            !is_good(PMPI_Send(&answer, (int)sizeof answer, MPI_BYTE, child, TAG, sync->comm))) {
            return IW_ERR_IO;
        }
    }
    return IW_OK;
}

static iw_status ask(const struct sync *sync, int parent, struct iwi_clock_ping *ping,
                     struct iwi_clock_doubt *doubt)
{
    const int64_t request = REQUEST_TIME;
    struct answer answer;

    ping->t0_ns = now_ns(sync);
    if (!is_good(PMPI_Send(&request, 1, MPI_INT64_T, parent, TAG, sync->comm)) ||
        !is_good(
            PMPI_Recv(&answer, (int)sizeof answer, MPI_BYTE, parent, TAG, sync->comm, MPI_STATUS_IGNORE))) {
        return IW_ERR_IO;
    }
    ping->t1_ns = now_ns(sync);
    ping->reference_ns = answer.reference_ns;
    doubt->error_ns = answer.error_ns > doubt->error_ns ? answer.error_ns : doubt->error_ns;
    doubt->drift_error = answer.drift_error;
    return IW_OK;
}

static iw_status burst(const struct sync *sync, int parent, struct iwi_clock_point *point,
                       struct iwi_clock_doubt *doubt)
{
    struct iwi_clock_ping pings[MOST_BURST];
    int64_t shortest_ns = INT64_MAX;
    size_t count = 0;

    for (int unchanged = 0; count < MOST_BURST && unchanged < BURST_UNCHANGED; count++) {
        int64_t trip_ns;

        IW_TRY(ask(sync, parent, &pings[count], doubt));
        trip_ns = pings[count].t1_ns - pings[count].t0_ns;
        unchanged = trip_ns < shortest_ns ? 0 : unchanged + 1;
        shortest_ns = trip_ns < shortest_ns ? trip_ns : shortest_ns;
    }
    *point = iwi_clock_best(pings, count);
    return IW_OK;
}

static void pause_ns(int64_t pause)
{
    const struct timespec time = {.tv_sec = pause / 1000000000, .tv_nsec = pause % 1000000000};

    (void)nanosleep(&time, NULL);
}

/* Bursts spread over the window, the first and the last at its ends. */
static iw_status learn(struct sync *sync, int parent)
{
    const int64_t end_ns = now_ns(sync) + sync->window_ns, request = REQUEST_END;
    struct iwi_clock_point points[MOST_POINTS];
    struct iwi_clock_doubt doubt = {.error_ns = 0};
    size_t count = 0;
    bool is_last = false;

    while (!is_last && count < MOST_POINTS) {
        is_last = now_ns(sync) >= end_ns;
        IW_TRY(burst(sync, parent, &points[count++], &doubt));
        if (!is_last) {
            pause_ns(sync->window_ns / (MOST_POINTS - 1));
        }
    }
    if (!is_good(PMPI_Send(&request, 1, MPI_INT64_T, parent, TAG, sync->comm))) {
        return IW_ERR_IO;
    }
    iwi_clock_fit(points, count, &doubt, &sync->model);
    return IW_OK;
}

/* ---- all ---- */

/* Top down: those whose index is a multiple of 2 step have a model and serve those at an odd multiple of
 * step. */
static iw_status sync_leaders(struct sync *sync, const struct leaders *leaders)
{
    int step = 1;

    while (step < leaders->count) {
        step *= 2;
    }
    for (step /= 2; step > 0; step /= 2) {
        const int partner = leaders->index ^ step;

        if (leaders->index % step != 0 || partner >= leaders->count) {
            continue;
        }
        if (partner > leaders->index) {
            IW_TRY(serve(sync, leaders->ranks[partner]));
        } else {
            IW_TRY(learn(sync, leaders->ranks[partner]));
        }
    }
    return IW_OK;
}

/* Inside a host: the leader's model holds for all who read the same clock. */
static iw_status copy_model(struct sync *sync, const struct leaders *leaders)
{
    MPI_Comm host = MPI_COMM_NULL;
    iw_status status = IW_OK;

    if (!is_good(PMPI_Comm_split(sync->comm, leaders->index, 0, &host))) {
        return IW_ERR_IO;
    }
    if (!is_good(PMPI_Bcast(&sync->model, (int)sizeof sync->model, MPI_BYTE, 0, host))) {
        status = IW_ERR_IO;
    }
    return is_good(PMPI_Comm_free(&host)) ? status : IW_ERR_IO;
}

iw_status iwi_clock_sync(MPI_Comm comm, const struct iwi_local_clock *clock, int64_t window_ns,
                         struct iwi_clock_model *model_p)
{
    struct sync sync = {.clock = clock, .window_ns = window_ns};
    struct leaders leaders = {.ranks = NULL};
    iw_status status;

    if (!is_good(PMPI_Comm_dup(comm, &sync.comm))) {
        return IW_ERR_IO;
    }
    (void)PMPI_Comm_set_errhandler(sync.comm, MPI_ERRORS_RETURN);
    sync.model = iwi_clock_identity(now_ns(&sync));
    status = find_leaders(&sync, &leaders);
    if (status == IW_OK && leaders.is_mine) {
        status = sync_leaders(&sync, &leaders);
    }
    if (status == IW_OK && clock->is_of_host) {
        status = copy_model(&sync, &leaders);
    }
    free(leaders.ranks);
    if (!is_good(PMPI_Comm_free(&sync.comm)) && status == IW_OK) {
        status = IW_ERR_IO;
    }
    if (status == IW_OK) {
        *model_p = sync.model;
    }
    return status;
}
