/* The figures of a document as pictures.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/doc/doc.h"

static bool is_folder(const char *path)
{
    const size_t length = strlen(path);

    return length > 0 && path[length - 1] == '/';
}

iw_status iw_doc_plot_check(const iw_log *log, const char *path)
{
    return is_folder(path) ? IW_OK : iwi_sheet_check(log, path);
}

iw_status iwi_doc_write_plot(const struct iwi_document *doc, const struct iwi_kind *kind, const char *path)
{
    struct iwi_sheet sheet = {.name = kind->name, .title = "", .most_columns = 2};
    iw_status status;

    for (const struct iwi_block *block = doc->blocks; block != NULL; block = block->next) {
        sheet.count += block->kind == IWI_BLOCK_FIGURE && (block->media & IWI_IN_PLOTS) != 0;
        sheet.title = block->kind == IWI_BLOCK_TITLE ? block->text : sheet.title;
    }
    if (sheet.count == 0) {
        return iwi_fail(doc->log, IW_ERR_USAGE, "there is nothing to draw in this result");
    }
    sheet.figures = iwi_new_array(doc->log, sheet.count, sizeof *sheet.figures);
    if (sheet.figures == NULL) {
        return IW_ERR_NOMEM;
    }
    sheet.count = 0;
    for (const struct iwi_block *block = doc->blocks; block != NULL; block = block->next) {
        if (block->kind == IWI_BLOCK_FIGURE && (block->media & IWI_IN_PLOTS) != 0) {
            sheet.figures[sheet.count++] = block->figure;
        }
    }
    status = is_folder(path) ? iwi_sheets_write_folder(doc->log, &sheet, 1, path)
                             : iwi_sheet_plot(doc->log, &sheet, path);
    free(sheet.figures);
    return status;
}
