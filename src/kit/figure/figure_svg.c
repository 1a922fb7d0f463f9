/* Figures as SVG: axes, legend, and sheets of several.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/figure/figure_svg.h"

#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/figure/figure_sheet.h"
#include "kit/text/words.h"

enum { WIDTH = 640, LEFT = 66, RIGHT = 34, ABOVE = 34, BELOW = 46, ROW_LEFT = 16, EDGE = 2 };

static const double USUAL_HEIGHT = 0.52;

/* Where the plot is, without the texts around it. */
struct frame {
    double left, right, top, bottom;
    bool has_y_labels;
};

/* ---- axes ---- */

static void write_grid_line(const struct iwi_svg *svg, bool is_upright, double at)
{
    (void)fputc('M', svg->out);
    iwi_svg_pixels(svg->out, is_upright ? at : svg->x.from);
    (void)fputc(',', svg->out);
    iwi_svg_pixels(svg->out, is_upright ? svg->y.from : at);
    (void)fputc(is_upright ? 'V' : 'H', svg->out);
    iwi_svg_pixels(svg->out, is_upright ? svg->y.to : svg->x.to);
}

/* Grid lines of both axes are one path. */
static void write_grid(const struct iwi_svg *svg, const double *x_ticks, size_t x_count,
                       const double *y_ticks, size_t y_count)
{
    (void)fputs("<path fill=\"none\"", svg->out);
    iwi_svg_colour(svg, "stroke", IWI_INK_RULE);
    (void)fputs(" d=\"", svg->out);
    for (size_t i = 0; i < x_count; i++) {
        write_grid_line(svg, true, iwi_scale_at(&svg->x, x_ticks[i]));
    }
    for (size_t i = 0; i < y_count && svg->figure->y.unit != IWI_AXIS_NAMES; i++) {
        write_grid_line(svg, false, iwi_scale_at(&svg->y, y_ticks[i]));
    }
    (void)fputs("\"/>\n", svg->out);
}

/* Names side by side are cut to the room that each has. */
static const char *fit_tick(const struct iwi_svg *svg, size_t count, const char *text,
                            char name[IWI_NAME_SIZE])
{
    const double letter = 7.0; /* about as wide as one is */
    const double room = (svg->x.to - svg->x.from) / (double)count - letter;
    const size_t columns = (size_t)fmax(room / letter, 4.0);

    return svg->figure->x.unit == IWI_AXIS_NAMES && strlen(text) > columns
               ? iwi_plain_name(text, columns, name)
               : text;
}

/* Texts of class "spare" are left out where there is no room: web/report.css. */
static void write_axes(const struct iwi_svg *svg, const struct frame *frame)
{
    const struct iwi_figure *figure = svg->figure;
    const size_t wanted = (size_t)fmax((svg->x.to - svg->x.from) / 85.0, 2.0);
    double x_ticks[IWI_MOST_TICKS], y_ticks[IWI_MOST_TICKS];
    const size_t x_count = iwi_scale_ticks(&svg->x, wanted, x_ticks);
    const size_t y_count =
        iwi_scale_ticks(&svg->y, (size_t)fmax((frame->bottom - frame->top) / 38.0, 2.0), y_ticks);
    char text[IWI_PHRASE_SIZE], name[IWI_NAME_SIZE];

    write_grid(svg, x_ticks, x_count, y_ticks, y_count);
    for (size_t i = 0; i < x_count; i++) {
        iwi_svg_text(svg, iwi_scale_at(&svg->x, x_ticks[i]), frame->bottom + 18.0,
                     i % 2 == 0 ? "text-anchor=\"middle\"" : "text-anchor=\"middle\" class=\"spare\"",
                     IWI_INK_TEXT, fit_tick(svg, x_count, iwi_axis_text(&figure->x, x_ticks[i], text), name));
    }
    for (size_t i = 0; i < y_count && frame->has_y_labels; i++) {
        if (figure->y.unit ==
            IWI_AXIS_NAMES) { /* above their rows: at the side names would take half of it */
            iwi_svg_text(svg, svg->x.from, iwi_scale_at(&svg->y, y_ticks[i] - 0.3), "", IWI_INK_TEXT,
                         iwi_axis_text(&figure->y, y_ticks[i], text));
            continue;
        }
        iwi_svg_text(svg, svg->x.from - 7.0, iwi_scale_at(&svg->y, y_ticks[i]) + 4.0, "text-anchor=\"end\"",
                     IWI_INK_TEXT, iwi_axis_text(&figure->y, y_ticks[i], text));
    }
    iwi_svg_text(svg, (svg->x.from + svg->x.to) / 2.0, frame->bottom + 38.0, "text-anchor=\"middle\"",
                 IWI_INK_TEXT, figure->x.label);
    if (frame->has_y_labels && figure->y.label[0] != '\0') {
        iwi_svg_text(svg, frame->left - LEFT + 4.0, frame->top - 18.0, "", IWI_INK_TEXT, figure->y.label);
    }
}

/* ---- legend ---- */

/* What a series looks like, in a box of 22 x 12 that begins at (x, y). */
static void write_swatch(const struct iwi_svg *svg, const struct iwi_mark *mark, double x, double y)
{
    const bool is_line = mark->kind == IWI_MARK_LINE || mark->kind == IWI_MARK_STEP ||
                         mark->kind == IWI_MARK_RULE_X || mark->kind == IWI_MARK_RULE_Y;

    if (is_line) {
        (void)fprintf(svg->out, "<path d=\"M%.0f,%.0fh22\" stroke-width=\"2\"%s", x, y + 6.0,
                      mark->dash == IWI_SOLID    ? ""
                      : mark->dash == IWI_DASHED ? " stroke-dasharray=\"6,4\""
                                                 : " stroke-dasharray=\"2,3\"");
        iwi_svg_colour(svg, "stroke", mark->ink);
        (void)fputs("/>", svg->out);
    }
    if (mark->kind == IWI_MARK_DOTS || iwi_mark_has_signs(mark)) {
        iwi_svg_sign(svg, mark, x + 11.0, y + 6.0);
        iwi_svg_colour(svg, "fill", mark->ink);
        (void)fputs("/>", svg->out);
    } else if (!is_line) {
        (void)fprintf(svg->out, "<rect x=\"%.0f\" y=\"%.0f\" width=\"16\" height=\"8\"", x + 3.0, y + 2.0);
        iwi_svg_colour(svg, "fill", mark->ink);
        (void)fputs("/>", svg->out);
    }
}

static void write_legend_list(const struct iwi_svg *svg)
{
    struct iwi_mark entry;

    (void)fputs("<ul class=\"legend\">\n", svg->out);
    for (size_t i = 0; iwi_legend_entry(svg->figure, i, &entry); i++) {
        (void)fputs("<li><svg width=\"22\" height=\"12\" aria-hidden=\"true\">", svg->out);
        write_swatch(svg, &entry, 0.0, 0.0);
        (void)fputs("</svg>", svg->out);
        iwi_html_text(svg->out, entry.label);
        (void)fputs("</li>\n", svg->out);
    }
    (void)fputs("</ul>\n", svg->out);
}

/* ---- figures ---- */

static void draw_figure(struct iwi_svg *svg, const struct frame *frame)
{
    const bool is_rows = iwi_axis_is_down(&svg->figure->y);

    iwi_figure_scales(svg->figure, &svg->x, &svg->y);
    svg->x.from = frame->left;
    svg->x.to = frame->right;
    svg->y.from = is_rows ? frame->top : frame->bottom;
    svg->y.to = is_rows ? frame->bottom : frame->top;
    if (svg->figure->x.unit != IWI_AXIS_NONE) {
        write_axes(svg, frame);
    }
    for (size_t i = 0; i < svg->figure->mark_count; i++) {
        iwi_svg_mark(svg, svg->figure->marks[i]);
    }
}

void iwi_figure_write_svg(const struct iwi_figure *figure, FILE *out)
{
    const double height = round(WIDTH * (figure->height > 0.0 ? figure->height : USUAL_HEIGHT));
    const bool has_axes = figure->x.unit != IWI_AXIS_NONE;
    const struct frame frame = {.left = !has_axes                          ? EDGE
                                        : figure->y.unit == IWI_AXIS_NAMES ? ROW_LEFT
                                                                           : LEFT,
                                .right = WIDTH - (has_axes ? RIGHT : EDGE),
                                .top = has_axes ? ABOVE : EDGE,
                                .bottom = height - (has_axes ? BELOW : 0),
                                .has_y_labels = true};
    struct iwi_svg svg = {.out = out, .figure = figure};

    if (iwi_figure_has_legend(figure)) {
        write_legend_list(&svg);
    }
    (void)fprintf(out,
                  "<svg viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" aria-hidden=\"true\" "
                  "fill=\"currentColor\" font-size=\"13\">\n",
                  WIDTH, height, WIDTH, height);
    draw_figure(&svg, &frame);
    (void)fputs("</svg>\n", out);
}

/* ---- sheets ---- */

static const double PIXELS_PER_CM = 55.0;

/* Entries of equal width within the picture, as many in a line as the layout has given them. */
static void write_legend_lines(const struct iwi_svg *svg, const struct iwi_place *place)
{
    const double left = place->left_cm * PIXELS_PER_CM, top = place->legend_cm * PIXELS_PER_CM;
    const double width = place->width_cm * PIXELS_PER_CM / (double)place->legend_columns;
    struct iwi_mark entry;

    for (size_t i = 0; iwi_figure_has_legend(svg->figure) && iwi_legend_entry(svg->figure, i, &entry); i++) {
        const double x = left + width * (double)(i % place->legend_columns);
        const size_t line = i / place->legend_columns;
        const double y = top + IWI_LEGEND_CM * PIXELS_PER_CM * (double)line;

        write_swatch(svg, &entry, x, y);
        iwi_svg_text(svg, x + 27.0, y + 10.0, "", IWI_INK_TEXT, entry.label);
    }
}

static void write_sheet_figure(const struct iwi_figure *figure, const struct iwi_place *place, bool has_title,
                               FILE *out)
{
    const struct frame frame = {.left = place->left_cm * PIXELS_PER_CM,
                                .right = (place->left_cm + place->width_cm) * PIXELS_PER_CM,
                                .top = place->top_cm * PIXELS_PER_CM,
                                .bottom = (place->top_cm + place->height_cm) * PIXELS_PER_CM,
                                .has_y_labels = place->has_y_labels};
    struct iwi_svg svg = {.out = out, .figure = figure, .is_file = true};

    if (has_title) {
        iwi_svg_text(&svg, (frame.left + frame.right) / 2.0, place->title_cm * PIXELS_PER_CM,
                     "text-anchor=\"middle\" font-weight=\"bold\"", IWI_INK_TEXT, figure->title);
    }
    write_legend_lines(&svg, place);
    draw_figure(&svg, &frame);
}

void iwi_sheet_write_svg(const struct iwi_sheet *sheet, const struct iwi_layout *layout, FILE *out)
{
    const double width = IWI_SHEET_CM * PIXELS_PER_CM, height = layout->height_cm * PIXELS_PER_CM;
    const struct iwi_svg svg = {.out = out, .is_file = true};

    (void)fprintf(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
                  "viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
                  "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"13\"",
                  width, height, width, height);
    iwi_svg_colour(&svg, "fill", IWI_INK_TEXT);
    (void)fputs(">\n<rect width=\"100%\" height=\"100%\"", out);
    iwi_svg_colour(&svg, "fill", IWI_INK_GROUND);
    (void)fputs("/>\n", out);
    iwi_svg_text(&svg, width / 2.0, 24.0, "text-anchor=\"middle\" font-size=\"16\"", IWI_INK_TEXT,
                 sheet->title);
    for (size_t i = 0; i < sheet->count; i++) {
        write_sheet_figure(sheet->figures[i], &layout->places[i], sheet->count > 1, out);
    }
    for (size_t i = 0; i < sizeof sheet->notes / sizeof sheet->notes[0]; i++) {
        if (sheet->notes[i] != NULL) {
            iwi_svg_text(&svg, width / 2.0, height - 30.0 + 18.0 * (double)i,
                         "text-anchor=\"middle\" font-size=\"12\"", IWI_INK_FAINT, sheet->notes[i]);
        }
    }
    (void)fputs("</svg>\n", out);
}
