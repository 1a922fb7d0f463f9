/* Runs one cell: simulates, or trains; sums up; writes a line.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/files.h>
#include <idlewave/net.h>
#include <idlewave/noise_set.h>
#include <idlewave/training.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/sim/split/forecast.h"
#include "features/study/cells.h"
#include "features/study/files/study_line.h"
#include "features/study/files/study_yaml.h"

/* ======== simulations ======== */

enum { IWI_CELL_CAVEATS_SIZE = IW_CAVEATS_MOST * sizeof(iw_caveat) };

enum { NET_TEXT_SIZE = 384, NODE_TEXT_SIZE = 320 };

/* ---- text for people ---- */

/* "chic: L 5.330 us, o 770.0 ns, g 1.560 us, G 1.25 ns/B": as it was read, before scaling. */
static void describe_net(const iw_net *net, char buf[NET_TEXT_SIZE])
{
    const double fs_per_ns = 1e6;
    char L[24], o_send[24], o_recv[24], g[24], memory[IW_MEMORY_TEXT_SIZE], rest[64] = "";

    (void)iw_format_time(net->o_recv_ps, o_recv, sizeof o_recv);
    if (net->O > 0) {
        snprintf(rest, sizeof rest, ", O %.4g ns/B", (double)net->O / fs_per_ns);
    }
    if (net->segment_count > 0) {
        const size_t used = strlen(rest);

        snprintf(rest + used, sizeof rest - used, ", %u segments", net->segment_count);
    }
    snprintf(buf, NET_TEXT_SIZE, "%s: L %s, o %s%s%s, g %s, G %.4g ns/B%s", net->name,
             iw_format_time(net->L_ps, L, sizeof L), iw_format_time(net->o_send_ps, o_send, sizeof o_send),
             net->o_recv_ps != net->o_send_ps ? " and " : "", net->o_recv_ps != net->o_send_ps ? o_recv : "",
             iw_format_time(net->g_ps, g, sizeof g), (double)net->G / fs_per_ns, rest);
    if (net->memory.ranks > 0) {
        const size_t used = strlen(buf);

        snprintf(buf + used, NET_TEXT_SIZE - used, "; memory %s", iw_memory_text(&net->memory, memory));
    }
}

/* "; 2 spare cores; node speed normal:2%", of paths the last part. */
static void describe_nodes(const iw_study_system *system, char buf[NODE_TEXT_SIZE])
{
    const char *slash = system->node_speed != NULL ? strrchr(system->node_speed, '/') : NULL;
    size_t used = 0;

    buf[0] = '\0';
    if (system->spare_cores > 0) {
        used = (size_t)snprintf(buf, NODE_TEXT_SIZE, "; %u spare core%s", system->spare_cores,
                                system->spare_cores == 1 ? "" : "s");
    }
    if (system->align == IW_ALIGN_WALL) {
        used += (size_t)snprintf(buf + used, NODE_TEXT_SIZE - used, "; nodes aligned by the wall clock");
    }
    if (system->node_speed != NULL) {
        snprintf(buf + used, NODE_TEXT_SIZE - used, "; node speed %.200s",
                 slash != NULL ? slash + 1 : system->node_speed);
    }
}

/* "periodic:10Hz,1us + node.h5 (2 ranks a node, as recorded)". Of paths the last part: the line shall not
 * depend on where the study lies. */
static char *new_noise_text(const iw_log *log, const iw_study_system *system, const iw_noise *noise)
{
    size_t size = sizeof "none" + sizeof " ()" + IW_NODES_TEXT_SIZE + NODE_TEXT_SIZE, used = 0;
    const iw_cpu_set *cpus = iw_noise_cpus(noise);
    char nodes[IW_NODES_TEXT_SIZE], list[64], node_text[NODE_TEXT_SIZE], *text;

    for (size_t i = 0; i < system->noise_count; i++) {
        size += strlen(system->noise[i]) + strlen(" + ");
    }
    text = iwi_new_array(log, size, 1);
    for (size_t i = 0; text != NULL && i < system->noise_count; i++) {
        const char *slash = strrchr(system->noise[i], '/');

        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? " + " : "",
                                 slash != NULL ? slash + 1 : system->noise[i]);
    }
    if (text != NULL && used == 0) {
        snprintf(text, size, "none");
    } else if (text != NULL && system->is_extrapolated) {
        snprintf(text + used, size - used, " (extrapolated)");
    } else if (text != NULL && iw_noise_recorded_cpus(noise) > 0) {
        snprintf(text + used, size - used, " (%s)",
                 iw_nodes_text(iw_noise_ranks_per_node(noise), iw_noise_cores_per_rank(noise),
                               iw_noise_recorded_cpus(noise),
                               cpus != NULL ? iw_cpu_set_text(cpus, list, sizeof list) : NULL, nodes));
    }
    if (text != NULL) {
        describe_nodes(system, node_text);
        used = strlen(text);
        snprintf(text + used, size - used, "%s", node_text);
    }
    return text;
}

/* "poisson:9.87Hz,exp:19.9us + periodic:250Hz,3us"; NULL in *text_p: no laws stand in for recordings. */
static iw_status new_laws_text(const iw_log *log, const iw_noise_set *set, char **text_p)
{
    size_t size = 1, used = 0;
    char *text;

    *text_p = NULL;
    for (size_t i = 0; iw_noise_set_law(set, i) != NULL; i++) {
        size += strlen(iw_noise_set_law(set, i)) + strlen(" + ");
    }
    if (size == 1) {
        return IW_OK;
    }
    text = iwi_new_array(log, size, 1);
    if (text == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; iw_noise_set_law(set, i) != NULL; i++) {
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? " + " : "", iw_noise_set_law(set, i));
    }
    *text_p = text;
    return IW_OK;
}

/* ---- numbers ---- */

/* Summary of the makespans of all trials, in nanoseconds, which are put in order. */
static iw_status cell_sum_up(const iw_log *log, double *values, size_t count, iw_cell_result *result)
{
    iwi_sort_doubles(values, count);
    result->p5_ns = iw_quantile_sorted(values, count, 0.05);
    result->p95_ns = iw_quantile_sorted(values, count, 0.95);
    return iw_summarize(log, values, count, &result->makespan_ns);
}

static iw_status sum_up(const iw_log *log, const iw_sim_result *simulated, iw_cell_result *result)
{
    const size_t count = (size_t)simulated->trials;
    double *values = iwi_new_array(log, count, sizeof *values);
    iw_status status;

    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = (double)simulated->makespan_ps[i] / (double)IW_PS_PER_NS;
    }
    result->noiseless_ns = (double)simulated->noiseless_ps / (double)IW_PS_PER_NS;
    result->messages = simulated->messages;
    status = cell_sum_up(log, values, count, result);
    free(values);
    return status;
}

static double noise_share(const iw_noise *noise)
{
    double share = 0.0;

    for (size_t i = 0; i < iw_noise_source_count(noise); i++) {
        share += iw_noise_source_share(noise, i);
    }
    return share;
}

/* ---- the cell ---- */

/* The simulation, or the redraws after it, as a part of the cell's work. */
struct stage {
    iw_progress cell;
    uint64_t trials_before, trials, trials_of_all;
};

static bool step(void *arg, const iw_progress_now *now)
{
    const struct stage *stage = arg;
    const double done = (double)stage->trials_before + (double)stage->trials * now->share;

    return stage->cell.step(stage->cell.arg,
                            &(iw_progress_now){.share = done / (double)stage->trials_of_all});
}

static iw_status simulate(const iw_log *log, const struct iwi_inputs *inputs, const iw_cell *cell,
                          uint32_t threads, iw_progress progress, iw_sim_result **simulated_p,
                          iw_certainty *certainty_p)
{
    iw_net net = inputs->study->systems[cell->system].net;
    const uint64_t redrawn = iw_certainty_trials(iwi_inputs_set(inputs, cell), cell->trials);
    struct stage stage = {progress, 0, cell->trials, cell->trials + redrawn};
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct iwi_cell_program program;
    iw_status status;

    opts.seed = cell->seed;
    opts.trials = cell->trials;
    opts.threads = threads;
    opts.node_speeds = iwi_inputs_speeds(inputs, cell);
    opts.progress = (iw_progress){step, &stage};
    IW_TRY(iw_net_scale(log, &net, cell->net_scale));
    IW_TRY(iwi_cell_program_init(log, inputs, cell, &program));
    status = iw_simulate(log, program.program, &net, iwi_inputs_noise(inputs, cell), &opts, simulated_p);
    if (status == IW_OK) {
        stage = (struct stage){progress, cell->trials, redrawn, cell->trials + redrawn};
        status = iw_certainty_find(log,
                                   &(iw_certainty_question){.set = iwi_inputs_set(inputs, cell),
                                                            .program = program.program,
                                                            .net = &net,
                                                            .opts = &opts,
                                                            .result = *simulated_p},
                                   certainty_p);
    }
    iwi_cell_program_release(&program);
    return status;
}

/* What is infinite is no number in lines. */
static iw_cell_recording recording_of(const iw_certainty *certainty)
{
    const iw_reach *reach = &certainty->reach;

    return (iw_cell_recording){.seconds = reach->recorded_s,
                               .unseen = reach->unseen,
                               .slowdown_low = certainty->slowdown.low,
                               .slowdown_high = reach->is_bound ? NAN : certainty->slowdown.high,
                               .record_s = reach->is_bound ? reach->record_s : NAN,
                               .sensitivity = reach->sensitivity};
}

static iw_status find_caveats(const iw_log *log, const struct iwi_inputs *inputs, const iw_cell *cell,
                              uint32_t ranks, iw_caveats *caveats)
{
    const iw_noise_set *set = iwi_inputs_set(inputs, cell);
    const iw_study_work *work = &inputs->study->works[cell->work];

    *caveats = (iw_caveats){.count = 0};
    if (set != NULL) {
        iw_noise_set_caveats(set, caveats);
    }
    iw_caveats_of_net(&inputs->study->systems[cell->system].net, ranks, caveats);
    if (work->is_trace) {
        iw_trace_opts opts = work->trace_opts;
        iw_traced traced;

        opts.ranks = cell->ranks;
        IW_TRY(iw_trace_describe_program(log, work->trace, &opts, &traced));
        iw_caveats_of_traced(&traced, work->name, caveats);
    }
    return IW_OK;
}

static char *cell_caveats(const iw_caveats *caveats, char buf[IWI_CELL_CAVEATS_SIZE])
{
    size_t used = 0;

    for (size_t i = 0; i < caveats->count; i++) {
        if (caveats->caveats[i].is_known) {
            used += (size_t)snprintf(buf + used, IWI_CELL_CAVEATS_SIZE - used, "%s%s", used > 0 ? " | " : "",
                                     caveats->caveats[i].text);
        }
    }
    return used > 0 ? buf : NULL;
}

static iw_status write_line(const iw_log *log, const struct iwi_inputs *inputs, const iw_cell *cell,
                            const iw_sim_result *simulated, const iw_certainty *certainty,
                            const iw_caveats *caveats, char **line_p)
{
    const iw_study_system *system = &inputs->study->systems[cell->system];
    char net_text[NET_TEXT_SIZE], caveats_text[IWI_CELL_CAVEATS_SIZE];
    iw_cell_result result = {
        .system = system->name,
        .work = inputs->study->works[cell->work].name,
        .net = net_text,
        .noise = new_noise_text(log, system, iwi_inputs_noise(inputs, cell)),
        .ranks = simulated->ranks,
        .bytes = cell->bytes,
        .trials = cell->trials,
        .seed = cell->seed,
        .sync = cell->sync,
        .net_scale = cell->net_scale,
        .noise_share = noise_share(iwi_inputs_noise(inputs, cell)),
        .recording = recording_of(certainty),
        .caveats = cell_caveats(caveats, caveats_text),
    };
    iw_status status = result.noise != NULL
                           ? new_laws_text(log, iwi_inputs_set(inputs, cell), &result.recording.laws)
                           : IW_ERR_NOMEM;

    memcpy(result.id, cell->id, sizeof result.id);
    describe_net(&system->net, net_text);
    if (status == IW_OK) {
        status = sum_up(log, simulated, &result);
    }
    if (status == IW_OK) {
        status = iwi_cell_line_new(log, &result, line_p);
    }
    free(result.noise);
    free(result.recording.laws);
    return status;
}

/* ======== training programs ======== */

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
static iw_status sum_up_steps(const iw_log *log, const iw_training_result *trained, iw_cell_result *result)
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
    status = cell_sum_up(log, values, count, result);
    free(values);
    return status;
}

static iw_status write_training_line(const iw_log *log, const iw_study *study, const iw_cell *cell,
                                     const iw_training *spec, const iw_training_result *trained,
                                     char **line_p)
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
        .caveats = cell_caveats(&trained->caveats, caveats),
    };

    memcpy(result.id, cell->id, sizeof result.id);
    describe_noise(spec, noise);
    iwi_study_settings_text(work, cell->settings, settings);
    IW_TRY(sum_up_steps(log, trained, &result));
    return iwi_cell_line_new(log, &result, line_p);
}

static iw_status train(const iw_log *log, const struct iwi_inputs *inputs, const iw_cell *cell,
                       uint32_t threads, iw_progress progress, iw_training *spec,
                       iw_training_result **trained_p)
{
    iw_training_opts opts = IW_TRAINING_OPTS_INIT;

    opts.steps = inputs->study->works[cell->work].training_steps;
    opts.trials = cell->trials;
    opts.seed = cell->seed;
    opts.threads = threads;
    opts.wants_bill = false;
    opts.progress = progress;
    IW_TRY(make_program(log, inputs->study, cell, spec));
    return iw_training_run(log, spec, &opts, trained_p);
}

iw_status iwi_cell_time_training(const struct iwi_inputs *inputs, const iw_cell *cell, double enough_s,
                                 double *seconds_p)
{
    struct iwi_stopwatch watch;
    const iw_progress progress = iwi_stopwatch_begin(&watch, enough_s, 1.0);
    iw_training_result *trained = NULL;
    iw_training spec;
    const iw_status status = train(NULL, inputs, cell, 1, progress, &spec, &trained);

    *seconds_p = iwi_stopwatch_read(&watch, status);
    iw_training_result_free(trained);
    return status == IW_ERR_CANCELLED && isfinite(*seconds_p) ? IW_OK : status;
}

/* iwi_cell_run() of such a cell. */
static iw_status cell_run_training(const iw_log *log, const struct iwi_inputs *inputs, const iw_cell *cell,
                                   uint32_t threads, iw_progress progress, char **line_p)
{
    iw_training_result *trained;
    iw_training spec;
    iw_status status;

    IW_TRY(train(log, inputs, cell, threads, progress, &spec, &trained));
    status = write_training_line(log, inputs->study, cell, &spec, trained, line_p);
    iw_training_result_free(trained);
    return status;
}

/* ======== either ======== */

iw_status iwi_cell_run(const iw_log *log, const struct iwi_inputs *inputs, const iw_cell *cell,
                       uint32_t threads, iw_progress progress, char **line_p)
{
    iw_sim_result *simulated = NULL;
    iw_certainty certainty;
    iw_caveats caveats;
    iw_status status;

    if (inputs->study->works[cell->work].training != NULL) {
        return cell_run_training(log, inputs, cell, threads, progress, line_p);
    }
    status = simulate(log, inputs, cell, threads, progress, &simulated, &certainty);
    if (status == IW_OK) {
        status = find_caveats(log, inputs, cell, simulated->ranks, &caveats);
    }
    if (status == IW_OK) {
        status = write_line(log, inputs, cell, simulated, &certainty, &caveats, line_p);
    }
    iw_sim_result_free(simulated);
    return status;
}
