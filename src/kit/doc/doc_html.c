/* Documents as pages.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/doc/doc.h"
#include "kit/html/html.h"
#include "kit/text/words.h"

enum { BAR_WIDTH = 210, BAR_HEIGHT = 18, LEAST_CONTENTS = 4 /* sections */ };

/* ---- tables ---- */

struct scale {
    double low, high;
};

static double place_of(const struct scale *scale, double value)
{
    const double share = (value - scale->low) / (scale->high - scale->low);

    return 2.0 + (BAR_WIDTH - 4) * fmin(fmax(share, 0.0), 1.0);
}

static void write_line(FILE *out, double x1, double y1, double x2, double y2)
{
    (void)fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"var(--ink)\"/>", x1,
                  y1, x2, y2);
}

/* From 0 to the value, and over it the interval. The numbers stand beside it. */
static void write_bar(FILE *out, const struct scale *scale, iw_estimate value)
{
    const double zero = place_of(scale, 0.0), middle = BAR_HEIGHT / 2.0, cap = 3.5;
    const char *colour = value.low > 0.0 ? "var(--series-0)" : "var(--series-6)";

    (void)fprintf(out, "<td class=\"bar words\"><svg width=\"%d\" height=\"%d\" aria-hidden=\"true\">",
                  BAR_WIDTH, BAR_HEIGHT);
    if (isfinite(value.value)) {
        const double end = place_of(scale, value.value);

        (void)fprintf(out,
                      "<rect x=\"%.1f\" y=\"3\" width=\"%.1f\" height=\"%d\" fill=\"%s\" opacity=\"0.75\"/>",
                      fmin(zero, end), fabs(end - zero), BAR_HEIGHT - 6, colour);
    }
    write_line(out, zero, 0.0, zero, BAR_HEIGHT);
    if (value.low < value.high) {
        const double low = place_of(scale, value.low), high = place_of(scale, value.high);

        write_line(out, low, middle, high, middle);
        write_line(out, low, middle - cap, low, middle + cap);
        write_line(out, high, middle - cap, high, middle + cap);
    }
    (void)fputs("</svg></td>", out);
}

static void write_row(FILE *out, const struct iwi_block *table, const struct scale *scale,
                      const struct iwi_table_row *row)
{
    iwi_html_row_begin(out);
    for (size_t i = 0; i < table->column_count; i++) {
        const bool is_words = table->columns[i].kind == IWI_WORDS;

        if (table->columns[i].kind == IWI_BAR) {
            write_bar(out, scale, row->bar);
        } else {
            iwi_html_cell(out,
                          i == 0 ? (is_words ? IWI_CELL_ROW_HEAD_WORDS : IWI_CELL_ROW_HEAD)
                                 : (is_words ? IWI_CELL_WORDS : IWI_CELL_NUMBER),
                          "%s", row->cells[i]);
        }
    }
    iwi_html_row_end(out);
}

/* Rows up to `end`; returns the next one. */
static const struct iwi_table_row *write_rows(FILE *out, const struct iwi_block *table,
                                              const struct iwi_table_row *row, size_t count)
{
    struct scale scale;

    iwi_bar_scale(table, &scale.low, &scale.high);
    iwi_html_table_begin(out, table->text);
    for (size_t i = 0; i < table->column_count; i++) {
        iwi_html_head(out, table->columns[i].kind != IWI_NUMBER, "%s", table->columns[i].head);
    }
    iwi_html_table_body(out);
    for (; row != NULL && count > 0; row = row->next, count--) {
        write_row(out, table, &scale, row);
    }
    iwi_html_table_end(out);
    return row;
}

static void write_table(FILE *out, const struct iwi_block *table)
{
    const bool is_folded = !table->is_unfolded && table->row_count > IWI_FOLD_ROWS;
    const struct iwi_table_row *rest =
        write_rows(out, table, table->rows, is_folded ? IWI_FOLD_ROWS : table->row_count);

    if (rest != NULL) {
        (void)fprintf(out, "<details><summary>%zu more</summary>\n", table->row_count - IWI_FOLD_ROWS);
        (void)write_rows(out, table, rest, table->row_count - IWI_FOLD_ROWS);
        (void)fputs("</details>\n", out);
    }
}

/* ---- blocks ---- */

/* What is open and has to be closed before another kind of block. */
struct page {
    struct iwi_html *html;
    const char *open; /* "</ul>\n", or "" */
    bool has_main, has_contents;
};

static void open_group(struct page *page, const char *begin, const char *end)
{
    if (strcmp(page->open, end) != 0) {
        (void)fputs(page->open, page->html->out);
        (void)fputs(begin, page->html->out);
        page->open = end;
    }
}

static void write_title(struct page *page, const struct iwi_block *block)
{
    FILE *out = page->html->out;

    if (block->kind == IWI_BLOCK_TITLE) {
        open_group(page, "<header>\n", "</header>\n");
        (void)fputs("<h1>", out);
        iwi_html_text(out, block->text);
        (void)fputs("</h1>\n", out);
    } else {
        iwi_html_paragraph(out, "subtitle", "%s", block->text);
    }
}

/* Figures that are not wide stand side by side, if there are several. */
static bool is_paired(const struct iwi_block *block)
{
    const struct iwi_block *next = block->next;

    return next != NULL && next->kind == IWI_BLOCK_FIGURE && !block->figure->is_wide &&
           !next->figure->is_wide;
}

static void open_for(struct page *page, const struct iwi_block *block)
{
    if (!page->has_main) {
        open_group(page, "", "");
        (void)fputs("<main>\n", page->html->out);
        page->has_main = true;
    }
    switch (block->kind) {
    case IWI_BLOCK_VERDICT:
        open_group(
            page,
            "<section class=\"verdict\" aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">Verdict</h2>\n",
            "</section>\n");
        break;
    case IWI_BLOCK_ITEM: open_group(page, "<ul>\n", "</ul>\n"); break;
    case IWI_BLOCK_FIGURE:
        open_group(page, is_paired(block) ? "<div class=\"figures pairs\">\n" : "<div class=\"figures\">\n",
                   "</div>\n");
        break;
    default: open_group(page, "", ""); break;
    }
}

static iw_status write_block(struct page *page, const struct iwi_block *block)
{
    FILE *out = page->html->out;

    open_for(page, block);
    switch (block->kind) {
    case IWI_BLOCK_SECTION: iwi_html_section(out, block->id, block->text); break;
    case IWI_BLOCK_NOTE: iwi_html_paragraph(out, "note", "%s", block->text); break;
    case IWI_BLOCK_TABLE: write_table(out, block); break;
    case IWI_BLOCK_FIGURE: return iwi_html_figure(page->html, block->figure);
    case IWI_BLOCK_HTML: return block->write_html(page->html->log, block->subject, out);
    case IWI_BLOCK_ITEM:
        (void)fputs("<li>", out);
        iwi_html_prose(out, block->text);
        (void)fputs("</li>\n", out);
        break;
    case IWI_BLOCK_CODE:
        (void)fputs("<pre tabindex=\"0\">", out);
        iwi_html_text(out, block->text);
        (void)fputs("</pre>\n", out);
        break;
    default: iwi_html_paragraph(out, NULL, "%s", block->text); break;
    }
    return IW_OK;
}

/* A section of which nothing is on pages has no heading there. */
static bool is_empty(const struct iwi_block *section)
{
    for (const struct iwi_block *block = section->next; block != NULL && block->kind != IWI_BLOCK_SECTION;
         block = block->next) {
        if ((block->media & IWI_ON_PAGES) != 0) {
            return false;
        }
    }
    return true;
}

static bool is_shown(const struct iwi_block *block)
{
    return (block->media & IWI_ON_PAGES) != 0 && !(block->kind == IWI_BLOCK_SECTION && is_empty(block));
}

/* Before the first section, of pages that have many. */
static void write_contents(struct page *page, const struct iwi_block *first)
{
    size_t count = 0;

    for (const struct iwi_block *block = first; block != NULL; block = block->next) {
        count += block->kind == IWI_BLOCK_SECTION && is_shown(block);
    }
    page->has_contents = true;
    if (count < LEAST_CONTENTS) {
        return;
    }
    open_group(page, "<nav aria-label=\"Contents\"><ul>\n", "</ul></nav>\n");
    for (const struct iwi_block *block = first; block != NULL; block = block->next) {
        if (block->kind == IWI_BLOCK_SECTION && is_shown(block)) {
            (void)fprintf(page->html->out, "<li><a href=\"#%s\">", block->id);
            iwi_html_text(page->html->out, block->text);
            (void)fputs("</a></li>\n", page->html->out);
        }
    }
}

static iw_status write_body(struct iwi_html *html, const void *subject)
{
    const struct iwi_document *doc = subject;
    struct page page = {.html = html, .open = ""};

    for (const struct iwi_block *block = doc->blocks; block != NULL; block = block->next) {
        if (!is_shown(block)) {
            continue;
        }
        if (block->kind == IWI_BLOCK_SECTION && !page.has_contents) {
            write_contents(&page, block);
        }
        if (block->kind == IWI_BLOCK_TITLE || block->kind == IWI_BLOCK_SUBTITLE) {
            write_title(&page, block);
        } else {
            IW_TRY(write_block(&page, block));
        }
    }
    open_group(&page, "", "");
    (void)fputs("</main>\n", html->out);
    return IW_OK;
}

static void write_page_title(FILE *out, const void *subject)
{
    const struct iwi_document *doc = subject;

    for (const struct iwi_block *block = doc->blocks; block != NULL; block = block->next) {
        if (block->kind == IWI_BLOCK_TITLE) {
            (void)fputs(block->text, out);
            return;
        }
    }
}

iw_status iwi_doc_write_html(const struct iwi_document *doc, const struct iwi_kind *kind, FILE *out)
{
    const struct iwi_html_kind html = {.name = kind->name,
                                       .write_title = write_page_title,
                                       .write_body = write_body,
                                       .style = kind->style,
                                       .scripts = {kind->scripts[0], kind->scripts[1]}};

    return iwi_html_write(doc->log, &html, doc, out);
}
