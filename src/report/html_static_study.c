/* Static plots of studies: curves and boxes over ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html_static.h"

#include <math.h>

#include "base/base.h"
#include "report/html_svg.h"

enum { ATTRIBUTES_SIZE = 160 };

static long style_of(const json_t *object)
{
    return (long)json_integer_value(json_object_get(object, "style"));
}

static void include(struct iwi_axis *axis, double value)
{
    if (isfinite(value) && value > 0.0) {
        axis->low = fmin(axis->low, value);
        axis->high = fmax(axis->high, value);
    }
}

static struct iwi_axis empty_axis(const char *label)
{
    return (struct iwi_axis){.label = label, .low = INFINITY, .high = 0.0, .is_log = true};
}

/* Nothing to show, or one value only: still an axis. */
static void settle(struct iwi_axis *axis, double margin)
{
    if (axis->low > axis->high) {
        axis->low = axis->high = 1.0;
    }
    if (axis->low == axis->high) {
        axis->low /= 2.0;
        axis->high *= 2.0;
    }
    iwi_axis_widen(axis, margin);
}

static void include_ranks(struct iwi_axis *axis, const json_t *points)
{
    for (size_t i = 0; i < json_array_size(points); i++) {
        include(axis, iwi_static_item(json_array_get(points, i), 0));
    }
}

/* ---- curves ---- */

enum { AT_RANKS, AT_MEDIAN, AT_LOW, AT_HIGH };

/* The interval's bound, or the median where there is no interval. */
static double bound_of(const json_t *point, size_t which)
{
    const double bound = iwi_static_item(point, which);

    return isnan(bound) ? iwi_static_item(point, AT_MEDIAN) : bound;
}

static void write_curve(struct iwi_svg *svg, const json_t *series)
{
    const json_t *points = json_object_get(series, "points");
    const size_t count = json_array_size(points);
    const char *colour = iwi_svg_colour(style_of(series));
    char attributes[ATTRIBUTES_SIZE];

    snprintf(attributes, sizeof attributes, "fill=\"%s\" fill-opacity=\"0.25\"", colour);
    iwi_svg_path_begin(svg);
    for (size_t i = 0; i < 2 * count; i++) {
        const json_t *point = json_array_get(points, i < count ? i : 2 * count - 1 - i);

        iwi_svg_path_point(svg, i == 0 ? 'M' : 'L', iwi_static_item(point, AT_RANKS),
                           bound_of(point, i < count ? AT_LOW : AT_HIGH));
    }
    iwi_svg_path_end(svg, attributes);
    snprintf(attributes, sizeof attributes, "fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s", colour,
             style_of(series) < 8 ? "" : " stroke-dasharray=\"6,3\"");
    iwi_svg_path_begin(svg);
    for (size_t i = 0; i < count; i++) {
        const json_t *point = json_array_get(points, i);

        iwi_svg_path_point(svg, i == 0 ? 'M' : 'L', iwi_static_item(point, AT_RANKS),
                           iwi_static_item(point, AT_MEDIAN));
    }
    iwi_svg_path_end(svg, attributes);
}

static void write_inflection(struct iwi_svg *svg, const json_t *series, double dominated)
{
    const json_t *inflection = json_object_get(series, "inflection");
    const char *colour = iwi_svg_colour(style_of(series));
    char attributes[ATTRIBUTES_SIZE];

    if (json_is_array(inflection)) {
        snprintf(attributes, sizeof attributes, "stroke=\"%s\" stroke-width=\"5\" stroke-opacity=\"0.5\"",
                 colour);
        iwi_svg_line(svg, iwi_static_item(inflection, 1), dominated, iwi_static_item(inflection, 2),
                     dominated, attributes);
        iwi_svg_mark(svg, iwi_static_item(inflection, 0), dominated, colour);
    }
}

void iwi_static_curves(FILE *out, const json_t *data)
{
    const json_t *all = json_object_get(data, "series");
    const double dominated = 1.0 + iwi_static_number(json_object_get(data, "threshold"));
    struct iwi_svg svg = {
        .out = out, .x = empty_axis("Ranks"), .y = empty_axis("Time, times that without noise (median)")};

    svg.x.is_binary = true;
    svg.x.tick_text = iwi_tick_ranks;
    svg.y.tick_text = iwi_tick_times;
    include(&svg.y, 1.0);
    include(&svg.y, 1.15 * dominated);
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *points = json_object_get(json_array_get(all, i), "points");

        include_ranks(&svg.x, points);
        for (size_t k = 0; k < json_array_size(points); k++) {
            include(&svg.y, bound_of(json_array_get(points, k), AT_LOW));
            include(&svg.y, bound_of(json_array_get(points, k), AT_HIGH));
        }
    }
    settle(&svg.x, 0.02);
    settle(&svg.y, 0.04);
    iwi_svg_begin(&svg, 330);
    iwi_svg_line(&svg, svg.x.low, 1.0, svg.x.high, 1.0, "stroke=\"currentColor\"");
    iwi_svg_line(&svg, svg.x.low, dominated, svg.x.high, dominated,
                 "stroke=\"var(--mark)\" stroke-dasharray=\"5,4\"");
    iwi_svg_text(&svg, svg.x.low, dominated, "var(--mark)", "noise dominates");
    for (size_t i = 0; i < json_array_size(all); i++) {
        write_curve(&svg, json_array_get(all, i));
    }
    for (size_t i = 0; i < json_array_size(all); i++) {
        write_inflection(&svg, json_array_get(all, i), dominated);
    }
    iwi_svg_end(&svg);
}

/* ---- boxes ---- */

enum { BOX_RANKS, BOX_NOISELESS, BOX_MIN, BOX_P5, BOX_Q1, BOX_MEDIAN, BOX_Q3, BOX_P95, BOX_MAX };

/* Half a box's width as a factor of the ranks: a third of the way to the nearest neighbour. */
static double reach_of(const struct iwi_axis *x, const json_t *points)
{
    double nearest = pow(x->high / x->low, 0.1);

    for (size_t i = 1; i < json_array_size(points); i++) {
        const double step = iwi_static_item(json_array_get(points, i), BOX_RANKS) /
                            iwi_static_item(json_array_get(points, i - 1), BOX_RANKS);

        nearest = step > 1.0 ? fmin(nearest, step) : nearest;
    }
    return pow(nearest, 0.32);
}

static void write_box(struct iwi_svg *svg, const json_t *point, double reach, const char *colour)
{
    const double ranks = iwi_static_item(point, BOX_RANKS), median = iwi_static_item(point, BOX_MEDIAN);
    char attributes[ATTRIBUTES_SIZE];

    snprintf(attributes, sizeof attributes, "stroke=\"%s\"", colour);
    iwi_svg_line(svg, ranks, iwi_static_item(point, BOX_P5), ranks, iwi_static_item(point, BOX_Q1),
                 attributes);
    iwi_svg_line(svg, ranks, iwi_static_item(point, BOX_Q3), ranks, iwi_static_item(point, BOX_P95),
                 attributes);
    iwi_svg_box(svg, ranks / reach, iwi_static_item(point, BOX_Q1), ranks * reach,
                iwi_static_item(point, BOX_Q3), colour, 0.3);
    snprintf(attributes, sizeof attributes, "stroke=\"%s\" stroke-width=\"2.5\"", colour);
    iwi_svg_line(svg, ranks / reach, median, ranks * reach, median, attributes);
    iwi_svg_dot(svg, ranks, iwi_static_item(point, BOX_MIN), 1.4, colour);
    iwi_svg_dot(svg, ranks, iwi_static_item(point, BOX_MAX), 1.4, colour);
}

void iwi_static_boxes(FILE *out, const json_t *data)
{
    const json_t *points = json_object_get(data, "points"), *limits = json_object_get(data, "limits");
    const json_t *inflection = json_object_get(data, "inflection");
    struct iwi_svg svg = {.out = out, .x = empty_axis("Ranks"), .y = empty_axis("Time")};
    double reach;

    svg.x.is_binary = true;
    svg.x.tick_text = iwi_tick_ranks;
    svg.y.tick_text = iwi_tick_time;
    include_ranks(&svg.x, points);
    include(&svg.y, iwi_static_item(limits, 0));
    include(&svg.y, iwi_static_item(limits, 1));
    settle(&svg.x, 0.05);
    settle(&svg.y, 0.04);
    reach = reach_of(&svg.x, points);
    iwi_svg_begin(&svg, 350);
    if (json_is_array(inflection)) {
        iwi_svg_line(&svg, iwi_static_item(inflection, 0), svg.y.low, iwi_static_item(inflection, 0),
                     svg.y.high, "stroke=\"var(--mark)\" stroke-dasharray=\"5,4\"");
    }
    iwi_svg_path_begin(&svg);
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);

        iwi_svg_path_point(&svg, i == 0 ? 'M' : 'L', iwi_static_item(point, BOX_RANKS),
                           iwi_static_item(point, BOX_NOISELESS));
    }
    iwi_svg_path_end(&svg,
                     "fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\" stroke-dasharray=\"2,3\"");
    for (size_t i = 0; i < json_array_size(points); i++) {
        write_box(&svg, json_array_get(points, i), reach, iwi_svg_colour(style_of(data)));
    }
    iwi_svg_end(&svg);
}
