/* Figures as scripts for gnuplot: axes, and where on the sheet they are.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An axis of ranks has powers of two: gnuplot gets the logarithms, for boxes of equal width.
 */
#include "kit/figure/figure_gnuplot.h"

#include <math.h>

#include "core/base/base.h"
#include "kit/figure/gnuplot.h"

bool iwi_gnuplot_has_powers(const struct iwi_figure_axis *axis)
{
    return axis->is_log && axis->unit == IWI_AXIS_RANKS;
}

void iwi_gnuplot_x(const struct iwi_plot *plot, double value)
{
    iwi_gnuplot_number(plot->script, iwi_gnuplot_has_powers(&plot->figure->x) ? log2(value) : value);
}

/* ---- axes ---- */

/* The text of a tick is a format: a '%' that is one is doubled. */
static void write_tick(FILE *script, const char *text)
{
    char format[2 * IWI_PHRASE_SIZE];
    size_t used = 0;

    for (; *text != '\0' && used + 2 < sizeof format; text++) {
        format[used++] = *text;
        if (*text == '%') {
            format[used++] = '%';
        }
    }
    format[used] = '\0';
    iwi_gnuplot_quote(script, format);
}

static void write_axis(const struct iwi_plot *plot, char name, const struct iwi_scale *scale, size_t wanted,
                       bool has_labels)
{
    const bool has_powers = iwi_gnuplot_has_powers(scale->axis),
               has_names = scale->axis->unit == IWI_AXIS_NAMES;
    const double low = has_powers ? log2(scale->low) : scale->low,
                 high = has_powers ? log2(scale->high) : scale->high;
    const bool is_turned = name == 'y' && iwi_axis_is_down(scale->axis);
    double ticks[IWI_MOST_TICKS];
    const size_t count = iwi_scale_ticks(scale, wanted, ticks);
    char text[IWI_PHRASE_SIZE];
    FILE *script = plot->script;

    (void)fprintf(script, "%sset logscale %c\nset %crange [", scale->axis->is_log && !has_powers ? "" : "un",
                  name, name);
    iwi_gnuplot_number(script, is_turned ? high : low);
    (void)fputc(':', script);
    iwi_gnuplot_number(script, is_turned ? low : high);
    if (scale->axis->unit == IWI_AXIS_NONE) {
        (void)fprintf(script, "]\nunset %ctics\n", name);
        return;
    }
    (void)fprintf(script, "]\nset %ctics (", name);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i > 0 ? ", " : "", script);
        write_tick(script, has_labels && !is_turned ? iwi_axis_text(scale->axis, ticks[i], text) : "");
        iwi_gnuplot_number(script, (has_powers ? log2(ticks[i]) : ticks[i]) + 0.0); /* no -0 */
    }
    (void)fprintf(script, ")%s\n", name == 'x' && has_names && count > 4 ? " rotate by 20 right" : "");
}

static void write_margin(FILE *script, char side, double share)
{
    (void)fprintf(script, "set %cmargin at screen", side);
    iwi_gnuplot_number(script, share);
    (void)fputc('\n', script);
}

/* A text in cm from the upper left corner of the sheet. */
static void write_text(FILE *script, double x_cm, double y_cm, double sheet_cm, const char *where,
                       const char *text)
{
    (void)fputs("set label ", script);
    iwi_gnuplot_quote(script, text);
    (void)fputs(" at screen", script);
    iwi_gnuplot_number(script, x_cm / IWI_SHEET_CM);
    (void)fputs(", screen", script);
    iwi_gnuplot_number(script, 1.0 - y_cm / sheet_cm);
    (void)fprintf(script, " %s\n", where);
}

static void write_key(const struct iwi_plot *plot, const struct iwi_place *place, double sheet_cm)
{
    FILE *script = plot->script;

    if (!iwi_figure_has_legend(plot->figure)) {
        (void)fputs("unset key\n", script);
        return;
    }
    (void)fputs("set key center top horizontal Left reverse samplen 2 at screen", script);
    iwi_gnuplot_number(script, (place->left_cm + place->width_cm / 2.0) / IWI_SHEET_CM);
    (void)fputs(", screen", script);
    iwi_gnuplot_number(script, 1.0 - place->legend_cm / sheet_cm);
    (void)fprintf(script, " maxcols %zu\n", place->legend_columns);
}

static void write_frame(const struct iwi_plot *plot, const struct iwi_place *place, double sheet_cm,
                        bool has_title)
{
    FILE *script = plot->script;

    write_margin(script, 'l', place->left_cm / IWI_SHEET_CM);
    write_margin(script, 'r', (place->left_cm + place->width_cm) / IWI_SHEET_CM);
    write_margin(script, 't', 1.0 - place->top_cm / sheet_cm);
    write_margin(script, 'b', 1.0 - (place->top_cm + place->height_cm) / sheet_cm);
    if (has_title) {
        write_text(script, place->left_cm + place->width_cm / 2.0, place->title_cm - 0.1, sheet_cm, "center",
                   plot->figure->title);
    }
    if (place->has_y_labels) {
        write_text(script, place->left_cm - 1.7, place->top_cm - 0.3, sheet_cm, "left font ','.small",
                   plot->figure->y.label);
    }
    for (size_t i = 0; i < plot->figure->y.name_count; i++) { /* above their rows: beside them is no room */
        (void)fputs("set label ", script);
        iwi_gnuplot_quote(script, plot->figure->y.names[i]);
        (void)fputs(" at graph 0.005, first", script);
        iwi_gnuplot_number(script, (double)i + 0.7);
        (void)fputs(" left\n", script);
    }
    (void)fputs("set xlabel ", script);
    iwi_gnuplot_quote(script, plot->figure->x.label);
    (void)fputs(" offset 0,0.3\n", script);
}

/* ---- sheets ---- */

static void write_notes(const struct iwi_sheet *sheet, double sheet_cm, FILE *script)
{
    for (size_t i = 0; i < sizeof sheet->notes / sizeof sheet->notes[0]; i++) {
        if (sheet->notes[i] != NULL) {
            write_text(script, IWI_SHEET_CM / 2.0, sheet_cm - 0.65 + 0.45 * (double)i, sheet_cm,
                       "center font ','.small textcolor rgb '#555555'", sheet->notes[i]);
        }
    }
}

static void write_figure(const struct iwi_sheet *sheet, const struct iwi_layout *layout, size_t index,
                         const char *file, size_t *block_p, FILE *script)
{
    const struct iwi_place *place = &layout->places[index];
    struct iwi_plot plot = {.script = script, .figure = sheet->figures[index], .file = file};

    iwi_figure_scales(plot.figure, &plot.x, &plot.y);
    (void)fprintf(script,
                  "unset label\nunset arrow\nunset object\n%s border\n"
                  "set grid linetype 1 linewidth 0.5 linecolor rgb '#dddddd'\n",
                  plot.figure->x.unit == IWI_AXIS_NONE ? "unset" : "set");
    write_frame(&plot, place, layout->height_cm, sheet->count > 1);
    write_key(&plot, place, layout->height_cm);
    write_axis(&plot, 'x', &plot.x, (size_t)fmax(place->width_cm / 1.5, 2.0), true);
    write_axis(&plot, 'y', &plot.y, (size_t)fmax(place->height_cm / 0.8, 2.0), place->has_y_labels);
    if (index + 1 == sheet->count) {
        write_notes(sheet, layout->height_cm, script);
    }
    iwi_gnuplot_marks(&plot, block_p);
}

void iwi_sheet_write_script(const struct iwi_sheet *sheet, const struct iwi_layout *layout, const char *file,
                            FILE *script)
{
    size_t block = 0;

    (void)fputs("set multiplot title ", script);
    iwi_gnuplot_quote(script, sheet->title);
    (void)fputc('\n', script);
    for (size_t i = 0; i < sheet->count; i++) {
        write_figure(sheet, layout, i, file, &block, script);
    }
    (void)fputs("unset multiplot\n", script);
    if (file != NULL) {
        (void)fputs("set output\n", script);
    }
}
