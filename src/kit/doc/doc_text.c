/* Documents as text: 80 columns, tables as wide as they need, nothing that a terminal cannot show.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/utf8.h"
#include "kit/doc/doc.h"
#include "kit/figure/figure_parts.h"
#include "kit/text/words.h"

/* Tables at a terminal: columns as wide as what is in them, the first ten rows. */

enum { GAP = 2, NARROW_GAP = 1, MOST_BAR = 24, LEAST_BAR = 6, LEAST_WORDS = 12 };

struct layout {
    size_t widths[IWI_MOST_COLUMNS], gap, shown;
    double bar_low, bar_high;
};

static size_t columns_of(const char *text)
{
    size_t columns = 0;

    for (; *text != '\0'; text++) {
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return columns;
}

static size_t total_width(const struct iwi_block *table, const struct layout *layout)
{
    size_t total = layout->gap * (table->column_count - 1);

    for (size_t i = 0; i < table->column_count; i++) {
        total += layout->widths[i];
    }
    return total;
}

static void measure(const struct iwi_block *table, struct layout *layout)
{
    size_t count = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        layout->widths[i] = columns_of(table->columns[i].head);
    }
    for (const struct iwi_table_row *row = table->rows; row != NULL && count < layout->shown;
         row = row->next, count++) {
        for (size_t i = 0; i < table->column_count; i++) {
            const size_t width = columns_of(row->cells[i]);

            layout->widths[i] = width > layout->widths[i] ? width : layout->widths[i];
        }
    }
}

/* Bars take what is left; if nothing is, the widest words are wrapped. */
static void fit(const struct iwi_block *table, size_t columns, struct layout *layout)
{
    size_t widest = IWI_MOST_COLUMNS, total;

    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].kind == IWI_BAR) {
            const size_t used = total_width(table, layout) - layout->widths[i];

            layout->widths[i] = used + LEAST_BAR < columns ? columns - used : LEAST_BAR;
            layout->widths[i] = layout->widths[i] < MOST_BAR ? layout->widths[i] : MOST_BAR;
        } else if (table->columns[i].kind == IWI_WORDS &&
                   (widest == IWI_MOST_COLUMNS || layout->widths[i] > layout->widths[widest])) {
            widest = i;
        }
    }
    layout->gap = total_width(table, layout) > columns && table->column_count > 2 ? NARROW_GAP : GAP;
    total = total_width(table, layout);
    if (total > columns && widest < IWI_MOST_COLUMNS) {
        const size_t rest = total - layout->widths[widest];

        layout->widths[widest] = rest + LEAST_WORDS < columns ? columns - rest : LEAST_WORDS;
    }
}

/* Bytes of the cell that go into a line of so many columns: whole words, or a part of one that is longer. */
static size_t line_length(const char *text, size_t columns)
{
    size_t at = 0, used = 0, last_blank = 0;

    while (text[at] != '\0') {
        const bool is_first_byte = ((unsigned char)text[at] & 0xc0) != 0x80;

        if (is_first_byte && used == columns) {
            return last_blank > 0 && text[at] != ' ' ? last_blank : at;
        }
        last_blank = text[at] == ' ' ? at : last_blank;
        used += is_first_byte;
        at++;
    }
    return at;
}

static void write_blanks(FILE *out, size_t count)
{
    (void)fprintf(out, "%*s", (int)count, "");
}

static size_t write_bar_cell(FILE *out, const struct layout *layout, double value, size_t columns)
{
    const double share = isnan(value) ? 0.0 : (value - fmax(layout->bar_low, 0.0)) / layout->bar_high;

    return (size_t)iwi_write_bar(out, share, (int)columns);
}

/* One line of a row; `rest` is what is left of its cells. Blanks are written before something only. */
static bool write_line(FILE *out, const struct iwi_block *table, const struct layout *layout,
                       const char *rest[IWI_MOST_COLUMNS], const struct iwi_table_row *bar_of)
{
    size_t pending = 0;
    bool is_more = false;

    for (size_t i = 0; i < table->column_count; i++) {
        const size_t length = line_length(rest[i], layout->widths[i]);
        const bool has_bar = table->columns[i].kind == IWI_BAR && bar_of != NULL &&
                             bar_of->bar.value != 0.0 && !isnan(bar_of->bar.value);
        size_t width = 0;

        for (size_t k = 0; k < length; k++) {
            width += ((unsigned char)rest[i][k] & 0xc0) != 0x80;
        }
        pending += i > 0 ? layout->gap : 0;
        if (table->columns[i].kind == IWI_NUMBER) {
            pending += layout->widths[i] - width;
        }
        if (width > 0 || has_bar) {
            write_blanks(out, pending);
            pending = 0;
        }
        (void)fwrite(rest[i], 1, length, out);
        if (has_bar) {
            width = write_bar_cell(out, layout, bar_of->bar.value, layout->widths[i]);
        }
        pending += table->columns[i].kind == IWI_NUMBER ? (width > 0 ? 0 : width) : layout->widths[i] - width;
        rest[i] += length;
        rest[i] += strspn(rest[i], " ");
        is_more = is_more || *rest[i] != '\0';
    }
    (void)fputc('\n', out);
    return is_more;
}

static void write_row(FILE *out, const struct iwi_block *table, const struct layout *layout,
                      const struct iwi_table_row *row)
{
    const char *rest[IWI_MOST_COLUMNS];

    memcpy(rest, row->cells, sizeof rest);
    for (bool is_more = write_line(out, table, layout, rest, row); is_more;) {
        is_more = write_line(out, table, layout, rest, NULL);
    }
}

static void write_heads(FILE *out, const struct iwi_block *table, const struct layout *layout)
{
    const char *heads[IWI_MOST_COLUMNS];
    bool is_any = false;

    for (size_t i = 0; i < table->column_count; i++) {
        heads[i] = table->columns[i].head;
        is_any = is_any || heads[i][0] != '\0';
    }
    while (is_any) {
        is_any = write_line(out, table, layout, heads, NULL);
    }
}

/* Columns as wide as what is in them; where that is too much the widest column of words is wrapped. 0
 * columns: 80. */
static void iwi_table_write_text(const struct iwi_block *table, size_t columns, FILE *out)
{
    const bool is_folded = !table->is_unfolded && table->row_count > IWI_FOLD_ROWS;
    struct layout layout = {.gap = GAP, .shown = is_folded ? IWI_FOLD_ROWS : table->row_count};
    size_t count = 0;

    measure(table, &layout);
    fit(table, columns > 0 ? columns : IWI_TEXT_COLUMNS, &layout);
    iwi_bar_scale(table, &layout.bar_low, &layout.bar_high);
    write_heads(out, table, &layout);
    for (const struct iwi_table_row *row = table->rows; row != NULL && count < layout.shown;
         row = row->next, count++) {
        write_row(out, table, &layout, row);
    }
    if (is_folded) {
        (void)fprintf(out, "and %zu more\n", table->row_count - layout.shown);
    }
}

/* ---- documents ---- */

struct text {
    const iw_doc_style *look;
    FILE *out;
    const struct iwi_block *section; /* whose title is not written yet */
    const struct iwi_block *before;  /* the last block that was written */
};

static bool is_words(const struct iwi_block *block)
{
    return block->kind == IWI_BLOCK_PARAGRAPH || block->kind == IWI_BLOCK_NOTE ||
           block->kind == IWI_BLOCK_VERDICT;
}

/* Blocks of words stand below each other, others apart from what is before them. */
static bool stands_apart(const struct text *text, const struct iwi_block *block)
{
    const struct iwi_block *before = text->before;

    if (before == NULL || before->kind == IWI_BLOCK_SECTION ||
        (is_words(before) && block->kind == IWI_BLOCK_FIGURE && block->figure->title[0] == '\0')) {
        return false;
    }
    return before->kind != block->kind
               ? !(is_words(before) && is_words(block)) || before->kind == IWI_BLOCK_VERDICT
               : block->kind == IWI_BLOCK_TABLE || block->kind == IWI_BLOCK_FIGURE;
}

static void write_code(FILE *out, const char *text)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");

        (void)fprintf(out, "  %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* They have their legend below them. */
static bool has_cells(const struct iwi_figure *figure)
{
    for (size_t i = 0; i < figure->mark_count; i++) {
        if (figure->marks[i]->kind == IWI_MARK_CELLS) {
            return true;
        }
    }
    return false;
}

static void write_figure(const struct text *text, const struct iwi_figure *figure)
{
    const struct iwi_figure_look look = {.columns = text->look->columns,
                                         .has_colour = text->look->has_colour};

    (void)fprintf(text->out, "%s", figure->title);
    if (iwi_figure_has_legend(figure) && !has_cells(figure)) {
        (void)fputs(" (", text->out);
        iwi_figure_write_legend(figure, text->out);
        (void)fputc(')', text->out);
    }
    (void)fputs(figure->title[0] != '\0' ? "\n" : "", text->out);
    iwi_figure_write_text(figure, &look, text->out);
}

static void write_block(struct text *text, const struct iwi_block *block)
{
    FILE *out = text->out;

    if (text->section != NULL) {
        char title[IWI_PARAGRAPH_SIZE];

        snprintf(title, sizeof title, "%s:", text->section->text);
        (void)fputs(text->before != NULL ? "\n" : "", out);
        iwi_write_wrapped(out, title);
        text->before = text->section;
        text->section = NULL;
    }
    if (stands_apart(text, block)) {
        (void)fputc('\n', out);
    }
    switch (block->kind) {
    case IWI_BLOCK_ITEM: iwi_write_item(out, block->text); break;
    case IWI_BLOCK_CODE: write_code(out, block->text); break;
    case IWI_BLOCK_FIGURE: write_figure(text, block->figure); break;
    case IWI_BLOCK_TABLE:
        if (text->before != NULL && text->before->kind != IWI_BLOCK_SECTION && block->text[0] != '\0') {
            iwi_write_wrapped(out, block->text);
        }
        iwi_table_write_text(block, text->look->columns, out);
        break;
    default: iwi_write_wrapped(out, block->text); break;
    }
    text->before = block;
}

static void write_blocks(const struct iwi_document *doc, const iw_doc_style *look, FILE *out)
{
    struct text text = {.look = look, .out = out};

    for (const struct iwi_block *block = doc->blocks; block != NULL; block = block->next) {
        if ((block->media & IWI_IN_TEXT) == 0 || block->kind == IWI_BLOCK_TITLE ||
            block->kind == IWI_BLOCK_SUBTITLE) {
            continue;
        }
        if (block->kind == IWI_BLOCK_SECTION) {
            text.section = block;
        } else {
            write_block(&text, block);
        }
    }
}

/* ---- ASCII ---- */

/* Lines and corners of boxes, blocks, shades, dots of Braille. */
static char ascii_of(uint32_t code)
{
    if (code >= 0x2800 && code <= 0x28ff) {
        return code == 0x2800 ? ' ' : '.';
    }
    if (code >= 0x2500 && code <= 0x257f) {
        return code == 0x2500 || code == 0x2501 ? '-' : code == 0x2502 || code == 0x2503 ? '|' : '+';
    }
    if (code >= 0x2580 && code <= 0x2593) {
        return code == 0x2591 ? '.' : code == 0x2592 ? ':' : code >= 0x258d && code <= 0x258f ? '-' : '#';
    }
    return code == 0xb5 ? 'u' : code == 0xd7 ? 'x' : code == 0xb1 ? '~' : '?';
}

static void write_ascii(const char *text, FILE *out)
{
    while (*text != '\0') {
        uint32_t code;
        const size_t size = iwi_utf8_size(text, &code);

        (void)fputc((unsigned char)*text < 0x80 ? *text : size > 0 ? ascii_of(code) : '?', out);
        text += size > 0 ? size : 1;
    }
}

iw_status iwi_doc_write_text(const struct iwi_document *doc, const iw_doc_style *look, FILE *out)
{
    char *text = NULL;
    size_t size;
    FILE *memory;

    if (!look->is_ascii) {
        write_blocks(doc, look, out);
        return iwi_check_written(doc->log, out, "the report");
    }
    memory = open_memstream(&text, &size);
    if (memory != NULL) {
        write_blocks(doc, look, memory);
    }
    if (memory == NULL || fclose(memory) != 0) {
        free(text);
        return iwi_fail(doc->log, IW_ERR_NOMEM, "out of memory for the report");
    }
    write_ascii(text, out);
    free(text);
    return iwi_check_written(doc->log, out, "the report");
}
