/* Static plots of pages, for builds without the chart library: the kinds, and what they share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html_static.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/html.h"
#include "report/html_svg.h"

static const struct {
    const char *kind;
    void (*write)(FILE *out, const json_t *data);
} kinds[] = {
    {"curves", iwi_static_curves},       {"boxes", iwi_static_boxes}, {"scatter", iwi_static_scatter},
    {"histogram", iwi_static_histogram}, {"ecdf", iwi_static_ecdf},   {"split", iwi_static_split},
    {"spectrum", iwi_static_spectrum},
};

double iwi_static_number(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

double iwi_static_item(const json_t *array, size_t index)
{
    return iwi_static_number(json_array_get(array, index));
}

static void write_legend(FILE *out, const json_t *all)
{
    (void)fputs("<ul class=\"legend\">\n", out);
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *series = json_array_get(all, i);

        (void)fprintf(out,
                      "<li><svg width=\"18\" height=\"12\" aria-hidden=\"true\"><rect y=\"3\" width=\"18\" "
                      "height=\"6\" fill=\"%s\"/></svg>",
                      iwi_svg_colour((long)json_integer_value(json_object_get(series, "style"))));
        iwi_html_text(out, json_string_value(json_object_get(series, "label")));
        (void)fputs("</li>\n", out);
    }
    (void)fputs("</ul>\n", out);
}

void iwi_html_static_plot(FILE *out, const json_t *data)
{
    const char *kind = json_string_value(json_object_get(data, "kind"));
    const json_t *series = json_object_get(data, "series");

    if (json_array_size(series) > 1) {
        write_legend(out, series);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].kind, kind) == 0) {
            kinds[i].write(out, data);
        }
    }
}
