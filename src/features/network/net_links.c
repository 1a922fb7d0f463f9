/* Medians, slow links and the split of time between ranks: what measuring itself needs, so MPI programs load
 * it too.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/network/net_fit.h"

static double median_of(const iw_net_link *links, size_t count, bool is_inside, bool is_small,
                        double *scratch)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        if (links[i].is_inside == is_inside) {
            scratch[found++] = is_small ? links[i].small_ns : links[i].large_ns;
        }
    }
    iwi_sort_doubles(scratch, found);
    return found == 0 ? 0 : scratch[(found - 1) / 2];
}

void iwi_net_link_medians(const iw_net_link *links, size_t count, bool is_inside, double *scratch,
                          double *small_ns, double *large_ns)
{
    *small_ns = median_of(links, count, is_inside, true, scratch);
    *large_ns = median_of(links, count, is_inside, false, scratch);
}

bool iwi_net_is_slow(double ns, double value_ns)
{
    return value_ns > 0 && ns > IWI_NET_SLOW * value_ns;
}

/* Medians of rounds, with intervals. */

iw_estimate iwi_net_median(const double *values, size_t count)
{
    double sorted[IWI_MOST_NET_ROUNDS];
    const double reach = 0.98 * sqrt((double)count); /* 1.96 / 2: half the values lie below, give or take */
    const double low = floor((double)count / 2 - reach), high = ceil((double)count / 2 + reach);
    const size_t low_index = low < 1 ? 0 : (size_t)low - 1;
    const size_t high_index = high > (double)count - 1 ? count - 1 : (size_t)high;

    memcpy(sorted, values, count * sizeof *sorted);
    iwi_sort_doubles(sorted, count);
    return (iw_estimate){.value = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]),
                         .low = sorted[low_index],
                         .high = sorted[high_index]};
}

bool iwi_net_is_narrow(const iw_estimate *value, double share)
{
    return fmax(value->high - value->value, value->value - value->low) <= share * fabs(value->value);
}

/* What was measured, as it is found and freed. */

void iwi_net_samples_drop(iw_net_samples *samples)
{
    if (samples == NULL) {
        return;
    }
    for (size_t i = 0; i < samples->level_count; i++) {
        for (size_t k = 0; k < samples->levels[i].series_count; k++) {
            free(samples->levels[i].series[k].values_ns);
        }
        free(samples->levels[i].series);
    }
    free(samples->levels);
    free(samples->links);
    free(samples->host_names);
    free(samples);
}

const iw_net_series *iwi_net_find(const iw_net_level_samples *level, iw_net_quantity quantity, uint64_t bytes)
{
    for (size_t i = 0; i < level->series_count; i++) {
        const iw_net_series *series = &level->series[i];

        if (series->quantity == quantity && series->bytes == bytes && series->count > 0) {
            return series;
        }
    }
    return NULL;
}

/* Splits measured times over sizes into pieces of straight lines: one for each protocol. */

/* An interval may excuse a point this far and no further: else noise would hide a change of protocol. */
#define MOST_SLACK 0.05

struct iwi_net_line iwi_net_fit_line(const uint64_t *bytes, const double *values, const double *scale,
                                     size_t first, size_t count)
{
    double weights = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    struct iwi_net_line line = {.first = first, .count = count};

    for (size_t i = first; i < first + count; i++) {
        const double weight = 1.0 / (scale[i] * scale[i]);

        weights += weight;
        mean_x += weight * (double)(bytes[i] - bytes[first]);
        mean_y += weight * values[i];
    }
    mean_x /= weights;
    mean_y /= weights;
    for (size_t i = first; i < first + count; i++) {
        const double weight = 1.0 / (scale[i] * scale[i]);
        const double x = (double)(bytes[i] - bytes[first]) - mean_x;

        xx += weight * x * x;
        xy += weight * x * (values[i] - mean_y);
    }
    line.slope = xx > 0 && xy > 0 ? xy / xx : 0;
    line.value = mean_y - line.slope * mean_x;
    return line;
}

/* What is known of the points. */
struct points {
    const uint64_t *bytes;
    double values[IWI_MOST_NET_POINTS], slack[IWI_MOST_NET_POINTS];
    size_t count;
};

/* Points this near to each other, as both sides of an eager limit are, say nothing about a slope. */
static bool is_near(const struct points *p, size_t first, size_t last)
{
    return (double)p->bytes[last] <= IWI_NET_NEAR * (double)p->bytes[first];
}

/* A line of one point leads to the next one, or comes from the one before. */
static struct iwi_net_line single(const struct points *p, size_t first)
{
    const size_t a = first + 1 < p->count || first == 0 ? first : first - 1, b = a + 1;
    struct iwi_net_line line = {.first = first, .count = 1, .value = p->values[first]};

    if (b < p->count && p->values[b] > p->values[a] && !is_near(p, a, b)) {
        line.slope = (p->values[b] - p->values[a]) / (double)(p->bytes[b] - p->bytes[a]);
    }
    return line;
}

/* Sum of squared relative errors; infinite if a point is too far off, or if all are near to each other. */
static double misfit(const struct points *p, const struct iwi_net_line *line, double tolerance)
{
    double sum = 0;

    if (line->count > 1 && line->slope > 0 && is_near(p, line->first, line->first + line->count - 1)) {
        return INFINITY;
    }
    for (size_t i = line->first; i < line->first + line->count; i++) {
        const double fitted = line->value + line->slope * (double)(p->bytes[i] - p->bytes[line->first]);
        const double error = fabs(fitted / p->values[i] - 1);

        if (!(error <= tolerance + p->slack[i])) {
            return INFINITY;
        }
        sum += error * error;
    }
    return sum;
}

/* The best way to cover the first so many points. */
struct cover {
    size_t line_count;
    double misfit;
    struct iwi_net_line last;
};

static size_t split_within(const struct points *p, double tolerance, size_t most, struct iwi_net_line *lines)
{
    struct cover best[IWI_MOST_NET_POINTS + 1] = {{.line_count = 0}};
    size_t at = p->count;

    for (size_t end = 1; end <= p->count; end++) {
        best[end] = (struct cover){.line_count = SIZE_MAX, .misfit = INFINITY};
        for (size_t first = 0; first < end; first++) {
            const struct iwi_net_line line =
                end - first == 1 ? single(p, first)
                                 : iwi_net_fit_line(p->bytes, p->values, p->values, first, end - first);
            const double sum = best[first].misfit + misfit(p, &line, tolerance);
            const size_t line_count = best[first].line_count + 1;

            if (isfinite(sum) && (line_count < best[end].line_count ||
                                  (line_count == best[end].line_count && sum < best[end].misfit))) {
                best[end] = (struct cover){line_count, sum, line};
            }
        }
    }
    if (best[p->count].line_count > most) {
        return 0;
    }
    for (size_t i = best[p->count].line_count; i-- > 0;) {
        lines[i] = best[at].last;
        at = lines[i].first;
    }
    return best[p->count].line_count;
}

size_t iwi_net_split(const uint64_t *bytes, const iw_estimate *values, size_t count, double tolerance,
                     size_t most, struct iwi_net_line *lines)
{
    struct points points = {.bytes = bytes, .count = count};
    size_t line_count = 0;

    for (size_t i = 0; i < count; i++) {
        const double reach = fmax(values[i].high - values[i].value, values[i].value - values[i].low);

        points.values[i] = values[i].value;
        points.slack[i] = fmin(reach / values[i].value, MOST_SLACK);
    }
    while (line_count == 0) {
        line_count = split_within(&points, tolerance, most, lines);
        tolerance *= 1.5;
    }
    return line_count;
}

size_t iwi_net_refine(const uint64_t *bytes, const iw_estimate *values, size_t count, size_t most,
                      uint64_t *sizes)
{
    struct iwi_net_line lines[IWI_MOST_NET_POINTS];
    const size_t line_count =
        iwi_net_split(bytes, values, count, IWI_NET_TOLERANCE, IWI_MOST_NET_POINTS, lines);
    size_t found = 0;

    for (size_t i = 1; i < line_count && found < most; i++) {
        const uint64_t before = bytes[lines[i].first - 1], after = bytes[lines[i].first];
        const uint64_t middle = (uint64_t)llround(sqrt((double)before * (double)after));
        const bool is_wide = after <= IWI_NET_EXACT_BYTES || (double)after > IWI_NET_NEAR * (double)before;

        if (is_wide && middle > before && middle < after) {
            sizes[found++] = middle;
        }
    }
    return found;
}
