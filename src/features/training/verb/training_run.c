/* Runs a training program, for all verbs that take one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/training/verb/training_run.h"

#include <string.h>

#include <idlewave/idlewave.h>

#include "options/suggest.h"
#include "process/progress.h"

int training_add_noise(struct ui *ui, const struct opt_list *noise, iw_training *spec)
{
    for (size_t i = 0; i < noise->count; i++) {
        if (iw_training_add_noise(&ui->log, spec, noise->items[i]) != IW_OK) {
            return UI_USAGE;
        }
    }
    return UI_DONE;
}

/* A word that is no path is a source whose name was meant. */
static void hint_at_sources(const struct ui *ui, const iw_training *spec)
{
    for (size_t i = 0; i < spec->source_count; i++) {
        const char *word = spec->sources[i].spec;
        struct suggestion nearest;

        if (iw_noise_form_of(word) != IW_NOISE_ABSENT || strpbrk(word, "./:") != NULL) {
            continue;
        }
        suggest_begin(&nearest, word);
        for (size_t k = 0; iw_training_ready(k) != NULL; k++) {
            suggest_offer(&nearest, iw_training_ready(k)->name);
        }
        if (nearest.best != NULL) {
            ui_hint(ui, "did you mean '%s'? 'idlewave training --list' lists all ready sources",
                    nearest.best);
        } else {
            ui_hint(ui, "'idlewave training --list' lists ready sources");
        }
        return;
    }
}

int training_run(struct ui *ui, const iw_training *spec, const iw_training_opts *wanted, bool is_quiet,
                 const struct shown_opts *shown)
{
    iw_training_opts opts = *wanted;
    iw_training_result *result = NULL;
    struct progress progress;
    iw_status status;
    int code;

    progress_begin(&progress, 0, NULL);
    progress_tell(&progress, ui->verb, is_quiet);
    opts.progress = progress_calls(&progress);
    ui->progress = &progress;
    status = iw_training_run(&ui->log, spec, &opts, &result);
    ui->progress = NULL;
    progress_wipe(&progress);
    if (status != IW_OK) {
        hint_at_sources(ui, spec);
        return ui_exit_of(status);
    }
    result->command = ui->command;
    code = shown_write(ui, shown, iw_training_doc(result));
    iw_training_result_free(result);
    return code;
}

static int check_options(const struct ui *ui, const struct training_question *question)
{
    for (size_t i = 0; i < question->group_count; i++) {
        const struct opt_group *group = &question->groups[i];
        const char *option = opt_first_typed(
            group->rows, group->count, (const char *)question->values + group->offset, question->allowed);

        if (option != NULL) {
            return ui_usage(ui,
                            "--%s does not apply to the training program '%s': change its settings, or use "
                            "'idlewave training'",
                            option, question->path);
        }
    }
    return UI_DONE;
}

bool training_is_program(const char *path)
{
    return iw_training_is_file(path);
}

int training_answer(struct ui *ui, const struct training_question *question, const iw_training_opts *wanted,
                    const struct shown_opts *shown)
{
    iw_training spec;
    int code = check_options(ui, question);

    if (code != UI_DONE) {
        return code;
    }
    iw_training_init(&spec);
    code = ui_exit_of(iw_training_load(&ui->log, question->path, &spec));
    if (code == UI_DONE && question->noise != NULL) {
        code = training_add_noise(ui, question->noise, &spec);
    }
    if (code == UI_DONE) {
        code = training_run(ui, &spec, wanted, question->is_quiet, shown);
    }
    iw_training_release(&spec);
    return code;
}
