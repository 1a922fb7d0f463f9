/* Two distributions of durations: quantiles, how far apart they are, and which sources make the difference.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Quantiles and distances are exact. Their spread comes from replicates of histograms, BINS_PER_DECADE bins a
 * decade, since sorting each replicate anew would take hours. How far apart recordings of the same noise are
 * by chance is the spread of (F*b - Fb) - (F*a - Fa), F* being the distribution of a replicate: what is left
 * of Fb - Fa if both recordings follow the same law.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "core/stats/distances.h"
#include "features/recordings/compare/compare.h"
#include "kit/facts/recording_stats.h"

enum { BINS_PER_DECADE = 64, DECADES = 19, BINS = BINS_PER_DECADE * DECADES + 2 };

static const double CHANCE_QUANTILE = 0.95;

/* Both sides by the same bins, those of which at least one side has something. */
struct histograms {
    size_t bin_count;
    uint16_t number[BINS];      /* of a bin among those that are kept */
    double *first_ns, *last_ns; /* of what lies in a bin */
    double *count[2];           /* [block][bin] */
    double *share[2];           /* cumulated, of all blocks together */
    double *replicate[2];       /* the same, of one replicate */
};

/* 0 ns has a bin of its own. */
static size_t bin_of(int64_t duration_ns)
{
    return duration_ns <= 0 ? 0 : 1 + (size_t)(log10((double)duration_ns) * BINS_PER_DECADE);
}

/* Numbers the bins that have something. Sorted durations stay in a bin for long, so few logarithms are
 * needed. */
static void mark_bins(const struct iwi_compared_side *side, bool is_used[BINS])
{
    int64_t last_ns = -1;

    for (size_t i = 0; i < side->sorted_count; i++) {
        if (side->sorted_ns[i] != last_ns) {
            is_used[bin_of(side->sorted_ns[i])] = true;
            last_ns = side->sorted_ns[i];
        }
    }
}

static void number_bins(const struct iwi_compared_side *const sides[2], struct histograms *h)
{
    bool is_used[BINS] = {false};

    mark_bins(sides[0], is_used);
    mark_bins(sides[1], is_used);
    for (size_t i = 0; i < BINS; i++) {
        h->number[i] = (uint16_t)h->bin_count;
        h->bin_count += is_used[i];
    }
}

static void release(struct histograms *h)
{
    free(h->first_ns);
    free(h->last_ns);
    for (size_t k = 0; k < 2; k++) {
        free(h->count[k]);
        free(h->share[k]);
        free(h->replicate[k]);
    }
}

static void count_side(const struct iwi_compared_side *side, const struct histograms *h, double *counts)
{
    for (size_t c = 0; c < side->detours->cpu_count; c++) {
        const iw_detours *cpu = &side->detours->cpus[c];

        for (size_t i = 0; i < cpu->count; i++) {
            const size_t bin = h->number[bin_of(cpu->duration_ns[i])];
            const double duration_ns = (double)cpu->duration_ns[i];

            counts[iwi_block_of(&side->blocks, cpu->start_ns[i]) * h->bin_count + bin] += 1.0;
            h->first_ns[bin] = fmin(h->first_ns[bin], duration_ns);
            h->last_ns[bin] = fmax(h->last_ns[bin], duration_ns);
        }
    }
}

/* Counts to shares of those up to each bin. */
static void cumulate(double *counts, size_t count)
{
    double sum = 0.0;

    for (size_t i = 0; i < count; i++) {
        sum += counts[i];
        counts[i] = sum;
    }
    for (size_t i = 0; i < count; i++) {
        counts[i] /= sum;
    }
}

/* Released by the caller either way. */
static iw_status make_histograms(const iw_log *log, const struct iwi_compared_side *const sides[2],
                                 struct histograms *h)
{
    number_bins(sides, h);
    h->first_ns = iwi_new_array(log, h->bin_count, sizeof *h->first_ns);
    h->last_ns = iwi_new_array(log, h->bin_count, sizeof *h->last_ns);
    if (h->first_ns == NULL || h->last_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < h->bin_count; i++) {
        h->first_ns[i] = INFINITY;
    }
    for (size_t k = 0; k < 2; k++) {
        h->count[k] = iwi_new_array(log, sides[k]->blocks.count * h->bin_count, sizeof *h->count[k]);
        h->share[k] = iwi_new_array(log, h->bin_count, sizeof *h->share[k]);
        h->replicate[k] = iwi_new_array(log, h->bin_count, sizeof *h->replicate[k]);
        if (h->count[k] == NULL || h->share[k] == NULL || h->replicate[k] == NULL) {
            return IW_ERR_NOMEM;
        }
        count_side(sides[k], h, h->count[k]);
        for (size_t i = 0; i < sides[k]->blocks.count * h->bin_count; i++) {
            h->share[k][i % h->bin_count] += h->count[k][i];
        }
        cumulate(h->share[k], h->bin_count);
    }
    return IW_OK;
}

static void replicate(const struct iwi_compared_side *side, const struct histograms *h, size_t k, size_t r)
{
    const size_t first = r * side->blocks.count;
    double *sum = h->replicate[k];

    memset(sum, 0, h->bin_count * sizeof *sum);
    for (size_t block = 0; block < side->blocks.count; block++) {
        const double *counts = &h->count[k][block * h->bin_count];
        const double factor = side->resampling.times[first + block];

        for (size_t i = 0; factor > 0.0 && i < h->bin_count; i++) {
            sum[i] += factor * counts[i];
        }
    }
    cumulate(sum, h->bin_count); /* all NaN if a replicate has no detour */
}

/* What lies in a bin is taken to be evenly spread over it. NaN where there is none. */
static double binned_quantile(const struct histograms *h, const double *share, double q)
{
    double before;
    size_t at;

    if (isnan(share[0])) {
        return NAN;
    }
    IWI_FIRST_NOT(at, 0, h->bin_count - 1, share[at] < q);
    before = at > 0 ? share[at - 1] : 0.0;
    return h->first_ns[at] + (q - before) / (share[at] - before) * (h->last_ns[at] - h->first_ns[at]);
}

/* Values of all replicates. */
struct spread {
    double *median, *p99, *ks, *wasserstein_ns;
    double binned_median, binned_p99; /* differences of the recordings themselves */
};

static double quantile_difference(const struct histograms *h, const double *const share[2], double q)
{
    return binned_quantile(h, share[1], q) - binned_quantile(h, share[0], q);
}

static void measure_replicate(const struct histograms *h, struct spread *spread, size_t r)
{
    const double *const f[2] = {h->replicate[0], h->replicate[1]};

    spread->median[r] = quantile_difference(h, f, 0.5);
    spread->p99[r] = quantile_difference(h, f, 0.99);
    if (isnan(f[0][0]) || isnan(f[1][0])) { /* without detours nothing is ruled out */
        spread->ks[r] = spread->wasserstein_ns[r] = INFINITY;
        return;
    }
    for (size_t i = 0; i + 1 < h->bin_count; i++) {
        const double apart = fabs((f[1][i] - h->share[1][i]) - (f[0][i] - h->share[0][i]));

        spread->ks[r] = fmax(spread->ks[r], apart);
        spread->wasserstein_ns[r] += apart * (h->first_ns[i + 1] - h->first_ns[i]);
    }
}

static iw_compare_distance judge_distance(double distance, double *by_chance, size_t count)
{
    iw_compare_distance result = {.distance = distance};
    size_t as_far = 0;

    for (size_t r = 0; r < count; r++) {
        as_far += by_chance[r] >= distance;
    }
    result.p = (double)(as_far + 1) / (double)(count + 1);
    iwi_sort_doubles(by_chance, count);
    result.by_chance = by_chance[(size_t)(CHANCE_QUANTILE * (double)(count - 1))];
    return result;
}

/* Quantile as iw_quantile_sorted(); NaN of nothing. */
static double exact_quantile(const struct iwi_compared_side *side, double q)
{
    const double position = side->sorted_count > 0 ? q * (double)(side->sorted_count - 1) : 0.0;
    const size_t index = (size_t)position;
    double low, high;

    if (side->sorted_count == 0) {
        return NAN;
    }
    low = (double)side->sorted_ns[index];
    high = index + 1 < side->sorted_count ? (double)side->sorted_ns[index + 1] : low;
    return low + (position - (double)index) * (high - low);
}

/* The interval of the differences that the bins gave, moved by what they missed of the exact one. */
static void set_quantile(iw_compare_value *value, const struct iwi_compared_side *const sides[2], double q,
                         double *differences, double binned)
{
    const size_t count = sides[0]->resampling.replicate_count;
    const double a = exact_quantile(sides[0], q), b = exact_quantile(sides[1], q);

    *value = (iw_compare_value){a, b, {b - a, NAN, NAN}};
    if (differences != NULL) {
        const struct iwi_interval interval = iwi_percentile_interval(differences, count);
        const double missed = b - a - binned;

        value->difference.low = interval.low + missed;
        value->difference.high = interval.high + missed;
    }
}

static iw_status measure_spread(const iw_log *log, const struct iwi_compared_side *const sides[2],
                                struct spread *spread, size_t replicates)
{
    struct histograms h = {.bin_count = 0};
    iw_status status = make_histograms(log, sides, &h);
    const double *const shares[2] = {h.share[0], h.share[1]};

    if (status == IW_OK) {
        spread->binned_median = quantile_difference(&h, shares, 0.5);
        spread->binned_p99 = quantile_difference(&h, shares, 0.99);
    }
    for (size_t r = 0; r < replicates && status == IW_OK; r++) {
        replicate(sides[0], &h, 0, r);
        replicate(sides[1], &h, 1, r);
        measure_replicate(&h, spread, r);
    }
    release(&h);
    return status;
}

/* `room` is for four values of each replicate. */
static iw_status compare_by_replicates(const iw_log *log, const struct iwi_compared_side *const sides[2],
                                       double *room, iw_noise_comparison *comparison)
{
    const size_t n = sides[0]->resampling.replicate_count;
    struct spread spread = {room, &room[n], &room[2 * n], &room[3 * n], 0.0, 0.0};
    double ks, wasserstein_ns;

    IW_TRY(measure_spread(log, sides, &spread, n));
    iwi_sorted_distances(sides[0]->sorted_ns, sides[0]->sorted_count, sides[1]->sorted_ns,
                         sides[1]->sorted_count, &ks, &wasserstein_ns);
    set_quantile(&comparison->metrics[IW_COMPARE_MEDIAN], sides, 0.5, spread.median, spread.binned_median);
    set_quantile(&comparison->metrics[IW_COMPARE_P99], sides, 0.99, spread.p99, spread.binned_p99);
    comparison->ks = judge_distance(ks, spread.ks, n);
    comparison->wasserstein_ns = judge_distance(wasserstein_ns, spread.wasserstein_ns, n);
    return IW_OK;
}

iw_status iwi_compare_durations(const iw_log *log, const struct iwi_compared_side *a,
                                const struct iwi_compared_side *b, iw_noise_comparison *comparison)
{
    const struct iwi_compared_side *const sides[2] = {a, b};
    iw_status status;
    double *room;

    set_quantile(&comparison->metrics[IW_COMPARE_LONGEST], sides, 1.0, NULL, 0.0);
    if (a->sorted_count == 0 || b->sorted_count == 0) {
        set_quantile(&comparison->metrics[IW_COMPARE_MEDIAN], sides, 0.5, NULL, 0.0);
        set_quantile(&comparison->metrics[IW_COMPARE_P99], sides, 0.99, NULL, 0.0);
        comparison->ks = comparison->wasserstein_ns = (iw_compare_distance){NAN, NAN, NAN};
        return IW_OK;
    }
    room = iwi_new_array(log, 4 * a->resampling.replicate_count, sizeof *room);
    if (room == NULL) {
        return IW_ERR_NOMEM;
    }
    status = compare_by_replicates(log, sides, room, comparison);
    free(room);
    return status;
}

/* ---- which sources make the difference ---- */

/* Time by source and block of one side. */
struct source_sums {
    const struct iwi_blocks *blocks;
    double *time_ns;        /* [source][block] */
    const size_t *place_of; /* of the side's source numbers among those of both */
    bool *is_there;         /* by place */
};

static void add_one(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns)
{
    struct source_sums *sums = arg;
    const size_t place = sums->place_of[source];

    sums->time_ns[place * sums->blocks->count + iwi_block_of(sums->blocks, start_ns)] += (double)time_ns;
    sums->is_there[place] = true;
}

/* A source of a side, to be sorted by name. */
struct named {
    const iw_source *source;
    size_t *place;
};

IWI_COMPARE(compare_named, struct named, IWI_RISING(source->kind), IWI_TEXT(source->name))

static void list_named(const iw_recording *recording, size_t *place_of, struct named *list)
{
    for (size_t s = 0; s < recording->source_count; s++) {
        list[s] = (struct named){&recording->sources[s], &place_of[s]};
    }
}

/* Gives sources of the same class and name the same place; returns how many places there are. */
static size_t give_places(struct named *list, size_t count)
{
    size_t places = 0;

    iwi_sort(list, count, compare_named);
    for (size_t i = 0; i < count; i++) {
        places += i == 0 || compare_named(&list[i - 1], &list[i]) != 0;
        *list[i].place = places - 1;
    }
    return places;
}

/* Larger differences first; equal ones by name, so that the order is the same everywhere. */
IWI_COMPARE(compare_rows, iw_compare_source,
            IWI_ORDER(fabs(right->share.difference.value), fabs(left->share.difference.value)),
            IWI_RISING(source.kind), IWI_TEXT(source.name))

/* Rows of the sources that took time, from the sums of both sides. */
static iw_status make_rows(const iw_log *log, const struct iwi_compared_side *const sides[2],
                           const struct source_sums sums[2], const struct named *list, size_t count,
                           iw_noise_comparison *comparison)
{
    for (size_t i = 0; i < count; i++) {
        const size_t place = *list[i].place;
        iw_compare_source *row = &comparison->sources[comparison->source_count];

        if ((i > 0 && *list[i - 1].place == place) ||
            (!sums[0].is_there[place] && !sums[1].is_there[place])) {
            continue;
        }
        row->source = *list[i].source;
        row->is_in_a = sums[0].is_there[place];
        row->is_in_b = sums[1].is_there[place];
        IW_TRY(iwi_compare_ratio(log, sides[0], &sums[0].time_ns[place * sides[0]->blocks.count], sides[1],
                                 &sums[1].time_ns[place * sides[1]->blocks.count], &row->share));
        comparison->source_count++;
    }
    iwi_sort(comparison->sources, comparison->source_count, compare_rows);
    return IW_OK;
}

/* `place_of` and `list` have room for the sources of both. */
static iw_status compare_named_sources(const iw_log *log, const struct iwi_compared_side *const sides[2],
                                       size_t *place_of, struct named *list, iw_noise_comparison *comparison)
{
    const size_t count_a = sides[0]->detours->source_count;
    const size_t count = count_a + sides[1]->detours->source_count;
    struct source_sums sums[2] = {{.place_of = place_of}, {.place_of = &place_of[count_a]}};
    iw_status status = IW_OK;
    size_t places;

    list_named(sides[0]->detours, place_of, list);
    list_named(sides[1]->detours, &place_of[count_a], &list[count_a]);
    places = give_places(list, count);
    for (size_t k = 0; k < 2; k++) {
        sums[k].blocks = &sides[k]->blocks;
        sums[k].time_ns = iwi_new_array(log, places * sides[k]->blocks.count, sizeof *sums[k].time_ns);
        sums[k].is_there = iwi_new_array(log, places, sizeof *sums[k].is_there);
        status = sums[k].time_ns != NULL && sums[k].is_there != NULL ? status : IW_ERR_NOMEM;
        for (size_t c = 0; status == IW_OK && c < sides[k]->detours->cpu_count; c++) {
            iwi_each_occurrence(&sides[k]->detours->cpus[c], add_one, &sums[k]);
        }
    }
    comparison->sources = iwi_new_array(log, places, sizeof *comparison->sources);
    if (status == IW_OK) {
        status =
            comparison->sources != NULL ? make_rows(log, sides, sums, list, count, comparison) : IW_ERR_NOMEM;
    }
    for (size_t k = 0; k < 2; k++) {
        free(sums[k].time_ns);
        free(sums[k].is_there);
    }
    return status;
}

iw_status iwi_compare_sources(const iw_log *log, const struct iwi_compared_side *a,
                              const struct iwi_compared_side *b, iw_noise_comparison *comparison)
{
    const struct iwi_compared_side *const sides[2] = {a, b};
    const size_t count = a->detours->source_count + b->detours->source_count;
    size_t *place_of = iwi_new_array(log, count, sizeof *place_of);
    struct named *list = iwi_new_array(log, count, sizeof *list);
    iw_status status = IW_ERR_NOMEM;

    if (place_of != NULL && list != NULL) {
        status = compare_named_sources(log, sides, place_of, list, comparison);
    }
    free(list);
    free(place_of);
    return status;
}

iw_status iwi_compare_ratio(const iw_log *log, const struct iwi_compared_side *a, const double *numerator_a,
                            const struct iwi_compared_side *b, const double *numerator_b,
                            iw_compare_value *value_p)
{
    const size_t replicates = a->resampling.replicate_count;
    double *differences = iwi_new_array(log, replicates, sizeof *differences);
    struct iwi_interval interval;

    if (differences == NULL) {
        return IW_ERR_NOMEM;
    }
    iwi_add_ratios(&b->resampling, numerator_b, b->watched_ns, 1.0, differences);
    iwi_add_ratios(&a->resampling, numerator_a, a->watched_ns, -1.0, differences);
    interval = iwi_percentile_interval(differences, replicates);
    free(differences);
    value_p->a = iwi_sum(numerator_a, a->blocks.count) / iwi_sum(a->watched_ns, a->blocks.count);
    value_p->b = iwi_sum(numerator_b, b->blocks.count) / iwi_sum(b->watched_ns, b->blocks.count);
    value_p->difference = (iw_estimate){value_p->b - value_p->a, interval.low, interval.high};
    return IW_OK;
}
