/* What the phases of a benchmark say, alone and beside another.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/estimate.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "core/stats/block_bootstrap.h"
#include "features/bench/bench_keep.h"

/* ======== one benchmark ======== */

enum { LEAST_BLOCKS = 5, MOST_BLOCKS = 200, REPLICATES = 2000 };

static const double quantiles[IW_BENCH_QUANTILES] = {0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1.0};

double iw_bench_quantile(size_t index)
{
    return quantiles[index];
}

void iw_bench_samples_free(iw_bench_samples *samples)
{
    iwi_bench_samples_drop(samples);
}

void iw_bench_result_free(iw_bench_result *result)
{
    free(result);
}

/* All that the numbers of a run are made with. */
struct evaluation {
    const iw_bench_samples *samples;
    double scale; /* of measured times: 1 / time_scale */
    size_t block_count;
    uint64_t merged;                  /* blocks of the samples in one of these */
    struct iwi_resampling resampling; /* of the blocks; times NULL: too few of them */
    double *sum, *phases, *means;     /* of each block */
    double *replicates[IW_BENCH_KINDS];
    double *scratch;
};

/* ---- set up ---- */

/* With noise, a block here is at least a pair: one quiet, one noisy. */
static void choose_blocks(struct evaluation *e)
{
    const iw_bench_samples *samples = e->samples;
    const uint64_t all = samples->block_count;
    const uint64_t pairs = samples->has_noise ? (all + 1) / 2 : all;
    const uint64_t merged = (pairs + MOST_BLOCKS - 1) / MOST_BLOCKS;

    e->merged = merged * (samples->has_noise ? 2 : 1);
    e->block_count = (size_t)((pairs + merged - 1) / merged);
}

static iw_status set_up(const iw_log *log, struct evaluation *e)
{
    choose_blocks(e);
    e->sum = iwi_new_array(log, e->block_count, sizeof *e->sum);
    e->phases = iwi_new_array(log, e->block_count, sizeof *e->phases);
    e->means = iwi_new_array(log, e->block_count, sizeof *e->means);
    e->replicates[0] = iwi_new_array(log, REPLICATES, sizeof *e->replicates[0]);
    e->replicates[1] = iwi_new_array(log, REPLICATES, sizeof *e->replicates[1]);
    e->scratch = iwi_new_array(log, e->samples->count, sizeof *e->scratch);
    if (e->sum == NULL || e->phases == NULL || e->means == NULL || e->replicates[0] == NULL ||
        e->replicates[1] == NULL || e->scratch == NULL) {
        return IW_ERR_NOMEM;
    }
    return e->block_count >= LEAST_BLOCKS
               ? iwi_resampling_new(log, e->block_count, REPLICATES, 1, 0, &e->resampling)
               : IW_OK;
}

static void tear_down(struct evaluation *e)
{
    iwi_resampling_release(&e->resampling);
    free(e->sum);
    free(e->phases);
    free(e->means);
    free(e->replicates[0]);
    free(e->replicates[1]);
    free(e->scratch);
}

/* ---- one series ---- */

static void sum_phases(struct evaluation *e, const double *values_ns, int kind)
{
    const iw_bench_samples *samples = e->samples;

    for (size_t i = 0; i < samples->count; i++) {
        if (samples->is_noisy[i] == (kind == IW_BENCH_NOISY)) {
            e->sum[samples->block[i] / e->merged] += values_ns[i] * e->scale;
            e->phases[samples->block[i] / e->merged] += 1.0;
        }
    }
}

static void sum_blocks(struct evaluation *e, int kind)
{
    const iw_bench_samples *samples = e->samples;

    for (size_t i = 0; i < samples->block_count; i++) {
        if (samples->blocks[i].is_noisy == (kind == IW_BENCH_NOISY)) {
            e->sum[i / e->merged] += samples->blocks[i].elapsed_ns * e->scale;
            e->phases[i / e->merged] += (double)samples->blocks[i].phases;
        }
    }
}

/* The means of replicates of the blocks, of values of kept phases or, NULL, of the blocks' own times; false:
 * there are too few. */
static bool resample(struct evaluation *e, const double *values_ns, int kind, double *replicates)
{
    memset(e->sum, 0, e->block_count * sizeof *e->sum);
    memset(e->phases, 0, e->block_count * sizeof *e->phases);
    if (values_ns != NULL) {
        sum_phases(e, values_ns, kind);
    } else {
        sum_blocks(e, kind);
    }
    if (e->resampling.times == NULL) {
        return false;
    }
    memset(replicates, 0, REPLICATES * sizeof *replicates);
    iwi_add_ratios(&e->resampling, e->sum, e->phases, 1.0, replicates);
    return true;
}

/* A bootstrap of few blocks knows too little of their variance, and uses it as if it were certain: its
 * interval is widened as Student's is against the normal one. Sorts the replicates. */
static iw_estimate estimate_of(const struct evaluation *e, double *replicates, double mean)
{
    const double blocks = (double)e->block_count;
    const double factor =
        sqrt(blocks / (blocks - 1.0)) * iwi_t_quantile(0.975, blocks - 1.0) / iwi_normal_quantile(0.975);
    const struct iwi_interval percentiles = iwi_percentile_interval(replicates, REPLICATES);

    return (iw_estimate){mean, mean + factor * (percentiles.low - mean),
                         mean + factor * (percentiles.high - mean)};
}

static void evaluate_value(struct evaluation *e, const double *values_ns, int kind, iw_bench_value *value)
{
    const iw_bench_samples *samples = e->samples;
    size_t count = 0;
    double sum = 0.0;

    *value = (iw_bench_value){.mean_ns = {NAN, NAN, NAN}};
    for (size_t i = 0; i < samples->count; i++) {
        if (samples->is_noisy[i] == (kind == IW_BENCH_NOISY)) {
            e->scratch[count] = values_ns[i] * e->scale;
            sum += e->scratch[count++];
        }
    }
    if (count == 0) {
        return;
    }
    iwi_sort_doubles(e->scratch, count);
    value->mean_ns.value = sum / (double)count;
    for (size_t q = 0; q < IW_BENCH_QUANTILES; q++) {
        value->quantile_ns[q] = iw_quantile_sorted(e->scratch, count, quantiles[q]);
    }
    if (resample(e, values_ns, kind, e->replicates[0])) {
        value->mean_ns = estimate_of(e, e->replicates[0], value->mean_ns.value);
    }
}

static void evaluate_blocks(struct evaluation *e, int kind, iw_bench_times *times)
{
    const bool has_interval = resample(e, NULL, kind, e->replicates[0]);
    const double mean_ns = iwi_sum(e->sum, e->block_count) / iwi_sum(e->phases, e->block_count);

    times->phase_ns = has_interval && isfinite(mean_ns) ? estimate_of(e, e->replicates[0], mean_ns)
                                                        : (iw_estimate){mean_ns, NAN, NAN};
}

static void evaluate_kind(struct evaluation *e, int kind, iw_bench_times *times)
{
    const iw_bench_samples *samples = e->samples;

    *times = (iw_bench_times){.count = 0};
    for (size_t i = 0; i < samples->count; i++) {
        times->count += samples->is_noisy[i] == (kind == IW_BENCH_NOISY) ? 1 : 0;
    }
    evaluate_value(e, samples->qt_ns, kind, &times->qt);
    evaluate_value(e, samples->bt_ns, kind, &times->bt);
    evaluate_value(e, samples->qtbt_ns, kind, &times->qtbt);
    evaluate_value(e, samples->op_ns, kind, &times->op);
    evaluate_blocks(e, kind, times);
}

/* ---- noise ---- */

/* Means of the blocks, of what was resampled last; NaN where there is no phase. */
static void block_means(const struct evaluation *e, double *means)
{
    for (size_t i = 0; i < e->block_count; i++) {
        means[i] = e->sum[i] / e->phases[i];
    }
}

/* `quiet` and `noisy`: means of the blocks; the former are replaced. */
static double median_slowdown(double *quiet, const double *noisy, size_t block_count)
{
    size_t count = 0;

    for (size_t i = 0; i < block_count; i++) {
        const double slowdown = noisy[i] / quiet[i] - 1.0;

        if (isfinite(slowdown)) {
            quiet[count++] = slowdown;
        }
    }
    iwi_sort_doubles(quiet, count);
    return count > 0 ? iw_quantile_sorted(quiet, count, 0.5) : NAN;
}

/* Of the same replicates of pairs, so that what hits both blocks of a pair cancels. `values_ns` as in
 * resample(). */
static void evaluate_slowdown(struct evaluation *e, const double *values_ns, double ratio,
                              iw_estimate *slowdown, double *median_p)
{
    *slowdown = (iw_estimate){ratio - 1.0, NAN, NAN};
    *median_p = NAN;
    if (isfinite(ratio) && resample(e, values_ns, IW_BENCH_QUIET, e->replicates[0])) {
        block_means(e, e->means);
        (void)resample(e, values_ns, IW_BENCH_NOISY, e->replicates[1]);
        block_means(e, e->sum);
        *median_p = median_slowdown(e->means, e->sum, e->block_count);
        for (size_t r = 0; r < REPLICATES; r++) {
            e->replicates[0][r] = e->replicates[1][r] / e->replicates[0][r] - 1.0;
        }
        *slowdown = estimate_of(e, e->replicates[0], ratio - 1.0);
    }
}

static void evaluate_slowdowns(struct evaluation *e, iw_bench_result *result)
{
    const iw_bench_times *quiet = &result->times[IW_BENCH_QUIET], *noisy = &result->times[IW_BENCH_NOISY];
    double median;

    evaluate_slowdown(e, NULL, noisy->phase_ns.value / quiet->phase_ns.value, &result->slowdown,
                      &result->pair_slowdown);
    evaluate_slowdown(e, e->samples->qtbt_ns, noisy->qtbt.mean_ns.value / quiet->qtbt.mean_ns.value,
                      &result->max_slowdown, &median);
}

static void evaluate_shares(iw_bench_result *result)
{
    const iw_bench_samples *samples = result->samples;
    const double ranks = (double)samples->ranks;
    iw_bench_injection *all = &result->injection;
    double made_ns = 0.0, skipped_ns = 0.0;

    for (uint32_t i = 0; i < samples->ranks; i++) {
        const iw_bench_rank *rank = &samples->of_rank[i];
        const iw_bench_injected *injected = &rank->injected;

        if (rank->undisturbed_ns > 0.0) {
            result->own_share += (rank->qt_ns[IW_BENCH_QUIET] / rank->undisturbed_ns - 1.0) / ranks;
        }
        result->undisturbed_ns += rank->undisturbed_ns / result->time_scale / ranks;
        if (injected->noisy_ns > 0.0) {
            all->injected_share += injected->made_ns / injected->noisy_ns / ranks;
        }
        all->planned_share += injected->planned_share / ranks;
        all->as_recorded_share += injected->as_recorded_share / ranks;
        all->as_recorded_event_share += injected->as_recorded_event_share / ranks;
        all->cut_short_count += injected->cut_short_count;
        made_ns += injected->made_ns;
        skipped_ns += injected->skipped_ns;
    }
    all->floor_ns = samples->of_rank[0].injected.floor_ns / result->time_scale;
    all->skipped_share = skipped_ns > 0.0 ? skipped_ns / (made_ns + skipped_ns) : 0.0;
}

/* Bins of equal ratio from the shortest to the longest phase of any kind. */
static void fill_bins(iw_bench_result *result, double scale)
{
    const iw_bench_samples *samples = result->samples;
    double low = INFINITY, high = 0.0, step;

    for (size_t i = 0; i < samples->count; i++) {
        low = fmin(low, samples->qtbt_ns[i] * scale);
        high = fmax(high, samples->qtbt_ns[i] * scale);
    }
    low = fmax(low, 1.0);
    step = log(fmax(high / low, 1.01)) / IW_BENCH_BINS;
    for (size_t b = 0; b <= IW_BENCH_BINS; b++) {
        result->bin_begin_ns[b] = low * exp(step * (double)b);
    }
    for (size_t i = 0; i < samples->count; i++) {
        const double place = log(fmax(samples->qtbt_ns[i] * scale / low, 1.0)) / step;

        result->times[samples->is_noisy[i] ? IW_BENCH_NOISY : IW_BENCH_QUIET]
            .bins[(size_t)fmin(place, IW_BENCH_BINS - 1)]++;
    }
}

iw_status iw_bench_evaluate(const iw_log *log, const iw_bench_samples *samples, double time_scale,
                            iw_bench_result **result_p)
{
    struct evaluation e = {.samples = samples, .scale = 1.0 / time_scale};
    iw_bench_result *result;
    iw_status status;

    if (samples->count == 0 || samples->block_count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "no phase was measured");
    }
    result = iwi_new_array(log, 1, sizeof *result);
    status = result != NULL ? set_up(log, &e) : IW_ERR_NOMEM;
    if (status == IW_OK) {
        result->samples = samples;
        result->time_scale = time_scale;
        result->quantum_ns = samples->quantum_ns / time_scale;
        evaluate_kind(&e, IW_BENCH_QUIET, &result->times[IW_BENCH_QUIET]);
        evaluate_kind(&e, IW_BENCH_NOISY, &result->times[IW_BENCH_NOISY]);
        evaluate_slowdowns(&e, result);
        evaluate_shares(result);
        fill_bins(result, e.scale);
        *result_p = result;
    } else {
        free(result);
    }
    tear_down(&e);
    return status;
}

/* ======== two ======== */

static const char *const op_names[IW_BENCH_OPS] = {"barrier", "allreduce", "halo"};

const char *iw_bench_op_name(iw_bench_op op)
{
    return op < IW_BENCH_OPS ? op_names[op] : "?";
}

const char *iw_bench_work_name(iw_bench_work work)
{
    static const char *const names[IW_BENCH_WORKS] = {"spin", "sleep"};

    return work < IW_BENCH_WORKS ? names[work] : "?";
}

/* (m - b) / b of two independent means; the interval by the first order of m / b: relative errors add up in
 * squares. */
void iw_bench_set_baseline(iw_bench_result *result, const iw_bench_baseline *baseline)
{
    const int kind = result->times[IW_BENCH_NOISY].count > 0 ? IW_BENCH_NOISY : IW_BENCH_QUIET;
    const iw_estimate mine = result->times[kind].qtbt.mean_ns, other = baseline->qtbt_ns;
    const double ratio = mine.value / other.value;
    const double half = ratio * hypot((mine.high - mine.low) / 2.0 / mine.value,
                                      (other.high - other.low) / 2.0 / other.value);

    result->baseline = *baseline;
    result->baseline.slowdown = (iw_estimate){ratio - 1.0, ratio - 1.0 - half, ratio - 1.0 + half};
}

/* Errors of independent estimates add up in squares; of each counts the end that looks at the other. Without
 * intervals nothing can be said. */
static bool is_beyond_chance(const iw_estimate *lower, const iw_estimate *upper)
{
    return upper->value - lower->value > hypot(lower->high - lower->value, upper->value - upper->low);
}

/* Of the mean of as many blocks as were measured with noise, by how much the simulated ones vary; and of the
 * quiet ones, by which it is divided, as their interval says. The host does to noisy blocks what it does to
 * quiet ones, so that counts twice. */
static iw_estimate expect(const iw_bench_result *result, const iw_bench_simulated *simulated)
{
    const iw_estimate *mean = &simulated->slowdown, *quiet = &result->times[IW_BENCH_QUIET].phase_ns;
    const double blocks = fmax((double)result->samples->block_count / 2.0, 1.0); /* with noise */
    const double of_noise = (mean->high - mean->low) / 2.0 * sqrt(1.0 + (double)simulated->trials / blocks);
    const double of_host = sqrt(2.0) * (quiet->high - quiet->low) / 2.0 / quiet->value * (1.0 + mean->value);
    const double half = hypot(of_noise, of_host);

    return (iw_estimate){mean->value, mean->value - half, mean->value + half};
}

void iw_bench_set_simulated(iw_bench_result *result, const iw_bench_simulated *simulated)
{
    static const double POINTS = 0.02, SHARE = 0.2;
    const iw_estimate *measured = &result->slowdown;
    const double most = fmax(POINTS, SHARE * fabs(simulated->slowdown.value));
    const double difference = measured->value - simulated->slowdown.value;
    const double half = (measured->high - measured->low) / 2.0;
    iw_bench_simulated *mine = &result->simulated;

    *mine = *simulated;
    mine->expected = expect(result, simulated);
    mine->difference = difference;
    mine->ratio = measured->value / simulated->slowdown.value;
    mine->is_beyond_chance =
        is_beyond_chance(measured, &simulated->slowdown) || is_beyond_chance(&simulated->slowdown, measured);
    mine->agreement = fabs(difference) <= most ? IW_BENCH_AGREES : IW_BENCH_DIFFERS;
    if (!(half <= most || fabs(difference) - half > most)) { /* also without an interval */
        mine->agreement = IW_BENCH_UNCLEAR;
    }
}
