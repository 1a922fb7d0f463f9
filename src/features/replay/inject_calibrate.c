/* What making detours costs here: detours of known spins, as a loop that reads the clock meets them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/injector.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/rng.h"

/* Every second detour spins for nothing. Distances vary, so that nothing periodic is met again and again, and
 * are long enough for caches to cool. */
static const int64_t SPACING_NS = 800000, SCATTER_NS = 700000, SPINS_NS[] = {0, 30000, 0, 60000};
enum { SPINS = sizeof SPINS_NS / sizeof *SPINS_NS };

/* Shorter differences of two readings are the loop itself. */
static const int64_t GAP_NS = 1000;
static const size_t FEWEST = 40; /* of each kind, of all runs together */
enum { RUNS = 8 };

/* Detours that take so many times as much beside the spin as the typical one were met by noise of the host.
 */
static const double HOST_NOISE = 2;
static const double GAP_MARGIN_NS = 1000;

/* Lateness that varies less than this needs no correction, and shows none. */
static const double LEAST_SPREAD_NS = 200;

/* What is slow to come is slow to leave, so each nanosecond of lateness can cost more than one. */
static const double MOST_LATE_SHARE = 1.5;

struct gap {
    int64_t start_ns, end_ns;
};

struct watch {
    struct gap *gaps;
    size_t gap_room, gap_count;
    struct iwi_logbook book;
    struct iwi_calibration trial;
};

/* Instrumentation would be measured. */
__attribute__((no_sanitize("address", "undefined", "thread"))) static void watch_gaps(struct watch *watch,
                                                                                      int64_t end_ns)
{
    int64_t last_ns = iwi_now_ns();

    while (last_ns < end_ns) {
        const int64_t now_ns = iwi_now_ns();

        if (now_ns - last_ns > GAP_NS && watch->gap_count < watch->gap_room) {
            watch->gaps[watch->gap_count++] = (struct gap){.start_ns = last_ns, .end_ns = now_ns};
        }
        last_ns = now_ns;
    }
}

/* From detour i on, how many are in this gap. */
static size_t count_in(const struct gap *gap, const struct iwi_logbook *book, size_t i)
{
    size_t count = 0;

    while (i + count < book->count && book->made[i + count].entry_ns < gap->end_ns) {
        count++;
    }
    return count;
}

/* Both lists ascend. Gaps with several detours are times in which another thread had the CPU. */
static void match(struct watch *watch)
{
    const struct iwi_logbook *book = &watch->book;
    struct iwi_calibration *trial = &watch->trial;
    size_t i = 0;

    for (size_t at = 0; at < watch->gap_count; at++) {
        const struct gap *gap = &watch->gaps[at];
        size_t inside;

        while (i < book->count && book->made[i].entry_ns < gap->start_ns) {
            i++;
        }
        inside = count_in(gap, book, i);
        if (inside == 1 && trial->count < trial->room) {
            const struct iwi_made *made = &book->made[i];

            trial->meetings[trial->count++] =
                (struct iwi_met_detour){.spin_ns = (double)made->spin_ns,
                                        .seen_ns = (double)(gap->end_ns - gap->start_ns),
                                        .late_ns = (double)(made->entry_ns - made->target_ns),
                                        .leave_ns = (double)(gap->end_ns - made->end_ns)};
        }
        i += inside;
    }
}

static double quantile(double *values, size_t count, double p)
{
    iwi_sort_doubles(values, count);
    return values[(size_t)llround(p * (double)(count - 1))];
}

/* Which detours, and what of them. */
enum column { SEEN_EMPTY, EXTRA, LATE, LEAVE };

/* Those with more than `extra_most_ns` beside the spin are left out; returns how many are in the column. */
static size_t fill(struct iwi_calibration *trial, enum column column, double extra_most_ns)
{
    size_t count = 0;

    for (size_t i = 0; i < trial->count; i++) {
        const struct iwi_met_detour *m = &trial->meetings[i];
        const double extra_ns = m->seen_ns - m->spin_ns;

        if (extra_ns > extra_most_ns || (column == SEEN_EMPTY && m->spin_ns > 0) ||
            (column == EXTRA && m->spin_ns <= 0)) {
            continue;
        }
        trial->column[count++] = column == LATE ? m->late_ns : column == LEAVE ? m->leave_ns : extra_ns;
    }
    return count;
}

/* Where values are densest: the middle of the shortest interval with a quarter of them. What the host's own
 * noise or another program has lengthened is spread widely, so this holds even if that is the larger part. */
static double densest(double *values, size_t count)
{
    const size_t quarter = count / 4;
    size_t best = 0;

    iwi_sort_doubles(values, count);
    for (size_t i = 0; i + quarter < count; i++) {
        if (values[i + quarter] - values[i] < values[best + quarter] - values[best]) {
            best = i;
        }
    }
    return values[best + quarter / 2];
}

IWI_COMPARE(by_lateness, struct iwi_met_detour, IWI_RISING(late_ns))

/* Medians of a third of the detours that spun, in the order of their lateness. */
static void third(struct iwi_calibration *trial, double extra_most_ns, size_t which, double *late_p,
                  double *extra_p)
{
    const size_t all = fill(trial, EXTRA, extra_most_ns), from = which * all / 3, to = (which + 1) * all / 3;
    size_t count = 0, number = 0;

    for (size_t i = 0; i < trial->count; i++) {
        const struct iwi_met_detour *m = &trial->meetings[i];

        if (m->spin_ns > 0 && m->seen_ns - m->spin_ns <= extra_most_ns) {
            if (number >= from && number < to) {
                *late_p = count == (to - from) / 2 ? m->late_ns : *late_p;
                trial->column[count++] = m->seen_ns - m->spin_ns;
            }
            number++;
        }
    }
    *extra_p = quantile(trial->column, count, 0.5);
}

/* The slope of a resistant line: from the medians of the earliest third to those of the latest, so that no
 * few detours that met the host's noise decide. */
static double late_share(struct iwi_calibration *trial, double extra_most_ns)
{
    double early_ns = 0, late_ns = 0, early_extra_ns = 0, late_extra_ns = 0;

    iwi_sort(trial->meetings, trial->count, by_lateness);
    third(trial, extra_most_ns, 0, &early_ns, &early_extra_ns);
    third(trial, extra_most_ns, 2, &late_ns, &late_extra_ns);
    if (late_ns - early_ns < LEAST_SPREAD_NS) {
        return 0;
    }
    return fmin(fmax((late_extra_ns - early_extra_ns) / (late_ns - early_ns), 0), MOST_LATE_SHARE);
}

static bool has_enough(struct iwi_calibration *trial)
{
    const size_t spun_count = fill(trial, EXTRA, INFINITY);

    return spun_count >= FEWEST && trial->count - spun_count >= FEWEST;
}

iw_status iwi_inject_evaluate(const iw_log *log, struct iwi_calibration *trial, iw_inject_costs *costs_p)
{
    iw_inject_costs costs = {0};
    double most_ns, empty_most_ns;
    size_t count;

    if (!has_enough(trial)) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED, /* without numbers: ranks that all meet it tell it once */
                        "calibration saw too few undisturbed detours: the CPU is too busy");
    }
    most_ns = HOST_NOISE * densest(trial->column, fill(trial, EXTRA, INFINITY));
    costs.overhead_ns = quantile(trial->column, fill(trial, EXTRA, most_ns), 0.5);
    costs.late_p99_ns = quantile(trial->column, fill(trial, LATE, INFINITY), 0.99);
    count = fill(trial, LATE, most_ns);
    costs.late_p50_ns = quantile(trial->column, count, 0.5);
    /* between two detours: leaving the first, and the second coming earlier than it usually does */
    costs.gap_ns = costs.late_p50_ns - trial->column[count / 10];
    costs.gap_ns += quantile(trial->column, fill(trial, LEAVE, most_ns), 0.9) + GAP_MARGIN_NS;
    costs.late_share = late_share(trial, most_ns);
    empty_most_ns = HOST_NOISE * densest(trial->column, fill(trial, SEEN_EMPTY, INFINITY));
    costs.floor_ns = quantile(trial->column, fill(trial, SEEN_EMPTY, empty_most_ns), 0.95);
    *costs_p = costs;
    return IW_OK;
}

static iw_status make_plan(const iw_log *log, size_t count, iw_inject_plan **plan_p)
{
    const iw_inject_opts opts = {
        .sync = IW_SYNC_START, .time_scale = 1, .most_share = 0, .is_uncompensated = true, .seed = 1};
    const iw_inject_costs nothing = {0};
    const iw_inject_facts facts = {.made_count = count, .length_ns = (int64_t)count * SPACING_NS};
    int64_t *start_ns = iwi_new_array(log, count, sizeof *start_ns);
    int64_t *duration_ns = iwi_new_array(log, count, sizeof *duration_ns);
    iw_status status = IW_ERR_NOMEM;

    if (start_ns != NULL && duration_ns != NULL) {
        for (size_t i = 0; i < count; i++) {
            const struct iwi_draw_id draw = {.seed = opts.seed, .purpose = IWI_DRAW_GAP};

            start_ns[i] = (int64_t)i * SPACING_NS + (int64_t)iwi_draw_below(draw, i, (uint64_t)SCATTER_NS);
            duration_ns[i] = SPINS_NS[i % SPINS];
        }
        status = iwi_plan_new(log, &opts, &nothing, &facts, start_ns, duration_ns, count, plan_p);
    }
    free(start_ns);
    free(duration_ns);
    return status;
}

static iw_status run(const iw_log *log, const iw_inject_plan *plan, iw_back_end back_end, int64_t duration_ns,
                     struct watch *watch)
{
    iw_injector *injector;

    watch->gap_count = 0;
    watch->book.count = 0;
    IW_TRY(iwi_injector_start_logged(log, plan, iwi_back_end_find(back_end), &watch->book, &injector));
    watch_gaps(watch, iwi_now_ns() + duration_ns);
    iw_injector_stop(injector, NULL);
    match(watch);
    return IW_OK;
}

/* Again where the CPU is so busy that few are met. */
static iw_status run_until_enough(const iw_log *log, iw_back_end back_end, int64_t duration_ns,
                                  struct watch *watch)
{
    iw_inject_plan *plan;
    iw_status status;

    IW_TRY(make_plan(log, watch->book.room, &plan));
    status = run(log, plan, back_end, duration_ns, watch);
    for (int i = 1; i < RUNS && status == IW_OK && !has_enough(&watch->trial); i++) {
        status = run(log, plan, back_end, duration_ns, watch);
    }
    iw_inject_plan_free(plan);
    return status;
}

static iw_status measure(const iw_log *log, iw_back_end back_end, int64_t duration_ns,
                         iw_inject_costs *costs_p)
{
    const size_t detours = (size_t)(duration_ns / SPACING_NS) + 8;
    struct watch watch = {.gap_room = 32 * detours, .book.room = detours, .trial.room = RUNS * detours};
    iw_status status = IW_ERR_NOMEM;

    watch.gaps = iwi_new_array(log, watch.gap_room, sizeof *watch.gaps);
    watch.book.made = iwi_new_array(log, detours, sizeof *watch.book.made);
    watch.trial.meetings = iwi_new_array(log, watch.trial.room, sizeof *watch.trial.meetings);
    watch.trial.column = iwi_new_array(log, watch.trial.room, sizeof *watch.trial.column);
    if (watch.gaps != NULL && watch.book.made != NULL && watch.trial.meetings != NULL &&
        watch.trial.column != NULL) {
        status = run_until_enough(log, back_end, duration_ns, &watch);
    }
    if (status == IW_OK) {
        status = iwi_inject_evaluate(log, &watch.trial, costs_p);
    }
    free(watch.gaps);
    free(watch.book.made);
    free(watch.trial.meetings);
    free(watch.trial.column);
    return status;
}

iw_status iw_inject_calibrate(const iw_log *log, iw_back_end back_end, int64_t duration_ns,
                              iw_inject_costs *costs_p)
{
    const struct iwi_back_end_ops *ops = iwi_back_end_find(back_end);
    const int cpu = sched_getcpu();
    cpu_set_t before, here;
    bool is_pinned = false;
    iw_status status;

    if (ops != NULL && ops->costs != NULL) {
        *costs_p = *ops->costs;
        return IW_OK;
    }
    if (duration_ns < INT64_C(10000000) || duration_ns > INT64_C(60000000000)) {
        return iwi_fail(log, IW_ERR_RANGE, "calibration must last 10 ms to 60 s");
    }
    CPU_ZERO(&here);
    if (cpu >= 0 && cpu < CPU_SETSIZE && sched_getaffinity(0, sizeof before, &before) == 0) {
        CPU_SET((size_t)cpu, &here);
        is_pinned = sched_setaffinity(0, sizeof here, &here) == 0;
    }
    status = measure(log, back_end, duration_ns, costs_p);
    if (is_pinned) {
        (void)sched_setaffinity(0, sizeof before, &before);
    }
    return status;
}
