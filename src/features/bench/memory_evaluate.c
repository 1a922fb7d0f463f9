/* From windows in which cores moved data to the saturation curve and the two numbers that stand for it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/internal/memory_bench.h>

#include "core/base/base.h"
#include "core/stats/select.h"

/* A core that had less of its CPU than this was disturbed: what it moved says nothing of memory. */
static const double LEAST_HELD = 0.98;

/* A kind of which fewer windows are left is not judged by these alone. Windows that follow each other are
 * alike, so intervals are by stretches of the run. */
enum { LEAST_WINDOWS = 12, STRETCHES = 20 };

struct evaluation {
    const iw_memory_samples *samples;
    iw_memory_curve *curve;
    double *values; /* room for all rounds */
    double *middles;
};

/* ---- windows ---- */

static const iw_memory_window *window_of(const iw_memory_samples *samples, size_t round, size_t kind)
{
    return &samples->windows[round * samples->kinds + kind];
}

static bool is_held(const iw_memory_samples *samples, size_t round, size_t kind)
{
    return window_of(samples, round, kind)->held_share >= LEAST_HELD;
}

static void count_disturbed(struct evaluation *e)
{
    const iw_memory_samples *samples = e->samples;
    iw_memory_curve *curve = e->curve;

    curve->windows = samples->rounds * samples->kinds;
    for (size_t kind = 0; kind < samples->kinds; kind++) {
        uint64_t held = 0;

        for (size_t round = 0; round < samples->rounds; round++) {
            held += is_held(samples, round, kind);
        }
        curve->disturbed_windows += samples->rounds - held;
        curve->is_disturbed = curve->is_disturbed || held < LEAST_WINDOWS;
    }
}

static bool counts(const struct evaluation *e, size_t round, size_t kind)
{
    return e->curve->is_disturbed || is_held(e->samples, round, kind);
}

/* ---- medians ---- */

/* The median of the first `count` values, with the interval of the median of those of consecutive stretches.
 * IW_ERR_NOMEM. */
static iw_status find_median(const iw_log *log, const struct evaluation *e, size_t count,
                             iw_estimate *estimate_p)
{
    const size_t stretches = count < STRETCHES ? count : STRETCHES;
    iw_summary summary;
    double median;

    for (size_t i = 0; i < stretches; i++) {
        const size_t first = i * count / stretches, end = (i + 1) * count / stretches;

        e->middles[i] = iwi_select_quantile(e->values + first, end - first, 0.5);
    }
    median = iwi_select_quantile(e->values, count, 0.5);
    IW_TRY(iw_summarize(log, e->middles, stretches, &summary));
    *estimate_p = (iw_estimate){median, fmin(summary.median_low, median), fmax(summary.median_high, median)};
    return IW_OK;
}

static iw_status find_point(const iw_log *log, const struct evaluation *e, size_t kind,
                            iw_memory_point *point)
{
    size_t count = 0;

    for (size_t round = 0; round < e->samples->rounds; round++) {
        if (counts(e, round, kind)) {
            e->values[count++] = window_of(e->samples, round, kind)->bytes_per_s;
        }
    }
    *point = (iw_memory_point){.cores = e->samples->cores_of[kind], .windows = count};
    return find_median(log, e, count, &point->bytes_per_s);
}

/* Rounds in which both, one core and all, count. What drifts is in both. */
static iw_status find_scaling(const iw_log *log, const struct evaluation *e, iw_estimate *scaling_p)
{
    const iw_memory_samples *samples = e->samples;
    const size_t last = samples->kinds - 1;
    size_t count = 0;

    for (size_t round = 0; round < samples->rounds; round++) {
        const double alone = window_of(samples, round, 0)->bytes_per_s;

        if (counts(e, round, 0) && counts(e, round, last) && alone > 0.0) {
            e->values[count++] =
                window_of(samples, round, last)->bytes_per_s / (alone * (double)samples->cores);
        }
    }
    if (count < IW_LEAST_TRIALS) {
        *scaling_p = (iw_estimate){NAN, NAN, NAN};
        return IW_OK;
    }
    return find_median(log, e, count, scaling_p);
}

/* ---- two numbers ---- */

static iw_memory_verdict judge(const iw_memory_curve *curve)
{
    if (curve->cores < 2 || curve->is_disturbed || isnan(curve->scaling.value)) {
        return IW_MEMORY_UNCLEAR;
    }
    return curve->scaling.high < IW_MEMORY_SCALING_LEAST  ? IW_MEMORY_SATURATES
           : curve->scaling.low > IW_MEMORY_SCALING_LEAST ? IW_MEMORY_SCALES
                                                          : IW_MEMORY_UNCLEAR;
}

/* To the megabyte per second: nobody measures more of it. */
static uint64_t rounded(double bytes_per_s)
{
    return (uint64_t)fmax(1.0, round(bytes_per_s / 1e6)) * UINT64_C(1000000);
}

/* Cores that do not disturb each other have a domain that suffices for all. */
static void choose_memory(iw_memory_curve *curve)
{
    const uint64_t core = rounded(curve->core_bytes_per_s.value);
    const uint64_t all = core * curve->cores, domain = rounded(curve->domain_bytes_per_s.value);
    const bool is_limited = curve->verdict != IW_MEMORY_SCALES && domain < all;

    curve->memory = (iw_memory){.ranks = curve->cores,
                                .core_bytes_per_s = core < domain ? core : domain,
                                .domain_bytes_per_s = is_limited ? domain : all};
    if (curve->verdict == IW_MEMORY_SATURATES) {
        curve->saturated_from = (uint32_t)((domain + core - 1) / core);
    }
}

static void compare_with_model(iw_memory_curve *curve)
{
    for (size_t i = 0; i < curve->point_count; i++) {
        iw_memory_point *point = &curve->points[i];
        const double alone = (double)point->cores * (double)curve->memory.core_bytes_per_s;

        point->model_bytes_per_s = fmin(alone, (double)curve->memory.domain_bytes_per_s);

        const double misfit = fabs(point->model_bytes_per_s / point->bytes_per_s.value - 1.0);

        if (misfit > curve->misfit) {
            curve->misfit = misfit;
            curve->misfit_cores = point->cores;
        }
    }
}

static iw_status evaluate(const iw_log *log, struct evaluation *e)
{
    iw_memory_curve *curve = e->curve;

    count_disturbed(e);
    for (size_t kind = 0; kind < curve->point_count; kind++) {
        IW_TRY(find_point(log, e, kind, &curve->points[kind]));
        if (!(curve->points[kind].bytes_per_s.value > 0.0)) {
            return iwi_fail(log, IW_ERR_RANGE, "%u cores moved nothing, because others use their CPUs",
                            curve->points[kind].cores);
        }
    }
    curve->core_bytes_per_s = curve->points[0].bytes_per_s;
    curve->domain_bytes_per_s = curve->points[curve->point_count - 1].bytes_per_s;
    IW_TRY(find_scaling(log, e, &curve->scaling));
    curve->verdict = judge(curve);
    choose_memory(curve);
    compare_with_model(curve);
    return IW_OK;
}

/* ---- the curve ---- */

static iw_memory_curve *new_curve(const iw_log *log, const iw_memory_samples *samples)
{
    iw_memory_curve *curve = iwi_new_array(log, 1, sizeof *curve);
    iw_memory_point *points = iwi_new_array(log, samples->kinds, sizeof *points);

    if (curve == NULL || points == NULL) {
        free(curve);
        free(points);
        return NULL;
    }
    *curve = (iw_memory_curve){.cpus = samples->cpus,
                               .numa_node = samples->numa_node,
                               .cores = samples->cores,
                               .cache_bytes = samples->cache_bytes,
                               .array_bytes = samples->array_bytes,
                               .window_s = samples->window_s,
                               .seconds = samples->seconds,
                               .point_count = samples->kinds,
                               .points = points};
    memcpy(curve->host, samples->host, sizeof curve->host);
    memcpy(curve->cpu_model, samples->cpu_model, sizeof curve->cpu_model);
    memcpy(curve->hypervisor, samples->hypervisor, sizeof curve->hypervisor);
    return curve;
}

void iw_memory_curve_free(iw_memory_curve *curve)
{
    if (curve != NULL) {
        free(curve->points);
        free(curve);
    }
}

iw_status iw_memory_evaluate(const iw_log *log, const iw_memory_samples *samples, iw_memory_curve **curve_p)
{
    struct evaluation e = {.samples = samples};
    iw_status status = IW_ERR_NOMEM;

    if (samples->rounds == 0 || samples->kinds == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "nothing was measured");
    }
    e.curve = new_curve(log, samples);
    e.values = iwi_new_array(log, samples->rounds, sizeof *e.values);
    e.middles = iwi_new_array(log, STRETCHES, sizeof *e.middles);
    if (e.curve != NULL && e.values != NULL && e.middles != NULL) {
        status = evaluate(log, &e);
    }
    free(e.values);
    free(e.middles);
    if (status != IW_OK) {
        iw_memory_curve_free(e.curve);
        return status;
    }
    *curve_p = e.curve;
    return IW_OK;
}
