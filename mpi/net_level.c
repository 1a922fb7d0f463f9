/* Measures one pair: rounds over all sizes and quantities until their intervals are narrow or time is over.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each round visits all sizes, so that what changes slowly (clock frequency, neighbours, placement) hits all
 * alike and shows up as differences between rounds, from which the intervals are made. Where others have the
 * CPUs each message may take a time slice: then the least is measured that says something of all sizes.
 */
#include "mpi/net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/network/net_fit.h"

enum {
    LEAST_ROUNDS = 3,  /* also when time is over */
    NARROW_ROUNDS = 8, /* fewer say too little about the interval */
    REFINE_EVERY = 2,  /* rounds between looks for changes of protocol */
    REFINE_LAST = 12,
    LEAST_VALUES = 3, /* of a size that counts */
    SEND_TRAIN = 8,   /* n of PRTT(n,d,s) */
    RECV_TRAIN = 4,
    EXCHANGES = 4, /* in a row */
    LEAST_REPETITIONS = 3,
    LATE_EVERY = 4, /* of so many sizes one is measured when it is late */
    MOST_SERIES = IWI_MOST_NET_POINTS * IW_NET_QUANTITIES
};

#define BATCH_NS 1.5e6 /* time that a batch may take if that is enough for three repetitions */
#define FIRST_GUESS_NS 2e4
#define PATIENCE_NS INT64_C(10000000000) /* more than the least takes, unless others have the CPUs */

struct run {
    struct iwi_pair *pair;
    const iw_net_plan *plan;
    iw_net_level_samples *level;
    int64_t start_ns, end_ns, late_ns;
    bool is_reporting;
    double done, share;
};

iw_status iwi_level_new(const iw_log *log, iw_net_level_samples *level)
{
    level->series_count = 0;
    level->series = iwi_new_array(log, MOST_SERIES, sizeof *level->series);
    if (level->series == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < MOST_SERIES; i++) {
        level->series[i].values_ns = iwi_new_array(log, IWI_MOST_NET_ROUNDS, sizeof(double));
        if (level->series[i].values_ns == NULL) {
            level->series_count = i; /* what iw_net_samples_free() has to free */
            return IW_ERR_NOMEM;
        }
    }
    return IW_OK;
}

/* ---- sizes ---- */

static size_t size_count(const struct run *run)
{
    return run->level->series_count / IW_NET_QUANTITIES;
}

/* The series of a size stand together, round trips first. */
static iw_net_series *series_of(const struct run *run, size_t size)
{
    return &run->level->series[size * IW_NET_QUANTITIES];
}

static void add_size(struct run *run, uint64_t bytes)
{
    const bool is_eager = bytes <= run->level->eager_computing.bytes;
    const uint64_t fit = IWI_TRAIN_BYTES / (bytes > 0 ? bytes : 1);
    const uint32_t train = fit < 2 ? 2 : (fit > IWI_MOST_TRAIN ? IWI_MOST_TRAIN : (uint32_t)fit);
    const uint32_t counts[IW_NET_QUANTITIES] = {1, train, is_eager ? SEND_TRAIN : 0,
                                                is_eager ? RECV_TRAIN : 0, EXCHANGES};

    if (bytes == 0 || bytes > run->plan->largest_bytes || size_count(run) >= IWI_MOST_NET_POINTS) {
        return;
    }
    for (size_t i = 0; i < size_count(run); i++) {
        if (series_of(run, i)->bytes == bytes) {
            return;
        }
    }
    for (size_t q = 0; q < IW_NET_QUANTITIES; q++) {
        iw_net_series *series = &run->level->series[run->level->series_count++];

        series->quantity = (iw_net_quantity)q;
        series->bytes = bytes;
        series->n = counts[q];
    }
}

/* Those that were asked for; else powers of two, and both sides of each eager limit. */
static void add_first_sizes(struct run *run)
{
    const iw_net_eager *limits[] = {&run->level->eager_computing, &run->level->eager_inside};

    for (size_t i = 0; i < run->plan->size_count; i++) {
        add_size(run, run->plan->sizes[i]);
    }
    if (run->plan->size_count > 0) {
        return;
    }
    for (uint64_t bytes = 1; bytes <= run->plan->largest_bytes; bytes *= 2) {
        add_size(run, bytes);
    }
    for (size_t i = 0; i < 2; i++) {
        if (limits[i]->is_at_most) {
            add_size(run, limits[i]->bytes);
            add_size(run, limits[i]->bytes + 1);
        }
    }
}

/* ROUND_TRIP to this one are measured. */
static iw_net_quantity last_quantity(const struct run *run)
{
    return run->plan->calls == IW_NET_CALLS_EXCHANGE ? IW_NET_EXCHANGE : IW_NET_RECV;
}

struct sized {
    uint64_t bytes;
    iw_estimate value;
};

IWI_COMPARE(by_bytes, struct sized, IWI_RISING(bytes))

static void refine(struct run *run)
{
    struct sized sorted[IWI_MOST_NET_POINTS] = {{0, {0, 0, 0}}};
    uint64_t bytes[IWI_MOST_NET_POINTS], more[IWI_MOST_NET_POINTS];
    iw_estimate values[IWI_MOST_NET_POINTS];
    const size_t count = size_count(run);
    size_t found;

    for (size_t i = 0; i < count; i++) {
        const iw_net_quantity whole =
            last_quantity(run) == IW_NET_EXCHANGE ? IW_NET_EXCHANGE : IW_NET_ROUND_TRIP;
        const iw_net_series *series = &series_of(run, i)[whole];

        sorted[i] = (struct sized){series->bytes, iwi_net_median(series->values_ns, series->count)};
    }
    iwi_sort(sorted, count, by_bytes);
    for (size_t i = 0; i < count; i++) {
        bytes[i] = sorted[i].bytes;
        values[i] = sorted[i].value;
    }
    found = iwi_net_refine(bytes, values, count, IWI_MOST_NET_POINTS - count, more);
    for (size_t i = 0; i < found; i++) {
        add_size(run, more[i]);
    }
}

/* ---- batches ---- */

static bool is_late(const struct run *run)
{
    return iwi_net_now_ns() >= run->late_ns;
}

/* Of this size; of the one before, which is hardly longer, where this one was not measured yet. */
static double last_trip_ns(const struct run *run, size_t size)
{
    const iw_net_series *series = series_of(run, size),
                        *before = size > 0 ? series_of(run, size - 1) : series;

    if (series->count > 0) {
        return series->values_ns[series->count - 1];
    }
    return before->count > 0 ? fmax(FIRST_GUESS_NS, before->values_ns[before->count - 1]) : FIRST_GUESS_NS;
}

/* d is longer than a round trip, so that each message is on its own; polls are frequent against the transfer.
 */
static struct iwi_message_batch batch_of(const struct run *run, const iw_net_series *series, double trip_ns)
{
    struct iwi_message_batch batch = {
        .kind = (uint32_t)series->quantity, .n = series->n, .bytes = series->bytes};
    double expected_ns = trip_ns, repetitions;

    batch.is_rendezvous = series->bytes > run->level->eager_computing.bytes;
    if (series->quantity == IW_NET_TRAIN) {
        expected_ns = trip_ns * (1 + 0.5 * series->n);
    } else if (series->quantity == IW_NET_EXCHANGE) {
        expected_ns = trip_ns * series->n;
    } else if (series->quantity != IW_NET_ROUND_TRIP && series->n > 0) {
        batch.pause_ns = (int64_t)(1.25 * trip_ns) + 500;
        expected_ns = 2 * trip_ns * series->n;
    } else if (series->quantity != IW_NET_ROUND_TRIP) {
        batch.kind = series->quantity == IW_NET_SEND ? IWI_BATCH_SEND_POLLED : IWI_BATCH_RECV_POLLED;
        batch.pause_ns = (int64_t)(trip_ns / 8) + 500;
        expected_ns = 3 * trip_ns;
    }
    repetitions = BATCH_NS / expected_ns;
    batch.repetitions = repetitions < LEAST_REPETITIONS ? LEAST_REPETITIONS
                        : repetitions > IWI_MOST_BATCH  ? IWI_MOST_BATCH
                                                        : (uint32_t)repetitions;
    batch.repetitions = is_late(run) ? 1 : batch.repetitions;
    return batch;
}

static bool is_known(const struct run *run, const iw_net_series *series)
{
    const iw_estimate value = iwi_net_median(series->values_ns, series->count);

    return series->count >= IWI_MOST_NET_ROUNDS ||
           (series->count >= NARROW_ROUNDS && iwi_net_is_narrow(&value, run->plan->narrow));
}

/* Returns whether something was left to do. */
static bool measure_size(struct run *run, size_t size)
{
    iw_net_series *series = series_of(run, size);
    double values[IWI_MOST_BATCH];
    bool is_busy = false;

    for (size_t q = 0; q <= (size_t)last_quantity(run); q++) {
        if (series[q].count == 0 || !is_known(run, &series[q])) {
            const struct iwi_message_batch batch = batch_of(run, &series[q], last_trip_ns(run, size));

            iwi_pair_ask(run->pair, &batch, values);
            series[q].values_ns[series[q].count++] = iwi_pair_median(values, batch.repetitions);
            series[q].samples += batch.repetitions;
            is_busy = true;
        }
    }
    return is_busy;
}

/* When it is late, some sizes stand for the others, unless these were asked for. */
static bool is_wanted(const struct run *run, size_t size)
{
    return run->plan->size_count > 0 || series_of(run, size)->count > 0 || size % LATE_EVERY == 0 ||
           !is_late(run);
}

/* ---- rounds ---- */

static void report(const struct run *run)
{
    const double elapsed = (double)(iwi_net_now_ns() - run->start_ns);
    const double share = elapsed / (double)(run->end_ns - run->start_ns);

    if (run->is_reporting && run->plan->progress.step != NULL) {
        const double all = run->done + run->share * (share < 1 ? share : 1);

        (void)run->plan->progress.step(run->plan->progress.arg, &(iw_progress_now){.share = all});
    }
}

static bool is_time_over(const struct run *run)
{
    return iwi_net_now_ns() >= run->end_ns;
}

static void measure_rounds(struct run *run)
{
    const struct iwi_message_batch fresh = {.kind = IWI_BATCH_FRESH};
    bool is_busy = true;

    for (size_t round = 0; is_busy && (round < LEAST_ROUNDS || !is_time_over(run)); round++) {
        is_busy = false;
        iwi_pair_ask(run->pair, &fresh, NULL);
        for (size_t size = 0; size < size_count(run) && (round < LEAST_ROUNDS || !is_time_over(run));
             size++) {
            is_busy |= is_wanted(run, size) && measure_size(run, size);
        }
        if (run->plan->size_count == 0 && round < REFINE_LAST && (round + 1) % REFINE_EVERY == 0 &&
            !is_time_over(run)) {
            refine(run);
            is_busy = true;
        }
        report(run);
    }
}

/* Sizes that came late, when time was over, are left out. */
static void drop_poor_sizes(struct run *run)
{
    size_t kept = 0;

    for (size_t size = 0; size < size_count(run); size++) {
        if (series_of(run, size)[last_quantity(run)].count >= LEAST_VALUES) {
            for (size_t q = 0; q < IW_NET_QUANTITIES; q++) {
                const iw_net_series swapped = run->level->series[kept];

                run->level->series[kept++] = series_of(run, size)[q];
                series_of(run, size)[q] = swapped;
            }
        }
    }
    for (size_t i = kept; i < MOST_SERIES; i++) {
        free(run->level->series[i].values_ns);
        run->level->series[i].values_ns = NULL;
    }
    run->level->series_count = kept;
}

void iwi_level_measure(struct iwi_pair *pair, const iw_net_plan *plan, double seconds, bool is_reporting,
                       double done, double share, iw_net_level_samples *level)
{
    const struct iwi_message_batch end = {.kind = IWI_BATCH_END};
    struct run run = {.pair = pair,
                      .plan = plan,
                      .level = level,
                      .is_reporting = is_reporting,
                      .done = done,
                      .share = share,
                      .start_ns = iwi_net_now_ns()};

    run.end_ns = run.start_ns + (int64_t)(seconds * 1e9);
    run.late_ns = iwi_max(run.end_ns, run.start_ns + PATIENCE_NS);
    level->eager_computing = iwi_pair_eager(pair, IWI_BATCH_EAGER_COMPUTING, run.late_ns);
    report(&run);
    level->eager_inside = iwi_pair_eager(pair, IWI_BATCH_EAGER_INSIDE, run.late_ns);
    report(&run);
    add_first_sizes(&run);
    measure_rounds(&run);
    drop_poor_sizes(&run);
    iwi_pair_ask(pair, &end, NULL);
}

/* ---- between ranks ---- */

enum { TAG_LEVEL = 20, TAG_SERIES, TAG_VALUES };

void iwi_level_send(MPI_Comm comm, int to, const iw_net_level_samples *level)
{
    MPI_Send(level, (int)sizeof *level, MPI_BYTE, to, TAG_LEVEL, comm);
    for (size_t i = 0; i < level->series_count; i++) {
        const iw_net_series *series = &level->series[i];

        MPI_Send(series, (int)sizeof *series, MPI_BYTE, to, TAG_SERIES, comm);
        MPI_Send(series->values_ns, (int)series->count, MPI_DOUBLE, to, TAG_VALUES, comm);
    }
}

void iwi_level_recv(MPI_Comm comm, int from, iw_net_level_samples *level)
{
    iw_net_series *array = level->series;

    MPI_Recv(level, (int)sizeof *level, MPI_BYTE, from, TAG_LEVEL, comm, MPI_STATUS_IGNORE);
    level->series = array; /* pointers of the sender mean nothing here */
    for (size_t i = 0; i < MOST_SERIES; i++) {
        double *values_ns = array[i].values_ns;

        if (i < level->series_count) {
            MPI_Recv(&array[i], (int)sizeof array[i], MPI_BYTE, from, TAG_SERIES, comm, MPI_STATUS_IGNORE);
            array[i].values_ns = values_ns;
            MPI_Recv(values_ns, (int)array[i].count, MPI_DOUBLE, from, TAG_VALUES, comm, MPI_STATUS_IGNORE);
        } else {
            free(values_ns);
            array[i].values_ns = NULL;
        }
    }
}
