/* What the critical path of a simulation is made of, in one trial and on average, and what hurt most on it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html_result.h"

#include <math.h>

#include "base/base.h"
#include "report/json_util.h"

/* Of a part, on average over trials; NaN if that is not known. */
static double average_ns(const json_t *explain, const char *name)
{
    const json_t *parts = json_object_get(json_object_get(explain, "average"), "parts_ns");

    return iwi_result_number(json_object_get(parts, name), "mean");
}

/* Parts that no path has are left out of the plot. */
static bool is_used(const json_t *explain, const char *name)
{
    return iwi_result_number(json_object_get(explain, "parts"), name) > 0.0 ||
           iwi_result_number(json_object_get(explain, "mean_parts"), name) > 0.0 ||
           average_ns(explain, name) > 0.0;
}

static double part_ns(const json_t *explain, const char *which, const char *name)
{
    return iwi_result_number(json_object_get(explain, which), name);
}

/* `which`: the member of `explain` with its parts; NULL: the average. */
static json_t *bar_data(const json_t *explain, const char *label, const char *which)
{
    json_t *parts = json_object_get(explain, "parts"), *values = json_array();
    const char *name;
    json_t *value;

    json_object_foreach(parts, name, value)
    {
        if (is_used(explain, name)) {
            const double ns = which == NULL ? average_ns(explain, name) : part_ns(explain, which, name);

            (void)json_array_append_new(values, iwi_html_number(fmax(ns, 0.0)));
        }
    }
    return json_pack("{s:s, s:o}", "label", label, "values", values);
}

static json_t *split_data(const json_t *explain)
{
    json_t *parts = json_object_get(explain, "parts"), *series = json_array(), *bars;
    const char *name;
    json_t *value;

    json_object_foreach(parts, name, value)
    {
        if (is_used(explain, name)) {
            (void)json_array_append_new(series,
                                        json_pack("{s:o, s:I}", "label", iwi_json_text(iwi_part_words(name)),
                                                  "style", (json_int_t)json_array_size(series)));
        }
    }
    bars = json_pack("[o, o]", bar_data(explain, "last rank", "parts"),
                     bar_data(explain, "average rank", "mean_parts"));
    if (json_is_object(json_object_get(explain, "average"))) {
        (void)json_array_append_new(bars, bar_data(explain, "last rank, average of the trials", NULL));
    }
    return json_pack("{s:s, s:o, s:o}", "kind", "split", "series", series, "bars", bars);
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

static void write_average_cells(FILE *out, const json_t *explain, const char *name)
{
    const json_t *part =
        json_object_get(json_object_get(json_object_get(explain, "average"), "parts_ns"), name);
    const json_t *interval = json_object_get(part, "ci95");
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ns_time_text(iwi_result_number(part, "mean"), low));
    if (json_array_size(interval) == 2) {
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s to %s",
                      iwi_ns_time_text(json_number_value(json_array_get(interval, 0)), low),
                      iwi_ns_time_text(json_number_value(json_array_get(interval, 1)), high));
    } else {
        iwi_html_cell(out, IWI_CELL_NUMBER, "-");
    }
}

static void write_split_table(FILE *out, const void *arg)
{
    const bool has_average = json_is_object(json_object_get(arg, "average"));
    json_t *parts = json_object_get(arg, "parts"), *means = json_object_get(arg, "mean_parts");
    const double sum = sum_of(parts), mean_sum = sum_of(means);
    char text[IWI_NUMBER_SIZE];
    const char *name;
    json_t *value;

    iwi_html_head(out, true, "Part");
    iwi_html_head(out, false, "Path of the last rank");
    iwi_html_head(out, false, "Share");
    iwi_html_head(out, false, "Path of the average rank");
    iwi_html_head(out, false, "Share");
    if (has_average) {
        iwi_html_head(out, false, "Last rank, average of the trials");
        iwi_html_head(out, false, "95 %% CI");
    }
    iwi_html_table_body(out);
    json_object_foreach(parts, name, value)
    {
        const double ns = json_number_value(value), mean_ns = iwi_result_number(means, name);

        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", iwi_part_words(name));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ns_time_text(ns, text));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_percent_text(ns / sum, text));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ns_time_text(mean_ns, text));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_percent_text(mean_ns / mean_sum, text));
        if (has_average) {
            write_average_cells(out, arg, name);
        }
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
    iwi_append(message,
               "The path of dependences that ends with the last rank, rank %" PRIu64
               ", in the trial with the median "
               "time: most of it, %s, is %.120s; it has %" PRIu64 " messages.",
               iwi_result_count(explain, "last_rank"), iwi_percent_text(most / sum_of(parts), number),
               iwi_part_words(largest), iwi_result_count(explain, "hops"));
    if (json_is_object(json_object_get(explain, "average"))) {
        iwi_append(message, " The third bar is the average of such paths over %" PRIu64 " trials.",
                   iwi_result_count(json_object_get(explain, "average"), "trials"));
    }
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

void iwi_html_result_worst(FILE *out, const json_t *explain)
{
    const json_t *worst = json_object_get(explain, "worst");
    char largest[IWI_PARAGRAPH_SIZE] = "", share[IWI_PARAGRAPH_SIZE] = "";

    if (json_array_size(worst) == 0) {
        return;
    }
    iwi_html_section(out, "worst", "What hurt most");
    iwi_html_paragraph(out, NULL,
                       "The largest detours on the critical path of the trial with the median time:");
    (void)fputs("<ul>\n", out);
    for (size_t i = 0; i < json_array_size(worst); i++) {
        char words[IWI_PARAGRAPH_SIZE] = "";

        iwi_hit_words(json_array_get(worst, i), words);
        (void)fputs("<li>", out);
        iwi_html_prose(out, words);
        (void)fputs("</li>\n", out);
    }
    (void)fputs("</ul>\n", out);
    iwi_largest_words(json_object_get(explain, "average"), largest);
    if (largest[0] != '\0') {
        iwi_html_paragraph(out, NULL, "%s", largest);
    }
    iwi_share_words(explain, share);
    if (share[0] != '\0') {
        iwi_html_paragraph(out, NULL, "%s", share);
    }
}
