/* The folder of a study as input of `idlewave report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <sys/stat.h>

#include <idlewave/idlewave.h>

#include "options/report_kinds.h"

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
    return report_write_doc(log, iw_study_doc(input), target);
}

static void release(void *input)
{
    iw_study_results_free(input);
}

const struct report_kind report_study = {
    .what = "the folder of a study",
    .has_format = REPORT_DOC_FORMATS,
    .is_it = is_study,
    .load = load,
    .write = write,
    .free = release,
};
