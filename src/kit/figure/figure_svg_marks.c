/* Marks of figures as SVG that are lines and signs, and the pieces that all marks are made of.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Items that can be told apart carry a <title>: browsers show it under the mouse.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "kit/figure/figure_svg.h"
#include "kit/text/words.h"

enum { NAME_ROOM = 90 };

static const char *const dashes[] = {
    [IWI_SOLID] = "", [IWI_DASHED] = " stroke-dasharray=\"6,4\"", [IWI_DOTTED] = " stroke-dasharray=\"2,3\""};

/* By hand: a page has a hundred thousand of them. */
void iwi_svg_pixels(FILE *out, double pixels)
{
    const long tenths = lround(pixels * 10.0);
    unsigned long rest = (unsigned long)labs(tenths);
    char text[24];
    size_t at = sizeof text;

    if (rest % 10 != 0) {
        text[--at] = (char)('0' + rest % 10);
        text[--at] = '.';
    }
    for (rest /= 10; rest > 0 || at == sizeof text || text[at] == '.'; rest /= 10) {
        text[--at] = (char)('0' + rest % 10);
    }
    if (tenths < 0) {
        text[--at] = '-';
    }
    (void)fwrite(&text[at], 1, sizeof text - at, out);
}

void iwi_svg_colour(const struct iwi_svg *svg, const char *name, enum iwi_ink ink)
{
    if (svg->is_file) {
        (void)fprintf(svg->out, " %s=\"#%06x\"", name, (unsigned)iwi_ink_rgb(ink));
    } else {
        (void)fprintf(svg->out, " %s=\"var(%s)\"", name, iwi_ink_css(ink));
    }
}

void iwi_svg_text(const struct iwi_svg *svg, double x, double y, const char *attributes, enum iwi_ink ink,
                  const char *text)
{
    (void)fputs("<text x=\"", svg->out);
    iwi_svg_pixels(svg->out, x);
    (void)fputs("\" y=\"", svg->out);
    iwi_svg_pixels(svg->out, y);
    (void)fputs("\" ", svg->out);
    (void)fputs(attributes, svg->out);
    if (ink != IWI_INK_TEXT) {
        iwi_svg_colour(svg, "fill", ink);
    }
    (void)fputc('>', svg->out);
    iwi_html_text(svg->out, text);
    (void)fputs("</text>\n", svg->out);
}

double iwi_svg_x(const struct iwi_svg *svg, double value)
{
    return iwi_scale_at(&svg->x, value);
}

double iwi_svg_y(const struct iwi_svg *svg, double value)
{
    return iwi_scale_at(&svg->y, value);
}

/* What lies below a logarithmic axis, or outside, ends at its edge. */
double iwi_svg_clipped(const struct iwi_scale *scale, double value)
{
    const double place = iwi_scale_at(scale, value);

    if (isnan(value)) {
        return NAN;
    }
    return isnan(place) ? scale->from
                        : fmin(fmax(place, fmin(scale->from, scale->to)), fmax(scale->from, scale->to));
}

void iwi_svg_pair(FILE *out, char command, double x, double y)
{
    (void)fputc(command, out);
    iwi_svg_pixels(out, x);
    (void)fputc(',', out);
    iwi_svg_pixels(out, y);
}

void iwi_svg_upright(const struct iwi_svg *svg, double x, double from, double to)
{
    iwi_svg_pair(svg->out, 'M', x, from);
    (void)fputc('V', svg->out);
    iwi_svg_pixels(svg->out, to);
}

void iwi_svg_title(const struct iwi_svg *svg, const struct iwi_mark *mark, size_t item)
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
        const double x = iwi_svg_x(svg, n[0]), y = iwi_svg_clipped(&svg->y, n[1]);
        const bool is_below = n[1] < svg->y.low;

        if (isnan(x) || isnan(y) || (is_below && was_below)) {
            continue;
        }
        was_below = is_below;
        if (is_begun && mark->kind == IWI_MARK_STEP) {
            (void)fputc('H', svg->out);
            iwi_svg_pixels(svg->out, x);
        }
        iwi_svg_pair(svg->out, is_begun ? 'L' : 'M', x, y);
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
        iwi_svg_pair(svg->out, 'L', last, svg->y.from);
        iwi_svg_pair(svg->out, 'L', first, svg->y.from);
        (void)fputc('z', svg->out);
    }
    (void)fputs("\"/>\n", svg->out);
}

static bool is_crowd(const struct iwi_mark *mark)
{
    return mark->kind == IWI_MARK_DOTS && mark->count > IWI_MOST_SIGNS;
}

/* Each series has a sign of its own, so that colour is not all that tells it; many dots are round. */
void iwi_svg_sign(const struct iwi_svg *svg, const struct iwi_mark *mark, double x, double y)
{
    static const char *const shapes[] = {"m-3.2,0a3.2,3.2 0 1 0 6.4,0a3.2,3.2 0 1 0-6.4,0z", "m-3,-3h6v6h-6z",
                                         "m0,-4l4,7h-8z", "m0,-4.4l4,4.4l-4,4.4l-4,-4.4z"};

    (void)fputs("<path d=\"", svg->out);
    iwi_svg_pair(svg->out, 'M', x, y);
    (void)fprintf(svg->out, "%s\"",
                  shapes[is_crowd(mark) ? 0 : mark->ink % (sizeof shapes / sizeof shapes[0])]);
}

static void write_signs(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    (void)fputs("<g", svg->out);
    iwi_svg_colour(svg, "fill", mark->ink);
    (void)fputs(">\n", svg->out);
    for (size_t i = 0; i < mark->count; i++) {
        const double *n = iwi_mark_item(mark, i);
        const double x = iwi_svg_x(svg, n[0]), y = iwi_svg_y(svg, n[1]);

        if (!isnan(x) && !isnan(y)) {
            iwi_svg_sign(svg, mark, x, y);
            (void)fputc('>', svg->out);
            iwi_svg_title(svg, mark, i);
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
    if (!is_crowd(mark)) {
        write_signs(svg, mark);
        return;
    }
    (void)fprintf(svg->out, "<path stroke-linecap=\"round\" %s",
                  mark->is_thin                       ? "stroke-width=\"2\" stroke-opacity=\".75\""
                  : mark->count > IWI_MOST_LARGE_DOTS ? "stroke-width=\"2.6\" stroke-opacity=\".75\""
                                                      : "stroke-width=\"4.6\"");
    iwi_svg_colour(svg, "stroke", mark->ink);
    (void)fputs(" d=\"", svg->out);
    for (size_t i = 0; i < mark->count; i++) {
        const double *n = iwi_mark_item(mark, i);
        const double x = iwi_svg_x(svg, n[0]), y = iwi_svg_y(svg, n[1]);

        if (!isnan(x) && !isnan(y)) {
            iwi_svg_pair(svg->out, 'M', x, y);
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
        const double x = iwi_svg_x(svg, n[0]), y = iwi_svg_clipped(&svg->y, n[i < mark->count ? 1 : 2]);

        if (!isnan(x) && !isnan(y)) {
            iwi_svg_pair(svg->out, is_begun ? 'L' : 'M', x, y);
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
        const double x = iwi_svg_x(svg, n[0]), low = iwi_svg_y(svg, n[1]), high = iwi_svg_y(svg, n[2]);

        if (!isnan(x) && !isnan(low) && !isnan(high)) {
            iwi_svg_upright(svg, x, low, high);
        }
    }
    (void)fputs("\"/>\n", svg->out);
}

/* ---- names ---- */

/* Names above what is marked, as far as there is room beside the one before. */
void iwi_svg_names(const struct iwi_svg *svg, const struct iwi_mark *mark, double above)
{
    double placed[IWI_MOST_TICKS];
    size_t count = 0;

    for (size_t i = 0; i < mark->count && count < IWI_MOST_TICKS; i++) {
        const double *n = iwi_mark_item(mark, i);
        const double x = mark->kind == IWI_MARK_BAR ? (iwi_svg_x(svg, n[0]) + iwi_svg_x(svg, n[1])) / 2.0
                                                    : iwi_svg_x(svg, n[0]);
        const double y = iwi_svg_y(svg, n[mark->kind == IWI_MARK_BAR ? 3 : 1]);
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
        iwi_svg_pair(svg->out, 'M', is_upright ? at : svg->x.from, is_upright ? svg->y.from : at);
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
        const double x = iwi_svg_x(svg, n[0]), y = iwi_svg_y(svg, n[1]);
        const double low = iwi_svg_clipped(&svg->x, n[2]), high = iwi_svg_clipped(&svg->x, n[3]);

        if (isnan(x) || isnan(y)) {
            continue;
        }
        (void)fputs("<g", svg->out);
        iwi_svg_colour(svg, "fill", mark->ink);
        (void)fputc('>', svg->out);
        if (high > low) {
            (void)fputs("<path fill-opacity=\".45\" d=\"", svg->out);
            iwi_svg_pair(svg->out, 'M', low, y - 2.5);
            (void)fputc('H', svg->out);
            iwi_svg_pixels(svg->out, high);
            (void)fputs("v5H", svg->out);
            iwi_svg_pixels(svg->out, low);
            (void)fputs("z\"/>", svg->out);
        }
        (void)fputs("<path", svg->out);
        iwi_svg_colour(svg, "stroke", IWI_INK_GROUND);
        (void)fputs(" d=\"", svg->out);
        iwi_svg_pair(svg->out, 'M', x, y);
        (void)fputs("l-6,-11h12z\"/>", svg->out);
        iwi_svg_title(svg, mark, i);
        (void)fputs("</g>\n", svg->out);
    }
    iwi_svg_names(svg, mark, 15.0);
}

void iwi_svg_line_mark(const struct iwi_svg *svg, const struct iwi_mark *mark)
{
    static void (*const drawers[IWI_MARK_KINDS])(const struct iwi_svg *, const struct iwi_mark *) = {
        [IWI_MARK_LINE] = draw_line, [IWI_MARK_STEP] = draw_line,    [IWI_MARK_DOTS] = draw_dots,
        [IWI_MARK_BAND] = draw_band, [IWI_MARK_RANGE] = draw_ranges, [IWI_MARK_RULE_X] = draw_rules,
        [IWI_MARK_PIN] = draw_pins,  [IWI_MARK_RULE_Y] = draw_rules,
    };

    drawers[mark->kind](svg, mark);
}
