/* Places and axes of a figure's plots.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Places are in cm from the upper left corner, as on paper; gnuplot gets them as shares of the canvas.
 */
#include "report/study_gnuplot.h"

#include <math.h>

#include "base/base.h"
#include "report/gnuplot.h"
#include "report/noise_parts.h"

enum { MOST_COLUMNS = 4, KEYS_PER_ROW = 4, MOST_LEVEL_NAMES = 4 };

static const double HEAD_CM = 1.7, BOX_CM = 4.4, BOX_GAP_CM = 1.9, FLAT_GAP_CM = 0.7, KEY_CM = 0.55,
                    CURVE_CM = 5.2, FOOT_CM = 2.3, ROTATED_CM = 1.4;

void iwi_widen(struct iwi_range *range, double value)
{
    if (isfinite(value)) {
        range->low = fmin(range->low, value);
        range->high = fmax(range->high, value);
    }
}

/* ---- places ---- */

struct iwi_layout iwi_figure_layout(const struct iwi_figure *figure)
{
    const size_t plots = figure->is_flat ? 1 : figure->panel->count;
    struct iwi_layout layout = {.columns = plots < MOST_COLUMNS ? plots : MOST_COLUMNS};

    /* five are three and two, not four and one */
    layout.rows = (plots + layout.columns - 1) / layout.columns;
    layout.columns = (plots + layout.rows - 1) / layout.rows;
    layout.box_cm = BOX_CM;
    layout.box_top_cm = HEAD_CM;
    layout.box_step_cm = BOX_CM + (figure->is_flat ? FLAT_GAP_CM : BOX_GAP_CM);
    layout.curve_cm = CURVE_CM;
    layout.curve_top_cm = HEAD_CM + (double)layout.rows * layout.box_step_cm;
    if (!figure->is_flat) {
        const size_t key_rows = (plots + KEYS_PER_ROW - 1) / KEYS_PER_ROW;

        layout.curve_top_cm += KEY_CM * (double)key_rows;
    }
    layout.has_slanted_names = figure->is_flat && figure->panel->count > MOST_LEVEL_NAMES;
    layout.height_cm =
        layout.curve_top_cm + CURVE_CM + FOOT_CM + (layout.has_slanted_names ? ROTATED_CM : 0.0);
    return layout;
}

void iwi_write_margins(FILE *script, const struct iwi_layout *layout, double left_cm, double width_cm,
                       double top_cm, double height_cm)
{
    (void)fprintf(script,
                  "set lmargin at screen %.4f\nset rmargin at screen %.4f\n"
                  "set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
                  left_cm / IWI_FIGURE_WIDTH_CM, (left_cm + width_cm) / IWI_FIGURE_WIDTH_CM,
                  1.0 - top_cm / layout->height_cm, 1.0 - (top_cm + height_cm) / layout->height_cm);
}

/* ---- axes ---- */

static void write_names(const struct iwi_figure *figure, bool has_labels, bool is_slanted)
{
    enum { NAME_COLUMNS = 24 };
    char name[IWI_NAME_SIZE];

    for (size_t s = 0; s < figure->panel->count; s++) {
        const char *system = has_labels ? figure->panel->series[s]->cells[0]->system : "";

        (void)fputs(s > 0 ? ", " : "", figure->script);
        iwi_gnuplot_quote(figure->script, iwi_plain_name(system, NAME_COLUMNS, name));
        (void)fprintf(figure->script, " %zu", s + 1);
    }
    (void)fprintf(figure->script, ") noenhanced%s\n", is_slanted ? " rotate by 20 right" : "");
}

static void write_powers(FILE *script, struct iwi_range x, size_t most_tics)
{
    const int step = (int)ceil((x.high - x.low + 1.0) / (double)most_tics);
    const char *separator = "";

    for (int exponent = (int)ceil(x.low); exponent <= (int)floor(x.high); exponent++) {
        if (exponent % step == 0) {
            (void)fprintf(script, "%s'2^{%d}' %d", separator, exponent, exponent);
            separator = ", ";
        }
    }
    (void)fputs(") enhanced\n", script);
}

void iwi_write_x_axis(const struct iwi_figure *figure, const struct iwi_layout *layout, size_t most_tics,
                      bool has_names)
{
    const double margin = 0.7;
    struct iwi_range x = {INFINITY, -INFINITY};

    for (size_t s = 0; s < figure->panel->count; s++) {
        for (size_t i = 0; i < figure->panel->series[s]->count; i++) {
            iwi_widen(&x, iwi_figure_x(figure, figure->panel->series[s]->cells[i], s));
        }
    }
    x.low -= margin;
    x.high += margin;
    (void)fprintf(figure->script, "set xrange [%.4f:%.4f]\nset xtics (", x.low, x.high);
    if (figure->is_flat) {
        write_names(figure, has_names, layout->has_slanted_names);
    } else {
        write_powers(figure->script, x, most_tics);
    }
}

/* Tics at 1, 10, ..., and at 2 and 5 too where those are few. */
void iwi_write_log_tics(FILE *script, struct iwi_range range, const char *(*text)(double, char *))
{
    const bool has_few_decades = log10(range.high / range.low) < 2.5;
    const char *separator = "set logscale y\nset ytics (";
    char label[IWI_NUMBER_SIZE] = "";

    for (int decade = (int)floor(log10(range.low)); decade <= (int)floor(log10(range.high)); decade++) {
        for (int mantissa = 1; mantissa < 10; mantissa++) {
            const double value = mantissa * pow(10.0, decade);
            const bool is_major = mantissa == 1 || (has_few_decades && (mantissa == 2 || mantissa == 5));

            if (value < range.low * (1 - 1e-9) || value > range.high) {
                continue;
            }
            (void)fprintf(script, "%s'%s' %.6g%s", separator,
                          is_major && text != NULL ? text(value, label) : "", value, is_major ? "" : " 1");
            separator = ", ";
        }
    }
    (void)fprintf(script, ")\nset yrange [%.6g:%.6g]\n", range.low, range.high);
}
