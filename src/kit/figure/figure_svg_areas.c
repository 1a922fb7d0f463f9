/* Boxes, bars, cells and frames of figures as SVG.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/figure/figure_svg.h"

enum { MOST_TITLES = 2000 };

/* ---- boxes ---- */

/* Half a box's width: a third of the way to the nearest neighbour. */
static double reach_of(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    double nearest = 50.0;

    for (size_t i = 1; i < mark->count; i++) {
        const double step =
            iwi_svg_x(svg, iwi_mark_item(mark, i)[0]) - iwi_svg_x(svg, iwi_mark_item(mark, i - 1)[0]);

        nearest = step > 0.0 ? fmin(nearest, step) : nearest;
    }
    return 0.32 * nearest;
}

static void write_box(const struct iwi_svg *svg, const struct iwi_mark *mark, size_t item, double reach)
{
    enum { LEAST = 1, P5, Q1, MEDIAN, Q3, P95, MOST, NUMBERS };
    const double *n = iwi_mark_item(mark, item);
    const double x = iwi_svg_x(svg, n[0]);
    double y[NUMBERS];

    for (size_t i = LEAST; i < NUMBERS; i++) {
        y[i] = iwi_svg_clipped(&svg->y, n[i]);
        if (isnan(y[i]) || isnan(x) || !(n[i] > 0.0 || !svg->figure->y.is_log)) {
            return;
        }
    }
    (void)fputs("<g><path d=\"", svg->out);
    iwi_svg_upright(svg, x, y[P5], y[Q1]);
    iwi_svg_upright(svg, x, y[Q3], y[P95]);
    iwi_svg_pair(svg->out, 'M', x - reach, y[Q1]);
    (void)fputc('H', svg->out);
    iwi_svg_pixels(svg->out, x + reach);
    (void)fputc('V', svg->out);
    iwi_svg_pixels(svg->out, y[Q3]);
    (void)fputc('H', svg->out);
    iwi_svg_pixels(svg->out, x - reach);
    (void)fputs("z\"/><path stroke-width=\"2.5\" stroke-linecap=\"round\"", svg->out);
    if (iwi_mark_is_hot(mark, item)) {
        iwi_svg_colour(svg, "stroke", IWI_INK_NOISE);
    }
    (void)fputs(" d=\"", svg->out);
    iwi_svg_pair(svg->out, 'M', x - reach, y[MEDIAN]);
    (void)fputc('H', svg->out);
    iwi_svg_pixels(svg->out, x + reach);
    iwi_svg_pair(svg->out, 'M', x, y[LEAST]);
    (void)fputs("h0", svg->out);
    iwi_svg_pair(svg->out, 'M', x, y[MOST]);
    (void)fputs("h0\"/>", svg->out);
    iwi_svg_title(svg, mark, item);
    (void)fputs("</g>\n", svg->out);
}

static void draw_boxes(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    const double reach = reach_of(svg, mark);

    (void)fputs("<g fill-opacity=\".3\"", svg->out);
    iwi_svg_colour(svg, "fill", mark->ink);
    iwi_svg_colour(svg, "stroke", mark->ink);
    (void)fputs(">\n", svg->out);
    for (size_t i = 0; i < mark->count; i++) {
        write_box(svg, mark, i, reach);
    }
    (void)fputs("</g>\n", svg->out);
}

/* ---- bars ---- */

static void write_attribute(FILE *out, const char *name, double pixels)
{
    (void)fprintf(out, " %s=\"", name);
    iwi_svg_pixels(out, pixels);
    (void)fputc('"', out);
}

static void draw_bars(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    (void)fprintf(svg->out, "<g fill-opacity=\"%s\" stroke-width=\".8\"",
                  mark->is_thin                  ? ".6"
                  : mark->count > IWI_MOST_SIGNS ? "1"
                                                 : ".85");
    if (mark->count <= IWI_MOST_SIGNS) {
        iwi_svg_colour(svg, "stroke", IWI_INK_GROUND);
    }
    iwi_svg_colour(svg, "fill", mark->ink);
    (void)fputs(">\n", svg->out);
    for (size_t i = 0; i < mark->count; i++) {
        const double *n = iwi_mark_item(mark, i);
        const double x1 = iwi_svg_clipped(&svg->x, n[0]), x2 = iwi_svg_clipped(&svg->x, n[1]),
                     y1 = iwi_svg_clipped(&svg->y, n[2]), y2 = iwi_svg_clipped(&svg->y, n[3]);

        if (isnan(x1) || isnan(x2) || isnan(y1) || isnan(y2) || n[0] == n[1] || n[2] == n[3]) {
            continue;
        }
        (void)fputs("<rect", svg->out);
        if (iwi_mark_is_hot(mark, i)) {
            iwi_svg_colour(svg, "fill", IWI_INK_NOISE);
        }
        write_attribute(svg->out, "x", fmin(x1, x2));
        write_attribute(svg->out, "y", fmin(y1, y2));
        write_attribute(svg->out, "width", fabs(x2 - x1));
        write_attribute(svg->out, "height", fabs(y2 - y1));
        if (mark->count <= MOST_TITLES) {
            (void)fputc('>', svg->out);
            iwi_svg_title(svg, mark, i);
            (void)fputs("</rect>\n", svg->out);
        } else {
            (void)fputs("/>\n", svg->out);
        }
    }
    (void)fputs("</g>\n", svg->out);
    if (svg->figure->y.unit != IWI_AXIS_NAMES) {
        iwi_svg_names(svg, mark, 6.0);
    }
}

/* ---- cells ---- */

/* In sixteenths: more would only make shorter runs. */
static unsigned sixteenths(const struct iwi_layer *layer, size_t cell)
{
    return (unsigned)lround(16.0 * iwi_cell_share(layer, cell));
}

/* Runs of equal cells are one element, as opaque as the layer's share of them: so less of it fades into any
 * ground, a dark one too. */
static void draw_cell_row(const struct iwi_svg *svg, const struct iwi_mark *mark,
                          const struct iwi_layer *layer, uint32_t row)
{
    const double *n = iwi_mark_item(mark, 0);
    const double width = (n[1] - n[0]) / mark->columns, height = (n[3] - n[2]) / mark->rows;
    const double bottom = iwi_svg_clipped(&svg->y, n[2] + height * row),
                 top = iwi_svg_clipped(&svg->y, n[2] + height * (row + 1));
    const size_t first = (size_t)row * mark->columns;
    uint32_t end;

    for (uint32_t column = 0; column < mark->columns; column = end) {
        const unsigned share = sixteenths(layer, first + column);

        end = column + 1;
        while (end < mark->columns && sixteenths(layer, first + end) == share) {
            end++;
        }
        if (share > 0) {
            (void)fputs("<path", svg->out);
            if (share < 16) {
                (void)fprintf(svg->out, " fill-opacity=\"%g\"", share / 16.0);
            }
            (void)fputs(" d=\"", svg->out);
            iwi_svg_pair(svg->out, 'M', iwi_svg_clipped(&svg->x, n[0] + width * column), bottom);
            (void)fputc('H', svg->out);
            iwi_svg_pixels(svg->out, iwi_svg_clipped(&svg->x, n[0] + width * end));
            (void)fputc('V', svg->out);
            iwi_svg_pixels(svg->out, top);
            (void)fputc('H', svg->out);
            iwi_svg_pixels(svg->out, iwi_svg_clipped(&svg->x, n[0] + width * column));
            (void)fputs("z\"/>\n", svg->out);
        }
    }
}

static void draw_cells(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    (void)fputs("<g shape-rendering=\"crispEdges\">\n", svg->out);
    for (size_t i = 0; i < mark->layer_count; i++) {
        (void)fputs("<g", svg->out);
        iwi_svg_colour(svg, "fill", mark->layers[i].ink);
        (void)fputs(">\n", svg->out);
        for (uint32_t row = 0; row < mark->rows; row++) {
            draw_cell_row(svg, mark, &mark->layers[i], row);
        }
        (void)fputs("</g>\n", svg->out);
    }
    (void)fputs("</g>\n", svg->out);
}

/* ---- frames ---- */

/* The text of a frame, line by line; places are lines of it. */
static void write_frame_text(const struct iwi_svg *svg, const double *n, const char *text)
{
    const double inside = 10.0, below_middle = 5.0;
    char line[IWI_PARAGRAPH_SIZE];

    for (double y = n[2] + 0.55; *text != '\0'; y += 1.0) {
        const size_t length = strcspn(text, "\n");

        snprintf(line, sizeof line, "%.*s", (int)length, text);
        iwi_svg_text(svg, iwi_svg_x(svg, n[0]) + inside, iwi_svg_y(svg, y) + below_middle,
                     y < n[2] + 1.0 ? "font-weight=\"bold\"" : "", IWI_INK_TEXT, line);
        text += length + (text[length] == '\n');
    }
}

/* The ground first, so that colours of boxes within boxes do not add up. */
static void write_frame(const struct iwi_svg *svg, const struct iwi_mark *mark, const double *n)
{
    const double above = 0.12, below = 0.2; /* of a line: boxes that touch stand apart */
    const double x = iwi_svg_x(svg, n[0]), y = iwi_svg_y(svg, n[2] + above);

    for (int layer = 0; layer < 2; layer++) {
        (void)fputs("<rect rx=\"4\"", svg->out);
        if (layer == 0) {
            iwi_svg_colour(svg, "fill", IWI_INK_GROUND);
        } else {
            (void)fprintf(svg->out, " fill-opacity=\".12\" stroke-width=\"1.2\"%s",
                          mark->dash == IWI_SOLID ? "" : " stroke-dasharray=\"4,3\"");
            iwi_svg_colour(svg, "fill", mark->ink);
            iwi_svg_colour(svg, "stroke", mark->ink);
        }
        write_attribute(svg->out, "x", x);
        write_attribute(svg->out, "y", y);
        write_attribute(svg->out, "width", iwi_svg_x(svg, n[1]) - x);
        write_attribute(svg->out, "height", iwi_svg_y(svg, n[3] - below) - y);
        (void)fputs("/>\n", svg->out);
    }
}

static void draw_frames(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    for (size_t i = 0; i < mark->count; i++) {
        const double *n = iwi_mark_item(mark, i);

        write_frame(svg, mark, n);
        if (iwi_mark_text(mark, i) != NULL) {
            write_frame_text(svg, n, iwi_mark_text(mark, i));
        }
    }
}

void iwi_svg_mark(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    static void (*const drawers[IWI_MARK_KINDS])(const struct iwi_svg *, const struct iwi_mark *) = {
        [IWI_MARK_BOX] = draw_boxes,
        [IWI_MARK_BAR] = draw_bars,
        [IWI_MARK_CELLS] = draw_cells,
        [IWI_MARK_FRAME] = draw_frames,
    };

    if (mark->count > 0) {
        (drawers[mark->kind] != NULL ? drawers[mark->kind] : iwi_svg_line_mark)(svg, mark);
    }
}
