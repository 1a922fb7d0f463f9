/* A document as `idlewave report` writes it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "options/report_kinds.h"
#include "options/shown_opts.h"

/* Figures for gnuplot go into a folder, which a path says that ends in '/'. */
static iw_status write_folder(const iw_log *log, iw_doc doc, const char *path)
{
    char *folder = NULL;
    iw_status status = IW_ERR_NOMEM;

    if (asprintf(&folder, "%s/", path) >= 0) {
        status = iw_doc_plot(log, doc, folder);
        free(folder);
    }
    return status;
}

iw_status report_write_doc(const iw_log *log, iw_doc doc, const struct report_target *target)
{
    iw_doc_style look = shown_look();

    look.has_colour = target->has_colour;
    switch (target->format) {
    case REPORT_TEXT: return iw_doc_write(log, doc, IW_DOC_TEXT, &look, target->out);
    case REPORT_HTML: return iw_doc_write(log, doc, IW_DOC_HTML, NULL, target->out);
    case REPORT_JSON: return iw_doc_write(log, doc, IW_DOC_JSON, NULL, target->out);
    case REPORT_CSV: return iw_doc_write(log, doc, IW_DOC_CSV, NULL, target->out);
    case REPORT_GNUPLOT: return write_folder(log, doc, target->path);
    default: return iw_doc_plot(log, doc, target->path);
    }
}
