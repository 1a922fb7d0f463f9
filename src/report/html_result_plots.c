/* Figures of one simulation: how its makespans are distributed, what its critical path is made of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html_result.h"

#include <math.h>

#include "base/base.h"
#include "report/json_util.h"
#include "report/noise_parts.h"
#include "report/report.h"

/* ---- distribution ---- */

static const char *const quantiles[] = {"min", "q1", "median", "q3", "max"};
enum { QUANTILES = 5 };

static json_t *spread_data(const json_t *result)
{
    const json_t *time = json_object_get(result, "makespan_ns"), *interval = json_object_get(time, "ci95");
    json_t *values = json_array();

    for (size_t i = 0; i < QUANTILES; i++) {
        (void)json_array_append_new(values, iwi_html_number(iwi_result_number(time, quantiles[i])));
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "kind", "spread", "noiseless",
                     iwi_html_number(iwi_result_number(result, "noiseless_ns")), "values", values, "interval",
                     json_is_array(interval) ? json_deep_copy(interval) : json_null());
}

static void write_quantile(FILE *out, const char *name, double ns, double slowdown)
{
    char time[IWI_HTML_TIME_SIZE], factor[IWI_NUMBER_SIZE];

    iwi_html_row_begin(out);
    iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", name);
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_html_time(ns, time));
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                  isnan(slowdown) ? "-" : iwi_factor_text(1.0 + slowdown, factor));
    iwi_html_row_end(out);
}

static void write_spread_table(FILE *out, const void *arg)
{
    static const char *const names[QUANTILES] = {"Least", "Quarter", "Median", "3 quarters", "Most"};
    const json_t *result = arg, *time = json_object_get(result, "makespan_ns");
    const json_t *slowdown = json_object_get(result, "slowdown");

    iwi_html_head(out, true, "Trials");
    iwi_html_head(out, false, "Time");
    iwi_html_head(out, false, "Times as long as without noise");
    iwi_html_table_body(out);
    write_quantile(out, "Without noise", iwi_result_number(result, "noiseless_ns"), 0.0);
    for (size_t i = 0; i < QUANTILES; i++) {
        write_quantile(out, names[i], iwi_result_number(time, quantiles[i]),
                       iwi_result_number(slowdown, quantiles[i]));
    }
    write_quantile(out, "Mean", iwi_result_number(time, "mean"), iwi_result_number(slowdown, "mean"));
}

iw_status iwi_html_result_spread(struct iwi_html *html, const json_t *result)
{
    const json_t *time = json_object_get(result, "makespan_ns");
    char message[IWI_PARAGRAPH_SIZE] = "", text[4][IWI_HTML_TIME_SIZE];

    iwi_append(
        message,
        "Half of the trials take %s to %s, all of them %s to %s. Box: the middle half with the median; "
        "line: from the shortest to the longest; dotted: without noise.",
        iwi_html_time(iwi_result_number(time, "q1"), text[0]),
        iwi_html_time(iwi_result_number(time, "q3"), text[1]),
        iwi_html_time(iwi_result_number(time, "min"), text[2]),
        iwi_html_time(iwi_result_number(time, "max"), text[3]));
    return iwi_html_figure(html, &(struct iwi_figure){.title = "Times of the trials",
                                                      .message = message,
                                                      .data = spread_data(result),
                                                      .table_caption = "Times of the trials",
                                                      .write_table = write_spread_table,
                                                      .arg = result});
}

/* ---- critical path ---- */

/* Parts that no path has are left out of the plot. */
static bool is_used(const json_t *explain, const char *name)
{
    return iwi_result_number(json_object_get(explain, "parts"), name) > 0.0 ||
           iwi_result_number(json_object_get(explain, "mean_parts"), name) > 0.0;
}

static json_t *bar_data(const json_t *explain, const char *label, const char *which)
{
    json_t *parts = json_object_get(explain, "parts"), *values = json_array();
    const char *name;
    json_t *value;

    json_object_foreach(parts, name, value)
    {
        if (is_used(explain, name)) {
            (void)json_array_append_new(
                values, iwi_html_number(fmax(iwi_result_number(json_object_get(explain, which), name), 0.0)));
        }
    }
    return json_pack("{s:s, s:o}", "label", label, "values", values);
}

static json_t *split_data(const json_t *explain)
{
    json_t *parts = json_object_get(explain, "parts"), *series = json_array();
    const char *name;
    json_t *value;

    json_object_foreach(parts, name, value)
    {
        if (is_used(explain, name)) {
            (void)json_array_append_new(series, json_pack("{s:o, s:I}", "label", iwi_json_text(name), "style",
                                                          (json_int_t)json_array_size(series)));
        }
    }
    return json_pack("{s:s, s:o, s:[o, o]}", "kind", "split", "series", series, "bars",
                     bar_data(explain, "last rank", "parts"),
                     bar_data(explain, "average rank", "mean_parts"));
}

static double sum_of(json_t *parts)
{
    double sum = 0.0;
    const char *name;
    json_t *value;

    json_object_foreach(parts, name, value)
    {
        sum += json_number_value(value);
    }
    return fmax(sum, 1e-3);
}

static void write_split_table(FILE *out, const void *arg)
{
    json_t *parts = json_object_get(arg, "parts"), *means = json_object_get(arg, "mean_parts");
    const double sum = sum_of(parts), mean_sum = sum_of(means);
    char text[IWI_HTML_TIME_SIZE];
    const char *name;
    json_t *value;

    iwi_html_head(out, true, "Part");
    iwi_html_head(out, false, "Path of the last rank");
    iwi_html_head(out, false, "Share");
    iwi_html_head(out, false, "Path of the average rank");
    iwi_html_head(out, false, "Share");
    iwi_html_table_body(out);
    json_object_foreach(parts, name, value)
    {
        const double ns = json_number_value(value), mean_ns = iwi_result_number(means, name);

        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", name);
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_html_time(ns, text));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_percent_text(ns / sum, text));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_html_time(mean_ns, text));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_percent_text(mean_ns / mean_sum, text));
        iwi_html_row_end(out);
    }
}

static void write_split_message(const json_t *explain, char *message)
{
    json_t *parts = json_object_get(explain, "parts");
    const char *name, *largest = "nothing";
    double most = 0.0;
    char number[IWI_NUMBER_SIZE];
    json_t *value;

    json_object_foreach(parts, name, value)
    {
        if (json_number_value(value) > most) {
            most = json_number_value(value);
            largest = name;
        }
    }
    iwi_append(
        message,
        "The path of dependences that ends with the last rank, rank %.0f, in the trial with the median "
        "time: most of it, %s, is %.120s; it has %.0f messages.",
        iwi_result_number(explain, "last_rank"), iwi_percent_text(most / sum_of(parts), number), largest,
        iwi_result_number(explain, "hops"));
}

iw_status iwi_html_result_split(struct iwi_html *html, const json_t *explain)
{
    char message[IWI_PARAGRAPH_SIZE] = "";

    write_split_message(explain, message);
    return iwi_html_figure(html, &(struct iwi_figure){.title = "The critical path",
                                                      .message = message,
                                                      .data = split_data(explain),
                                                      .table_caption = "What the critical path is made of",
                                                      .write_table = write_split_table,
                                                      .arg = explain});
}
