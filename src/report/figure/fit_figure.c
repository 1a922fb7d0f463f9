/* Fits: distributions of durations, each with its laws.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/figure/fit_figure.h"

#include <math.h>

#include "base/base.h"

enum { CURVE_POINTS = 200, MOST_PANELS = 4, TITLE_COLUMNS = 48, PANEL_COLUMNS = 22, SPECS = IW_FIT_LAWS };

/* ---- one group ---- */

static bool has_curve(const iw_noise_fit *fit, size_t group, int law, bool is_brief)
{
    const iw_durations *d = &fit->groups[group].durations;

    if (law == SPECS) {
        return group == 0 && iwi_fit_has_mixture(fit);
    }
    return is_brief ? d->is_fitted && d->best == (iw_fit_law)law && law != IW_FIT_FIXED
                    : d->laws[law].is_fitted;
}

/* What would not be seen ends the curve. */
static void add_curve(struct iwi_figure *figure, const iw_noise_fit *fit, size_t group, int law,
                      bool is_brief)
{
    const iw_durations *d = &fit->groups[group].durations;
    char label[IWI_NAME_SIZE + 32] = "specs together", parameters[IWI_NAME_SIZE];
    struct iwi_mark *curve;

    if (law < IW_FIT_LAWS && (is_brief || fit->group_count > 1)) { /* several panels have no room for more */
        snprintf(label, sizeof label, "%s", iw_fit_law_name((iw_fit_law)law));
    } else if (law < IW_FIT_LAWS) {
        snprintf(label, sizeof label, "%s, %s", iw_fit_law_name((iw_fit_law)law),
                 iwi_fit_parameters((iw_fit_law)law, &d->laws[law], parameters));
    }
    curve = iwi_figure_mark(figure, IWI_MARK_LINE, law == SPECS ? IWI_INK_TEXT : iwi_series_ink((size_t)law),
                            label);
    curve->is_thin = law < IW_FIT_LAWS && d->best != (iw_fit_law)law;
    curve->dash = law == SPECS ? IWI_DASHED : IWI_SOLID;
    for (size_t i = 0; i <= CURVE_POINTS; i++) {
        const double ns = figure->x.low * pow(figure->x.high / figure->x.low, (double)i / CURVE_POINTS);
        const double above =
            law == SPECS ? iw_noise_fit_above(fit, ns) : iw_durations_above(d, (iw_fit_law)law, ns);

        if (above > 0.1 / (double)d->count) {
            iwi_mark_add(figure, curve, (double[]){ns, above});
        }
    }
}

iw_status iwi_fit_figure(const iw_log *log, const iw_recording *recording, const iw_noise_fit *fit,
                         size_t group, bool is_brief, struct iwi_figure **figure_p)
{
    const iw_durations *d = &fit->groups[group].durations;
    char title[IWI_PARAGRAPH_SIZE] = "", name[IWI_NAME_SIZE];
    struct iwi_figure *figure;
    struct iwi_mark *recorded;

    *figure_p = NULL;
    if (d->point_count < 2) {
        return IW_OK;
    }
    iwi_append(title, "%s", iwi_fit_group_name(recording, &fit->groups[group], PANEL_COLUMNS, name));
    if (d->is_fitted) {
        iwi_append(title, ": %s, KS %.3f", iw_fit_law_name(d->best), d->laws[d->best].distance);
    }
    IW_TRY(iwi_figure_new(log, title, &figure));
    figure->x = (struct iwi_figure_axis){.label = "Duration",
                                         .unit = IWI_AXIS_NS,
                                         .is_log = true,
                                         .low = fmax(d->cut_ns, d->point_ns[0] * (is_brief ? 0.5 : 0.8)),
                                         .high = d->longest_ns * 1.5};
    figure->y = (struct iwi_figure_axis){.label = "Share that lasts longer",
                                         .unit = IWI_AXIS_POWER,
                                         .is_log = true,
                                         .low = pow(10.0, -fmax(ceil(log10((double)d->count)), 1.0)),
                                         .high = 1.0};
    recorded = iwi_figure_mark(figure, IWI_MARK_STEP, IWI_INK_NOISE, "recorded");
    recorded->is_filled = true;
    iwi_mark_add(figure, recorded, (double[]){figure->x.low, d->point_above[0]});
    for (size_t i = 0; i < d->point_count; i++) { /* those of this length are among the share of the next */
        iwi_mark_add(
            figure, recorded,
            (double[]){d->point_ns[i], i + 1 < d->point_count ? d->point_above[i + 1] : 0.1 * figure->y.low});
    }
    for (int law = 0; law <= SPECS; law++) {
        if (has_curve(fit, group, law, is_brief)) {
            add_curve(figure, fit, group, law, is_brief);
        }
    }
    *figure_p = figure;
    return IW_OK;
}

/* ---- all of it, and the largest sources that have several lengths ---- */

static iw_status draw(const iw_log *log, const iw_recording *recording, const iw_noise_fit *fit,
                      struct iwi_sheet *sheet, const char *path)
{
    for (size_t i = 0; i < fit->group_count && sheet->count < MOST_PANELS; i++) {
        struct iwi_figure *figure;

        IW_TRY(iwi_fit_figure(log, recording, fit, i, false, &figure));
        if (figure != NULL) {
            sheet->figures[sheet->count++] = figure;
        }
    }
    if (sheet->count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "there is nothing to draw: no detours");
    }
    return iwi_sheet_plot(log, sheet, path);
}

iw_status iw_fit_plot(const iw_log *log, const iw_recording *recording, const iw_noise_fit *fit,
                      const char *name, const char *path)
{
    struct iwi_figure *figures[MOST_PANELS] = {NULL};
    char title[IWI_PARAGRAPH_SIZE] = "", host[IWI_NAME_SIZE];
    struct iwi_sheet sheet = {.name = "fit", .title = title, .most_columns = 2, .figures = figures};
    iw_status status;

    IW_TRY(iwi_sheet_check(log, path));
    iwi_append(title, "%s: durations of detours and fitted laws",
               iwi_plain_name(iwi_host_name(recording, name), TITLE_COLUMNS, host));
    status = draw(log, recording, fit, &sheet, path);
    for (size_t i = 0; i < sheet.count; i++) {
        iwi_figure_free(figures[i]);
    }
    return status;
}
