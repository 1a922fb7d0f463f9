/* The script of one figure: box plots of each system side by side, and the slowdowns of all below.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Places are in cm from the upper left corner, as on paper; gnuplot gets them as shares of the canvas.
 */
#include "report/study_gnuplot.h"

#include <math.h>

#include "base/base.h"
#include "report/gnuplot.h"
#include "report/noise_parts.h"

enum { MOST_COLOURS = 7, NAME_COLUMNS = 24, NARROW_TICS = 5, WIDE_TICS = 10, WIDEST_TICS = 18 };

static const double LEFT_CM = 2.0, RIGHT_CM = 0.4, BETWEEN_CM = 0.3;

/* Told apart also by those who do not see all colours (Okabe and Ito). */
static const char *const colours[MOST_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                  "#e69f00", "#56b4e9", "#555555"};

static const char *ratio_text(double ratio, char *buf)
{
    snprintf(buf, IWI_NUMBER_SIZE, "%g", ratio);
    return buf;
}

static const char *ns_text(double ns, char *buf)
{
    return iwi_ns_round_text(ns, buf);
}

/* ---- box plots ---- */

static struct iwi_range makespan_range_ns(const struct iwi_panel *panel)
{
    struct iwi_range ns = {INFINITY, 0.0};

    for (size_t s = 0; s < panel->count; s++) {
        for (size_t i = 0; i < panel->series[s]->count; i++) {
            const iw_cell_result *cell = panel->series[s]->cells[i];

            if (cell->noiseless_ns > 0.0) {
                iwi_widen(&ns, cell->noiseless_ns);
            }
            if (cell->makespan_ns.min > 0.0) {
                iwi_widen(&ns, cell->makespan_ns.min);
            }
            iwi_widen(&ns, cell->makespan_ns.max);
        }
    }
    if (!(ns.high > 0.0) || !isfinite(ns.low)) {
        return (struct iwi_range){1.0, 10.0};
    }
    return (struct iwi_range){ns.low / 1.4, ns.high * 1.4};
}

/* What block `index` of the data holds: boxes, whiskers, medians, extremes, and the time without noise. */
static void write_boxes(const struct iwi_figure *figure, size_t index, const char *separator)
{
    FILE *script = figure->script;
    const char *colour = colours[index % MOST_COLOURS];
    const int median = iwi_figure_column(IWI_COLUMN_MEDIAN);
    const char *noiseless = figure->is_flat ? "points pointtype 2 pointsize dot*0.8 linecolor rgb 'black'"
                                            : "lines dashtype 2 linewidth 1.5 linecolor rgb 'black'";

    (void)fprintf(script,
                  "%s'%s.dat' index %zu using 1:%d with points pointtype 6 pointsize dot*0.25 "
                  "linecolor rgb '#999999', \\\n",
                  separator, figure->name, index, iwi_figure_column(IWI_COLUMN_MIN));
    (void)fprintf(script,
                  "     '' index %zu using 1:%d with points pointtype 6 pointsize dot*0.25 "
                  "linecolor rgb '#999999', \\\n",
                  index, iwi_figure_column(IWI_COLUMN_MAX));
    (void)fprintf(script,
                  "     '' index %zu using 1:%d:%d:%d:%d with candlesticks whiskerbars 0.6 "
                  "linecolor rgb '%s' "
                  "fillstyle solid 0.35 border linecolor rgb '%s', \\\n",
                  index, iwi_figure_column(IWI_COLUMN_Q1), iwi_figure_column(IWI_COLUMN_P5),
                  iwi_figure_column(IWI_COLUMN_P95), iwi_figure_column(IWI_COLUMN_Q3), colour, colour);
    (void)fprintf(script,
                  "     '' index %zu using 1:%d:%d:%d:%d with candlesticks linewidth 2 "
                  "linecolor rgb '%s', \\\n",
                  index, median, median, median, median, colour);
    (void)fprintf(script, "     '' index %zu using 1:%d with %s", index,
                  iwi_figure_column(IWI_COLUMN_NOISELESS), noiseless);
}

static void write_title(const struct iwi_figure *figure, size_t plot)
{
    const char *system = figure->is_flat ? "" : figure->panel->series[plot]->cells[0]->system;
    char name[IWI_NAME_SIZE];

    (void)fputs("set title ", figure->script);
    iwi_gnuplot_quote(figure->script, iwi_plain_name(system, NAME_COLUMNS, name));
    (void)fputs(" noenhanced offset 0,-0.5\n", figure->script);
}

/* One system; all of them if there is no axis of ranks. */
static void write_box_plot(const struct iwi_figure *figure, const struct iwi_layout *layout, size_t plot,
                           struct iwi_range ns)
{
    const size_t row = plot / layout->columns, column = plot % layout->columns;
    const double room_cm =
        IWI_FIGURE_WIDTH_CM - LEFT_CM - RIGHT_CM - BETWEEN_CM * (double)(layout->columns - 1);
    const double plot_cm = room_cm / (double)layout->columns;

    iwi_write_margins(figure->script, layout, LEFT_CM + (double)column * (plot_cm + BETWEEN_CM), plot_cm,
                      layout->box_top_cm + (double)row * layout->box_step_cm, layout->box_cm);
    iwi_write_log_tics(figure->script, ns, column == 0 ? ns_text : NULL);
    (void)fprintf(figure->script, "set ylabel '%s' offset 0.5,0\n", column == 0 ? "makespan" : "");
    write_title(figure, plot);
    if (figure->is_flat) {
        for (size_t s = 0; s < figure->panel->count; s++) {
            write_boxes(figure, s, s == 0 ? "plot " : ", \\\n     ");
        }
    } else {
        write_boxes(figure, plot, "plot ");
    }
    (void)fputc('\n', figure->script);
}

static void write_box_plots(const struct iwi_figure *figure, const struct iwi_layout *layout)
{
    const size_t plots = figure->is_flat ? 1 : figure->panel->count;
    const struct iwi_range ns = makespan_range_ns(figure->panel);

    iwi_write_x_axis(figure, layout, layout->columns > 2 ? NARROW_TICS : WIDE_TICS, false);
    (void)fprintf(figure->script, "unset key\nset xlabel '%s' offset 0,0.4\n",
                  figure->is_flat ? "" : "ranks");
    for (size_t plot = 0; plot < plots; plot++) {
        write_box_plot(figure, layout, plot, ns);
    }
}

/* ---- slowdowns ---- */

static struct iwi_range slowdown_range(const struct iwi_panel *panel)
{
    struct iwi_range slowdown = {0.0, 0.0};

    for (size_t s = 0; s < panel->count; s++) {
        for (size_t i = 0; i < panel->series[s]->count; i++) {
            const iw_cell_result *cell = panel->series[s]->cells[i];

            iwi_widen(&slowdown, iwi_median_slowdown(cell));
            iwi_widen(&slowdown, iwi_cell_slowdown(cell, cell->makespan_ns.median_high));
        }
    }
    return slowdown;
}

/* Small slowdowns in percent on a linear axis, large ones as times on a log axis. */
static bool is_small(struct iwi_range slowdown, double threshold)
{
    return slowdown.high < 1.0 && slowdown.high < threshold;
}

/* A few trials have no intervals. */
static bool has_intervals(const iw_series *series)
{
    for (size_t i = 0; i < series->count; i++) {
        if (isfinite(iwi_cell_slowdown(series->cells[i], series->cells[i]->makespan_ns.median_low))) {
            return true;
        }
    }
    return false;
}

/* The interval as a band, or as bars where points do not make a curve; `f` makes the axis' unit of a
 * slowdown. */
static void write_band(const struct iwi_figure *figure, size_t index, const char *f)
{
    const char *style = figure->is_flat ? "yerrorbars linewidth 2 pointtype 7 pointsize dot*0.5"
                                        : "filledcurves fillstyle transparent solid 0.3 noborder";

    if (!has_intervals(figure->panel->series[index])) {
        return;
    }
    (void)fprintf(figure->script, "'%s.dat' index %zu using 1:", figure->name, index);
    if (figure->is_flat) {
        (void)fprintf(figure->script, "(%s$%d):", f, iwi_figure_column(IWI_COLUMN_MEDIAN_SLOWDOWN));
    }
    (void)fprintf(figure->script, "(%s$%d):(%s$%d) with %s linecolor rgb '%s' notitle, \\\n     ", f,
                  iwi_figure_column(IWI_COLUMN_MEDIAN_SLOWDOWN_LOW), f,
                  iwi_figure_column(IWI_COLUMN_MEDIAN_SLOWDOWN_HIGH), style, colours[index % MOST_COLOURS]);
}

static void write_curve(const struct iwi_figure *figure, size_t index, bool is_percent)
{
    const char *const f = is_percent ? "100*" : "1+";
    char name[IWI_NAME_SIZE];

    write_band(figure, index, f);
    (void)fprintf(figure->script,
                  "'%s.dat' index %zu using 1:(%s$%d) with linespoints linewidth 2 pointtype %zu "
                  "pointsize dot*0.5 linecolor rgb '%s' ",
                  figure->name, index, f, iwi_figure_column(IWI_COLUMN_MEDIAN_SLOWDOWN), 5 + 2 * (index % 5),
                  colours[index % MOST_COLOURS]);
    if (figure->is_flat) {
        (void)fputs("notitle", figure->script);
        return;
    }
    (void)fputs("title ", figure->script);
    iwi_gnuplot_quote(figure->script,
                      iwi_plain_name(figure->panel->series[index]->cells[0]->system, NAME_COLUMNS, name));
}

/* The place where noise takes over, with its interval, on the line of the threshold. */
static void write_crossings(const struct iwi_figure *figure)
{
    (void)fputs("$crossings << END\n", figure->script);
    for (size_t s = 0; s < figure->panel->count; s++) {
        const iw_series *series = figure->panel->series[s];
        const double most = (double)series->cells[series->count - 1]->ranks;
        const double low = series->inflection_low > 0.0 ? series->inflection_low : series->inflection;
        const double high = series->inflection_high > 0.0  ? series->inflection_high
                            : series->inflection_low > 0.0 ? most
                                                           : series->inflection;

        if (series->inflection > 0.0) {
            (void)fprintf(figure->script, "%.4f %.4f %.4f\n", log2(series->inflection), log2(low),
                          log2(high));
        }
    }
    (void)fputs("END\n", figure->script);
}

static bool is_crossed(const struct iwi_panel *panel)
{
    for (size_t s = 0; s < panel->count; s++) {
        if (panel->series[s]->inflection > 0.0) {
            return true;
        }
    }
    return false;
}

/* What the signs mean, in small letters at the bottom. */
static void write_notes(const struct iwi_figure *figure, const struct iwi_layout *layout)
{
    static const char style[] = "center font ','.small textcolor rgb '#555555'";

    (void)fprintf(figure->script,
                  "set label 1 'Boxes: quartiles and median; whiskers: 5 %% and 95 %%; dots: least and most; "
                  "%s: without noise.' at screen 0.5,%.4f %s\n",
                  figure->is_flat ? "crosses" : "dashes", 0.75 / layout->height_cm, style);
    (void)fprintf(figure->script,
                  "set label 2 '%s: 95 %% confidence of the median; dotted: %.4g times as long%s.' "
                  "at screen 0.5,%.4f %s\n",
                  figure->is_flat ? "Bars" : "Bands", 1.0 + figure->threshold,
                  figure->is_flat ? "" : ", circles: noise takes over", 0.3 / layout->height_cm, style);
}

static void write_curves(const struct iwi_figure *figure, const struct iwi_layout *layout)
{
    const struct iwi_range slowdown = slowdown_range(figure->panel);
    const bool is_percent = is_small(slowdown, figure->threshold);
    const bool has_crossings = !figure->is_flat && !is_percent && is_crossed(figure->panel);

    if (has_crossings) {
        write_crossings(figure);
    }
    iwi_write_margins(figure->script, layout, LEFT_CM, IWI_FIGURE_WIDTH_CM - LEFT_CM - RIGHT_CM,
                      layout->curve_top_cm, layout->curve_cm);
    iwi_write_x_axis(figure, layout, WIDEST_TICS, true);
    write_notes(figure, layout);
    (void)fprintf(figure->script,
                  "unset title\nset xlabel '%s'\nset key center bottom horizontal at screen 0.5,%.4f "
                  "Left reverse samplen 2 maxcols 4 noenhanced\n",
                  figure->is_flat ? "" : "ranks", 1.0 - (layout->curve_top_cm - 0.15) / layout->height_cm);
    if (is_percent) {
        (void)fprintf(figure->script,
                      "unset logscale y\nset ytics autofreq\nset format y '%%g %%%%'\n"
                      "set yrange [%.6g:%.6g]\nset ylabel 'slowdown (median)' offset 0.5,0\nplot ",
                      fmin(110.0 * slowdown.low, 0.0), fmax(125.0 * slowdown.high, 0.1));
    } else {
        const struct iwi_range ratio = {fmin(1.0 + slowdown.low, 0.9), 1.7 * fmax(1.0 + slowdown.high, 2.0)};

        iwi_write_log_tics(figure->script, ratio, ratio_text);
        (void)fprintf(figure->script,
                      "set ylabel 'median / without noise' offset 0.5,0\n"
                      "plot %.6g with lines dashtype 3 linecolor rgb 'black' notitle, \\\n     ",
                      1.0 + figure->threshold);
    }
    for (size_t s = 0; s < figure->panel->count; s++) {
        (void)fputs(s == 0 ? "" : ", \\\n     ", figure->script);
        write_curve(figure, s, is_percent);
    }
    if (has_crossings) {
        (void)fprintf(figure->script,
                      ", \\\n     $crossings using 1:(%.6g):2:3 with xerrorbars pointtype 6 linewidth 1.5 "
                      "pointsize dot*1.2 linecolor rgb 'black' notitle",
                      1.0 + figure->threshold);
    }
    (void)fputc('\n', figure->script);
}

/* ---- the whole ---- */

void iwi_write_figure_script(const struct iwi_figure *figure)
{
    const struct iwi_layout layout = iwi_figure_layout(figure);
    char title[IWI_PHRASE_SIZE];

    iwi_gnuplot_figure(figure->script, figure->name, IWI_FIGURE_WIDTH_CM, layout.height_cm);
    (void)fputs("set multiplot title ", figure->script);
    iwi_gnuplot_quote(figure->script, iwi_panel_title(figure->panel, title));
    (void)fputs(" noenhanced\n", figure->script);
    write_box_plots(figure, &layout);
    write_curves(figure, &layout);
    (void)fputs("unset multiplot\nset output\n", figure->script);
}
