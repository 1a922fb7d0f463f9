/* The figures of a fleet: how many nodes have how much noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/figure/fleet_figure.h"

#include <math.h>

#include "base/base.h"
#include "report/figure/histogram.h"

enum { MOST_BINS = 40 };

/* Nodes that stand out lie in the colour of noise over all of their bin. */
static void add_bars(struct iwi_figure *figure, const iw_fleet *fleet, const struct iwi_fleet_histogram *h)
{
    struct iwi_mark *all = iwi_figure_mark(figure, IWI_MARK_BAR, iwi_series_ink(0), NULL);
    struct iwi_mark *outliers = iwi_figure_mark(figure, IWI_MARK_BAR, IWI_INK_NOISE, NULL);
    char names[IWI_NAME_SIZE];

    all->is_thin = true;
    for (size_t bin = 0; bin < h->bin_count; bin++) {
        const double from = iwi_fleet_bin_begin(h, bin), to = iwi_fleet_bin_begin(h, bin + 1);

        iwi_histogram_bar(figure, all, from, to, (double)h->count[bin], NULL);
        if (h->outliers[bin] > 0) {
            iwi_histogram_bar(figure, outliers, from, to, (double)h->outliers[bin],
                              iwi_fleet_bin_names(fleet, h, bin, names));
        }
    }
}

static void add_table(struct iwi_figure *figure, const iw_fleet *fleet, iw_fleet_metric metric,
                      const struct iwi_fleet_histogram *h)
{
    static const char *const heads[] = {"From", "To", "Nodes", "of them stand out"};
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE], names[IWI_NAME_SIZE];

    iwi_figure_table(figure, "How many nodes have how much");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        iwi_figure_head(figure, false, "%s", heads[i]);
    }
    iwi_figure_head(figure, true, "Which");
    for (size_t bin = 0; bin < h->bin_count; bin++) {
        iwi_figure_cell(figure, "%s", iwi_fleet_value_text(metric, iwi_fleet_bin_begin(h, bin), low));
        iwi_figure_cell(figure, "%s", iwi_fleet_value_text(metric, iwi_fleet_bin_begin(h, bin + 1), high));
        iwi_figure_cell(figure, "%zu", h->count[bin]);
        iwi_figure_cell(figure, "%zu", h->outliers[bin]);
        iwi_figure_cell(figure, "%s", iwi_fleet_bin_names(fleet, h, bin, names));
    }
}

static void write_message(const iw_fleet *fleet, iw_fleet_metric metric, char *message)
{
    const iw_spread *s = &fleet->spread[metric];
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    iwi_append(message, "Half of the nodes have %s to %s", iwi_fleet_value_text(metric, s->q1, low),
               iwi_fleet_value_text(metric, s->q3, high));
    iwi_append(message, ", one in twenty more than %s; the most is %s.",
               iwi_fleet_value_text(metric, s->p95, low), iwi_fleet_value_text(metric, s->max, high));
    iwi_append(message, "%s", fleet->outlier_count > 0 ? " Marked: nodes that stand out." : "");
}

iw_status iwi_fleet_figure(const iw_log *log, const iw_fleet *fleet, iw_fleet_metric metric,
                           const char *title, struct iwi_figure **figure_p)
{
    const struct iwi_fleet_histogram h = iwi_fleet_histogram(fleet, metric, MOST_BINS);
    const bool is_share = metric == IW_FLEET_SHARE;
    char message[IWI_PARAGRAPH_SIZE] = "";
    struct iwi_figure *figure;

    *figure_p = NULL;
    if (h.bin_count == 0) {
        return IW_OK;
    }
    IW_TRY(iwi_figure_new(log, title, &figure));
    iwi_histogram_axes(figure, is_share ? "Time lost" : "Longest detour", "Nodes");
    figure->x.unit = is_share ? IWI_AXIS_SHARE : IWI_AXIS_NS;
    add_bars(figure, fleet, &h);
    add_table(figure, fleet, metric, &h);
    write_message(fleet, metric, message);
    figure->message = iwi_figure_text(figure, "%s", message);
    *figure_p = figure;
    return IW_OK;
}
