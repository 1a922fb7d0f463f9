/* Fits: distributions of durations, each with its laws.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/recordings/fit/fit_report.h"
#include "kit/text/words.h"

enum { CURVE_POINTS = 200, HALVINGS = 40, PANEL_COLUMNS = 28, SPECS = IW_FIT_LAWS };

static bool has_curve(const iw_noise_fit *fit, size_t group, int law, bool is_brief)
{
    const iw_durations *d = &fit->groups[group].durations;

    if (law == SPECS) {
        return group == 0 && iwi_fit_has_mixture(fit);
    }
    return is_brief ? d->is_fitted && d->best == (iw_fit_law)law && law != IW_FIT_FIXED
                    : d->laws[law].is_fitted;
}

static double share_above(const iw_noise_fit *fit, size_t group, int law, double ns)
{
    return law == SPECS ? iw_noise_fit_above(fit, ns)
                        : iw_durations_above(&fit->groups[group].durations, (iw_fit_law)law, ns);
}

/* Where the curve leaves the figure: below `least`, or at `high_ns`. */
static double end_of(const iw_noise_fit *fit, size_t group, int law, double least, double low_ns,
                     double high_ns)
{
    for (int i = 0; i < HALVINGS && share_above(fit, group, law, high_ns) < least; i++) {
        const double middle_ns = sqrt(low_ns * high_ns);

        if (share_above(fit, group, law, middle_ns) < least) {
            high_ns = middle_ns;
        } else {
            low_ns = middle_ns;
        }
    }
    return high_ns;
}

static void add_curve(struct iwi_document *doc, struct iwi_figure *figure, const iw_noise_fit *fit,
                      size_t group, int law, bool is_brief)
{
    const iw_durations *d = &fit->groups[group].durations;
    const char *label = "specs together";
    struct iwi_mark *curve;
    double end_ns;

    if (law < IW_FIT_LAWS) { /* several panels have no room for more than the name */
        label = iw_fit_law_name((iw_fit_law)law);
        label = is_brief || fit->group_count > 1
                    ? label
                    : iwi_say(doc, "%s, %s", label, iwi_fit_parameters(doc, &d->laws[law]));
    }
    curve = iwi_figure_mark(figure, IWI_MARK_LINE, law == SPECS ? IWI_INK_TEXT : iwi_series_ink((size_t)law),
                            label);
    curve->is_thin = law < IW_FIT_LAWS && d->best != (iw_fit_law)law;
    curve->dash = law == SPECS ? IWI_DASHED : IWI_SOLID;
    end_ns = end_of(fit, group, law, figure->y.low, figure->x.low, figure->x.high);
    for (size_t i = 0; i <= CURVE_POINTS; i++) {
        const double ns = figure->x.low * pow(end_ns / figure->x.low, (double)i / CURVE_POINTS);

        iwi_mark_add(figure, curve,
                     (double[]){ns, fmax(share_above(fit, group, law, ns), 0.1 * figure->y.low)});
    }
}

void iwi_fit_figure(struct iwi_document *doc, const iw_noise_fit *fit, size_t group, bool is_brief)
{
    const iw_durations *d = &fit->groups[group].durations;
    char name[IWI_NAME_SIZE];
    const char *title = iwi_plain_name(iwi_fit_group_name(doc, &fit->groups[group]), PANEL_COLUMNS, name);
    struct iwi_figure *figure = NULL;
    struct iwi_mark *recorded;
    iw_status status;

    if (d->point_count < 2) {
        return;
    }
    if (is_brief) {
        title = "Share of detours that last longer";
    } else if (d->is_fitted) {
        title = iwi_say(doc, "%s: %s, KS %.3f", title, iw_fit_law_name(d->best), d->laws[d->best].distance);
    }
    status = iwi_figure_new(doc->log, title, &figure);
    if (status != IW_OK) {
        iwi_show_figure(doc, status, NULL);
        return;
    }
    figure->x = (struct iwi_figure_axis){.label = "Duration",
                                         .unit = IWI_AXIS_NS,
                                         .is_log = true,
                                         .low = fmax(d->cut_ns, d->points[0].ns * (is_brief ? 0.5 : 0.8)),
                                         .high = d->longest_ns * 1.5};
    figure->y = (struct iwi_figure_axis){.label = "Share that lasts longer",
                                         .unit = IWI_AXIS_POWER,
                                         .is_log = true,
                                         .low = pow(10.0, -fmax(ceil(log10((double)d->count)), 1.0)),
                                         .high = 1.0};
    recorded = iwi_figure_mark(figure, IWI_MARK_STEP, IWI_INK_NOISE, "recorded");
    recorded->is_filled = true;
    iwi_mark_add(figure, recorded, (double[]){figure->x.low, d->points[0].above});
    for (size_t i = 0; i < d->point_count; i++) { /* those of this length are among the share of the next */
        iwi_mark_add(figure, recorded,
                     (double[]){d->points[i].ns,
                                i + 1 < d->point_count ? d->points[i + 1].above : 0.1 * figure->y.low});
    }
    for (int law = 0; law <= SPECS; law++) {
        if (has_curve(fit, group, law, is_brief)) {
            add_curve(doc, figure, fit, group, law, is_brief);
        }
    }
    iwi_show_figure(doc, IW_OK, figure);
}
