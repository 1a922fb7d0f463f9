/* Makes the noise and the schedules that cells share, each once.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/cells.h"

#include <stdlib.h>

#include <idlewave/files.h>

#include "core/base/base.h"
#include "core/noise/node_speed.h"
#include "features/study/files/study_yaml.h"

enum { SYNCS = IW_SYNC_PHASE + 1 };

iw_status iwi_inputs_init(const iw_log *log, const iw_study *study, struct iwi_inputs *inputs)
{
    *inputs = (struct iwi_inputs){.study = study};
    inputs->sets = iwi_new_array(log, study->system_count * SYNCS, sizeof(iw_noise_set *));
    inputs->noise = iwi_new_array(log, study->system_count * SYNCS, sizeof(iw_noise *));
    inputs->speeds = iwi_new_array(log, study->system_count, sizeof(iw_node_speeds *));
    inputs->schedules = iwi_new_array(log, study->work_count, sizeof(iw_program *));
    if (inputs->sets == NULL || inputs->noise == NULL || inputs->speeds == NULL ||
        inputs->schedules == NULL) {
        iwi_inputs_release(inputs);
        return IW_ERR_NOMEM;
    }
    return IW_OK;
}

void iwi_inputs_release(struct iwi_inputs *inputs)
{
    for (size_t i = 0; inputs->noise != NULL && i < inputs->study->system_count * SYNCS; i++) {
        iw_noise_free(inputs->noise[i]);
    }
    for (size_t i = 0; inputs->sets != NULL && i < inputs->study->system_count * SYNCS; i++) {
        iw_noise_set_free(inputs->sets[i]);
    }
    for (size_t i = 0; inputs->schedules != NULL && i < inputs->study->work_count; i++) {
        iw_program_free(inputs->schedules[i]);
    }
    for (size_t i = 0; inputs->speeds != NULL && i < inputs->study->system_count; i++) {
        iw_node_speeds_free(inputs->speeds[i]);
    }
    free(inputs->noise);
    free(inputs->sets);
    free(inputs->speeds);
    free(inputs->schedules);
    *inputs = (struct iwi_inputs){.study = NULL};
}

iw_status iwi_inputs_add_schedule(const iw_log *log, struct iwi_inputs *inputs, const iw_cell *cell)
{
    const iw_study_work *work = &inputs->study->works[cell->work];

    if (work->goal_path == NULL || inputs->schedules[cell->work] != NULL) {
        return IW_OK;
    }
    return iw_program_from_goal(log, work->goal_path, work->goal_unit_ps, &inputs->schedules[cell->work]);
}

static size_t noise_index(const iw_cell *cell)
{
    return cell->system * SYNCS + (size_t)cell->sync;
}

/* The study was checked when it was read: fewer than there are, and no laws stand in for the recording. */
static iw_status spare_cores(const iw_log *log, const iw_study_system *system, iw_noise_set *set)
{
    return system->spare_cores > 0 ? iw_noise_set_spare(log, set) : IW_OK;
}

/* Those of the system, and whether there are enough of them for the cell. */
static iw_status add_speeds(const iw_log *log, struct iwi_inputs *inputs, const iw_cell *cell,
                            const iw_noise_set *set)
{
    const char *spec_or_path = inputs->study->systems[cell->system].node_speed;
    iw_node_speeds **speeds = &inputs->speeds[cell->system];
    int64_t *factors = NULL;

    if (spec_or_path == NULL) {
        return IW_OK;
    }
    if (*speeds == NULL) {
        IW_TRY(iw_node_speeds_new(log, spec_or_path, iw_noise_set_ranks_per_node(set), speeds));
    }
    IW_TRY(iwi_node_factors(log, *speeds, cell->ranks, cell->seed, 0, 0, &factors));
    free(factors);
    return IW_OK;
}

iw_status iwi_inputs_add_noise(const iw_log *log, struct iwi_inputs *inputs, const iw_cell *cell)
{
    const iw_study_system *system = &inputs->study->systems[cell->system];
    const size_t index = noise_index(cell);
    iw_noise_set *set = NULL;
    iw_status status;

    if (inputs->noise[index] != NULL) {
        return add_speeds(log, inputs, cell, inputs->sets[index]);
    }
    status = iw_noise_set_new(log, &set);
    if (status == IW_OK) {
        iw_noise_set_only_cpus(set, &system->noise_cpus);
        iw_noise_set_align_nodes(set, system->align);
    }
    for (size_t i = 0; status == IW_OK && i < system->noise_count; i++) {
        status = iw_noise_set_add(log, set, system->noise[i]);
    }
    if (status == IW_OK) {
        iw_noise_set_align(set, cell->sync, system->skew_ps, system->ranks_per_node);
        iw_noise_set_share_phases(set, system->cores_per_rank, system->loop);
        status = system->is_extrapolated ? iw_noise_set_extrapolate(log, set) : spare_cores(log, system, set);
    }
    if (status == IW_OK) {
        status = add_speeds(log, inputs, cell, set);
    }
    if (status == IW_OK) {
        status = iw_noise_set_make(log, set, NULL, cell->seed, 0, &inputs->noise[index]);
    }
    if (status != IW_OK) {
        iw_noise_set_free(set);
        return status;
    }
    inputs->sets[index] = set;
    return IW_OK;
}

const iw_noise_set *iwi_inputs_set(const struct iwi_inputs *inputs, const iw_cell *cell)
{
    return inputs->sets[noise_index(cell)];
}

const iw_noise *iwi_inputs_noise(const struct iwi_inputs *inputs, const iw_cell *cell)
{
    return inputs->noise[noise_index(cell)];
}

const iw_node_speeds *iwi_inputs_speeds(const struct iwi_inputs *inputs, const iw_cell *cell)
{
    return inputs->speeds[cell->system];
}

/* How many times as long computation takes if cores are left to the operating system. Before the noise is
 * made 1: who only counts messages need not know. */
static double spare_work(const struct iwi_inputs *inputs, const iw_cell *cell)
{
    const uint32_t spare = inputs->study->systems[cell->system].spare_cores;
    const iw_noise_set *set = iwi_inputs_set(inputs, cell);

    return spare > 0 && set != NULL ? iw_spare_work(iw_noise_set_cores_per_node(set), spare) : 1.0;
}

iw_pattern iwi_cell_pattern(const struct iwi_inputs *inputs, const iw_cell *cell)
{
    const iw_study *study = inputs->study;
    iw_pattern pattern = study->works[cell->work].pattern;

    pattern.ranks = cell->ranks;
    pattern.bytes = cell->bytes;
    pattern.nodes = iwi_study_nodes(&study->systems[cell->system]);
    iw_pattern_scale_work(&pattern, spare_work(inputs, cell));
    return pattern;
}

/* Of programs made of traces: what is not an error was told when the study was read. */
static void pass_errors(void *arg, iw_log_level level, const char *text)
{
    const iw_log *log = arg;

    if (level == IW_LOG_ERROR && log->write != NULL) {
        log->write(log->arg, level, text);
    }
}

static iw_status make_from_trace(const iw_log *log, const struct iwi_inputs *inputs, const iw_cell *cell,
                                 iw_program **program_p)
{
    const iw_study_work *work = &inputs->study->works[cell->work];
    iw_trace_opts opts = work->trace_opts;
    iw_log outer = log != NULL ? *log : (iw_log){NULL, NULL};
    const iw_log errors = {pass_errors, &outer};

    opts.ranks = cell->ranks;
    opts.nodes = iw_net_nodes(&inputs->study->systems[cell->system].net);
    opts.compute_scale *= spare_work(inputs, cell);
    return iw_program_from_trace(&errors, work->trace, &opts, program_p);
}

iw_status iwi_cell_program_init(const iw_log *log, const struct iwi_inputs *inputs, const iw_cell *cell,
                                struct iwi_cell_program *program)
{
    const iw_study_work *work = &inputs->study->works[cell->work];

    *program = (struct iwi_cell_program){.program = inputs->schedules[cell->work]};
    if (work->is_trace) {
        IW_TRY(make_from_trace(log, inputs, cell, &program->own));
        program->program = program->own;
    } else if (program->program == NULL) {
        const iw_pattern pattern = iwi_cell_pattern(inputs, cell);

        IW_TRY(iw_program_from_pattern(log, work->operations, &pattern, &program->own));
        program->program = program->own;
    }
    return IW_OK;
}

void iwi_cell_program_release(struct iwi_cell_program *program)
{
    iw_program_free(program->own);
}
