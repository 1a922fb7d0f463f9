/* HTML pages: one file, nothing from elsewhere; figures with the tables behind them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A kind of page is one file html_<kind>.c with one struct iwi_html_kind. It writes its sections to
 * page->out and hands its figures to iwi_html_figure(): plots are drawn when the page is written.
 */
#ifndef IWI_HTML_H
#define IWI_HTML_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include <idlewave/log.h>

#include "kit/figure/figure.h"
#include "kit/html/html_assets.h"

struct iwi_html {
    const iw_log *log;
    FILE *out;
    unsigned figure_count;
};

struct iwi_html_kind {
    const char *name;                                    /* "study": the class of the body */
    void (*write_title)(FILE *out, const void *subject); /* as text, escaped by the page */
    iw_status (*write_body)(struct iwi_html *page, const void *subject);
    const struct iwi_asset *style, *scripts[2]; /* of its own, behind those of all pages; or NULL */
};

IW_NODISCARD iw_status iwi_html_write(const iw_log *log, const struct iwi_html_kind *kind,
                                      const void *subject, FILE *out);

/* ---- text ---- */

/* The same for sentences: no line is broken between a number and its '%'. */
void iwi_html_prose(FILE *out, const char *text);

/* <h2 id="...">: a heading that links can reach. */
void iwi_html_section(FILE *out, const char *id, const char *title);

/* <p>, of a class if that is not NULL. */
void iwi_html_paragraph(FILE *out, const char *class_name, const char *format, ...) IW_PRINTF(3, 4);

/* ---- tables: begin, heads, body, rows of cells, end ---- */

/* In a box of its own that scrolls on small screens, reachable by keyboard. */
void iwi_html_table_begin(FILE *out, const char *caption);
void iwi_html_table_body(FILE *out); /* after the heads */
void iwi_html_table_end(FILE *out);

enum iwi_html_cell { IWI_CELL_NUMBER, IWI_CELL_WORDS, IWI_CELL_ROW_HEAD, IWI_CELL_ROW_HEAD_WORDS };
void iwi_html_head(FILE *out, bool is_words, const char *format, ...) IW_PRINTF(3, 4);
void iwi_html_row_begin(FILE *out);
void iwi_html_row_end(FILE *out);
void iwi_html_cell(FILE *out, enum iwi_html_cell kind, const char *format, ...) IW_PRINTF(3, 4);

/* ---- figures ---- */

/* The plot, its message, and the table behind it. */
IW_NODISCARD iw_status iwi_html_figure(struct iwi_html *page, const struct iwi_figure *figure);

#endif
