/* The figures of benchmarks: how long phases take.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/bench/bench_figure.h"

#include <math.h>

#include "kit/figure/histogram.h"
#include "kit/text/words.h"

enum { MEDIAN = 3, P99 = 6, LONGEST = IW_BENCH_QUANTILES - 1 };

static void add_table(struct iwi_figure *figure, const double quantile_ns[IW_BENCH_QUANTILES])
{
    char number[IWI_NUMBER_SIZE];

    iwi_figure_table(figure, "How long phases take");
    iwi_figure_head(figure, true, "Share of the phases");
    iwi_figure_head(figure, false, "Take no longer than");
    for (size_t i = 0; i < IW_BENCH_QUANTILES; i++) {
        iwi_figure_cell(figure, "%g %%", 100.0 * iw_bench_quantile(i));
        iwi_figure_cell(figure, "%s", iwi_ns_time_text(quantile_ns[i], number));
    }
}

/* From the first to the last bin that is not empty, of both kinds: their pictures are there to be compared.
 */
static void set_range(struct iwi_figure *figure, const iw_bench_result *result)
{
    const iw_bench_times *quiet = &result->times[IW_BENCH_QUIET], *noisy = &result->times[IW_BENCH_NOISY];

    figure->x.low = INFINITY;
    for (size_t i = 0; i < IW_BENCH_BINS; i++) {
        if (quiet->bins[i] > 0 || noisy->bins[i] > 0) {
            figure->x.low = fmin(figure->x.low, result->bin_begin_ns[i]);
            figure->x.high = result->bin_begin_ns[i + 1];
        }
    }
}

iw_status iwi_bench_figure(const iw_log *log, const iw_bench_result *result, int kind,
                           struct iwi_figure **figure_p)
{
    static const char *const titles[] = {
        [IW_BENCH_QUIET] = "Phases without injected noise", [IW_BENCH_NOISY] = "Phases with injected noise"};
    const iw_bench_times *times = &result->times[kind];
    const double *quantile_ns = times->qtbt.quantile_ns;
    char number[3][IWI_NUMBER_SIZE];
    struct iwi_figure *figure;
    struct iwi_mark *bars;

    IW_TRY(iwi_figure_new(log, result->times[IW_BENCH_NOISY].count > 0 ? titles[kind] : "Phases", &figure));
    iwi_histogram_axes(figure, "Length", "Count");
    set_range(figure, result);
    bars = iwi_figure_mark(figure, IWI_MARK_BAR, kind == IW_BENCH_NOISY ? IWI_INK_NOISE : iwi_series_ink(0),
                           NULL);
    bars->is_thin = true;
    for (size_t i = 0; i < IW_BENCH_BINS; i++) {
        iwi_histogram_bar(figure, bars, result->bin_begin_ns[i], result->bin_begin_ns[i + 1],
                          (double)times->bins[i], NULL);
    }
    add_table(figure, quantile_ns);
    figure->message = iwi_figure_text(
        figure,
        "Half of the phases take at most %s, 99 %% at most %s, the longest %s. Both axes are logarithmic.",
        iwi_ns_time_text(quantile_ns[MEDIAN], number[0]), iwi_ns_time_text(quantile_ns[P99], number[1]),
        iwi_ns_time_text(quantile_ns[LONGEST], number[2]));
    *figure_p = figure;
    return IW_OK;
}
