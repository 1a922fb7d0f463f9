/* The JSON of any result as input of `idlewave report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/doc.h>

#include "options/shown_opts.h"
#include "verbs/report_kinds.h"

static iw_status load(const iw_log *log, const char *path, void **input_p)
{
    return iw_doc_open(log, path, (iw_doc_file **)input_p);
}

static iw_status write(const iw_log *log, const void *input, const struct report_target *target)
{
    const iw_doc_look look = shown_look();
    const iw_doc doc = iw_doc_of(input);

    switch (target->format) {
    case REPORT_TEXT: return iw_doc_write(log, doc, IW_DOC_TEXT, &look, target->out);
    case REPORT_HTML: return iw_doc_write(log, doc, IW_DOC_HTML, NULL, target->out);
    case REPORT_CSV: return iw_doc_write(log, doc, IW_DOC_CSV, NULL, target->out);
    default: return iw_doc_plot(log, doc, target->path);
    }
}

static void close_file(void *input)
{
    iw_doc_close(input);
}

const struct report_kind report_doc = {
    .what = "the JSON of a result",
    .has_format = {[REPORT_TEXT] = true,
                   [REPORT_HTML] = true,
                   [REPORT_CSV] = true,
                   [REPORT_GNUPLOT] = true,
                   [REPORT_PNG] = true,
                   [REPORT_SVG] = true,
                   [REPORT_PDF] = true},
    .is_it = iw_doc_is_file,
    .load = load,
    .write = write,
    .free = close_file,
};
