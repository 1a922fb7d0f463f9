/* The page of one simulation, from the JSON that `simulate` wrote.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html_result.h"

#include <math.h>
#include <string.h>

#include <idlewave/result.h>

#include "base/base.h"
#include "format/input.h"
#include "report/noise_parts.h"
#include "report/study_parts.h"

double iwi_result_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "-";
}

static void write_title(FILE *out, const void *subject)
{
    (void)fputs(text_of(subject, "what"), out);
}

/* ---- verdict ---- */

static void append_interval(char *paragraph, const json_t *slowdown)
{
    const json_t *interval = json_object_get(slowdown, "ci95");
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    if (json_is_array(interval)) {
        iwi_append(paragraph, "; 95 %% CI %s to %s times",
                   iwi_factor_text(1.0 + json_number_value(json_array_get(interval, 0)), low),
                   iwi_factor_text(1.0 + json_number_value(json_array_get(interval, 1)), high));
    }
}

static void write_verdict(FILE *out, const json_t *result)
{
    const json_t *slowdown = json_object_get(result, "slowdown"),
                 *time = json_object_get(result, "makespan_ns");
    const double median = iwi_result_number(slowdown, "median"), trials = iwi_result_number(result, "trials");
    char paragraph[IWI_PARAGRAPH_SIZE] = "", text[IWI_PHRASE_SIZE], number[IWI_NUMBER_SIZE];

    (void)fputs("<section class=\"verdict\" aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">Verdict</h2>\n",
                out);
    iwi_append(paragraph, "%.200s on %s ranks takes %s", text_of(result, "what"),
               iwi_ranks_text((uint64_t)fmax(iwi_result_number(result, "ranks"), 0.0), number),
               iwi_html_time(iwi_result_number(time, "median"), text));
    if (!isnan(median)) {
        iwi_append(paragraph, "; it %s without noise", iwi_slower_text(median, text));
    }
    if (trials > 1.0) {
        iwi_append(paragraph, " (median of %s trials", iwi_ranks_text((uint64_t)trials, number));
        append_interval(paragraph, slowdown);
        iwi_append(paragraph, ")");
    }
    iwi_html_paragraph(out, NULL, "%s.", paragraph);
    (void)fputs("</section>\n", out);
}

/* ---- what it was made from ---- */

static void write_value(FILE *out, const char *name, const json_t *value)
{
    iwi_html_row_begin(out);
    iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", name);
    if (json_is_string(value)) {
        iwi_html_cell(out, IWI_CELL_WORDS, "%s", json_string_value(value));
    } else if (json_is_integer(value)) {
        iwi_html_cell(out, IWI_CELL_WORDS, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else {
        iwi_html_cell(out, IWI_CELL_WORDS, "%.6g", json_number_value(value));
    }
    iwi_html_row_end(out);
}

static void begin_values(FILE *out, const char *caption)
{
    iwi_html_table_begin(out, caption);
    iwi_html_head(out, true, "What");
    iwi_html_head(out, true, "Value");
    iwi_html_table_body(out);
}

/* All that is one text or number. */
static void write_values(FILE *out, const char *caption, json_t *object)
{
    const char *name;
    json_t *value;

    begin_values(out, caption);
    json_object_foreach(object, name, value)
    {
        if (json_is_string(value) || json_is_number(value)) {
            write_value(out, name, value);
        }
    }
    iwi_html_table_end(out);
}

static void write_noise(FILE *out, const json_t *noise)
{
    char share[IWI_NUMBER_SIZE];

    if (json_array_size(noise) == 0) {
        return;
    }
    iwi_html_table_begin(out, "Noise");
    iwi_html_head(out, true, "Source");
    iwi_html_head(out, false, "Share of time");
    iwi_html_table_body(out);
    for (size_t i = 0; i < json_array_size(noise); i++) {
        const json_t *source = json_array_get(noise, i);
        const double value = iwi_result_number(source, "share");

        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", text_of(source, "spec"));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", isnan(value) ? "-" : iwi_share_text(value, share));
        iwi_html_row_end(out);
    }
    iwi_html_table_end(out);
}

/* ---- page ---- */

static iw_status write_figures(struct iwi_html *html, const json_t *result)
{
    const json_t *explain = json_object_get(result, "explain");

    iwi_html_section(html->out, "times", "Where the time goes");
    (void)fputs("<div class=\"figures\">\n", html->out);
    IW_TRY(iwi_html_result_spread(html, result));
    if (json_is_object(explain)) {
        IW_TRY(iwi_html_result_split(html, explain));
    } else {
        iwi_html_paragraph(html->out, "note",
                           "With --explain, simulate also tells what the critical path is made of.");
    }
    (void)fputs("</div>\n", html->out);
    return IW_OK;
}

static iw_status write_body(struct iwi_html *html, const void *subject)
{
    const json_t *result = subject;
    FILE *out = html->out;

    (void)fputs("<header>\n<h1>", out);
    iwi_html_text(out, text_of(result, "what"));
    (void)fputs("</h1>\n", out);
    iwi_html_paragraph(out, "subtitle", "One simulation");
    (void)fputs("</header>\n<main>\n", out);
    write_verdict(out, result);
    IW_TRY(write_figures(html, result));
    iwi_html_section(out, "origin", "Origin");
    write_noise(out, json_object_get(result, "noise"));
    write_values(out, "Network", json_object_get(result, "net"));
    write_values(out, "How this was made", (json_t *)subject);
    (void)fputs("</main>\n", out);
    return IW_OK;
}

static const struct iwi_html_kind result_kind = {
    .name = "result", .write_title = write_title, .write_body = write_body};

iw_status iwi_result_html(const iw_log *log, const json_t *result, enum iwi_html_plots plots, FILE *out)
{
    return iwi_html_write(log, &result_kind, result, plots, out);
}

/* ---- reading ---- */

static iw_status load(const iw_log *log, const char *path, json_t **result_p)
{
    struct iwi_input input;
    json_error_t error;
    const char *schema;
    json_t *result;

    IW_TRY(iwi_input_open(log, path, &input));
    result = json_loadb(input.data, input.size, 0, &error);
    iwi_input_close(&input);
    if (result == NULL) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s:%d': %s", path, error.line, error.text);
    }
    schema = json_string_value(json_object_get(result, "schema"));
    if (schema == NULL || strcmp(schema, "idlewave.simulate/1") != 0) {
        json_decref(result);
        return iwi_fail(log, IW_ERR_FORMAT,
                        "'%s' is no result of a simulation: its schema is not \"idlewave.simulate/1\"", path);
    }
    *result_p = result;
    return IW_OK;
}

iw_status iw_result_write_html(const iw_log *log, const char *path, FILE *out)
{
    json_t *result;
    iw_status status;

    IW_TRY(load(log, path, &result));
    status = iwi_result_html(log, result, IWI_HTML_BEST, out);
    json_decref(result);
    return status;
}
