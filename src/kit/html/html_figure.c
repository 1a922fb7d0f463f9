/* A figure of a page: plot, caption, and the table behind it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/html/html.h"

#include "kit/text/words.h"

/* Its message is all that some readers get of it. */
static void write_plot(FILE *out, const struct iwi_figure *figure, unsigned number)
{
    (void)fprintf(out, "<div class=\"plot\" id=\"plot-%u\" role=\"img\" aria-label=\"", number);
    iwi_html_text(out, figure->message);
    (void)fputs("\">\n", out);
    iwi_figure_write_svg(figure, out);
    (void)fputs("</div>\n", out);
}

static void write_table(FILE *out, const char *title, const struct iwi_figure_table *table)
{
    if (table->columns == 0) {
        return;
    }
    (void)fputs("<details><summary>Table: ", out);
    iwi_html_text(out, title);
    (void)fputs("</summary>\n", out);
    iwi_html_table_begin(out, table->caption);
    for (size_t i = 0; i < table->columns; i++) {
        iwi_html_head(out, table->words >> i & 1, "%s", table->cells[i]);
    }
    iwi_html_table_body(out);
    for (size_t i = table->columns; i < table->count; i++) {
        const size_t column = i % table->columns;
        const bool is_words = column < 32 && (table->words >> column & 1);

        if (column == 0) {
            iwi_html_row_begin(out);
        }
        iwi_html_cell(out,
                      column == 0 ? (is_words ? IWI_CELL_ROW_HEAD_WORDS : IWI_CELL_ROW_HEAD)
                                  : (is_words ? IWI_CELL_WORDS : IWI_CELL_NUMBER),
                      "%s", table->cells[i]);
        if (column + 1 == table->columns) {
            iwi_html_row_end(out);
        }
    }
    iwi_html_table_end(out);
    (void)fputs("</details>\n", out);
}

iw_status iwi_html_figure(struct iwi_html *page, const struct iwi_figure *figure)
{
    FILE *out = page->out;

    IW_TRY(iwi_figure_check(page->log, figure));
    (void)fputs("<figure>\n<h3>", out);
    iwi_html_text(out, figure->title);
    (void)fputs("</h3>\n", out);
    write_plot(out, figure, ++page->figure_count);
    (void)fputs("<figcaption>", out);
    iwi_html_prose(out, figure->message);
    (void)fputs("</figcaption>\n", out);
    write_table(out, figure->title, &figure->table);
    (void)fputs("</figure>\n", out);
    return IW_OK;
}
