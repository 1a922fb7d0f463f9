/* Pictures in SVG within a page, for builds without the chart library.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html_svg.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "report/html.h"
#include "report/study_parts.h"

enum { LEFT = 66, RIGHT = 24, ABOVE = 26, BELOW = 46 };

/* ---- axes ---- */

static void add_tick(const struct iwi_axis *axis, double value, double ticks[IWI_SVG_TICKS], size_t *count)
{
    const double slack = axis->is_log ? 1e-9 * value : 1e-9 * (axis->high - axis->low);

    if (*count < IWI_SVG_TICKS && value >= axis->low - slack && value <= axis->high + slack) {
        ticks[(*count)++] = value;
    }
}

static size_t linear_ticks(const struct iwi_axis *axis, size_t wanted, double ticks[IWI_SVG_TICKS])
{
    const double raw = (axis->high - axis->low) / (double)wanted, power = pow(10.0, floor(log10(raw)));
    const double step = power * (raw <= power         ? 1.0
                                 : raw <= 2.0 * power ? 2.0
                                 : raw <= 5.0 * power ? 5.0
                                                      : 10.0);
    size_t count = 0;

    for (double i = ceil(axis->low / step - 1e-9); i * step <= axis->high * (1.0 + 1e-9); i++) {
        add_tick(axis, i * step, ticks, &count);
    }
    return count;
}

/* Each `stride`-th decade, and within a decade the first `parts` of 1, 2, 5. */
static size_t decade_ticks(const struct iwi_axis *axis, int stride, size_t parts, double ticks[IWI_SVG_TICKS])
{
    static const double factors[] = {1.0, 2.0, 5.0};
    size_t count = 0;

    for (int d = (int)floor(log10(axis->low)); d <= (int)ceil(log10(axis->high)); d++) {
        for (size_t i = 0; i < parts && d % stride == 0; i++) {
            add_tick(axis, factors[i] * pow(10.0, d), ticks, &count);
        }
    }
    return count;
}

static size_t binary_ticks(const struct iwi_axis *axis, size_t wanted, double ticks[IWI_SVG_TICKS])
{
    const int stride = 1 + (int)(log2(axis->high / axis->low) / (double)wanted);
    size_t count = 0;

    for (int p = (int)floor(log2(axis->low)); p <= (int)ceil(log2(axis->high)); p++) {
        if (p % stride == 0) {
            add_tick(axis, exp2(p), ticks, &count);
        }
    }
    return count;
}

size_t iwi_axis_ticks(const struct iwi_axis *axis, size_t wanted, double ticks[IWI_SVG_TICKS])
{
    const double decades = axis->is_log ? log10(axis->high / axis->low) : 0.0;
    size_t count;

    if (axis->is_binary) {
        return binary_ticks(axis, wanted, ticks);
    }
    if (!axis->is_log || decades < 0.6) {
        return linear_ticks(axis, wanted, ticks);
    }
    count = 3.0 * decades <= (double)wanted + 2.0 ? decade_ticks(axis, 1, 3, ticks) : 0;
    return count > 0 ? count : decade_ticks(axis, 1 + (int)(decades / (double)wanted), 1, ticks);
}

void iwi_axis_widen(struct iwi_axis *axis, double part)
{
    if (axis->is_log) {
        const double factor = pow(axis->high / axis->low, part);

        axis->low /= factor;
        axis->high *= factor;
    } else {
        const double more = (axis->high - axis->low) * part;

        axis->low -= more;
        axis->high += more;
    }
}

double iwi_axis_at(const struct iwi_axis *axis, double value)
{
    const double part = axis->is_log ? log(value / axis->low) / log(axis->high / axis->low)
                                     : (value - axis->low) / (axis->high - axis->low);

    return (axis->is_log && !(value > 0.0)) || !isfinite(part) ? NAN
                                                               : axis->from + part * (axis->to - axis->from);
}

/* ---- text of ticks ---- */

void iwi_tick_time(double ns, char buf[IWI_SVG_TEXT_SIZE])
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1.0, "ns"}, {1e-3, "ps"}};
    size_t i = 0;

    while (i < 4 && ns < 0.9999 * units[i].ns) {
        i++;
    }
    snprintf(buf, IWI_SVG_TEXT_SIZE, ns > 0.0 ? "%.4g %s" : "0", ns / units[i].ns, units[i].name);
}

void iwi_tick_ranks(double ranks, char buf[IWI_SVG_TEXT_SIZE])
{
    (void)iwi_ranks_text((uint64_t)llround(ranks), buf);
}

void iwi_tick_plain(double value, char buf[IWI_SVG_TEXT_SIZE])
{
    snprintf(buf, IWI_SVG_TEXT_SIZE, "%.7g", value + 0.0); /* no -0 */
}

void iwi_tick_times(double factor, char buf[IWI_SVG_TEXT_SIZE])
{
    snprintf(buf, IWI_SVG_TEXT_SIZE, "%.4g\xc3\x97", factor);
}

void iwi_tick_percent(double share, char buf[IWI_SVG_TEXT_SIZE])
{
    snprintf(buf, IWI_SVG_TEXT_SIZE, "%.4g %%", 100.0 * share + 0.0);
}

void iwi_tick_frequency(double hz, char buf[IWI_SVG_TEXT_SIZE])
{
    snprintf(buf, IWI_SVG_TEXT_SIZE, hz < 1000.0 ? "%.4g Hz" : "%.4g kHz", hz < 1000.0 ? hz : hz / 1000.0);
}

void iwi_tick_power(double power, char buf[IWI_SVG_TEXT_SIZE])
{
    const double decade = floor(log10(power) + 1e-9);

    snprintf(buf, IWI_SVG_TEXT_SIZE, "%.2ge%.0f", power / pow(10.0, decade), decade);
}

/* ---- shapes ---- */

/* A tenth of a pixel is enough, and no locale writes it with a comma. */
static void write_pixels(FILE *out, double pixels)
{
    const long tenths = lround(pixels * 10.0);

    (void)fprintf(out, "%s%ld.%ld", tenths < 0 ? "-" : "", labs(tenths) / 10, labs(tenths) % 10);
}

static void write_attribute(FILE *out, const char *name, double pixels)
{
    (void)fprintf(out, " %s=\"", name);
    write_pixels(out, pixels);
    (void)fputc('"', out);
}

static void write_line(FILE *out, double x1, double y1, double x2, double y2, const char *attributes)
{
    if (isnan(x1) || isnan(y1) || isnan(x2) || isnan(y2)) {
        return;
    }
    (void)fputs("<line", out);
    write_attribute(out, "x1", x1);
    write_attribute(out, "y1", y1);
    write_attribute(out, "x2", x2);
    write_attribute(out, "y2", y2);
    (void)fprintf(out, " %s/>\n", attributes);
}

static void write_text(FILE *out, double x, double y, const char *attributes, const char *text)
{
    (void)fputs("<text", out);
    write_attribute(out, "x", x);
    write_attribute(out, "y", y);
    (void)fprintf(out, " %s>", attributes);
    iwi_html_text(out, text);
    (void)fputs("</text>\n", out);
}

const char *iwi_svg_colour(long style)
{
    static const char *const colours[] = {"var(--series-0)", "var(--series-1)", "var(--series-2)",
                                          "var(--series-3)", "var(--series-4)", "var(--series-5)",
                                          "var(--series-6)", "var(--series-7)"};

    return colours[(size_t)style % (sizeof colours / sizeof colours[0])];
}

void iwi_svg_line(struct iwi_svg *svg, double x1, double y1, double x2, double y2, const char *attributes)
{
    write_line(svg->out, iwi_axis_at(&svg->x, x1), iwi_axis_at(&svg->y, y1), iwi_axis_at(&svg->x, x2),
               iwi_axis_at(&svg->y, y2), attributes);
}

void iwi_svg_box(struct iwi_svg *svg, double x1, double y1, double x2, double y2, const char *colour,
                 double opacity)
{
    const double left = iwi_axis_at(&svg->x, x1), right = iwi_axis_at(&svg->x, x2);
    const double up = iwi_axis_at(&svg->y, y2), down = iwi_axis_at(&svg->y, y1);

    if (isnan(left) || isnan(right) || isnan(up) || isnan(down)) {
        return;
    }
    (void)fputs("<rect", svg->out);
    write_attribute(svg->out, "x", fmin(left, right));
    write_attribute(svg->out, "y", fmin(up, down));
    write_attribute(svg->out, "width", fabs(right - left));
    write_attribute(svg->out, "height", fabs(down - up));
    (void)fprintf(svg->out, " fill=\"%s\" stroke=\"%s\" fill-opacity=\"", colour, colour);
    write_pixels(svg->out, opacity);
    (void)fputs("\"/>\n", svg->out);
}

void iwi_svg_dot(struct iwi_svg *svg, double x, double y, double radius, const char *colour)
{
    const double at = iwi_axis_at(&svg->x, x), height = iwi_axis_at(&svg->y, y);

    if (!isnan(at) && !isnan(height)) {
        (void)fputs("<circle", svg->out);
        write_attribute(svg->out, "cx", at);
        write_attribute(svg->out, "cy", height);
        write_attribute(svg->out, "r", radius);
        (void)fprintf(svg->out, " fill=\"%s\"/>\n", colour);
    }
}

void iwi_svg_mark(struct iwi_svg *svg, double x, double y, const char *colour)
{
    const double at = iwi_axis_at(&svg->x, x), height = iwi_axis_at(&svg->y, y);

    if (!isnan(at) && !isnan(height)) {
        (void)fputs("<path d=\"M", svg->out);
        write_pixels(svg->out, at);
        (void)fputc(',', svg->out);
        write_pixels(svg->out, height);
        (void)fprintf(svg->out, "l-6,-11h12z\" fill=\"%s\" stroke=\"var(--ground)\"/>\n", colour);
    }
}

void iwi_svg_text(struct iwi_svg *svg, double x, double y, const char *colour, const char *text)
{
    char attributes[64];

    snprintf(attributes, sizeof attributes, "fill=\"%s\"", colour);
    write_text(svg->out, iwi_axis_at(&svg->x, x) + 5.0, iwi_axis_at(&svg->y, y) - 5.0, attributes, text);
}

void iwi_svg_name_mark(struct iwi_svg *svg, double x, double y, const char *colour, const char *text)
{
    const double at = iwi_axis_at(&svg->x, x), height = iwi_axis_at(&svg->y, y);
    const char *anchor = at < LEFT + 60 ? "start" : at > IWI_SVG_WIDTH - RIGHT - 60 ? "end" : "middle";
    char attributes[96];

    if (!isnan(at) && !isnan(height)) {
        snprintf(attributes, sizeof attributes, "fill=\"%s\" text-anchor=\"%s\"", colour, anchor);
        write_text(svg->out, at, height - 15.0, attributes, text);
    }
}

void iwi_svg_path_begin(struct iwi_svg *svg)
{
    (void)fputs("<path d=\"", svg->out);
}

void iwi_svg_path_point(struct iwi_svg *svg, char command, double x, double y)
{
    const double at = iwi_axis_at(&svg->x, x), height = iwi_axis_at(&svg->y, y);

    if (!isnan(at) && !isnan(height)) {
        (void)fputc(command, svg->out);
        write_pixels(svg->out, at);
        (void)fputc(',', svg->out);
        write_pixels(svg->out, height);
    }
}

void iwi_svg_path_end(struct iwi_svg *svg, const char *attributes)
{
    (void)fprintf(svg->out, "\" %s/>\n", attributes);
}

/* ---- frame ---- */

static const char GRID[] = "stroke=\"var(--rule)\"";

/* Texts of class "spare" are left out where there is no room: web/report.css. */
static void write_x_axis(const struct iwi_svg *svg, int height)
{
    double ticks[IWI_SVG_TICKS];
    const size_t count = svg->x.tick_text != NULL ? iwi_axis_ticks(&svg->x, 6, ticks) : 0;
    char text[IWI_SVG_TEXT_SIZE];

    for (size_t i = 0; i < count; i++) {
        const double at = iwi_axis_at(&svg->x, ticks[i]);

        write_line(svg->out, at, svg->y.from, at, svg->y.to, GRID);
        svg->x.tick_text(ticks[i], text);
        write_text(svg->out, at, height - BELOW + 18,
                   i % 2 == 0 ? "text-anchor=\"middle\"" : "text-anchor=\"middle\" class=\"spare\"", text);
    }
    write_text(svg->out, (LEFT + IWI_SVG_WIDTH - RIGHT) / 2.0, height - 8, "text-anchor=\"middle\"",
               svg->x.label);
}

static void write_y_axis(const struct iwi_svg *svg)
{
    double ticks[IWI_SVG_TICKS];
    const size_t count = svg->y.tick_text != NULL ? iwi_axis_ticks(&svg->y, 7, ticks) : 0;
    char text[IWI_SVG_TEXT_SIZE];

    for (size_t i = 0; i < count; i++) {
        const double at = iwi_axis_at(&svg->y, ticks[i]);

        write_line(svg->out, svg->x.from, at, svg->x.to, at, GRID);
        svg->y.tick_text(ticks[i], text);
        write_text(svg->out, LEFT - 7, at + 4.0, "text-anchor=\"end\"", text);
    }
    write_text(svg->out, 4, 14, "", svg->y.label);
}

void iwi_svg_begin(struct iwi_svg *svg, int height)
{
    svg->x.from = LEFT;
    svg->x.to = IWI_SVG_WIDTH - RIGHT;
    svg->y.from = height - BELOW;
    svg->y.to = ABOVE;
    (void)fprintf(svg->out,
                  "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" aria-hidden=\"true\" "
                  "fill=\"currentColor\" font-size=\"13\">\n",
                  IWI_SVG_WIDTH, height, IWI_SVG_WIDTH, height);
    write_x_axis(svg, height);
    write_y_axis(svg);
}

void iwi_svg_end(struct iwi_svg *svg)
{
    (void)fputs("</svg>\n", svg->out);
}
