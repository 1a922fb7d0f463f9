/* Fitted laws as specs of simulations: periodic:RATE,DURATION and poisson:RATE,DIST.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "features/recordings/fit/fit.h"

/* Beats may be missing at the ends of recordings; if more are, the rate is that of those that are there. */
static const double FEW_MISSING = 0.02;

/* Of the time in detours: with more, hardly anything would be left to tell their overlap from. */
static const double MOST_SHARE = 0.999;

enum { SPECS_PER_GROUP = 2, NUMBER_SIZE = 32 };

/* ---- words ---- */

/* In the unit that makes it 1 to 1000, so that no exponent is written. */
static const char *time_text(double ns, char buf[NUMBER_SIZE])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    size_t i = 0;

    while (ns >= 999.95 && i < 3) {
        ns /= 1000.0;
        i++;
    }
    snprintf(buf, NUMBER_SIZE, ns < 1000.0 ? "%.4g%s" : "%.0f%s", ns, units[i]);
    return buf;
}

static const char *rate_text(double rate_hz, int digits, char buf[NUMBER_SIZE])
{
    if (rate_hz >= 1e6) {
        snprintf(buf, NUMBER_SIZE, "%.*gMHz", digits, rate_hz / 1e6);
    } else if (rate_hz >= 1e3) {
        snprintf(buf, NUMBER_SIZE, "%.*gkHz", digits, rate_hz / 1e3);
    } else if (rate_hz >= 1e-3) {
        snprintf(buf, NUMBER_SIZE, "%.*gHz", digits, rate_hz);
    } else {
        snprintf(buf, NUMBER_SIZE, "%.9fHz", rate_hz);
    }
    return buf;
}

/* Specs take up to 10^6; such shapes are as good as a fixed length. */
static const char *shape_text(double shape, char buf[NUMBER_SIZE])
{
    if (shape >= 1e3) {
        snprintf(buf, NUMBER_SIZE, "%.0f", fmin(shape, 1e6));
    } else {
        snprintf(buf, NUMBER_SIZE, shape >= 1e-3 ? "%.4g" : "%.6f", shape);
    }
    return buf;
}

static void write_text(iw_fit_spec *spec)
{
    char rate[NUMBER_SIZE], time[NUMBER_SIZE], shape[NUMBER_SIZE];

    rate_text(spec->rate_hz, spec->is_periodic ? 5 : 4, rate);
    time_text(spec->scale_ns, time);
    shape_text(spec->shape, shape);
    if (spec->is_periodic) {
        snprintf(spec->text, sizeof spec->text, "periodic:%s,%s", rate, time);
    } else if (spec->law == IW_FIT_PARETO) {
        snprintf(spec->text, sizeof spec->text, "poisson:%s,pareto:%s,%s", rate, shape, time);
    } else if (spec->law == IW_FIT_LOGNORMAL) {
        snprintf(spec->text, sizeof spec->text, "poisson:%s,lognormal:%s,%s", rate, time, shape);
    } else {
        snprintf(spec->text, sizeof spec->text, "poisson:%s,%s:%s", rate, iwi_law_spec_name(spec->law), time);
    }
}

/* ---- one spec ---- */

static iw_fit_spec periodic(const iw_noise_fit *fit, size_t number)
{
    const iw_fit_group *group = &fit->groups[number];
    const iw_arrivals *a = &group->arrivals;
    const iw_durations *d = group->has_parts ? &group->beats : &group->durations;
    iw_fit_spec spec = {.group = number, .is_periodic = true, .law = IW_FIT_FIXED, .seen = 1.0};

    spec.rate_hz = 1e9 / a->period_ns;
    if (a->missing > FEW_MISSING) {
        spec.rate_hz *= 1.0 - a->missing;
    }
    spec.scale_ns = (d->total_ns + d->left_out_ns) / (double)a->beats;
    spec.share = spec.rate_hz * spec.scale_ns * 1e-9;
    return spec;
}

/* What is drawn overlaps, and then is one detour. Among themselves they are told apart (fit_overlap.c); what
 * others cover is made up by the rate, so that all together take as much time: -ln(1 - share) of it, if none
 * overlapped. */
static iw_status random_arrivals(const iw_log *log, const iw_noise_fit *fit, size_t number,
                                 const iw_durations *d, iw_fit_spec *spec)
{
    const double share = fmin(fit->groups[0].share, MOST_SHARE);
    const double own = fmin((d->total_ns + d->left_out_ns) / fit->watched_ns, share);
    const double more_time = share > 0.0 ? -log1p(-share) / share : 1.0;
    const double mean_factor = iwi_overlap_mean_factor(own);

    *spec = (iw_fit_spec){
        .group = number, .law = d->is_fitted ? d->best : IW_FIT_FIXED, .seen = 1.0, .overlapping = own};
    if (d->is_fitted && d->best != IW_FIT_FIXED) {
        struct iwi_single_law single;

        IW_TRY(iwi_fit_overlap(log, &fit->opts, d, fit->watched_ns, own, &single));
        spec->scale_ns = single.scale_ns;
        spec->shape = single.shape;
        spec->seen = iwi_law_above(d->best, single.scale_ns, single.shape, d->cut_ns);
        spec->is_by_mean = single.is_by_mean;
    } else {
        spec->scale_ns = d->total_ns / (double)d->count * mean_factor;
    }
    spec->rate_hz = (double)d->count / (fit->watched_ns * spec->seen) * more_time / mean_factor * 1e9;
    spec->share = spec->rate_hz * iwi_law_mean_ns(spec->law, spec->scale_ns, spec->shape) * 1e-9;
    return IW_OK;
}

static iw_status specs_of(const iw_log *log, const iw_noise_fit *fit, size_t number, iw_fit_spec *specs,
                          size_t *count_p)
{
    const iw_fit_group *group = &fit->groups[number];

    if (group->arrivals.beats > 0) {
        specs[(*count_p)++] = periodic(fit, number);
    }
    if (group->has_parts && group->others.count > 0) {
        IW_TRY(random_arrivals(log, fit, number, &group->others, &specs[(*count_p)++]));
    } else if (group->arrivals.beats == 0 && group->durations.count > 0) {
        IW_TRY(random_arrivals(log, fit, number, &group->durations, &specs[(*count_p)++]));
    }
    return IW_OK;
}

/* ---- all ---- */

/* The spec with the smallest share goes. */
static void drop_smallest(iw_fit_spec *specs, size_t *count_p, double *dropped_p)
{
    size_t smallest = 0;

    for (size_t i = 1; i < *count_p; i++) {
        smallest = specs[i].share < specs[smallest].share ? i : smallest;
    }
    *dropped_p += specs[smallest].share;
    for (size_t i = smallest + 1; i < *count_p; i++) {
        specs[i - 1] = specs[i];
    }
    --*count_p;
}

iw_status iwi_fit_specs(const iw_log *log, iw_noise_fit *fit)
{
    iw_fit_spec specs[SPECS_PER_GROUP * (IW_NOISE_MAX_SOURCES + 1)];
    size_t count = 0;

    fit->specs = iwi_new_array(log, IW_NOISE_MAX_SOURCES, sizeof *fit->specs);
    if (fit->specs == NULL) {
        return IW_ERR_NOMEM;
    }
    fit->left_out_share = 0.0;
    for (size_t g = fit->has_sources ? 1 : 0; g < fit->group_count; g++) {
        IW_TRY(specs_of(log, fit, g, specs, &count));
    }
    while (count > IW_NOISE_MAX_SOURCES) {
        drop_smallest(specs, &count, &fit->left_out_share);
    }
    for (size_t i = 0; i < count; i++) {
        write_text(&specs[i]);
        fit->specs[i] = specs[i];
    }
    fit->spec_count = count;
    return IW_OK;
}

double iw_noise_fit_above(const iw_noise_fit *fit, double ns)
{
    const double cut_ns = fit->groups[0].durations.cut_ns;
    double all = 0.0, above = 0.0;

    for (size_t i = 0; i < fit->spec_count; i++) {
        const iw_fit_spec *s = &fit->specs[i];

        all += s->rate_hz * iwi_law_above(s->law, s->scale_ns, s->shape, cut_ns);
        above += s->rate_hz * iwi_law_above(s->law, s->scale_ns, s->shape, fmax(ns, cut_ns));
    }
    return all > 0.0 ? above / all : 0.0;
}
