/* Documents as text: 80 columns, tables as wide as they need, nothing that a terminal cannot show.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/utf8.h"
#include "kit/doc/doc.h"
#include "kit/doc/doc_table.h"
#include "kit/figure/figure_parts.h"
#include "kit/text/words.h"

struct text {
    const iw_doc_look *look;
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

static void write_blocks(const struct iwi_document *doc, const iw_doc_look *look, FILE *out)
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

iw_status iwi_doc_write_text(const struct iwi_document *doc, const iw_doc_look *look, FILE *out)
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
