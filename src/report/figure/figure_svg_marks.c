/* The marks of figures as SVG.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Items that can be told apart carry a <title>: browsers show it under the mouse.
 */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "report/figure/figure_svg.h"
#include "report/html.h"

enum { NAME_ROOM = 90, MOST_TITLES = 2000 };

static const char *const dashes[] = {
    [IWI_SOLID] = "", [IWI_DASHED] = " stroke-dasharray=\"6,4\"", [IWI_DOTTED] = " stroke-dasharray=\"2,3\""};

void iwi_svg_pixels(FILE *out, double pixels)
{
    const long tenths = lround(pixels * 10.0);

    (void)fprintf(out, tenths % 10 == 0 ? "%s%ld" : "%s%ld.%ld", tenths < 0 ? "-" : "", labs(tenths) / 10,
                  labs(tenths) % 10);
}

void iwi_svg_colour(const struct iwi_svg *svg, const char *name, enum iwi_ink ink)
{
    if (svg->is_file) {
        (void)fprintf(svg->out, " %s=\"#%06x\"", name, (unsigned)iwi_ink_rgb(ink));
    } else {
        (void)fprintf(svg->out, " %s=\"var(%s)\"", name, iwi_ink_css(ink));
    }
}

static double x_at(const struct iwi_svg *svg, double value)
{
    return iwi_scale_at(&svg->x, value);
}

static double y_at(const struct iwi_svg *svg, double value)
{
    return iwi_scale_at(&svg->y, value);
}

/* What lies below a logarithmic axis, or outside, ends at its edge. */
static double clipped(const struct iwi_scale *scale, double value)
{
    const double place = iwi_scale_at(scale, value);

    if (isnan(value)) {
        return NAN;
    }
    return isnan(place) ? scale->from
                        : fmin(fmax(place, fmin(scale->from, scale->to)), fmax(scale->from, scale->to));
}

static void write_pair(FILE *out, char command, double x, double y)
{
    (void)fputc(command, out);
    iwi_svg_pixels(out, x);
    (void)fputc(',', out);
    iwi_svg_pixels(out, y);
}

static void write_upright(const struct iwi_svg *svg, double x, double from, double to)
{
    write_pair(svg->out, 'M', x, from);
    (void)fputc('V', svg->out);
    iwi_svg_pixels(svg->out, to);
}

static void write_attribute(FILE *out, const char *name, double pixels)
{
    (void)fprintf(out, " %s=\"", name);
    iwi_svg_pixels(out, pixels);
    (void)fputc('"', out);
}

static void write_title(const struct iwi_svg *svg, const struct iwi_mark *mark, size_t item)
{
    char text[IWI_PARAGRAPH_SIZE];

    iwi_item_text(svg->figure, mark, item, text);
    (void)fputs("<title>", svg->out);
    iwi_html_text(svg->out, text);
    (void)fputs("</title>", svg->out);
}

/* ---- lines ---- */

/* The outline of a line or step; `x_p` and `y_p` are where it ended. Returns whether there is any. */
static bool write_outline(const struct iwi_svg *svg, const struct iwi_mark *mark, double *first_p,
                          double *last_p)
{
    bool is_begun = false, was_below = false;

    for (size_t i = 0; i < mark->count; i++) {
        const double *n = iwi_mark_item(mark, i);
        const double x = x_at(svg, n[0]), y = clipped(&svg->y, n[1]);
        const bool is_below = n[1] < svg->y.low;

        if (isnan(x) || isnan(y) || (is_below && was_below)) {
            continue;
        }
        was_below = is_below;
        if (is_begun && mark->kind == IWI_MARK_STEP) {
            (void)fputc('H', svg->out);
            iwi_svg_pixels(svg->out, x);
        }
        write_pair(svg->out, is_begun ? 'L' : 'M', x, y);
        *first_p = is_begun ? *first_p : x;
        *last_p = x;
        is_begun = true;
    }
    return is_begun;
}

static void write_area(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    double first = 0.0, last = 0.0;

    (void)fputs("<path stroke=\"none\" fill-opacity=\".15\"", svg->out);
    iwi_svg_colour(svg, "fill", mark->ink);
    (void)fputs(" d=\"", svg->out);
    if (write_outline(svg, mark, &first, &last)) {
        write_pair(svg->out, 'L', last, svg->y.from);
        write_pair(svg->out, 'L', first, svg->y.from);
        (void)fputc('z', svg->out);
    }
    (void)fputs("\"/>\n", svg->out);
}

/* Each series has a sign of its own, so that colour is not all that tells it. */
void iwi_svg_sign(const struct iwi_svg *svg, const struct iwi_mark *mark, double x, double y)
{
    static const char *const shapes[] = {"m-3.2,0a3.2,3.2 0 1 0 6.4,0a3.2,3.2 0 1 0-6.4,0z", "m-3,-3h6v6h-6z",
                                         "m0,-4l4,7h-8z", "m0,-4.4l4,4.4l-4,4.4l-4,-4.4z"};

    (void)fputs("<path d=\"", svg->out);
    write_pair(svg->out, 'M', x, y);
    (void)fprintf(svg->out, "%s\"", shapes[mark->ink % (sizeof shapes / sizeof shapes[0])]);
}

static void write_signs(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    (void)fputs("<g", svg->out);
    iwi_svg_colour(svg, "fill", mark->ink);
    (void)fputs(">\n", svg->out);
    for (size_t i = 0; i < mark->count; i++) {
        const double *n = iwi_mark_item(mark, i);
        const double x = x_at(svg, n[0]), y = y_at(svg, n[1]);

        if (!isnan(x) && !isnan(y)) {
            iwi_svg_sign(svg, mark, x, y);
            (void)fputc('>', svg->out);
            write_title(svg, mark, i);
            (void)fputs("</path>\n", svg->out);
        }
    }
    (void)fputs("</g>\n", svg->out);
}

static void draw_line(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    double first = 0.0, last = 0.0;

    if (mark->is_filled) {
        write_area(svg, mark);
    }
    (void)fprintf(svg->out, "<path fill=\"none\" stroke-width=\"%s\"%s", mark->is_thin ? "1.2" : "2",
                  dashes[mark->dash]);
    iwi_svg_colour(svg, "stroke", mark->ink);
    (void)fputs(" d=\"", svg->out);
    (void)write_outline(svg, mark, &first, &last);
    (void)fputs("\"/>\n", svg->out);
    if (iwi_mark_has_signs(mark)) {
        write_signs(svg, mark);
    }
}

/* Many points are one path: lines of no length with round ends. */
static void draw_dots(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    if (mark->count <= IWI_MOST_SIGNS) {
        write_signs(svg, mark);
        return;
    }
    (void)fprintf(svg->out, "<path stroke-width=\"%s\" stroke-linecap=\"round\" stroke-opacity=\".75\"",
                  mark->is_thin ? "2" : "2.6");
    iwi_svg_colour(svg, "stroke", mark->ink);
    (void)fputs(" d=\"", svg->out);
    for (size_t i = 0; i < mark->count; i++) {
        const double *n = iwi_mark_item(mark, i);
        const double x = x_at(svg, n[0]), y = y_at(svg, n[1]);

        if (!isnan(x) && !isnan(y)) {
            write_pair(svg->out, 'M', x, y);
            (void)fputs("h0", svg->out);
        }
    }
    (void)fputs("\"/>\n", svg->out);
}

static void draw_band(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    bool is_begun = false;

    (void)fputs("<path fill-opacity=\".25\"", svg->out);
    iwi_svg_colour(svg, "fill", mark->ink);
    (void)fputs(" d=\"", svg->out);
    for (size_t i = 0; i < 2 * mark->count; i++) {
        const double *n = iwi_mark_item(mark, i < mark->count ? i : 2 * mark->count - 1 - i);
        const double x = x_at(svg, n[0]), y = clipped(&svg->y, n[i < mark->count ? 1 : 2]);

        if (!isnan(x) && !isnan(y)) {
            write_pair(svg->out, is_begun ? 'L' : 'M', x, y);
            is_begun = true;
        }
    }
    (void)fputs("\"/>\n", svg->out);
}

static void draw_ranges(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    (void)fputs("<path stroke-width=\"2.5\"", svg->out);
    iwi_svg_colour(svg, "stroke", mark->ink);
    (void)fputs(" d=\"", svg->out);
    for (size_t i = 0; i < mark->count; i++) {
        const double *n = iwi_mark_item(mark, i);
        const double x = x_at(svg, n[0]), low = y_at(svg, n[1]), high = y_at(svg, n[2]);

        if (!isnan(x) && !isnan(low) && !isnan(high)) {
            write_upright(svg, x, low, high);
        }
    }
    (void)fputs("\"/>\n", svg->out);
}

/* ---- boxes ---- */

/* Half a box's width: a third of the way to the nearest neighbour. */
static double reach_of(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    double nearest = 50.0;

    for (size_t i = 1; i < mark->count; i++) {
        const double step = x_at(svg, iwi_mark_item(mark, i)[0]) - x_at(svg, iwi_mark_item(mark, i - 1)[0]);

        nearest = step > 0.0 ? fmin(nearest, step) : nearest;
    }
    return 0.32 * nearest;
}

static void write_box(const struct iwi_svg *svg, const struct iwi_mark *mark, size_t item, double reach)
{
    enum { LEAST = 1, P5, Q1, MEDIAN, Q3, P95, MOST, NUMBERS };
    const double *n = iwi_mark_item(mark, item);
    const double x = x_at(svg, n[0]);
    double y[NUMBERS];

    for (size_t i = LEAST; i < NUMBERS; i++) {
        y[i] = clipped(&svg->y, n[i]);
        if (isnan(y[i]) || isnan(x) || !(n[i] > 0.0 || !svg->figure->y.is_log)) {
            return;
        }
    }
    (void)fputs("<g><path d=\"", svg->out);
    write_upright(svg, x, y[P5], y[Q1]);
    write_upright(svg, x, y[Q3], y[P95]);
    write_pair(svg->out, 'M', x - reach, y[Q1]);
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
    write_pair(svg->out, 'M', x - reach, y[MEDIAN]);
    (void)fputc('H', svg->out);
    iwi_svg_pixels(svg->out, x + reach);
    write_pair(svg->out, 'M', x, y[LEAST]);
    (void)fputs("h0", svg->out);
    write_pair(svg->out, 'M', x, y[MOST]);
    (void)fputs("h0\"/>", svg->out);
    write_title(svg, mark, item);
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

/* ---- bars and cells ---- */

/* Names above what is marked, as far as there is room beside the one before. */
static void write_names(const struct iwi_svg *svg, const struct iwi_mark *mark, double above)
{
    double placed[IWI_MOST_TICKS];
    size_t count = 0;

    for (size_t i = 0; i < mark->count && count < IWI_MOST_TICKS; i++) {
        const double *n = iwi_mark_item(mark, i);
        const double x =
            mark->kind == IWI_MARK_BAR ? (x_at(svg, n[0]) + x_at(svg, n[1])) / 2.0 : x_at(svg, n[0]);
        const double y = y_at(svg, n[mark->kind == IWI_MARK_BAR ? 3 : 1]);
        const char *anchor = x < svg->x.from + 40.0 ? "text-anchor=\"start\""
                             : x > svg->x.to - 40.0 ? "text-anchor=\"end\""
                                                    : "text-anchor=\"middle\"";
        bool is_free =
            iwi_mark_text(mark, i) != NULL && iwi_mark_text(mark, i)[0] != '\0' && !isnan(x) && !isnan(y);

        for (size_t k = 0; k < count; k++) {
            is_free = is_free && fabs(placed[k] - x) >= NAME_ROOM;
        }
        if (is_free) {
            placed[count++] = x;
            iwi_svg_text(svg, x, y - above, anchor, IWI_INK_TEXT, iwi_mark_text(mark, i));
        }
    }
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
        const double x1 = clipped(&svg->x, n[0]), x2 = clipped(&svg->x, n[1]), y1 = clipped(&svg->y, n[2]),
                     y2 = clipped(&svg->y, n[3]);

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
            write_title(svg, mark, i);
            (void)fputs("</rect>\n", svg->out);
        } else {
            (void)fputs("/>\n", svg->out);
        }
    }
    (void)fputs("</g>\n", svg->out);
    if (svg->figure->y.unit != IWI_AXIS_NAMES) {
        write_names(svg, mark, 6.0);
    }
}

/* Four bits of each colour: more would only make shorter runs. */
static uint32_t coarse(uint32_t rgb)
{
    uint32_t rounded = 0;

    for (unsigned shift = 0; shift < 24; shift += 8) {
        rounded |= (uint32_t)iwi_min((rgb >> shift & 0xff) + 8, 0xff) / 16 * 17 << shift;
    }
    return rounded;
}

/* Runs of equal cells are one element; what looks like the ground is none. */
static void draw_cell_row(const struct iwi_svg *svg, const struct iwi_mark *mark, uint32_t row)
{
    const double *n = iwi_mark_item(mark, 0);
    const double width = (n[1] - n[0]) / mark->columns, height = (n[3] - n[2]) / mark->rows;
    const double bottom = clipped(&svg->y, n[2] + height * row),
                 top = clipped(&svg->y, n[2] + height * (row + 1));
    const uint32_t ground = coarse(iwi_ink_rgb(mark->ink));
    uint32_t end;

    for (uint32_t column = 0; column < mark->columns; column = end) {
        const uint32_t rgb = coarse(iwi_cell_rgb(mark, (size_t)row * mark->columns + column));

        end = column + 1;
        while (end < mark->columns && coarse(iwi_cell_rgb(mark, (size_t)row * mark->columns + end)) == rgb) {
            end++;
        }
        if (rgb != ground) {
            const double left = clipped(&svg->x, n[0] + width * column),
                         right = clipped(&svg->x, n[0] + width * end);

            (void)fprintf(svg->out, "<path fill=\"#%06x\" d=\"", (unsigned)rgb);
            write_pair(svg->out, 'M', left, bottom);
            (void)fputc('H', svg->out);
            iwi_svg_pixels(svg->out, right);
            (void)fputc('V', svg->out);
            iwi_svg_pixels(svg->out, top);
            (void)fputc('H', svg->out);
            iwi_svg_pixels(svg->out, left);
            (void)fputs("z\"/>\n", svg->out);
        }
    }
}

static void draw_cells(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    (void)fputs("<g shape-rendering=\"crispEdges\">\n", svg->out);
    for (uint32_t row = 0; row < mark->rows; row++) {
        draw_cell_row(svg, mark, row);
    }
    (void)fputs("</g>\n", svg->out);
}

/* ---- rules and pins ---- */

static void draw_rules(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    const bool is_upright = mark->kind == IWI_MARK_RULE_X;

    for (size_t i = 0; i < mark->count; i++) {
        const double at = iwi_scale_at(is_upright ? &svg->x : &svg->y, iwi_mark_item(mark, i)[0]);

        if (isnan(at)) {
            continue;
        }
        (void)fprintf(svg->out, "<path fill=\"none\" stroke-width=\"1.5\"%s", dashes[mark->dash]);
        iwi_svg_colour(svg, "stroke", mark->ink);
        (void)fputs(" d=\"", svg->out);
        write_pair(svg->out, 'M', is_upright ? at : svg->x.from, is_upright ? svg->y.from : at);
        (void)fputc(is_upright ? 'V' : 'H', svg->out);
        iwi_svg_pixels(svg->out, is_upright ? svg->y.to : svg->x.to);
        (void)fputs("\"/>\n", svg->out);
        if (iwi_mark_text(mark, i) != NULL) {
            iwi_svg_text(svg, (is_upright ? at : svg->x.from) + 5.0, is_upright ? svg->y.to + 12.0 : at - 5.0,
                         "", IWI_INK_FAINT, iwi_mark_text(mark, i));
        }
    }
}

/* A triangle on its tip, the interval a bar under it. */
static void draw_pins(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    for (size_t i = 0; i < mark->count; i++) {
        const double *n = iwi_mark_item(mark, i);
        const double x = x_at(svg, n[0]), y = y_at(svg, n[1]);
        const double low = clipped(&svg->x, n[2]), high = clipped(&svg->x, n[3]);

        if (isnan(x) || isnan(y)) {
            continue;
        }
        (void)fputs("<g", svg->out);
        iwi_svg_colour(svg, "fill", mark->ink);
        (void)fputc('>', svg->out);
        if (high > low) {
            (void)fputs("<path fill-opacity=\".45\" d=\"", svg->out);
            write_pair(svg->out, 'M', low, y - 2.5);
            (void)fputc('H', svg->out);
            iwi_svg_pixels(svg->out, high);
            (void)fputs("v5H", svg->out);
            iwi_svg_pixels(svg->out, low);
            (void)fputs("z\"/>", svg->out);
        }
        (void)fputs("<path", svg->out);
        iwi_svg_colour(svg, "stroke", IWI_INK_GROUND);
        (void)fputs(" d=\"", svg->out);
        write_pair(svg->out, 'M', x, y);
        (void)fputs("l-6,-11h12z\"/>", svg->out);
        write_title(svg, mark, i);
        (void)fputs("</g>\n", svg->out);
    }
    write_names(svg, mark, 15.0);
}

void iwi_svg_mark(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    static void (*const drawers[IWI_MARK_KINDS])(const struct iwi_svg *, const struct iwi_mark *) = {
        [IWI_MARK_LINE] = draw_line, [IWI_MARK_STEP] = draw_line,    [IWI_MARK_DOTS] = draw_dots,
        [IWI_MARK_BAND] = draw_band, [IWI_MARK_RANGE] = draw_ranges, [IWI_MARK_BOX] = draw_boxes,
        [IWI_MARK_BAR] = draw_bars,  [IWI_MARK_RULE_X] = draw_rules, [IWI_MARK_RULE_Y] = draw_rules,
        [IWI_MARK_PIN] = draw_pins,  [IWI_MARK_CELLS] = draw_cells,
    };

    if (mark->count > 0) {
        drawers[mark->kind](svg, mark);
    }
}
