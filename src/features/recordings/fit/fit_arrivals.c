/* When detours come: at a period, at random, or both.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulations give each rank noise of its own, so what counts is the period on one CPU: a daemon that wakes
 * up once a second on any of them comes at random on each.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/fit.h>

#include "core/base/base.h"
#include "core/stats/periodicity.h"
#include "core/stats/sort_ns.h"
#include "features/recordings/compare/compare.h"
#include "features/recordings/fit/fit.h"

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
