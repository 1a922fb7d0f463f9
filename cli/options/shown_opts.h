/* How results are shown: the options of all verbs that print one, and what they check.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_SHOWN_OPTS_H
#define IW_CLI_SHOWN_OPTS_H

#include <idlewave/doc.h>

#include "options/opt.h"

enum output_format { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_HTML, OUTPUT_CSV };

struct shown_opts {
    struct opt_origins origins;
    int format;       /* enum output_format */
    const char *plot; /* NULL: no picture */
};

/* Parts of one table, whose targets are in a struct shown_opts. Without pages and pictures: --format
 * text|json.
 */
extern const struct opt shown_rows[];
#define SHOWN_JSON_GROUP(title, offset)     \
    {                                       \
        title, shown_rows, 1, offset, false \
    }

/* For what shown_write() shows: --format text|json|html|csv, and --plot where there is a figure; without csv
 * for results that have no list. */
#define SHOWN_PAGE_GROUP(title, offset)         \
    {                                           \
        title, shown_rows + 3, 1, offset, false \
    }
#define SHOWN_GROUP(title, offset)              \
    {                                           \
        title, shown_rows + 3, 2, offset, false \
    }
#define SHOWN_NO_CSV_GROUP(title, offset)       \
    {                                           \
        title, shown_rows + 1, 2, offset, false \
    }

/* Shows a result on standard output, and draws it if that is asked for; returns an exit code. A picture that
 * fails (no gnuplot) does not keep the numbers back. */
int shown_write(struct ui *ui, const struct shown_opts *opts, iw_doc doc);

/* What the terminal can show. */
iw_doc_style shown_look(void);

/* The row of what a verb makes: -o, --output. `what` says what it is, and where it goes by default. */
#define SHOWN_OUTPUT_ROW(values, field, meta, what) \
    OPT_ROW(values, "output", OPT_STRING, field, meta, what, .letter = 'o')

/* UI_USAGE if the option that is given, "--dry-run", has no CSV and that is asked for. */
int shown_check_no_csv(const struct ui *ui, const struct shown_opts *opts, const char *option);

#endif
