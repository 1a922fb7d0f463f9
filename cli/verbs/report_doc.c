/* The JSON of any result as input of `idlewave report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/doc.h>

#include <ctype.h>
#include <stdlib.h>

#include "options/shown_opts.h"
#include "verbs/report_kinds.h"

/* A regular file whose first character that is no blank is a brace: opening it says what is wrong. */
static bool is_json(const char *path)
{
    FILE *file = fopen(path, "re");
    int first;

    if (file == NULL) {
        return false;
    }
    do {
        first = fgetc(file);
    } while (first != EOF && isspace(first));
    (void)fclose(file);
    return first == '{';
}

static iw_status load(const iw_log *log, const char *path, void **input_p)
{
    return iw_doc_open(log, path, (iw_doc_file **)input_p);
}

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
    iw_doc_look look = shown_look();

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

static iw_status write(const iw_log *log, const void *input, const struct report_target *target)
{
    return report_write_doc(log, iw_doc_of(input), target);
}

static void close_file(void *input)
{
    iw_doc_close(input);
}

const struct report_kind report_doc = {
    .what = "the JSON of a result",
    .has_format = REPORT_DOC_FORMATS,
    .is_it = is_json,
    .load = load,
    .write = write,
    .free = close_file,
};
