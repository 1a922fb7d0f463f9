/* Static plots of recordings and of single simulations.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html_static.h"

#include <math.h>

#include "base/base.h"
#include "report/html_svg.h"

enum { ATTRIBUTES_SIZE = 160 };

/* ---- recordings ---- */

/* All points of a series are one path: lines of no length with round ends. */
static void write_cloud(struct iwi_svg *svg, const json_t *series)
{
    const json_t *points = json_object_get(series, "points");
    char attributes[ATTRIBUTES_SIZE];

    iwi_svg_path_begin(svg);
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);

        iwi_svg_path_point(svg, 'M', iwi_static_item(point, 0), iwi_static_item(point, 1));
        (void)fputs("h0", svg->out);
    }
    snprintf(attributes, sizeof attributes, "stroke=\"%s\" stroke-width=\"2.5\" stroke-linecap=\"round\"",
             iwi_svg_colour((long)json_integer_value(json_object_get(series, "style"))));
    iwi_svg_path_end(svg, attributes);
}

void iwi_static_scatter(FILE *out, const json_t *data)
{
    const json_t *all = json_object_get(data, "series");
    struct iwi_svg svg = {
        .out = out,
        .x = {.label = "Time [s]",
              .high = fmax(iwi_static_number(json_object_get(data, "length")), 1e-9),
              .tick_text = iwi_tick_plain},
        .y = {.label = "Length", .low = INFINITY, .is_log = true, .tick_text = iwi_tick_time},
    };

    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *points = json_object_get(json_array_get(all, i), "points");

        for (size_t k = 0; k < json_array_size(points); k++) {
            const double ns = iwi_static_item(json_array_get(points, k), 1);

            svg.y.low = fmin(svg.y.low, ns / 1.2);
            svg.y.high = fmax(svg.y.high, ns * 1.2);
        }
    }
    iwi_svg_begin(&svg, 350);
    for (size_t i = 0; i < json_array_size(all); i++) {
        write_cloud(&svg, json_array_get(all, i));
    }
    iwi_svg_end(&svg);
}

void iwi_static_histogram(FILE *out, const json_t *data)
{
    const double least = 0.7; /* so that a bar of one still has a height */
    const json_t *bins = json_object_get(data, "bins");
    const size_t count = json_array_size(bins);
    struct iwi_svg svg = {
        .out = out,
        .x = {.label = "Length",
              .low = iwi_static_item(json_array_get(bins, 0), 0),
              .high = iwi_static_item(json_array_get(bins, count - 1), 1),
              .is_log = true,
              .tick_text = iwi_tick_time},
        .y = {.label = "Count", .low = least, .high = 1.3, .is_log = true, .tick_text = iwi_tick_plain},
    };

    for (size_t i = 0; i < count; i++) {
        svg.y.high = fmax(svg.y.high, 1.3 * iwi_static_item(json_array_get(bins, i), 2));
    }
    iwi_svg_begin(&svg, 280);
    for (size_t i = 0; i < count; i++) {
        const json_t *bin = json_array_get(bins, i);

        if (iwi_static_item(bin, 2) > 0.0) {
            iwi_svg_box(&svg, iwi_static_item(bin, 0), least, iwi_static_item(bin, 1),
                        iwi_static_item(bin, 2), iwi_svg_colour(0), 0.5);
        }
    }
    iwi_svg_end(&svg);
}

/* ---- single simulations ---- */

void iwi_static_spread(FILE *out, const json_t *data)
{
    const json_t *values = json_object_get(data, "values");
    const double least = iwi_static_item(values, 0), median = iwi_static_item(values, 2);
    const double most = iwi_static_item(values, 4);
    const double noiseless = iwi_static_number(json_object_get(data, "noiseless"));
    const char *colour = iwi_svg_colour(0);
    struct iwi_svg svg = {
        .out = out,
        .x = {.label = "Time", .low = fmin(least, noiseless), .high = most, .tick_text = iwi_tick_time},
        .y = {.label = "", .high = 1.0},
    };

    if (!(svg.x.high > svg.x.low)) {
        svg.x.high = svg.x.low + 1.0;
    }
    iwi_axis_widen(&svg.x, 0.05);
    iwi_svg_begin(&svg, 160);
    iwi_svg_line(&svg, noiseless, 0.0, noiseless, 1.0, "stroke=\"currentColor\" stroke-dasharray=\"2,3\"");
    iwi_svg_text(&svg, noiseless, 1.0, "currentColor", "without noise");
    iwi_svg_line(&svg, least, 0.5, most, 0.5, "stroke=\"var(--series-0)\"");
    iwi_svg_box(&svg, iwi_static_item(values, 1), 0.25, iwi_static_item(values, 3), 0.75, colour, 0.3);
    iwi_svg_line(&svg, median, 0.25, median, 0.75, "stroke=\"var(--series-0)\" stroke-width=\"3\"");
    iwi_svg_end(&svg);
}

static double sum_of(const json_t *values)
{
    double sum = 0.0;

    for (size_t i = 0; i < json_array_size(values); i++) {
        sum += iwi_static_item(values, i);
    }
    return sum;
}

void iwi_static_split(FILE *out, const json_t *data)
{
    const json_t *bars = json_object_get(data, "bars");
    const double count = (double)json_array_size(bars);
    struct iwi_svg svg = {
        .out = out,
        .x = {.label = "Time", .high = 1.0, .tick_text = iwi_tick_time},
        .y = {.label = "", .high = count},
    };

    for (size_t b = 0; b < json_array_size(bars); b++) {
        svg.x.high = fmax(svg.x.high, sum_of(json_object_get(json_array_get(bars, b), "values")));
    }
    iwi_svg_begin(&svg, 220);
    for (size_t b = 0; b < json_array_size(bars); b++) {
        const json_t *values = json_object_get(json_array_get(bars, b), "values");
        const double bottom = count - 1.0 - (double)b;
        double from = 0.0;

        iwi_svg_text(&svg, 0.0, bottom + 0.65, "currentColor",
                     json_string_value(json_object_get(json_array_get(bars, b), "label")));
        for (size_t i = 0; i < json_array_size(values); i++) {
            const double to = from + iwi_static_item(values, i);

            iwi_svg_box(&svg, from, bottom + 0.05, to, bottom + 0.65, iwi_svg_colour((long)i), 0.8);
            from = to;
        }
    }
    iwi_svg_end(&svg);
}
