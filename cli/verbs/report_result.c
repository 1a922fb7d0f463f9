/* The JSON of one simulation as input of `idlewave report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include <idlewave/idlewave.h>

#include "verbs/report_kinds.h"

/* A regular file whose first character that is no blank is a brace. */
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

static iw_status write(const iw_log *log, const void *input, const struct report_target *target)
{
    switch (target->format) {
    case REPORT_HTML: return iw_result_write_html(log, input, target->out);
    case REPORT_CSV: return iw_result_report_csv(log, input, target->out);
    case REPORT_GNUPLOT: return iw_result_report_gnuplot(log, input, target->path);
    default: return iw_result_report_text(log, input, target->out);
    }
}

const struct report_kind report_result = {
    .what = "the JSON of a simulation",
    .has_format = {[REPORT_TEXT] = true, [REPORT_HTML] = true, [REPORT_CSV] = true, [REPORT_GNUPLOT] = true},
    .is_it = is_json,
    .load = report_keep_path,
    .write = write,
    .free = free,
};
