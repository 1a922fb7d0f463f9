/* The folder of a study as input of `idlewave report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <sys/stat.h>

#include <idlewave/idlewave.h>

#include "verbs/report_kinds.h"

static bool is_study(const char *path)
{
    char yaml[4096];
    struct stat facts;

    return (size_t)snprintf(yaml, sizeof yaml, "%s/study.yaml", path) < sizeof yaml &&
           stat(yaml, &facts) == 0;
}

static iw_status load(const iw_log *log, const char *path, void **input_p)
{
    iw_study_results *results = NULL;

    IW_TRY(iw_study_results_load(log, path, &results));
    *input_p = results;
    return IW_OK;
}

static iw_status write(const iw_log *log, const void *input, const struct report_target *target)
{
    const iw_study_results *results = input;

    switch (target->format) {
    case REPORT_HTML: return iw_study_write_html(log, results, target->out);
    case REPORT_CSV: return iw_study_write_csv(log, results, target->out);
    case REPORT_GNUPLOT: return iw_study_write_gnuplot(log, results, target->path);
    default: return iw_study_write_text(log, results, target->has_colour, target->out);
    }
}

static void release(void *input)
{
    iw_study_results_free(input);
}

const struct report_kind report_study = {
    .what = "the folder of a study",
    .has_format = {[REPORT_TEXT] = true, [REPORT_HTML] = true, [REPORT_CSV] = true, [REPORT_GNUPLOT] = true},
    .is_it = is_study,
    .load = load,
    .write = write,
    .free = release,
};
