/* Runs a training program, for all verbs that take one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_TRAINING_RUN_H
#define IW_CLI_TRAINING_RUN_H

#include <string.h>

#include <idlewave/training.h>

#include "options/shown_opts.h"

/* Adds jitter "SOURCE[@WHERE[@SCOPE]]". Returns UI_DONE or an exit code. */
int training_add_noise(struct ui *ui, const struct opt_list *noise, iw_training *spec);

/* Runs it and shows the result. SOURCEs may also be noise files of any form, and names of collections. */
int training_run(struct ui *ui, const iw_training *spec, const iw_training_opts *wanted, bool is_quiet,
                 const struct shown_opts *shown);

/* Answers a verb that takes other programs too. Options of `groups` that were typed and are none of `allowed`
 * (names between blanks) are refused. `noise` may be NULL. */
struct training_question {
    const char *path, *allowed;
    const struct opt_group *groups;
    size_t group_count;
    const void *values; /* of the groups */
    const struct opt_list *noise;
    bool is_quiet;
};
/* Whether a verb that takes other programs too has to ask training_answer(). */
#if IW_FEATURE_TRAINING
bool training_is_program(const char *path);

int training_answer(struct ui *ui, const struct training_question *question, const iw_training_opts *wanted,
                    const struct shown_opts *shown);
#else
/* By its name: what it lacks can be said. */
static inline bool training_is_program(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static inline int training_answer(struct ui *ui, const struct training_question *question,
                                  const iw_training_opts *wanted, const struct shown_opts *shown)
{
    (void)wanted;
    (void)shown;
    return ui_lacks(ui, question->path, "training");
}
#endif

#endif
