/* The page of one simulation, from the JSON that `simulate` wrote.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html/html_result.h"

#include <math.h>

#include "base/base.h"
#include "report/figure/result_figure.h"
#include "report/kinds/noise_report.h"

static void write_title(FILE *out, const void *subject)
{
    (void)fputs(iwi_result_text(subject, "what"), out);
}

static void write_verdict(FILE *out, const json_t *result)
{
    char verdict[IWI_PARAGRAPH_SIZE] = "", certainty[IWI_PARAGRAPH_SIZE] = "";

    iwi_result_verdict(result, verdict);
    iwi_result_certainty(result, certainty);
    (void)fputs("<section class=\"verdict\" aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">Verdict</h2>\n",
                out);
    iwi_html_paragraph(out, NULL, "%s", verdict);
    if (certainty[0] != '\0') {
        iwi_html_paragraph(out, "note", "%s", certainty);
    }
    (void)fputs("</section>\n", out);
}

/* ---- what it was made from ---- */

static void write_traced_row(FILE *out, const char *label, const char *text)
{
    iwi_html_row_begin(out);
    iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", label);
    iwi_html_cell(out, IWI_CELL_WORDS, "%s", text);
    iwi_html_row_end(out);
}

static void write_traced(FILE *out, const json_t *result)
{
    if (!json_is_object(json_object_get(result, "traced"))) {
        return;
    }
    iwi_html_section(out, "traced", "The traced run");
    iwi_html_table_begin(out, "What was traced, and what of it is predicted");
    iwi_html_head(out, true, "What");
    iwi_html_head(out, true, "Value");
    iwi_html_table_body(out);
    iwi_write_traced(result, write_traced_row, out);
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
        iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", iwi_result_text(source, "spec"));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", isnan(value) ? "-" : iwi_share_text(value, share));
        iwi_html_row_end(out);
    }
    iwi_html_table_end(out);
}

/* ---- page ---- */

static iw_status write_figure(struct iwi_html *html, const json_t *object,
                              iw_status (*make)(const iw_log *, const json_t *, struct iwi_figure **))
{
    struct iwi_figure *figure;
    iw_status status;

    IW_TRY(make(html->log, object, &figure));
    status = iwi_html_figure(html, figure);
    iwi_figure_free(figure);
    return status;
}

static iw_status write_figures(struct iwi_html *html, const json_t *result)
{
    const json_t *explain = json_object_get(result, "explain");

    iwi_html_section(html->out, "times", "When it ends, and where the time goes");
    (void)fputs("<div class=\"figures\">\n", html->out);
    IW_TRY(write_figure(html, result, iwi_result_times_figure));
    if (json_is_object(explain)) {
        IW_TRY(write_figure(html, explain, iwi_result_path_figure));
    } else {
        iwi_html_paragraph(html->out, "note",
                           "With --explain, simulate also tells what the critical path is made of.");
    }
    (void)fputs("</div>\n", html->out);
    iwi_html_result_worst(html->out, explain);
    return IW_OK;
}

static iw_status write_body(struct iwi_html *html, const void *subject)
{
    const json_t *result = subject;
    FILE *out = html->out;

    (void)fputs("<header>\n<h1>", out);
    iwi_html_text(out, iwi_result_text(result, "what"));
    (void)fputs("</h1>\n", out);
    iwi_html_paragraph(out, "subtitle", "One simulation");
    (void)fputs("</header>\n<main>\n", out);
    write_verdict(out, result);
    write_traced(out, result);
    IW_TRY(write_figures(html, result));
    iwi_html_section(out, "origin", "Origin");
    write_noise(out, json_object_get(result, "noise"));
    iwi_html_values(out, "Network", json_object_get(result, "net"));
    iwi_html_values(out, "How this was made", result);
    (void)fputs("</main>\n", out);
    return IW_OK;
}

static const struct iwi_html_kind result_kind = {
    .name = "result", .write_title = write_title, .write_body = write_body};

iw_status iwi_result_html(const iw_log *log, const json_t *result, FILE *out)
{
    return iwi_html_write(log, &result_kind, result, out);
}

iw_status iw_result_write_html(const iw_log *log, const char *path, FILE *out)
{
    json_t *result;
    iw_status status;

    IW_TRY(iwi_result_load(log, path, &result));
    status = iwi_result_html(log, result, out);
    json_decref(result);
    return status;
}
