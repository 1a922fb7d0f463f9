/* The page of a study.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html/html_study.h"

#include <string.h>

#include "base/base.h"

static const char *title_of(const iw_study_results *results)
{
    return results->title != NULL && results->title[0] != '\0' ? results->title : results->name;
}

static void write_title(FILE *out, const void *subject)
{
    (void)fputs(title_of(subject), out);
}

static void find_variation(struct iwi_study_page *page)
{
    for (int dim = 0; dim < IWI_DIMS; dim++) {
        for (size_t i = 1; i < page->count; i++) {
            page->varies[dim] |= !iwi_dim_is_same((enum iwi_dim)dim, &page->series[0], &page->series[i]);
        }
    }
}

static void write_link(FILE *out, const char *id, const char *text)
{
    (void)fprintf(out, "<li><a href=\"#%s\">%s</a></li>\n", id, text);
}

static void write_contents(const struct iwi_study_page *page)
{
    FILE *out = page->html->out;
    bool is_any = false;
    char id[IWI_NUMBER_SIZE];

    (void)fputs("<nav aria-label=\"Contents\"><ul>\n", out);
    write_link(out, "overview", "All series");
    for (int dim = 0; dim < IWI_DIMS; dim++) {
        if (page->varies[dim]) {
            snprintf(id, sizeof id, "slowdown-%d", dim);
            write_link(out, id, iwi_dim_name((enum iwi_dim)dim, true));
            is_any = true;
        }
    }
    if (!is_any) {
        write_link(out, "slowdown-0", "Slowdown");
    }
    write_link(out, "times", "Distributions");
    write_link(out, "origin", "Origin");
    (void)fputs("</ul></nav>\n", out);
}

static void write_header(const struct iwi_study_page *page)
{
    const iw_study_results *results = page->results;
    FILE *out = page->html->out;
    char cells[IWI_NUMBER_SIZE];

    (void)fputs("<header>\n<h1>", out);
    iwi_html_text(out, title_of(results));
    (void)fputs("</h1>\n", out);
    iwi_html_paragraph(out, "subtitle", "Study %s: %zu series, %s cells", results->name, page->count,
                       iwi_ranks_text(results->count, cells));
    (void)fputs("</header>\n", out);
}

void iwi_html_study_origin(const struct iwi_study_page *page)
{
    const iw_study_results *results = page->results;
    FILE *out = page->html->out;

    iwi_html_section(out, "origin", "Origin");
    if (results->attribute_count > 0) {
        iwi_html_table_begin(out, "How, when and where this was made");
        iwi_html_head(out, true, "What");
        iwi_html_head(out, true, "Value");
        iwi_html_table_body(out);
        for (size_t i = 0; i < results->attribute_count; i++) {
            iwi_html_row_begin(out);
            iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", results->attributes[i].name);
            iwi_html_cell(out, IWI_CELL_WORDS, "%s", results->attributes[i].value);
            iwi_html_row_end(out);
        }
        iwi_html_table_end(out);
    }
    iwi_html_paragraph(out, NULL,
                       "The study as it was written; saved as FILE.yaml, it is run again by "
                       "\"idlewave study FILE.yaml -o DIR\":");
    (void)fputs("<pre tabindex=\"0\" aria-label=\"The study in YAML\">", out);
    iwi_html_text(out, results->text);
    (void)fputs("</pre>\n", out);
}

static iw_status write_sections(struct iwi_study_page *page)
{
    write_header(page);
    (void)fputs("<main>\n", page->html->out);
    iwi_html_study_verdict(page);
    if (page->count > 0) {
        write_contents(page);
        iwi_html_study_overview(page);
        IW_TRY(iwi_html_study_curves(page));
        IW_TRY(iwi_html_study_boxes(page));
    }
    iwi_html_study_origin(page);
    (void)fputs("</main>\n", page->html->out);
    return IW_OK;
}

static iw_status write_body(struct iwi_html *html, const void *subject)
{
    struct iwi_study_page page = {.html = html, .results = subject};
    iw_status status;

    IW_TRY(iw_series_new(html->log, page.results, &page.series, &page.count));
    find_variation(&page);
    status = write_sections(&page);
    iw_series_free(page.series, page.count);
    return status;
}

static const struct iwi_html_kind study_kind = {
    .name = "study", .write_title = write_title, .write_body = write_body};

iw_status iw_study_write_html(const iw_log *log, const iw_study_results *results, FILE *out)
{
    return iwi_html_write(log, &study_kind, results, out);
}
