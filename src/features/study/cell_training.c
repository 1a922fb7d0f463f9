/* Cells that are training programs: the makespan of a trial is the mean of its steps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/cell_training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/training.h>

#include "core/base/base.h"
#include "features/study/cell_run.h"
#include "features/study/files/study_line.h"
#include "features/study/files/study_yaml.h"

enum { NOISE_TEXT_SIZE = IW_TRAINING_SOURCES_MAX * (sizeof((iw_training_source *)0)->spec + 3) + 5 };

/* The program on the GPUs of the cell, with the noise of its system on all hosts. */
static iw_status make_program(const iw_log *log, const iw_study *study, const iw_cell *cell,
                              iw_training *spec)
{
    const iw_study_system *system = &study->systems[cell->system];
    const bool is_together = cell->sync == IW_SYNC_START;

    IW_TRY(iwi_study_training_on(log, &study->works[cell->work], cell->settings, cell->ranks, spec));
    for (size_t i = 0; i < system->noise_count; i++) {
        if (strcmp(system->noise[i], "none") != 0) {
            IW_TRY(iw_training_add_source(log, spec,
                                          &(iw_training_source_text){.source = system->noise[i],
                                                                     .where = "host",
                                                                     .scope = is_together ? "all" : "rank"}));
            spec->sources[spec->source_count - 1].skew_ps = is_together ? system->skew_ps : 0;
        }
    }
    return IW_OK;
}

iw_status iwi_cell_count_training(const iw_log *log, const iw_study *study, const iw_cell *cell,
                                  uint64_t *messages_p)
{
    const iw_study_work *work = &study->works[cell->work];
    iw_training_result *result;
    iw_training spec;

    IW_TRY(iwi_study_training_on(log, work, cell->settings, cell->ranks, &spec));
    spec.source_count = 0; /* and so one rank stands for all of its stage */
    spec.slow[0] = '\0';
    spec.forward_sigma = spec.backward_sigma = 0;
    IW_TRY(iw_training_run(log, &spec, NULL, &result));
    *messages_p = result->operations * work->training_steps;
    iw_training_result_free(result);
    return IW_OK;
}

static void describe_noise(const iw_training *spec, char text[NOISE_TEXT_SIZE])
{
    size_t used = 0;

    snprintf(text, NOISE_TEXT_SIZE, "none");
    for (uint32_t i = 0; i < spec->source_count; i++) {
        const char *slash = strrchr(spec->sources[i].spec, '/');

        used += (size_t)snprintf(text + used, NOISE_TEXT_SIZE - used, "%s%s", i > 0 ? " + " : "",
                                 slash != NULL ? slash + 1 : spec->sources[i].spec);
    }
}

/* Without jitter all trials are the step. */
static iw_status sum_up(const iw_log *log, const iw_training_result *trained, iw_cell_result *result)
{
    const size_t count = (size_t)result->trials;
    double *values = iwi_new_array(log, count, sizeof *values);
    iw_status status;

    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    result->noiseless_ns = (double)trained->noiseless_ps / (double)IW_PS_PER_NS;
    for (size_t i = 0; i < count; i++) {
        values[i] = trained->trial_ns != NULL ? trained->trial_ns[i] : result->noiseless_ns;
    }
    status = iwi_cell_sum_up(log, values, count, result);
    free(values);
    return status;
}

static iw_status write_line(const iw_log *log, const iw_study *study, const iw_cell *cell,
                            const iw_training *spec, const iw_training_result *trained, char **line_p)
{
    const iw_study_work *work = &study->works[cell->work];
    char noise[NOISE_TEXT_SIZE], settings[IWI_SETTINGS_TEXT_SIZE], net[] = "of the training program";
    char caveats[IWI_CELL_CAVEATS_SIZE];
    iw_cell_result result = {
        .system = study->systems[cell->system].name,
        .work = work->name,
        .net = net,
        .noise = noise,
        .settings = work->setting_count > 0 ? settings : NULL,
        .ranks = cell->ranks,
        .trials = cell->trials,
        .seed = cell->seed,
        .sync = cell->sync,
        .net_scale = cell->net_scale,
        .noise_share = NAN,
        .messages = trained->operations * work->training_steps,
        .recording = {.slowdown_low = NAN, .slowdown_high = NAN, .record_s = NAN},
        .caveats = iwi_cell_caveats(&trained->caveats, caveats),
    };

    memcpy(result.id, cell->id, sizeof result.id);
    describe_noise(spec, noise);
    iwi_study_settings_text(work, cell->settings, settings);
    IW_TRY(sum_up(log, trained, &result));
    return iwi_cell_line_new(log, &result, line_p);
}

iw_status iwi_cell_run_training(const iw_log *log, const struct iwi_inputs *inputs, const iw_cell *cell,
                                uint32_t threads, iw_progress progress, char **line_p)
{
    iw_training_opts opts = IW_TRAINING_OPTS_INIT;
    iw_training_result *trained;
    iw_training spec;
    iw_status status;

    opts.steps = inputs->study->works[cell->work].training_steps;
    opts.trials = cell->trials;
    opts.seed = cell->seed;
    opts.threads = threads;
    opts.wants_bill = false;
    opts.progress = progress;
    IW_TRY(make_program(log, inputs->study, cell, &spec));
    IW_TRY(iw_training_run(log, &spec, &opts, &trained));
    status = write_line(log, inputs->study, cell, &spec, trained, line_p);
    iw_training_result_free(trained);
    return status;
}
