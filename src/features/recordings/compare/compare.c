/* Is one recording noisier than another, beyond chance?
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/numeric/numeric.h"
#include "core/stats/sort_ns.h"
#include "features/recordings/noise_report.h"
#include "kit/facts/recording_stats.h"

/* ---- a recording as a coarser probe would have seen it ---- */

static bool is_kept(const iw_detours *cpu, size_t detour, double threshold_ns)
{
    return (double)cpu->duration_ns[detour] >= threshold_ns;
}

static size_t count_kept(const iw_detours *cpu, double threshold_ns)
{
    size_t count = 0;

    for (size_t i = 0; i < cpu->count; i++) {
        count += is_kept(cpu, i, threshold_ns);
    }
    return count;
}

static void release_cpu(iw_detours *cpu)
{
    free(cpu->start_ns);
    free(cpu->duration_ns);
    free(cpu->source);
    free(cpu->part_detour);
    free(cpu->part_source);
    free(cpu->part_ns);
}

static iw_status make_room(const iw_log *log, iw_detours *to, size_t count, size_t part_count)
{
    to->start_ns = iwi_new_array(log, count, sizeof *to->start_ns);
    to->duration_ns = iwi_new_array(log, count, sizeof *to->duration_ns);
    to->source = iwi_new_array(log, count, sizeof *to->source);
    to->part_detour = iwi_new_array(log, part_count, sizeof *to->part_detour);
    to->part_source = iwi_new_array(log, part_count, sizeof *to->part_source);
    to->part_ns = iwi_new_array(log, part_count, sizeof *to->part_ns);
    if (to->start_ns == NULL || to->duration_ns == NULL || to->source == NULL || to->part_detour == NULL ||
        to->part_source == NULL || to->part_ns == NULL) {
        release_cpu(to);
        return IW_ERR_NOMEM;
    }
    return IW_OK;
}

static void copy_kept(const iw_detours *from, double threshold_ns, iw_detours *to)
{
    size_t part = 0;

    to->count = to->part_count = 0;
    for (size_t i = 0; i < from->count; i++) {
        const bool keep = is_kept(from, i, threshold_ns);

        for (; part < from->part_count && from->part_detour[part] == i; part++) {
            if (keep) {
                to->part_detour[to->part_count] = to->count;
                to->part_source[to->part_count] = from->part_source[part];
                to->part_ns[to->part_count++] = from->part_ns[part];
            }
        }
        if (keep) {
            to->start_ns[to->count] = from->start_ns[i];
            to->duration_ns[to->count] = from->duration_ns[i];
            to->source[to->count++] = from->source[i];
        }
    }
}

/* A recording without the detours shorter than `threshold_ns`; it borrows all else from `recording`, and also
 * the detours of CPUs that have none so short. *left_out_p: how many. */
static iw_status without_short_new(const iw_log *log, const iw_recording *recording, double threshold_ns,
                                   uint64_t *left_out_p, iw_recording **coarse_p)
{
    iw_recording *coarse = iwi_new_array(log, 1, sizeof *coarse);
    iw_detours *cpus = iwi_new_array(log, recording->cpu_count, sizeof *cpus);
    iw_status status = coarse != NULL && cpus != NULL ? IW_OK : IW_ERR_NOMEM;
    uint64_t left_out = 0;

    if (status != IW_OK) {
        free(coarse);
        free(cpus);
        return status;
    }
    *coarse = *recording;
    coarse->cpus = cpus;
    coarse->cpu_count = 0; /* those that have been filled */
    for (size_t c = 0; c < recording->cpu_count && status == IW_OK; c++) {
        const iw_detours *from = &recording->cpus[c];
        const size_t kept = count_kept(from, threshold_ns);

        cpus[c] = *from;
        if (kept < from->count) {
            status = make_room(log, &cpus[c], kept, from->part_count);
        }
        if (kept < from->count && status == IW_OK) {
            copy_kept(from, threshold_ns, &cpus[c]);
            left_out += from->count - kept;
        }
        coarse->cpu_count += status == IW_OK;
    }
    if (status != IW_OK) {
        iwi_without_short_free(coarse, recording);
        return status;
    }
    *left_out_p = left_out;
    *coarse_p = coarse;
    return IW_OK;
}

void iwi_without_short_free(iw_recording *coarse, const iw_recording *recording)
{
    if (coarse == NULL) {
        return;
    }
    for (size_t c = 0; c < coarse->cpu_count; c++) {
        if (coarse->cpus[c].start_ns != recording->cpus[c].start_ns) {
            release_cpu(&coarse->cpus[c]);
        }
    }
    free(coarse->cpus);
    free(coarse);
}

/* ---- does a difference come from a few stretches of time? ---- */

/* The bootstrap draws blocks as if they were independent, so a burst that fills ten of them looks like ten
 * events. If R stretches carry the difference, they are R events: a draw by stretches would leave all of them
 * out with probability e^-R, which is above the 2.5 % of the interval's end up to R = 3.
 */

enum { MOST_STRETCHES = 3 };

/* A block is heavy if its excess is above this many times the mean excess, */
static const double HEAVY = 1.5;
/* and heavy blocks carry the difference if they have so much of it */
static const double CARRIED = 0.9;
/* and are so few that the rest of the recording speaks for itself. */
static const double MOST_OF_TIME = 1.0 / 3.0;

struct stretches {
    size_t count, block_count;
    double excess;
};

/* Stretches of heavy blocks; a single light block does not part them. `usual` is the other side's ratio. */
static struct stretches find_stretches(const struct iwi_compared_side *side, const double *numerator,
                                       double usual, double heavy_excess)
{
    struct stretches found = {0, 0, 0.0};
    size_t last = 0; /* heavy block, from 1 */

    for (size_t i = 0; i < side->blocks.count; i++) {
        const double excess = numerator[i] - usual * side->watched_ns[i];

        if (excess > heavy_excess) {
            found.count += last == 0 || i + 1 > last + 2;
            found.block_count++;
            found.excess += excess;
            last = i + 1;
        }
    }
    return found;
}

/* A percentile is of no block; what makes it rise is looked for in the time lost. */
static const double *numerator_of(const struct iwi_compared_side *side, iw_compare_metric metric)
{
    return metric == IW_COMPARE_RATE ? side->count : side->noise_ns;
}

/* comparison->stretch_count and stretch_ns; the verdict is known already. */
static void compare_stretches(const struct iwi_compared_side *a, const struct iwi_compared_side *b,
                              iw_noise_comparison *comparison)
{
    const iw_compare_metric metric = comparison->opts.metric;
    const bool is_better = comparison->verdict == IW_COMPARE_BETTER;
    const struct iwi_compared_side *more = is_better ? a : b, *less = is_better ? b : a;
    const double *numerator = numerator_of(more, metric);
    const size_t count = more->blocks.count;
    const double usual = iwi_sum(numerator_of(less, metric), less->blocks.count) /
                         iwi_sum(less->watched_ns, less->blocks.count);
    const double excess = iwi_sum(numerator, count) - usual * iwi_sum(more->watched_ns, count);
    struct stretches found;

    if (comparison->verdict == IW_COMPARE_SAME || comparison->verdict == IW_COMPARE_UNKNOWN ||
        !(excess > 0.0)) {
        return;
    }
    found = find_stretches(more, numerator, usual, HEAVY * excess / (double)count);
    if (found.count > 0 && found.count <= MOST_STRETCHES && found.excess >= CARRIED * excess &&
        (double)found.block_count <= MOST_OF_TIME * (double)count) {
        comparison->stretch_count = found.count;
        comparison->stretch_ns = (int64_t)found.block_count * more->blocks.block_ns;
    }
}

/* ---- comparing ---- */

/* Streams of random numbers. */
enum { STREAM_A = 1, STREAM_B = 2 };

const char *iw_compare_metric_name(iw_compare_metric metric)
{
    static const char *const names[IW_COMPARE_METRICS] = {"share", "rate", "median", "p99", "longest"};

    return metric < IW_COMPARE_METRICS ? names[metric] : "?";
}

/* Adds what block `block` watched of a CPU. */
static double watched_of(const struct iwi_blocks *blocks, size_t block, int64_t length_ns)
{
    const int64_t begin_ns = (int64_t)block * blocks->block_ns;

    return (double)iwi_max(iwi_min(length_ns - begin_ns, blocks->block_ns), 0);
}

/* Sums by block, and all durations. A detour belongs as a whole to the block in which it begins. */
static void fill_side(struct iwi_compared_side *side)
{
    for (size_t c = 0; c < side->detours->cpu_count; c++) {
        const iw_detours *cpu = &side->detours->cpus[c];

        for (size_t block = 0; block < side->blocks.count; block++) {
            side->watched_ns[block] += watched_of(&side->blocks, block, cpu->length_ns);
        }
        for (size_t i = 0; i < cpu->count; i++) {
            const size_t block = iwi_block_of(&side->blocks, cpu->start_ns[i]);

            side->noise_ns[block] += (double)cpu->duration_ns[i];
            side->count[block] += 1.0;
            side->sorted_ns[side->sorted_count++] = cpu->duration_ns[i];
        }
    }
}

static iw_status sum_up(const iw_log *log, struct iwi_compared_side *side)
{
    size_t count = 0;
    int64_t *scratch;

    for (size_t c = 0; c < side->detours->cpu_count; c++) {
        count += side->detours->cpus[c].count;
    }
    side->watched_ns = iwi_new_array(log, side->blocks.count, sizeof *side->watched_ns);
    side->noise_ns = iwi_new_array(log, side->blocks.count, sizeof *side->noise_ns);
    side->count = iwi_new_array(log, side->blocks.count, sizeof *side->count);
    side->sorted_ns = iwi_new_array(log, count, sizeof *side->sorted_ns);
    scratch = iwi_new_array(log, count, sizeof *scratch);
    if (side->watched_ns == NULL || side->noise_ns == NULL || side->count == NULL ||
        side->sorted_ns == NULL || scratch == NULL) {
        free(scratch);
        return IW_ERR_NOMEM;
    }
    fill_side(side);
    iwi_sort_ns(side->sorted_ns, scratch, count);
    free(scratch);
    return IW_OK;
}

static double coarsest_threshold(const iw_recording *recording)
{
    double threshold_ns = 0.0;

    for (size_t c = 0; c < recording->cpu_count; c++) {
        threshold_ns = fmax(threshold_ns, recording->cpus[c].threshold_ns);
    }
    return threshold_ns;
}

/* The number of blocks follows from the longest CPU: shorter ones are absent from the last blocks. */
static iw_status describe_side(const iw_log *log, const iw_recording *recording, const char *which,
                               const struct iwi_compared_side *side, iw_compare_side *facts)
{
    facts->cpu_count = recording->cpu_count;
    for (size_t c = 0; c < recording->cpu_count; c++) {
        facts->watched_ns += (double)side->detours->cpus[c].length_ns;
        facts->length_ns = iwi_max(facts->length_ns, side->detours->cpus[c].length_ns);
        facts->dropped += recording->cpus[c].dropped;
        facts->count += side->detours->cpus[c].count;
    }
    if (facts->length_ns <= 0) {
        return iwi_fail(log, IW_ERR_RANGE, "the %s recording has length zero: nothing to compare", which);
    }
    return IW_OK;
}

static iw_status open_side(const iw_log *log, const iw_recording *recording, const char *which,
                           const iw_noise_comparison *comparison, uint32_t stream,
                           struct iwi_compared_side *side, iw_compare_side *facts)
{
    const bool is_quanta = iw_probe_has_quanta(recording->probe);

    if (is_quanta) {
        IW_TRY(iwi_losses_new(log, recording, &side->losses));
    }
    IW_TRY(without_short_new(log, is_quanta ? side->losses : recording, comparison->threshold_ns,
                             &facts->left_out, &side->detours));
    IW_TRY(describe_side(log, recording, which, side, facts));
    side->blocks = iwi_choose_blocks(facts->length_ns);
    facts->block_ns = side->blocks.block_ns;
    facts->block_count = side->blocks.count;
    IW_TRY(sum_up(log, side));
    IW_TRY(iwi_duration_points_new(log, side->sorted_ns, side->sorted_count, &facts->points,
                                   &facts->point_count));
    return iwi_resampling_new(log, side->blocks.count, comparison->opts.replicates, comparison->opts.seed,
                              stream, &side->resampling);
}

static void close_side(struct iwi_compared_side *side, const iw_recording *recording)
{
    iwi_resampling_release(&side->resampling);
    free(side->watched_ns);
    free(side->noise_ns);
    free(side->count);
    free(side->sorted_ns);
    iwi_without_short_free(side->detours, side->losses != NULL ? side->losses : recording);
    iwi_losses_free(side->losses);
}

static void scale(iw_compare_value *value, double factor)
{
    value->a *= factor;
    value->b *= factor;
    value->difference.value *= factor;
    value->difference.low *= factor;
    value->difference.high *= factor;
}

static iw_compare_verdict judge(const iw_noise_comparison *comparison)
{
    const iw_compare_value *value = &comparison->metrics[comparison->opts.metric];
    const iw_estimate *difference = &value->difference;
    const double unit = comparison->opts.metric == IW_COMPARE_SHARE ? 1.0 : value->a;

    if (isnan(difference->low) || isnan(difference->high)) { /* quantiles of nothing */
        return comparison->a.count == 0 && comparison->b.count > 0 ? IW_COMPARE_WORSE : IW_COMPARE_UNKNOWN;
    }
    if (difference->high < 0.0) {
        return IW_COMPARE_BETTER;
    }
    if (difference->low > 0.0) {
        return difference->low > comparison->opts.tolerance * unit ? IW_COMPARE_WORSE : IW_COMPARE_SLIGHT;
    }
    return IW_COMPARE_SAME;
}

static iw_status compare_sides(const iw_log *log, const struct iwi_compared_side *a,
                               const struct iwi_compared_side *b, iw_noise_comparison *comparison)
{
    iw_compare_value *rate = &comparison->metrics[IW_COMPARE_RATE];

    IW_TRY(iwi_compare_ratio(log, a, a->noise_ns, b, b->noise_ns, &comparison->metrics[IW_COMPARE_SHARE]));
    if (a->losses == NULL) {
        IW_TRY(iwi_compare_ratio(log, a, a->count, b, b->count, rate));
        scale(rate, 1e9);
    }
    IW_TRY(iwi_compare_durations(log, a, b, comparison));
    comparison->verdict = judge(comparison);
    compare_stretches(a, b, comparison);
    return comparison->has_sources ? iwi_compare_sources(log, a, b, comparison) : IW_OK;
}

static iw_status check(const iw_log *log, const iw_recording *a, const iw_recording *b,
                       const iw_compare_opts *opts)
{
    const bool is_quanta_a = iw_probe_has_quanta(a->probe), is_quanta_b = iw_probe_has_quanta(b->probe);

    if (is_quanta_a != is_quanta_b) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "cannot compare detours with quanta: one recording is by %s, the other by %s; record "
                        "both with the same probe",
                        iw_probe_name(a->probe), iw_probe_name(b->probe));
    }
    if (opts->metric >= IW_COMPARE_METRICS || opts->metric == IW_COMPARE_MEDIAN ||
        opts->metric == IW_COMPARE_LONGEST || (opts->metric == IW_COMPARE_RATE && is_quanta_a)) {
        return iwi_fail(log, IW_ERR_RANGE, "%s cannot judge by '%s'", is_quanta_a ? "quanta" : "a comparison",
                        iw_compare_metric_name(opts->metric));
    }
    if (!(opts->tolerance >= 0.0) || opts->replicates < 2) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "a comparison needs a tolerance of at least 0 and 2 replicates: %g, %zu",
                        opts->tolerance, opts->replicates);
    }
    return IW_OK;
}

static iw_compare_side begin_side(const iw_recording *recording, const char *name)
{
    const bool is_selfish = !iw_probe_has_quanta(recording->probe);

    return (iw_compare_side){.name = name,
                             .probe = recording->probe,
                             .attribution = recording->attribution,
                             .quantum_ns = recording->quantum_ns,
                             .threshold_ns = is_selfish ? coarsest_threshold(recording) : 0.0};
}

/* Facts that explain noise, in the order in which they are told. */
static void compare_origins(const iw_recording *a, const iw_recording *b, iw_noise_comparison *comparison)
{
    static const char *const names[IW_COMPARE_ORIGINS] = {"host",     "kernel", "hypervisor",
                                                          "governor", "clock",  "cmdline"};

    for (size_t i = 0; i < IW_COMPARE_ORIGINS; i++) {
        const char *of_a = iw_recording_get(a, names[i]), *of_b = iw_recording_get(b, names[i]);

        if (of_a != NULL && of_b != NULL && strcmp(of_a, of_b) != 0) {
            comparison->origins[comparison->origin_count++] = (iw_compare_origin){names[i], of_a, of_b};
        }
    }
}

/* What is known before the detours are looked at. Quanta have no threshold. */
static void begin(const iw_recording *a, const iw_recording *b, const iw_compare_opts *opts,
                  iw_noise_comparison *comparison)
{
    const bool is_selfish = !iw_probe_has_quanta(a->probe);

    comparison->opts = *opts;
    comparison->has_sources =
        is_selfish && a->attribution == b->attribution && (iwi_names_sources(a) || iwi_names_sources(b));
    comparison->a = begin_side(a, opts->name_a != NULL ? opts->name_a : "A");
    comparison->b = begin_side(b, opts->name_b != NULL ? opts->name_b : "B");
    compare_origins(a, b, comparison);
    iw_caveats_of_recording(a, comparison->a.name, &comparison->caveats);
    iw_caveats_of_recording(b, comparison->b.name, &comparison->caveats);
    if (comparison->a.threshold_ns != comparison->b.threshold_ns) {
        comparison->threshold_ns = fmax(comparison->a.threshold_ns, comparison->b.threshold_ns);
    }
    for (size_t m = 0; m < IW_COMPARE_METRICS; m++) {
        comparison->metrics[m] = (iw_compare_value){NAN, NAN, {NAN, NAN, NAN}};
    }
}

iw_status iw_noise_compare(const iw_log *log, const iw_recording *a, const iw_recording *b,
                           const iw_compare_opts *given, iw_noise_comparison **comparison_p)
{
    iw_compare_opts known = IW_COMPARE_OPTS_INIT;
    const iw_compare_opts *opts = &known;
    struct iwi_compared_side side_a = {.detours = NULL}, side_b = {.detours = NULL};
    iw_noise_comparison *comparison;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_COMPARE_OPTS_INIT", given, &known));
    IW_TRY(check(log, a, b, opts));
    comparison = iwi_new_array(log, 1, sizeof *comparison);
    if (comparison == NULL) {
        return IW_ERR_NOMEM;
    }
    begin(a, b, opts, comparison);
    status = open_side(log, a, "first", comparison, STREAM_A, &side_a, &comparison->a);
    if (status == IW_OK) {
        status = open_side(log, b, "second", comparison, STREAM_B, &side_b, &comparison->b);
    }
    if (status == IW_OK) {
        status = compare_sides(log, &side_a, &side_b, comparison);
    }
    close_side(&side_a, a);
    close_side(&side_b, b);
    if (status != IW_OK) {
        iw_noise_comparison_free(comparison);
        return status;
    }
    *comparison_p = comparison;
    return IW_OK;
}

void iw_noise_comparison_free(iw_noise_comparison *comparison)
{
    if (comparison != NULL) {
        free(comparison->a.points);
        free(comparison->b.points);
        free(comparison->sources);
        free(comparison);
    }
}
