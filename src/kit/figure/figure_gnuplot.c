/* Figures as scripts for gnuplot: axes, and where on the sheet they are.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An axis of ranks has powers of two: gnuplot gets the logarithms, for boxes of equal width.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/figure/figure_sheet.h"
#include "kit/figure/gnuplot.h"

struct iwi_plot {
    FILE *script;
    const struct iwi_figure *figure;
    struct iwi_scale x, y;
    const char *file; /* whose ".dat" has the data, or NULL: blocks within the script have it */
};

/* Frames of figures for gnuplot: rectangles and labels, part of the script. */

static bool gnuplot_has_powers(const struct iwi_figure_axis *axis);
static void gnuplot_x(const struct iwi_plot *plot, double value);

static void write_pair(const struct iwi_plot *plot, const char *before, double x, double y)
{
    (void)fprintf(plot->script, "%s first", before);
    iwi_gnuplot_number(plot->script, x);
    (void)fputs(", first", plot->script);
    iwi_gnuplot_number(plot->script, y);
}

/* A little of the colour on white, which all terminals can draw. */
static uint32_t pale(uint32_t rgb)
{
    uint32_t paler = 0;

    for (unsigned shift = 0; shift < 24; shift += 8) {
        const uint32_t part = rgb >> shift & 0xff;

        paler |= (255 - (255 - part) * 12 / 100) << shift;
    }
    return paler;
}

static void write_rectangle(const struct iwi_plot *plot, const struct iwi_mark *mark, const double *n)
{
    const double above = 0.12, below = 0.2; /* of a line */
    const uint32_t rgb = iwi_ink_rgb(mark->ink);

    write_pair(plot, "set object rectangle from", n[0], n[2] + above);
    write_pair(plot, " to", n[1], n[3] - below);
    (void)fprintf(plot->script,
                  " back fillcolor rgb '#%06" PRIx32 "' fillstyle solid 1 border linecolor rgb '#%06" PRIx32
                  "' dashtype %d\n",
                  pale(rgb), rgb, mark->dash == IWI_SOLID ? 1 : 2);
}

static void figure_gnuplot_frames_write_text(const struct iwi_plot *plot, const double *n, const char *text)
{
    for (double y = n[2] + 0.6; *text != '\0'; y += 1.0) {
        const size_t length = strcspn(text, "\n");
        char line[IWI_PARAGRAPH_SIZE];

        snprintf(line, sizeof line, "%.*s", (int)length, text);
        (void)fputs("set label ", plot->script);
        iwi_gnuplot_quote(plot->script, line);
        write_pair(plot, " at", n[0] + 1.0, y);
        (void)fprintf(plot->script, " left%s\n", y < n[2] + 1.0 ? "" : " font ','.small");
        text += length + (text[length] == '\n');
    }
}

/* Rectangles with texts. */
static void gnuplot_frames(const struct iwi_plot *plot, const struct iwi_mark *mark)
{
    for (size_t i = 0; i < mark->count; i++) {
        write_rectangle(plot, mark, iwi_mark_item(mark, i));
        if (iwi_mark_text(mark, i) != NULL) {
            figure_gnuplot_frames_write_text(plot, iwi_mark_item(mark, i), iwi_mark_text(mark, i));
        }
    }
}

/* The marks of figures for gnuplot, and their numbers as its data. */

enum { STYLE_SIZE = 256 };

/* ---- data ---- */

/* Whether the numbers of the mark are data; a rule is part of the script. */
static bool mark_has_data(const struct iwi_mark *mark)
{
    return mark->count > 0 && mark->kind != IWI_MARK_RULE_X && mark->kind != IWI_MARK_RULE_Y &&
           mark->kind != IWI_MARK_CELLS && mark->kind != IWI_MARK_FRAME;
}

static void write_heads(const struct iwi_figure *figure, const struct iwi_mark *mark, FILE *out)
{
    static const char *const heads[IWI_MARK_KINDS] = {
        [IWI_MARK_LINE] = "x y",
        [IWI_MARK_STEP] = "x y",
        [IWI_MARK_DOTS] = "x y",
        [IWI_MARK_BAND] = "x low high",
        [IWI_MARK_RANGE] = "x low high",
        [IWI_MARK_BOX] = "x min p5 q1 median q3 p95 max",
        [IWI_MARK_BAR] = "x_from x_to y_from y_to colour",
        [IWI_MARK_PIN] = "x y x_low x_high",
    };
    char text[IWI_PARAGRAPH_SIZE] = "";

    iwi_append(text, "%.200s%s%.100s: %s", figure->title, mark->label != NULL ? ", " : "",
               mark->label != NULL ? mark->label : "", heads[mark->kind]);
    iwi_gnuplot_comment(out, text);
}

static void write_items(const struct iwi_mark *mark, FILE *out)
{
    for (size_t i = 0; i < mark->count; i++) {
        const double *n = iwi_mark_item(mark, i);

        for (size_t k = 0; k < iwi_mark_numbers(mark->kind); k++) {
            iwi_gnuplot_number(out, n[k]);
        }
        if (mark->kind == IWI_MARK_BAR) {
            (void)fprintf(out, " %" PRIu32,
                          iwi_ink_rgb(iwi_mark_is_hot(mark, i) ? IWI_INK_NOISE : mark->ink));
        }
        (void)fputc('\n', out);
    }
}

void iwi_sheet_write_data(const struct iwi_sheet *sheet, bool is_file, FILE *out)
{
    size_t block = 0;

    for (size_t f = 0; f < sheet->count; f++) {
        for (size_t m = 0; m < sheet->figures[f]->mark_count; m++) {
            const struct iwi_mark *mark = sheet->figures[f]->marks[m];

            if (!mark_has_data(mark)) {
                continue;
            }
            if (is_file) {
                (void)fputs(block > 0 ? "\n\n" : "", out);
                write_heads(sheet->figures[f], mark, out);
            } else {
                (void)fprintf(out, "$data%zu << END\n", block);
            }
            write_items(mark, out);
            (void)fputs(is_file ? "" : "END\n", out);
            block++;
        }
    }
}

/* ---- rules and names ---- */

static void write_colour(FILE *script, const char *what, enum iwi_ink ink)
{
    (void)fprintf(script, " %s rgb '#%06" PRIx32 "'", what, iwi_ink_rgb(ink));
}

static void write_label(const struct iwi_plot *plot, double x, double y, const char *where, const char *text)
{
    (void)fputs("set label ", plot->script);
    iwi_gnuplot_quote(plot->script, text);
    (void)fputs(" at first", plot->script);
    gnuplot_x(plot, x);
    (void)fputs(", first", plot->script);
    iwi_gnuplot_number(plot->script, y);
    (void)fprintf(plot->script, " %s font ','.small\n", where);
}

static void write_rules(const struct iwi_plot *plot, const struct iwi_mark *mark)
{
    const bool is_upright = mark->kind == IWI_MARK_RULE_X;
    FILE *script = plot->script;

    for (size_t i = 0; i < mark->count; i++) {
        const double at = iwi_mark_item(mark, i)[0];

        for (int end = 0; end < 2; end++) {
            (void)fputs(end == 0 ? "set arrow from " : " to ", script);
            if (is_upright) {
                (void)fputs("first", script);
                gnuplot_x(plot, at);
                (void)fprintf(script, ", graph %d", end);
            } else {
                (void)fprintf(script, "graph %d, first", end);
                iwi_gnuplot_number(script, at);
            }
        }
        (void)fprintf(script, " nohead linewidth 1.5 dashtype %d",
                      mark->dash == IWI_SOLID ? 1 : (int)mark->dash + 1);
        write_colour(script, "linecolor", mark->ink);
        (void)fputc('\n', script);
        if (iwi_mark_text(mark, i) != NULL) {
            write_label(plot, is_upright ? at : plot->x.low, is_upright ? plot->y.low : at,
                        "left offset 0.6,0.6", iwi_mark_text(mark, i));
        }
    }
}

/* The first ones have names, as far as they do not stand on each other. */
static void write_names(const struct iwi_plot *plot, const struct iwi_mark *mark)
{
    const double room = 0.12; /* of the width */
    double placed[IWI_MOST_TICKS];
    size_t count = 0;

    for (size_t i = 0; i < mark->count && count < IWI_MOST_TICKS; i++) {
        const double *n = iwi_mark_item(mark, i);
        const double x = mark->kind == IWI_MARK_BAR && plot->figure->x.is_log ? sqrt(n[0] * n[1]) : n[0];
        const double place = iwi_scale_at(&plot->x, x);
        bool is_free = iwi_mark_text(mark, i) != NULL && iwi_mark_text(mark, i)[0] != '\0';

        for (size_t k = 0; k < count; k++) {
            is_free = is_free && fabs(placed[k] - place) >= room;
        }
        if (is_free) {
            placed[count++] = place;
            write_label(plot, x, mark->kind == IWI_MARK_BAR ? n[3] : n[1], "center offset 0,1.1",
                        iwi_mark_text(mark, i));
        }
    }
}

/* ---- marks ---- */

/* Begins an element of the command: where the data is. */
static void begin(const struct iwi_plot *plot, size_t block, const char **separator_p)
{
    (void)fputs(*separator_p, plot->script);
    *separator_p = ", \\\n     ";
    if (plot->file != NULL) {
        (void)fprintf(plot->script, "'%s.dat' index %zu", plot->file, block);
    } else {
        (void)fprintf(plot->script, "$data%zu", block);
    }
}

/* The columns of the data that are drawn, "1:2"; of ranks the logarithms. */
static void write_using(const struct iwi_plot *plot, const struct iwi_mark *mark, const char *columns)
{
    const char *roles = iwi_mark_roles(mark->kind);

    (void)fputs(" using ", plot->script);
    for (; *columns != '\0'; columns++) {
        if (*columns >= '1' && *columns <= '9' && roles[*columns - '1'] == 'x' &&
            gnuplot_has_powers(&plot->figure->x)) {
            (void)fprintf(plot->script, "(log($%c)/log(2))", *columns);
        } else {
            (void)fputc(*columns, plot->script);
        }
    }
}

static void end(const struct iwi_plot *plot, const struct iwi_mark *mark, bool is_in_key)
{
    write_colour(plot->script, "linecolor", mark->ink);
    if (is_in_key && mark->label != NULL && iwi_figure_has_legend(plot->figure)) {
        (void)fputs(" title ", plot->script);
        iwi_gnuplot_quote(plot->script, mark->label);
    } else {
        (void)fputs(" notitle", plot->script);
    }
}

static const char *line_style(const struct iwi_mark *mark, char style[STYLE_SIZE])
{
    const int dash = mark->dash == IWI_SOLID ? 1 : (int)mark->dash + 1;

    if (iwi_mark_has_signs(mark)) {
        snprintf(style, STYLE_SIZE, " with linespoints linewidth 2 pointtype %u pointsize dot*0.5",
                 5 + 2 * ((unsigned)mark->ink % 4));
    } else {
        snprintf(style, STYLE_SIZE, " with %s linewidth %s dashtype %d",
                 mark->kind == IWI_MARK_STEP ? "steps" : "lines", mark->is_thin ? "1" : "2", dash);
    }
    return style;
}

static void plot_line(const struct iwi_plot *plot, const struct iwi_mark *mark, size_t block,
                      const char **separator_p)
{
    char style[STYLE_SIZE];

    if (mark->is_filled) {
        begin(plot, block, separator_p);
        write_using(plot, mark, "1:2");
        if (mark->kind == IWI_MARK_LINE) {
            (void)fputs(":(", plot->script);
            iwi_gnuplot_number(plot->script, plot->y.low);
            (void)fputc(')', plot->script);
        }
        (void)fprintf(plot->script, " with %s fillstyle transparent solid 0.15 noborder",
                      mark->kind == IWI_MARK_STEP ? "fillsteps" : "filledcurves");
        end(plot, mark, false);
    }
    begin(plot, block, separator_p);
    write_using(plot, mark, "1:2");
    (void)fputs(line_style(mark, style), plot->script);
    end(plot, mark, true);
}

static void plot_boxes(const struct iwi_plot *plot, const struct iwi_mark *mark, size_t block,
                       const char **separator_p)
{
    static const struct {
        const char *columns, *style, *fill;
    } parts[] = {
        {"1:2", " with points pointtype 6 pointsize dot*0.25", ""},
        {"1:8", " with points pointtype 6 pointsize dot*0.25", ""},
        {"1:4:3:7:6", " with candlesticks whiskerbars 0.6", " fillstyle solid 0.35 border"},
        {"1:5:5:5:5", " with candlesticks linewidth 2", ""},
    };

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        begin(plot, block, separator_p);
        write_using(plot, mark, parts[i].columns);
        (void)fputs(parts[i].style, plot->script);
        end(plot, mark, false);
        (void)fputs(parts[i].fill, plot->script);
    }
}

static void plot_bars(const struct iwi_plot *plot, const struct iwi_mark *mark, size_t block,
                      const char **separator_p)
{
    begin(plot, block, separator_p);
    (void)fprintf(plot->script,
                  " using (($1+$2)/2):(($3+$4)/2):1:2:3:4:5 with boxxyerror linecolor rgb variable "
                  "fillstyle solid %s noborder notitle",
                  mark->count > IWI_MOST_SIGNS ? "1" : "0.85");
    if (mark->label != NULL && iwi_figure_has_legend(plot->figure)) {
        (void)fputs(*separator_p, plot->script);
        (void)fputs("NaN with points pointtype 5 pointsize dot*1.5", plot->script);
        end(plot, mark, true);
    }
}

/* Few dots are large, as in SVG; small ones get a larger sign in the key. */
static void plot_dots(const struct iwi_plot *plot, const struct iwi_mark *mark, size_t block,
                      const char **separator_p)
{
    const bool is_small = mark->is_thin || mark->count > IWI_MOST_LARGE_DOTS;

    begin(plot, block, separator_p);
    write_using(plot, mark, "1:2");
    (void)fprintf(plot->script, " with points pointtype 7 pointsize dot*%s", is_small ? "0.35" : "0.8");
    end(plot, mark, !is_small);
    if (is_small && mark->label != NULL && iwi_figure_has_legend(plot->figure)) {
        (void)fputs(*separator_p, plot->script);
        (void)fputs("NaN with points pointtype 7 pointsize dot", plot->script);
        end(plot, mark, true);
    }
}

static void plot_mark(const struct iwi_plot *plot, const struct iwi_mark *mark, size_t block,
                      const char **separator_p)
{
    static const struct {
        const char *columns, *style;
    } simple[IWI_MARK_KINDS] = {
        [IWI_MARK_BAND] = {"1:2:3", " with filledcurves fillstyle transparent solid 0.25 noborder"},
        [IWI_MARK_RANGE] = {"1:2:(0):($3-$2)", " with vectors nohead linewidth 2"},
        [IWI_MARK_PIN] = {"1:2:3:4", " with xerrorbars pointtype 11 linewidth 1.5 pointsize dot*1.5"},
    };

    switch (mark->kind) {
    case IWI_MARK_LINE:
    case IWI_MARK_STEP: plot_line(plot, mark, block, separator_p); break;
    case IWI_MARK_DOTS: plot_dots(plot, mark, block, separator_p); break;
    case IWI_MARK_BOX: plot_boxes(plot, mark, block, separator_p); break;
    case IWI_MARK_BAR: plot_bars(plot, mark, block, separator_p); break;
    default:
        if (simple[mark->kind].columns != NULL) {
            begin(plot, block, separator_p);
            write_using(plot, mark, simple[mark->kind].columns);
            (void)fputs(simple[mark->kind].style, plot->script);
            end(plot, mark, true);
        }
    }
}

/* An image; its bytes follow the command. Squares with the colours of its layers are lines of the key. */
static void plot_cells(const struct iwi_plot *plot, const struct iwi_mark *mark, const char **separator_p)
{
    const double *n = iwi_mark_item(mark, 0);
    const double width = (n[1] - n[0]) / mark->columns, height = (n[3] - n[2]) / mark->rows;
    FILE *script = plot->script;

    (void)fprintf(script, "%s'-' binary array=(%" PRIu32 ",%" PRIu32 ") format='%%uchar' dx=", *separator_p,
                  mark->columns, mark->rows);
    iwi_gnuplot_number(script, width);
    (void)fputs(" dy=", script);
    iwi_gnuplot_number(script, height);
    (void)fputs(" origin=(", script);
    iwi_gnuplot_number(script, n[0] + width / 2.0);
    (void)fputc(',', script);
    iwi_gnuplot_number(script, n[2] + height / 2.0);
    (void)fputs(") using 1:2:3 with rgbimage notitle", script);
    *separator_p = ", \\\n     ";
    for (size_t i = 0; i < mark->layer_count; i++) {
        (void)fputs(", \\\n     NaN with points pointtype 5 pointsize dot*1.5", script);
        write_colour(script, "linecolor", mark->layers[i].ink);
        (void)fputs(" title ", script);
        iwi_gnuplot_quote(script, mark->layers[i].label);
    }
}

static void write_image(const struct iwi_mark *mark, FILE *script)
{
    for (size_t cell = 0; cell < (size_t)mark->rows * mark->columns; cell++) {
        const uint32_t rgb = iwi_cell_rgb(mark, cell);
        const unsigned char bytes[3] = {(unsigned char)(rgb >> 16), (unsigned char)(rgb >> 8),
                                        (unsigned char)rgb};

        (void)fwrite(bytes, 1, sizeof bytes, script);
    }
}

/* Half of the way to the nearest neighbour. */
static double box_width(const struct iwi_plot *plot, const struct iwi_mark *mark)
{
    const bool has_powers = gnuplot_has_powers(&plot->figure->x);
    double nearest = 1.0;

    for (size_t i = 1; i < mark->count; i++) {
        const double from = iwi_mark_item(mark, i - 1)[0], to = iwi_mark_item(mark, i)[0];
        const double step = has_powers ? log2(to / from) : to - from;

        nearest = step > 0.0 ? fmin(nearest, step) : nearest;
    }
    return 0.5 * nearest;
}

static void write_before(const struct iwi_plot *plot, const struct iwi_mark *mark)
{
    if (mark->kind == IWI_MARK_RULE_X || mark->kind == IWI_MARK_RULE_Y) {
        write_rules(plot, mark);
    } else if (mark->kind == IWI_MARK_FRAME) {
        gnuplot_frames(plot, mark);
    } else if (mark->kind == IWI_MARK_BOX) {
        (void)fputs("set boxwidth", plot->script);
        iwi_gnuplot_number(plot->script, box_width(plot, mark));
        (void)fputs(" absolute\n", plot->script);
    } else if (mark->kind == IWI_MARK_PIN ||
               (mark->kind == IWI_MARK_BAR && plot->figure->y.unit != IWI_AXIS_NAMES)) {
        write_names(plot, mark);
    }
}

/* The rules as arrows, then the command that plots all marks. *block_p: the number of the next block of data.
 */
static void gnuplot_marks(const struct iwi_plot *plot, size_t *block_p)
{
    const char *separator = "plot ";

    for (size_t i = 0; i < plot->figure->mark_count; i++) {
        write_before(plot, plot->figure->marks[i]);
    }
    for (size_t i = 0; i < plot->figure->mark_count; i++) {
        if (mark_has_data(plot->figure->marks[i])) {
            plot_mark(plot, plot->figure->marks[i], (*block_p)++, &separator);
        } else if (plot->figure->marks[i]->kind == IWI_MARK_CELLS) {
            plot_cells(plot, plot->figure->marks[i], &separator);
        }
    }
    (void)fputs(*separator == 'p' ? "plot NaN notitle\n" : "\n", plot->script);
    for (size_t i = 0; i < plot->figure->mark_count; i++) {
        if (plot->figure->marks[i]->kind == IWI_MARK_CELLS) {
            write_image(plot->figure->marks[i], plot->script);
        }
    }
}

/* Whether gnuplot gets logarithms to the base of 2 of this axis. */
static bool gnuplot_has_powers(const struct iwi_figure_axis *axis)
{
    return axis->is_log && axis->unit == IWI_AXIS_RANKS;
}

/* A place on the x axis, a blank before it. */
static void gnuplot_x(const struct iwi_plot *plot, double value)
{
    iwi_gnuplot_number(plot->script, gnuplot_has_powers(&plot->figure->x) ? log2(value) : value);
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
    const bool has_powers = gnuplot_has_powers(scale->axis), has_names = scale->axis->unit == IWI_AXIS_NAMES;
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
static void figure_gnuplot_write_text(FILE *script, double x_cm, double y_cm, double sheet_cm,
                                      const char *where, const char *text)
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
        figure_gnuplot_write_text(script, place->left_cm + place->width_cm / 2.0, place->title_cm - 0.1,
                                  sheet_cm, "center", plot->figure->title);
    }
    if (place->has_y_labels) {
        figure_gnuplot_write_text(script, place->left_cm - 1.7, place->top_cm - 0.3, sheet_cm,
                                  "left font ','.small", plot->figure->y.label);
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
            figure_gnuplot_write_text(script, IWI_SHEET_CM / 2.0, sheet_cm - 0.65 + 0.45 * (double)i,
                                      sheet_cm, "center font ','.small textcolor rgb '#555555'",
                                      sheet->notes[i]);
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
    gnuplot_marks(&plot, block_p);
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
