/* When detours come: at a period, at random, or both; how long they last.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/fit.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/stats/periodicity.h"
#include "core/stats/sort_ns.h"
#include "features/recordings/compare/compare.h"
#include "features/recordings/fit/fit.h"
#include "features/recordings/noise_report.h"

/* ---- beats of a period that is known, and what comes between them ---- */

/* A walk expects each beat one period after the last one, so timers that drift are followed. Where it begins
 * depends on how many events are beats: if most are, at two of them that are a period apart; if few are, at
 * the phase that most periods of a stretch have an event at.
 */

enum {
    LOST = 8,     /* beats missing in a row: begin anew */
    STRETCH = 16, /* periods that are looked at for a phase */
    PHASES = 50   /* of a period */
};

/* A phase must have an event in this share of the periods. */
static const double LEAST_FOUND = 0.7;

struct beats {
    const int64_t *start_ns;
    size_t count;
    double period_ns, tolerance_ns;
    uint8_t *is_beat;
    size_t marked;
};

/* The first event from `i` on that is followed by one a period later; the count if there is none. */
static size_t find_pair(const struct beats *b, size_t i)
{
    while (i + 1 < b->count &&
           fabs((double)(b->start_ns[i + 1] - b->start_ns[i]) - b->period_ns) > b->tolerance_ns) {
        i++;
    }
    return i + 1 < b->count ? i : b->count;
}

static size_t phase_of(const struct beats *b, double from_ns, int64_t start_ns)
{
    const double periods = ((double)start_ns - from_ns) / b->period_ns;

    return (size_t)((periods - floor(periods)) * PHASES) % PHASES;
}

/* Of the events [first, end) of a stretch: how many periods have one at each phase. */
static void count_phases(const struct beats *b, size_t first, size_t end, unsigned count[PHASES])
{
    const double from_ns = (double)b->start_ns[first];
    double last[PHASES];

    for (size_t i = 0; i < PHASES; i++) {
        count[i] = 0;
        last[i] = -1.0;
    }
    for (size_t i = first; i < end; i++) {
        const double period = floor(((double)b->start_ns[i] - from_ns) / b->period_ns);
        const size_t phase = phase_of(b, from_ns, b->start_ns[i]);

        count[phase] += last[phase] < period;
        last[phase] = period;
    }
}

/* The phase that most of the periods have an event at, or PHASES; two neighbours count together, since beats
 * may lie on their border. */
static size_t best_phase(const unsigned count[PHASES])
{
    size_t best = 0;

    for (size_t phase = 1; phase < PHASES; phase++) {
        const unsigned both = count[phase] + count[(phase + 1) % PHASES];

        best = both > count[best] + count[(best + 1) % PHASES] ? phase : best;
    }
    return count[best] + count[(best + 1) % PHASES] >= LEAST_FOUND * STRETCH ? best : PHASES;
}

/* The first event from `i` on at a phase that most periods after it have an event at. */
static size_t find_phase(const struct beats *b, size_t i)
{
    while (i < b->count) {
        const double from_ns = (double)b->start_ns[i], until_ns = from_ns + STRETCH * b->period_ns;
        unsigned count[PHASES];
        size_t end = i, phase;

        while (end < b->count && (double)b->start_ns[end] < until_ns) {
            end++;
        }
        count_phases(b, i, end, count);
        phase = best_phase(count);
        if (phase < PHASES) {
            while (phase_of(b, from_ns, b->start_ns[i]) != phase &&
                   phase_of(b, from_ns, b->start_ns[i]) != (phase + 1) % PHASES) {
                i++;
            }
            return i;
        }
        while (i < end && (double)b->start_ns[i] < 0.5 * (from_ns + until_ns)) {
            i++;
        }
    }
    return b->count;
}

/* Marks beats from one on until they are lost; returns where to look for the next one. */
static size_t follow(struct beats *b, size_t beat)
{
    size_t next = beat + 1;
    unsigned missed = 0;

    b->marked += b->is_beat[beat] == 0;
    b->is_beat[beat] = 1;
    while (missed < LOST && next < b->count) {
        const double expected_ns = (double)b->start_ns[beat] + (missed + 1) * b->period_ns;
        const size_t found = iwi_find_beat(b->start_ns, b->count, expected_ns, b->tolerance_ns, &next);

        if (found == b->count) {
            missed++;
            continue;
        }
        b->is_beat[found] = 1;
        b->marked++;
        beat = found;
        next = found + 1;
        missed = 0;
    }
    return next;
}

size_t iwi_mark_beats(const int64_t *start_ns, size_t count, double period_ns, double tolerance,
                      bool is_among_others, uint8_t *is_beat)
{
    struct beats b = {.start_ns = start_ns,
                      .count = count,
                      .period_ns = period_ns,
                      .tolerance_ns = tolerance * period_ns,
                      .is_beat = is_beat};
    size_t next = 0;

    while ((next = is_among_others ? find_phase(&b, next) : find_pair(&b, next)) < count) {
        next = follow(&b, next);
    }
    return b.marked;
}

/* ---- at a period, at random, or both ---- */

/* Simulations give each rank noise of its own, so what counts is the period on one CPU: a daemon that wakes
 * up once a second on any of them comes at random on each.
 */

/* Periods of different CPUs are the same up to this; those that agree must hold that share of the detours. */
static const double SAME_PERIOD = 0.02, LEAST_AGREEMENT = 0.8;

/* Beats of a spectral line: that share must be there, and detours that are none must not be so dense that one
 * meets most beats by chance. */
static const double LEAST_BEATS = 0.7, MOST_CHANCE = 0.35;

/* Share of the period by which beats may be early or late: of a series that is periodic on its own, as the
 * search for it allows, and of beats among others. */
static const double WIDE = 0.1, NARROW = 0.02;

enum { MOST_LINES = 3, LEAST_FOR_SPECTRUM = 50 };

static size_t begin_of(const struct iwi_fit_events *e, size_t cpu)
{
    return cpu > 0 ? e->end[cpu - 1] : 0;
}

/* ---- period ---- */

/* The period that most detours have on their own CPU, or 0. */
static double common_period(const struct iwi_fit_events *e, double *scratch)
{
    double period_ns = 0.0, agreeing = 0.0;
    size_t most = 0;

    for (int pass = 0; pass < 2; pass++) { /* the CPU with the most detours, then those that agree with it */
        for (size_t c = 0; c < e->cpu_count; c++) {
            const size_t begin = begin_of(e, c), count = e->end[c] - begin;

            if (pass == 0 && count > most) {
                most = count;
                period_ns = iwi_find_period(&e->start_ns[begin], count, scratch);
            } else if (pass == 1 && fabs(iwi_find_period(&e->start_ns[begin], count, scratch) - period_ns) <=
                                        SAME_PERIOD * period_ns) {
                agreeing += (double)count;
            }
        }
        if (period_ns <= 0.0) {
            return 0.0;
        }
    }
    return agreeing >= LEAST_AGREEMENT * (double)e->count ? period_ns : 0.0;
}

static size_t mark(struct iwi_fit_events *e, double period_ns, double tolerance, bool is_among_others)
{
    size_t marked = 0;

    memset(e->is_beat, 0, e->count);
    for (size_t c = 0; c < e->cpu_count; c++) {
        const size_t begin = begin_of(e, c);

        marked += iwi_mark_beats(&e->start_ns[begin], e->end[c] - begin, period_ns, tolerance,
                                 is_among_others, &e->is_beat[begin]);
    }
    return marked;
}

/* The mean time between neighbouring beats: better than the spectrum knows it. */
static double refined_period(const struct iwi_fit_events *e, double period_ns)
{
    double time_ns = 0.0, beats = 0.0;

    for (size_t c = 0; c < e->cpu_count; c++) {
        size_t last = e->end[c];

        for (size_t i = begin_of(e, c); i < e->end[c]; i++) {
            if (e->is_beat[i] == 0) {
                continue;
            }
            if (last < i) {
                const double gap_ns = (double)(e->start_ns[i] - e->start_ns[last]);

                time_ns += gap_ns;
                beats += fmax(round(gap_ns / period_ns), 1.0);
            }
            last = i;
        }
    }
    return beats > 0.0 ? time_ns / beats : period_ns;
}

/* Whether the beats of a line are there one by one; leaves them marked. */
static bool has_beats(double line_ns, double watched_ns, struct iwi_fit_events *e)
{
    const double chance = 1.0 - exp(-2.0 * NARROW * line_ns * (double)e->count / watched_ns);

    return chance <= MOST_CHANCE &&
           (double)mark(e, line_ns, NARROW, true) >= LEAST_BEATS * watched_ns / line_ns;
}

/* The first of the spectrum's lines whose beats are there one by one; 0: none. Leaves beats marked. */
static double period_of_lines(const iw_recording *recording, double watched_ns, struct iwi_fit_events *e)
{
    const iw_spectrum_opts opts = IW_SPECTRUM_OPTS_INIT;
    iw_noise_spectrum *spectrum = NULL;
    double period_ns = 0.0;

    if (e->count < LEAST_FOR_SPECTRUM || iw_noise_spectrum_new(NULL, recording, &opts, &spectrum) != IW_OK) {
        return 0.0; /* too short for a spectrum: none is seen */
    }
    for (size_t i = 0; i < spectrum->line_count && i < MOST_LINES && period_ns <= 0.0; i++) {
        const double line_ns = 1e9 / spectrum->lines[i].frequency_hz;

        period_ns = has_beats(line_ns, watched_ns, e) ? line_ns : 0.0;
    }
    iw_noise_spectrum_free(spectrum);
    return period_ns;
}

/* ---- gaps ---- */

/* Of events that are no beats, on the same CPU; returns how many. */
static size_t take_gaps(const struct iwi_fit_events *e, int64_t *gaps_ns)
{
    size_t count = 0;

    for (size_t c = 0; c < e->cpu_count; c++) {
        size_t last = e->end[c];

        for (size_t i = begin_of(e, c); i < e->end[c]; i++) {
            if (e->is_beat[i] == 0) {
                if (last < i) {
                    gaps_ns[count++] = iwi_max(e->start_ns[i] - e->start_ns[last], 1);
                }
                last = i;
            }
        }
    }
    return count;
}

static double variation_of(const int64_t *gaps_ns, size_t count)
{
    double mean = 0.0, squares = 0.0;

    for (size_t i = 0; i < count; i++) {
        const double off = (double)gaps_ns[i] - mean;

        mean += off / (double)(i + 1);
        squares += off * ((double)gaps_ns[i] - mean);
    }
    return sqrt(squares / (double)count) / mean;
}

static iw_status fit_gaps(const iw_log *log, const iw_fit_opts *opts, const struct iwi_fit_events *e,
                          iw_arrivals *arrivals)
{
    int64_t *gaps_ns = iwi_new_array(log, 2 * e->count, sizeof *gaps_ns);
    iw_status status = IW_OK;
    size_t count;

    if (gaps_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    count = take_gaps(e, gaps_ns);
    if (count >= IW_FIT_LEAST) {
        struct iwi_fit_sample sample;
        iw_duration_fit fit;

        iwi_sort_ns(gaps_ns, &gaps_ns[e->count], count);
        sample = iwi_fit_sample(gaps_ns, count, 0.0);
        iwi_fit_one_law(IW_FIT_EXP, &sample, &fit);
        fit.distance = iwi_fit_distance(IW_FIT_EXP, &fit, 0.0, gaps_ns, count);
        status = iwi_fit_goodness(log, IW_FIT_EXP, opts, 0.0, count, &fit);
        arrivals->gap_distance = fit.distance;
        arrivals->gap_p = fit.p;
        arrivals->gap_variation = variation_of(gaps_ns, count);
    }
    free(gaps_ns);
    return status;
}

/* ---- all of it ---- */

static double line_period(struct iwi_fit_lines lines, double watched_ns, struct iwi_fit_events *e)
{
    if (lines.recording != NULL) {
        return period_of_lines(lines.recording, watched_ns, e);
    }
    return lines.period_ns > 0.0 && has_beats(lines.period_ns, watched_ns, e) ? lines.period_ns : 0.0;
}

static void find_beats(struct iwi_fit_lines lines, double watched_ns, double *scratch,
                       struct iwi_fit_events *e, iw_arrivals *a)
{
    a->period_ns = common_period(e, scratch);
    if (a->period_ns > 0.0) {
        a->beats = mark(e, a->period_ns, WIDE, false);
    } else {
        a->period_ns = line_period(lines, watched_ns, e);
        if (a->period_ns > 0.0) {
            a->period_ns = refined_period(e, a->period_ns);
            a->beats = mark(e, a->period_ns, NARROW, true);
            a->period_ns = refined_period(e, a->period_ns);
        }
    }
    if (a->period_ns > 0.0) {
        a->missing = fmax(1.0 - (double)a->beats * a->period_ns / watched_ns, 0.0);
    } else {
        memset(e->is_beat, 0, e->count);
    }
    a->others = e->count - a->beats;
}

iw_status iwi_fit_arrivals(const iw_log *log, const iw_fit_opts *opts, struct iwi_fit_lines lines,
                           double watched_ns, struct iwi_fit_events *events, iw_arrivals *arrivals)
{
    double *scratch = iwi_new_array(log, IWI_PERIOD_SCRATCH, sizeof *scratch);
    iw_arrivals a = {.gap_distance = NAN, .gap_p = NAN, .gap_variation = NAN};

    if (scratch == NULL) {
        return IW_ERR_NOMEM;
    }
    a.rate_hz = (double)events->count / watched_ns * 1e9;
    find_beats(lines, watched_ns, scratch, events, &a);
    free(scratch);
    IW_TRY(fit_gaps(log, opts, events, &a));
    *arrivals = a;
    return IW_OK;
}

/* ---- durations: all laws fitted, the best chosen, its tail held against the recorded one ---- */

/* The best is the one with the lowest BIC: the question is which law it is, so a further parameter must pay
 * more the more detours there are.
 */

/* The tail: what one of a thousand exceeds, but at least ten detours. */
static const double TAIL_SHARE = 1e-3, TAIL_COUNT = 10.0;
enum { LEAST_FOR_TAIL = 100 };

/* Lengths are the same up to this, and fixed if so few are others. */
static const double SAME_LENGTH = 0.01, MOST_OTHER_LENGTHS = 0.05;

static void choose_best(iw_durations *d)
{
    double best = INFINITY;

    for (int law = 0; law < IW_FIT_LAWS; law++) {
        if (d->laws[law].is_fitted && d->laws[law].bic < best) {
            best = d->laws[law].bic;
            d->best = (iw_fit_law)law;
            d->is_fitted = true;
        }
    }
}

/* Whether so many are longer because they overlap. Then they are `share` of all, since the chance that none
 * begins within a length is that of a free instant, and the mean tells the same length. */
static bool is_overlap(const iw_durations *d, double share, double length_ns, size_t longer)
{
    const double count = (double)d->count, mean_ns = iwi_overlap_mean_factor(share) * d->total_ns / count;

    return fabs((double)longer / count - share) <= MOST_OTHER_LENGTHS &&
           fabs(mean_ns / length_ns - 1.0) <= MOST_OTHER_LENGTHS;
}

/* The same up to rounding, or nearly all of them: the continuous laws have no form for that. Its likelihood
 * is no density, so that no criterion compares it with the others. The distance is the share on one side,
 * without those that are longer since they overlap. */
static void fit_fixed(const iw_fit_opts *opts, double share, const int64_t *sorted_ns, size_t count,
                      iw_durations *d)
{
    const size_t middle = (size_t)(0.5 * (1.0 - share) * (double)count);
    const double middle_ns = (double)sorted_ns[middle], within_ns = fmax(SAME_LENGTH * middle_ns, 1.0);
    double overlapping = 0.0, others;
    size_t shorter = 0, longer = 0;

    for (size_t i = 0; i < count; i++) {
        shorter += (double)sorted_ns[i] < middle_ns - within_ns;
        longer += (double)sorted_ns[i] > middle_ns + within_ns;
    }
    if (is_overlap(d, share, middle_ns, longer)) {
        overlapping = fmin(share * (double)count, (double)longer);
    }
    others = (double)(shorter + longer) - overlapping;
    if (others > MOST_OTHER_LENGTHS * (double)count) {
        return;
    }
    d->best = IW_FIT_FIXED;
    d->is_fitted = true;
    d->laws[IW_FIT_FIXED] = (iw_duration_fit){
        .is_fitted = true,
        .scale_ns = {middle_ns, (double)sorted_ns[shorter], (double)sorted_ns[count - 1 - longer]},
        .shape = {NAN, NAN, NAN},
        .log_likelihood = NAN,
        .aic = NAN,
        .bic = NAN,
        .distance = fmax((double)shorter, (double)longer - overlapping) / (double)count,
        .p = others <= 0.0 ? 1.0 : 1.0 / ((double)opts->replicates + 1.0),
        .seen = 1.0,
    };
}

static iw_status fit_laws(const iw_log *log, const iw_fit_opts *opts, double random_share,
                          const int64_t *sorted_ns, size_t count, iw_durations *d)
{
    const struct iwi_fit_sample sample = iwi_fit_sample(sorted_ns, count, d->cut_ns);

    if (sorted_ns[count - 1] - sorted_ns[0] > 1 && count >= IW_FIT_LEAST) {
        for (iw_fit_law law = IW_FIT_EXP; law < IW_FIT_LAWS; law++) {
            iwi_fit_one_law(law, &sample, &d->laws[law]);
            d->laws[law].distance = iwi_fit_distance(law, &d->laws[law], d->cut_ns, sorted_ns, count);
            IW_TRY(iwi_fit_goodness(log, law, opts, d->cut_ns, count, &d->laws[law]));
        }
    }
    choose_best(d);
    fit_fixed(opts, random_share, sorted_ns, count, d);
    return IW_OK;
}

static void compare_tails(const int64_t *sorted_ns, size_t count, iw_durations *d)
{
    const iw_duration_fit *fit = &d->laws[d->best];

    d->expected_as_long = NAN;
    if (!d->is_fitted || d->best == IW_FIT_FIXED) {
        return;
    }
    d->expected_as_long = (double)count * iw_durations_above(d, d->best, d->longest_ns - 0.5);
    if (count >= LEAST_FOR_TAIL) {
        const double longer = fmax(floor(TAIL_SHARE * (double)count), TAIL_COUNT);

        d->tail_share = longer / (double)count;
        d->tail_recorded_ns = (double)sorted_ns[count - (size_t)longer];
        d->tail_fitted_ns = iwi_law_exceeded_ns(d->best, fit, d->cut_ns, d->tail_share);
    }
}

/* Shorter ones are left out: `duration_ns` is sorted. */
static size_t leave_out(const int64_t *duration_ns, size_t count, double cut_ns)
{
    size_t first = 0;

    while (first < count && (double)duration_ns[first] < cut_ns) {
        first++;
    }
    return first;
}

iw_status iwi_fit_durations(const iw_log *log, const iw_fit_opts *opts, struct iwi_fit_above above,
                            int64_t *duration_ns, size_t count, iw_durations *durations)
{
    int64_t *scratch = iwi_new_array(log, count, sizeof *scratch);
    iw_durations d = {.cut_ns = fmax(ceil(above.threshold_ns) - 0.5, 0.0), .best = IW_FIT_FIXED};
    iw_status status = IW_OK;
    size_t first;

    if (scratch == NULL) {
        return IW_ERR_NOMEM;
    }
    for (iw_fit_law law = IW_FIT_FIXED; law < IW_FIT_LAWS; law++) {
        d.laws[law].law = law;
    }
    iwi_sort_ns(duration_ns, scratch, count);
    free(scratch);
    first = leave_out(duration_ns, count, fmax(d.cut_ns, 0.5));
    d.left_out = first;
    d.count = count - first;
    for (size_t i = 0; i < count; i++) {
        *(i < first ? &d.left_out_ns : &d.total_ns) += (double)duration_ns[i];
    }
    if (d.count > 0) {
        d.longest_ns = (double)duration_ns[count - 1];
        status = fit_laws(log, opts, above.random_share, &duration_ns[first], (size_t)d.count, &d);
    }
    if (status == IW_OK) {
        compare_tails(&duration_ns[first], (size_t)d.count, &d);
        status =
            iwi_duration_points_new(log, &duration_ns[first], (size_t)d.count, &d.points, &d.point_count);
    }
    if (status != IW_OK) {
        iwi_durations_release(&d);
        return status;
    }
    *durations = d;
    return IW_OK;
}

void iwi_durations_release(iw_durations *durations)
{
    free(durations->points);
    *durations = (iw_durations){.count = 0};
}

double iw_durations_above(const iw_durations *durations, iw_fit_law law, double ns)
{
    const iw_duration_fit *fit = &durations->laws[law];

    return ns <= durations->cut_ns
               ? 1.0
               : iwi_law_above(law, fit->scale_ns.value, fit->shape.value, ns) / fit->seen;
}
