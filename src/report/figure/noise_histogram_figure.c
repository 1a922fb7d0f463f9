/* How many detours of a recording took how long.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "base/base.h"
#include "report/figure/histogram.h"
#include "report/figure/noise_figure.h"
#include "report/kinds/study_report.h"

enum { BINS_PER_DECADE = 6, DECADES = 19, BINS = DECADES * BINS_PER_DECADE };

struct histogram {
    double watched_ns, all_ns;
    uint64_t count[BINS];
    double time_ns[BINS];
    size_t first, last; /* bins that are not empty lie between */
};

/* 1, 1.5, 2, 3, 5, 7, 10, 15, ... ns */
static double begin_ns(size_t bin)
{
    static const double factors[BINS_PER_DECADE] = {1.0, 1.5, 2.0, 3.0, 5.0, 7.0};
    const size_t decade = bin / BINS_PER_DECADE;

    return pow(10.0, (double)decade) * factors[bin % BINS_PER_DECADE];
}

static size_t bin_of(double ns)
{
    size_t bin = (size_t)fmin(floor(log10(ns)), DECADES - 1) * BINS_PER_DECADE;

    while (bin + 1 < BINS && ns >= begin_ns(bin + 1)) {
        bin++;
    }
    return bin;
}

static void fill(struct histogram *h, const iw_recording *detours)
{
    for (size_t c = 0; c < detours->cpu_count; c++) {
        for (size_t i = 0; i < detours->cpus[c].count; i++) {
            const double ns = (double)detours->cpus[c].duration_ns[i];

            if (ns >= 1.0) {
                const size_t bin = bin_of(ns);

                h->count[bin]++;
                h->time_ns[bin] += ns;
                h->all_ns += ns;
            }
        }
    }
    h->last = BINS - 1;
    while (h->first < h->last && h->count[h->first] == 0) {
        h->first++;
    }
    while (h->last > h->first && h->count[h->last] == 0) {
        h->last--;
    }
}

static void add_table(struct iwi_figure *figure, const struct histogram *h)
{
    static const char *const heads[] = {"From", "To", "Count", "Rate on a CPU", "Share of the noise"};
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    iwi_figure_table(figure, "How many took how long");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        iwi_figure_head(figure, false, "%s", heads[i]);
    }
    for (size_t bin = h->first; bin <= h->last; bin++) {
        iwi_figure_cell(figure, "%s", iwi_ns_round_text(begin_ns(bin), low));
        iwi_figure_cell(figure, "%s", iwi_ns_round_text(begin_ns(bin + 1), high));
        iwi_figure_cell(figure, "%s", iwi_ranks_text(h->count[bin], low));
        iwi_figure_cell(figure, "%s", iwi_rate_text((double)h->count[bin] * 1e9 / h->watched_ns, low));
        iwi_figure_cell(figure, "%s", iwi_share_text(h->time_ns[bin] / h->all_ns, low));
    }
}

/* Which lengths are the most frequent, and which take the most time. */
static void write_message(const struct histogram *h, char *message)
{
    size_t often = h->first, costly = often;
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE], share[IWI_NUMBER_SIZE];

    for (size_t bin = h->first; bin <= h->last; bin++) {
        often = h->count[bin] > h->count[often] ? bin : often;
        costly = h->time_ns[bin] > h->time_ns[costly] ? bin : costly;
    }
    iwi_append(message, "Most take %s to %s;", iwi_ns_round_text(begin_ns(often), low),
               iwi_ns_round_text(begin_ns(often + 1), high));
    iwi_append(message, " those of %s to %s cost the most, %s of all noise. Both axes are logarithmic.",
               iwi_ns_round_text(begin_ns(costly), low), iwi_ns_round_text(begin_ns(costly + 1), high),
               iwi_share_text(h->time_ns[costly] / h->all_ns, share));
}

iw_status iwi_noise_histogram_figure(const iw_log *log, const iw_recording *detours, double watched_ns,
                                     struct iwi_figure **figure_p)
{
    const bool is_quanta = detours->probe != IW_PROBE_SELFISH;
    struct histogram h = {.watched_ns = fmax(watched_ns, 1.0)};
    char message[IWI_PARAGRAPH_SIZE] = "";
    struct iwi_figure *figure;
    struct iwi_mark *bars;

    fill(&h, detours);
    IW_TRY(iwi_figure_new(log, is_quanta ? "How much quanta lose" : "How long detours take", &figure));
    iwi_histogram_axes(figure, "Length", "Count");
    figure->x.low = begin_ns(h.first);
    figure->x.high = begin_ns(h.last + 1);
    bars = iwi_figure_mark(figure, IWI_MARK_BAR, IWI_INK_NOISE, NULL);
    for (size_t bin = h.first; bin <= h.last; bin++) {
        iwi_histogram_bar(figure, bars, begin_ns(bin), begin_ns(bin + 1), (double)h.count[bin], NULL);
    }
    add_table(figure, &h);
    write_message(&h, message);
    figure->message = iwi_figure_text(figure, "%s", message);
    *figure_p = figure;
    return IW_OK;
}
