/* What `idlewave report` can show: one row of a table each. To add one: a file report_<kind>.c with a
 * `const struct report_kind report_<kind>`, its line here and in cmd_report.c's table.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_REPORT_KINDS_H
#define IW_CLI_REPORT_KINDS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <idlewave/doc.h>

#include "options/window.h"

enum report_format {
    REPORT_TEXT,
    REPORT_HTML,
    REPORT_CSV,
    REPORT_JSON,
    REPORT_GNUPLOT,
    REPORT_PNG,
    REPORT_SVG,
    REPORT_PDF,
    REPORT_PERFETTO,
    REPORT_OTF2,
    REPORT_FORMATS
};

/* Where a report goes. */
struct report_target {
    enum report_format format;
    const char *name;            /* of the input, as given */
    FILE *out;                   /* for text, html, csv, json, perfetto; else NULL */
    const char *path;            /* a folder for gnuplot and otf2, a file for pictures; else NULL */
    bool has_colour;             /* text only */
    const struct window *window; /* NULL: all of it */
};

struct report_kind {
    const char *what; /* "the folder of a study" */
    bool has_format[REPORT_FORMATS], has_window[REPORT_FORMATS];
    bool (*is_it)(const char *path); /* by a look at the path; `load` says what is wrong with it */
    iw_status (*load)(const iw_log *log, const char *path, void **input_p);
    iw_status (*write)(const iw_log *log, const void *input, const struct report_target *target);
    void (*free)(void *input);
};

/* The `load` of kinds whose reports are written from the file itself: the path, to be freed by free(). */
static inline iw_status report_keep_path(const iw_log *log, const char *path, void **input_p)
{
    (void)log;
    *input_p = strdup(path);
    return *input_p != NULL ? IW_OK : IW_ERR_NOMEM;
}

/* What documents have, and how they are written. */
#define REPORT_DOC_FORMATS                                                                     \
    {                                                                                          \
        [REPORT_TEXT] = true, [REPORT_HTML] = true, [REPORT_CSV] = true, [REPORT_JSON] = true, \
        [REPORT_GNUPLOT] = true, [REPORT_PNG] = true, [REPORT_SVG] = true, [REPORT_PDF] = true \
    }
iw_status report_write_doc(const iw_log *log, iw_doc doc, const struct report_target *target);

extern const struct report_kind report_timeline, report_study, report_fleet, report_noise, report_doc;

#endif
