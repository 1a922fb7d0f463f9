/* `idlewave study merge`: the parts of a study in one folder.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include <idlewave/idlewave.h>

#include "features/study/verb/study_verbs.h"

struct merge_opts {
    struct opt_origins origins;
    const char *dir;
};

static const struct opt output_rows[] = {
    OPT_ROW(struct merge_opts, "output", OPT_STRING, dir, "DIR",
            "the folder of all results; may be one of DIR...", .letter = 'o'),
};

static const struct opt_group groups[] = {OPT_GROUP("What is merged", output_rows, 0)};

static const struct merge_opts defaults = {.dir = NULL};

static const char *const synopsis[] = {"-o DIR DIR...", NULL};

static const char description[] =
    "Joins the results of folders that hold parts of one study. Cells that several folders hold must be "
    "equal. The order of the folders does not matter.";

static const struct example examples[] = {
    {"two machines ran a half each", "idlewave study merge part1 part2 -o all"},
    {"the files of all shards in a folder as one", "idlewave study merge four -o four"},
    {NULL, NULL},
};

static iw_status tell(struct ui *ui, const char *dir)
{
    iw_study_results *results = NULL;
    const iw_status status = iw_study_results_load(&ui->log, dir, &results);

    if (status == IW_OK && results->count == results->expected) {
        (void)printf("Merged: all %zu cells are in '%s'.\nNext: idlewave report %s -o report.html\n",
                     results->count, dir, dir);
    } else if (status == IW_OK) {
        (void)printf("Merged: %zu of %zu cells are in '%s'; the others are still to be run.\n",
                     results->count, results->expected, dir);
    }
    iw_study_results_free(results);
    return status;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct merge_opts *opts = values;
    iw_status status;

    if (args->count == 0) {
        return ui_usage(ui, "which folders? idlewave study merge DIR... -o DIR");
    }
    if (opts->dir == NULL) {
        return ui_usage(ui, "into which folder? -o DIR");
    }
    status = iw_study_merge(&ui->log, args->values, args->count, opts->dir);
    if (status == IW_OK) {
        status = tell(ui, opts->dir);
    }
    return ui_exit_of(status);
}

const struct verb verb_study_merge = {
    .name = "study merge",
    .summary = "join folders with parts of one study",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "DIR...",
    .argument_help = "folders with results",
    .groups = groups,
    .group_count = 1,
    .examples = examples,
    .defaults = &defaults,
    .values_size = sizeof(struct merge_opts),
    .most_arguments = (size_t)-1,
    .run = run,
};
