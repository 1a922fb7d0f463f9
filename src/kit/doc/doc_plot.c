/* The figures of a document as pictures.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/doc/doc.h"

static bool is_folder(const char *path)
{
    const size_t length = strlen(path);

    return length > 0 && path[length - 1] == '/';
}

iw_status iw_doc_plot_check(const iw_log *log, const char *path)
{
    return is_folder(path) ? IW_OK : iwi_sheet_check(log, path);
}

static bool is_drawn(const struct iwi_block *block)
{
    return block->kind == IWI_BLOCK_FIGURE && (block->media & IWI_IN_PLOTS) != 0;
}

static size_t count_figures(const struct iwi_document *doc)
{
    size_t count = 0;

    for (const struct iwi_block *block = doc->blocks; block != NULL; block = block->next) {
        count += is_drawn(block);
    }
    return count;
}

static void add_note(struct iwi_sheet *sheet, const char *text)
{
    sheet->notes[sheet->notes[0] != NULL] = text;
}

/* All figures on one sheet, or on those that the document says; returns how many there are. `figures` has
 * room for all, `sheets` for one more. */
static size_t fill_sheets(const struct iwi_document *doc, const struct iwi_kind *kind, bool has_many,
                          struct iwi_figure **figures, struct iwi_sheet *sheets)
{
    struct iwi_sheet *sheet = sheets;

    *sheet = (struct iwi_sheet){.name = kind->name, .title = "", .most_columns = 2, .figures = figures};
    for (const struct iwi_block *block = doc->blocks; block != NULL; block = block->next) {
        if (block->kind == IWI_BLOCK_TITLE) {
            sheet->title = block->text;
        } else if (block->is_sheet && has_many) {
            sheet += sheet->count > 0;
            *sheet = (struct iwi_sheet){.name = block->id, .title = block->text, .figures = figures};
        } else if (block->kind == IWI_BLOCK_NOTE && block->media == IWI_IN_PLOTS) {
            add_note(sheet, block->text);
        } else if (is_drawn(block)) {
            *figures++ = block->figure;
            sheet->count++;
        }
    }
    return (size_t)(sheet - sheets) + (sheet->count > 0);
}

/* Without the '/' at its end. */
static iw_status write_folder(const iw_log *log, const struct iwi_sheet *sheets, size_t count,
                              const char *path)
{
    char *folder = strndup(path, strlen(path) - 1);
    const iw_status status = folder != NULL ? iwi_sheets_write_folder(log, sheets, count, folder)
                                            : iwi_fail(log, IW_ERR_NOMEM, "out of memory for a path");

    free(folder);
    return status;
}

iw_status iwi_doc_write_plot(const struct iwi_document *doc, const struct iwi_kind *kind, const char *path)
{
    const size_t count = count_figures(doc);
    struct iwi_figure **figures = iwi_new_array(doc->log, count, sizeof(struct iwi_figure *));
    struct iwi_sheet *sheets = iwi_new_array(doc->log, count + 1, sizeof *sheets);
    iw_status status = IW_ERR_NOMEM;

    if (count == 0) {
        status = iwi_fail(doc->log, IW_ERR_USAGE, "this result has no picture");
    } else if (figures != NULL && sheets != NULL) {
        const size_t sheet_count = fill_sheets(doc, kind, is_folder(path), figures, sheets);

        status = is_folder(path) ? write_folder(doc->log, sheets, sheet_count, path)
                                 : iwi_sheet_plot(doc->log, sheets, path);
    }
    free((void *)figures);
    free(sheets);
    return status;
}
