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

static const char *text_or(const json_t *data, const char *key, const char *other)
{
    const char *text = json_string_value(json_object_get(data, key));

    return text != NULL ? text : other;
}

/* Item `item` of a bin is its count, or how many of it are marked. */
static void write_bar(struct iwi_svg *svg, const json_t *bin, size_t item, const char *colour, double opacity)
{
    if (iwi_static_item(bin, item) > 0.0) {
        iwi_svg_box(svg, iwi_static_item(bin, 0), svg->y.low, iwi_static_item(bin, 1),
                    iwi_static_item(bin, item), colour, opacity);
    }
}

/* What is marked has a name; where there is no room beside the one before, the table below has it. */
static void write_bin_names(struct iwi_svg *svg, const json_t *bins)
{
    const double room = 90.0;
    double last = -room;

    for (size_t i = 0; i < json_array_size(bins); i++) {
        const json_t *bin = json_array_get(bins, i);
        const char *name = json_string_value(json_array_get(bin, 4));
        const double middle = sqrt(iwi_static_item(bin, 0) * iwi_static_item(bin, 1)),
                     at = iwi_axis_at(&svg->x, middle);

        if (name != NULL && name[0] != '\0' && at - last >= room) {
            iwi_svg_name_mark(svg, middle, iwi_static_item(bin, 2), "var(--mark)", name);
            last = at;
        }
    }
}

void iwi_static_histogram(FILE *out, const json_t *data)
{
    const double least = 0.7; /* so that a bar of one still has a height */
    const bool is_share = json_is_true(json_object_get(data, "is_share"));
    const json_t *bins = json_object_get(data, "bins"), *range = json_object_get(data, "range");
    const size_t count = json_array_size(bins);
    struct iwi_svg svg = {
        .out = out,
        .x = {.label = text_or(data, "label", "Length"),
              .low = range != NULL ? iwi_static_item(range, 0) : iwi_static_item(json_array_get(bins, 0), 0),
              .high = range != NULL ? iwi_static_item(range, 1)
                                    : iwi_static_item(json_array_get(bins, count - 1), 1),
              .is_log = true,
              .tick_text = is_share ? iwi_tick_percent : iwi_tick_time},
        .y = {.label = text_or(data, "count_label", "Count"),
              .low = least,
              .high = 1.3,
              .is_log = true,
              .tick_text = iwi_tick_plain},
    };

    for (size_t i = 0; i < count; i++) {
        svg.y.high = fmax(svg.y.high, 1.3 * iwi_static_item(json_array_get(bins, i), 2));
    }
    iwi_svg_begin(&svg, 280);
    for (size_t i = 0; i < count; i++) {
        write_bar(&svg, json_array_get(bins, i), 2, iwi_svg_colour(0), 0.5);
        write_bar(&svg, json_array_get(bins, i), 3, "var(--mark)", 1.0);
    }
    write_bin_names(&svg, bins);
    iwi_svg_end(&svg);
}

/* The curve that item `item` of the points makes. */
static void write_powers(struct iwi_svg *svg, const json_t *points, size_t item, const char *attributes)
{
    bool is_first = true;

    iwi_svg_path_begin(svg);
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        const double power = iwi_static_item(point, item);

        if (power > 0.0) {
            iwi_svg_path_point(svg, is_first ? 'M' : 'L', iwi_static_item(point, 0), fmax(power, svg->y.low));
            is_first = false;
        }
    }
    iwi_svg_path_end(svg, attributes);
}

/* The strongest lines, each with its frequency, as far as there is room for the texts. */
static void write_line_marks(struct iwi_svg *svg, const json_t *lines)
{
    enum { MOST_LABELS = 8 };
    const double room = 130.0;
    double placed[MOST_LABELS];
    size_t labels = 0;

    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        const double hz = iwi_static_item(line, 0), power = iwi_static_item(line, 1);
        const double place = iwi_axis_at(&svg->x, hz);
        bool is_free = labels < MOST_LABELS;

        for (size_t k = 0; k < labels; k++) {
            is_free = is_free && fabs(placed[k] - place) > room;
        }
        iwi_svg_mark(svg, hz, power, "var(--mark)");
        if (is_free) {
            placed[labels++] = place;
            iwi_svg_name_mark(svg, hz, power, "var(--mark)", json_string_value(json_array_get(line, 2)));
        }
    }
}

void iwi_static_spectrum(FILE *out, const json_t *data)
{
    const json_t *frequencies = json_object_get(data, "frequencies"),
                 *powers = json_object_get(data, "powers");
    const json_t *points = json_object_get(data, "points"), *lines = json_object_get(data, "lines");
    struct iwi_svg svg = {
        .out = out,
        .x = {.label = "Frequency",
              .low = iwi_static_item(frequencies, 0),
              .high = iwi_static_item(frequencies, 1),
              .is_log = true,
              .tick_text = iwi_tick_frequency},
        .y = {.label = "Power of the share of time lost [1/Hz]",
              .low = iwi_static_item(powers, 0),
              .high = iwi_static_item(powers, 1),
              .is_log = true,
              .tick_text = iwi_tick_power},
    };

    svg.y.high *= pow(svg.y.high / svg.y.low, 0.08); /* room for the marks */
    iwi_svg_begin(&svg, 350);
    write_powers(&svg, points, 1, "fill=\"none\" stroke=\"var(--series-0)\" stroke-width=\"1.2\"");
    write_powers(&svg, points, 2, "fill=\"none\" stroke=\"var(--series-6)\" stroke-width=\"2\"");
    write_line_marks(&svg, lines);
    iwi_svg_end(&svg);
}

/* ---- single simulations ---- */

/* Shares of trials or ranks over time, as steps where each of them is known. */
static void write_shares(struct iwi_svg *svg, const json_t *points, bool is_steps)
{
    double before = 0.0;

    iwi_svg_path_begin(svg);
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        const double time = iwi_static_item(point, 0), share = iwi_static_item(point, 1);

        if (is_steps && i > 0) {
            iwi_svg_path_point(svg, 'L', time, before);
        }
        iwi_svg_path_point(svg, i == 0 ? 'M' : 'L', time, share);
        before = share;
    }
    iwi_svg_path_end(svg, "fill=\"none\" stroke=\"var(--series-0)\" stroke-width=\"2\"");
}

void iwi_static_ecdf(FILE *out, const json_t *data)
{
    const json_t *points = json_object_get(data, "points"), *interval = json_object_get(data, "interval");
    const double noiseless = iwi_static_number(json_object_get(data, "noiseless"));
    const double first = iwi_static_item(json_array_get(points, 0), 0);
    struct iwi_svg svg = {
        .out = out,
        .x = {.label = "Time",
              .low = fmin(first, isnan(noiseless) ? first : noiseless),
              .high = iwi_static_item(json_array_get(points, json_array_size(points) - 1), 0),
              .is_log = json_is_true(json_object_get(data, "log")),
              .tick_text = iwi_tick_time},
        .y = {.label = json_string_value(json_object_get(data, "label")),
              .high = 1.0,
              .tick_text = iwi_tick_percent},
    };

    if (!(svg.x.high > svg.x.low)) {
        svg.x.high = svg.x.low + fmax(svg.x.low * 0.1, 1.0);
        svg.x.low = fmax(svg.x.low * 0.9, 0.0);
    }
    iwi_axis_widen(&svg.x, 0.03);
    iwi_svg_begin(&svg, 300);
    if (json_is_array(interval)) {
        iwi_svg_box(&svg, iwi_static_item(interval, 0), 0.0, iwi_static_item(interval, 1), 1.0, "var(--mark)",
                    0.2);
    }
    if (!isnan(noiseless)) {
        iwi_svg_line(&svg, noiseless, 0.0, noiseless, 1.0,
                     "stroke=\"currentColor\" stroke-dasharray=\"2,3\"");
        iwi_svg_text(&svg, noiseless, 0.02, "currentColor", "without noise");
    }
    write_shares(&svg, points, json_is_true(json_object_get(data, "steps")));
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
