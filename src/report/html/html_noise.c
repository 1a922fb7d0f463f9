/* The page of a recording.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html/html_noise.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/recording_stats.h"
#include "base/attribute_text.h"
#include "base/base.h"
#include "report/figure/noise_figure.h"
#include "report/kinds/noise_text.h"
#include "report/kinds/study_report.h"

static void write_title(FILE *out, const void *subject)
{
    const struct iwi_noise_page *page = subject;

    (void)fprintf(out, "Noise of %s", iwi_host_name(page->recording, page->name));
}

/* The paragraph that the text has, its lines joined. */
static iw_status write_verdict(struct iwi_html *html, const struct iwi_noise_page *page, bool is_origin)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);

    if (memory == NULL) {
        return iwi_fail(html->log, IW_ERR_NOMEM, "out of memory for the page");
    }
    if (is_origin) {
        iwi_write_noise_origin(memory, page->recording, page->facts);
    } else {
        iwi_write_noise_verdict(memory, page->recording, page->facts, page->name);
    }
    if (fclose(memory) != 0) {
        free(text);
        return iwi_fail(html->log, IW_ERR_NOMEM, "out of memory for the page");
    }
    for (char *at = strchr(text, '\n'); at != NULL; at = strchr(at, '\n')) {
        *at = ' ';
    }
    iwi_html_paragraph(html->out, is_origin ? "note" : NULL, "%s", text);
    free(text);
    return IW_OK;
}

struct warnings {
    FILE *out;
    bool is_any;
};

static void write_warning(void *arg, const char *text)
{
    struct warnings *w = arg;

    (void)fputs(w->is_any ? "<li>" : "<p>Before believing it:</p>\n<ul class=\"warnings\">\n<li>", w->out);
    iwi_html_prose(w->out, text);
    (void)fputs("</li>\n", w->out);
    w->is_any = true;
}

static iw_status write_summary(struct iwi_html *html, const struct iwi_noise_page *page)
{
    struct warnings w = {.out = html->out};

    (void)fputs("<section class=\"verdict\" aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">Verdict</h2>\n",
                html->out);
    IW_TRY(write_verdict(html, page, false));
    IW_TRY(write_verdict(html, page, true));
    iwi_noise_warnings(page->recording, page->facts, write_warning, &w);
    (void)fputs(w.is_any ? "</ul>\n</section>\n" : "</section>\n", html->out);
    return IW_OK;
}

/* ---- tables ---- */

static void write_numbers(FILE *out, const iw_noise_row *row, bool has_period)
{
    const double times_ns[] = {row->median_ns, row->p99_ns, row->max_ns};
    char number[IWI_NUMBER_SIZE];

    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_share_text(row->share, number));
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ranks_text(row->count, number));
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_rate_text(row->rate_hz, number));
    for (size_t i = 0; i < sizeof times_ns / sizeof times_ns[0]; i++) {
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ns_short_text(times_ns[i], number));
    }
    if (has_period) {
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                      row->period_ns > 0.0 ? iwi_ns_short_text(row->period_ns, number) : "-");
    }
}

static void write_heads(FILE *out, const char *what, bool has_period)
{
    static const char *const heads[] = {"Rate", "Median", "99 %", "Longest", "Period"};

    iwi_html_head(out, false, "Share of time");
    iwi_html_head(out, false, "%s", what);
    for (size_t i = 0; i < (has_period ? 5 : 4); i++) {
        iwi_html_head(out, false, "%s", heads[i]);
    }
    iwi_html_table_body(out);
}

static void write_sources(FILE *out, const struct iwi_noise_page *page, size_t *order)
{
    const size_t count = iwi_order_rows(page->facts->by_source, page->recording->source_count, order);

    iwi_html_section(out, "sources", "Where it comes from");
    iwi_html_table_begin(out, "Detours by source, the largest share first");
    iwi_html_head(out, true, "Class");
    iwi_html_head(out, true, "Source");
    write_heads(out, "Detours", true);
    for (size_t i = 0; i < count; i++) {
        const iw_source *source = &page->recording->sources[order[i]];

        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_WORDS, "%s", iw_class_name(source->kind));
        iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", iwi_source_name(source));
        write_numbers(out, &page->facts->by_source[order[i]], true);
        iwi_html_row_end(out);
    }
    iwi_html_row_begin(out);
    iwi_html_cell(out, IWI_CELL_WORDS, "all");
    iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "all sources");
    write_numbers(out, &page->facts->all, true);
    iwi_html_row_end(out);
    iwi_html_table_end(out);
}

static void write_cpus(FILE *out, const struct iwi_noise_page *page)
{
    const bool is_quanta = page->recording->probe != IW_PROBE_SELFISH;

    iwi_html_section(out, "cpus", "CPU by CPU");
    iwi_html_table_begin(out, is_quanta ? "What quanta lost, by CPU" : "Detours by CPU");
    iwi_html_head(out, false, "CPU");
    write_heads(out, is_quanta ? "Quanta" : "Detours", false);
    for (size_t i = 0; i < page->recording->cpu_count; i++) {
        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_ROW_HEAD, "%" PRIu32, page->recording->cpus[i].cpu);
        write_numbers(out, &page->facts->by_cpu[i], false);
        iwi_html_row_end(out);
    }
    iwi_html_table_end(out);
}

static void write_origin(FILE *out, const iw_recording *recording)
{
    iwi_html_section(out, "origin", "Origin");
    iwi_html_table_begin(out, "How, when and where this was measured");
    iwi_html_head(out, true, "What");
    iwi_html_head(out, true, "Value");
    iwi_html_table_body(out);
    for (size_t i = 0; i < recording->attribute_count; i++) {
        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", recording->attributes[i].name);
        iwi_html_cell(out, IWI_CELL_WORDS, "%s",
                      iwi_attribute_text(recording->attributes[i].name, recording->attributes[i].value));
        iwi_html_row_end(out);
    }
    iwi_html_table_end(out);
}

/* ---- page ---- */

static iw_status write_figure(struct iwi_html *html, iw_status made, struct iwi_figure *figure)
{
    iw_status status = made;

    if (status == IW_OK) {
        status = iwi_html_figure(html, figure);
        iwi_figure_free(figure);
    }
    return status;
}

static iw_status write_detours(struct iwi_html *html, const iw_noise_facts *facts,
                               const iw_recording *detours)
{
    struct iwi_figure *scatter, *histogram;
    iw_status status;

    IW_TRY(iwi_noise_scatter_figure(html->log, detours, facts, IWI_SCATTER_POINTS, &scatter));
    if (scatter == NULL) {
        return IW_OK;
    }
    iwi_html_section(html->out, "detours", "When, and how long");
    (void)fputs("<div class=\"figures\">\n", html->out);
    IW_TRY(write_figure(html, IW_OK, scatter));
    status = iwi_noise_histogram_figure(html->log, detours, facts->watched_ns, &histogram);
    IW_TRY(write_figure(html, status, histogram));
    (void)fputs("</div>\n", html->out);
    return IW_OK;
}

static iw_status write_figures(struct iwi_html *html, const struct iwi_noise_page *page)
{
    const iw_recording *detours;
    iw_recording *losses;
    iw_status status;

    IW_TRY(iwi_detours_of(html->log, page->recording, &detours, &losses));
    status = write_detours(html, page->facts, detours);
    iwi_losses_free(losses);
    return status;
}

static iw_status write_body(struct iwi_html *html, const void *subject)
{
    const struct iwi_noise_page *page = subject;
    size_t *order = iwi_new_array(html->log, page->recording->source_count, sizeof *order);
    FILE *out = html->out;
    iw_status status;

    if (order == NULL) {
        return IW_ERR_NOMEM;
    }
    (void)fputs("<header>\n<h1>Noise of ", out);
    iwi_html_text(out, iwi_host_name(page->recording, page->name));
    (void)fputs("</h1>\n", out);
    iwi_html_paragraph(out, "subtitle", "Recording %s", page->name);
    (void)fputs("</header>\n<main>\n", out);
    status = write_summary(html, page);
    if (status == IW_OK && page->recording->probe == IW_PROBE_SELFISH) {
        write_sources(out, page, order);
    }
    free(order);
    IW_TRY(status);
    IW_TRY(write_figures(html, page));
    IW_TRY(iwi_html_noise_spectrum(html, page));
    write_cpus(out, page);
    write_origin(out, page->recording);
    (void)fputs("</main>\n", out);
    return IW_OK;
}

static const struct iwi_html_kind noise_kind = {
    .name = "noise", .write_title = write_title, .write_body = write_body};

iw_status iwi_noise_html(const iw_log *log, const struct iwi_noise_page *page, FILE *out)
{
    return iwi_html_write(log, &noise_kind, page, out);
}

iw_status iw_noise_write_html(const iw_log *log, const iw_recording *recording, const iw_noise_facts *facts,
                              const char *name, FILE *out)
{
    const struct iwi_noise_page page = {.recording = recording, .facts = facts, .name = name};

    return iwi_noise_html(log, &page, out);
}
