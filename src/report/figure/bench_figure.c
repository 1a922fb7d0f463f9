/* The figures of benchmarks: how long phases take.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/figure/bench_figure.h"

#include <math.h>

#include "report/figure/histogram.h"

static void add_table(struct iwi_figure *figure, const json_t *times)
{
    const json_t *quantiles = json_object_get(json_object_get(times, "qtbt_ns"), "quantiles");
    char number[IWI_NUMBER_SIZE];

    iwi_figure_table(figure, "How long phases take");
    iwi_figure_head(figure, true, "Share of the phases");
    iwi_figure_head(figure, false, "Take no longer than");
    for (size_t i = 0; i < IW_BENCH_QUANTILES; i++) {
        iwi_figure_cell(figure, "%g %%", 100.0 * iw_bench_quantile(i));
        iwi_figure_cell(figure, "%s",
                        iwi_ns_time_text(iwi_result_number(quantiles, iwi_bench_quantile_key(i)), number));
    }
}

/* Where bins are that are not empty. */
struct range {
    double low, high;
};

static bool is_used(const json_t *bin)
{
    return json_number_value(json_array_get(bin, 2)) > 0.0;
}

static void widen(struct range *range, const json_t *histogram)
{
    for (size_t i = 0; i < json_array_size(histogram); i++) {
        const json_t *bin = json_array_get(histogram, i);

        if (is_used(bin)) {
            range->low = fmin(range->low, json_number_value(json_array_get(bin, 0)));
            range->high = fmax(range->high, json_number_value(json_array_get(bin, 1)));
        }
    }
}

/* One for both pictures: they are there to be compared. */
static struct range range_of(const json_t *bench)
{
    struct range range = {INFINITY, 0.0};

    widen(&range, json_object_get(json_object_get(bench, "quiet"), "histogram"));
    widen(&range, json_object_get(json_object_get(bench, "noisy"), "histogram"));
    return range;
}

static void add_bars(struct iwi_figure *figure, const json_t *histogram, enum iwi_ink ink)
{
    struct iwi_mark *bars = iwi_figure_mark(figure, IWI_MARK_BAR, ink, NULL);

    bars->is_thin = true;
    for (size_t i = 0; i < json_array_size(histogram); i++) {
        const json_t *bin = json_array_get(histogram, i);

        iwi_histogram_bar(figure, bars, json_number_value(json_array_get(bin, 0)),
                          json_number_value(json_array_get(bin, 1)),
                          json_number_value(json_array_get(bin, 2)), NULL);
    }
}

iw_status iwi_bench_figure(const iw_log *log, const json_t *bench, bool is_noisy,
                           struct iwi_figure **figure_p)
{
    const json_t *times = json_object_get(bench, is_noisy ? "noisy" : "quiet"),
                 *histogram = json_object_get(times, "histogram");
    const json_t *quantiles = json_object_get(json_object_get(times, "qtbt_ns"), "quantiles");
    const struct range range = range_of(bench);
    char number[3][IWI_NUMBER_SIZE];
    struct iwi_figure *figure;

    *figure_p = NULL;
    if (json_array_size(histogram) == 0) {
        return IW_OK;
    }
    IW_TRY(iwi_figure_new(log,
                          is_noisy                                          ? "Phases with injected noise"
                          : json_is_object(json_object_get(bench, "noisy")) ? "Phases without injected noise"
                                                                            : "Phases",
                          &figure));
    iwi_histogram_axes(figure, "Length", "Count");
    figure->x.low = range.low;
    figure->x.high = range.high;
    add_bars(figure, histogram, is_noisy ? IWI_INK_NOISE : iwi_series_ink(0));
    add_table(figure, times);
    figure->message = iwi_figure_text(
        figure,
        "Half of the phases take at most %s, 99 %% at most %s, the longest %s. Both axes are logarithmic.",
        iwi_ns_time_text(iwi_result_number(quantiles, "p50"), number[0]),
        iwi_ns_time_text(iwi_result_number(quantiles, "p99"), number[1]),
        iwi_ns_time_text(iwi_result_number(quantiles, "p100"), number[2]));
    *figure_p = figure;
    return IW_OK;
}
