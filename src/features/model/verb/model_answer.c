/* What `model` answers: numbers of ranks in, rows out, by a law, a recording or the cone recursion.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/model/verb/model_opts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char default_ranks[] = "2^1..2^20";
static const uint64_t MOST_RANKS = UINT64_C(1) << 40;

static int compare_ranks(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static int add_ranks(struct ui *ui, const char *text, struct model_run *run)
{
    uint64_t *values = NULL;
    size_t count = 0;
    iw_status status;

    ui->option = "--ranks";
    status = iw_parse_counts(&ui->log, text, 1, MOST_RANKS, &values, &count);
    ui->option = NULL;
    if (status != IW_OK) {
        return ui_exit_of_value(ui, status);
    }
    run->ranks = ui_grow(run->ranks, run->count + count, sizeof *run->ranks);
    memcpy(run->ranks + run->count, values, count * sizeof *values);
    run->count += count;
    free(values);
    return UI_DONE;
}

/* Ascending, each once. */
static int make_ranks(struct ui *ui, const struct model_opts *opts, struct model_run *run)
{
    size_t kept = 0;
    int code = opts->ranks.count == 0 ? add_ranks(ui, default_ranks, run) : UI_DONE;

    for (size_t i = 0; i < opts->ranks.count && code == UI_DONE; i++) {
        code = add_ranks(ui, opts->ranks.items[i], run);
    }
    if (code != UI_DONE) {
        return code;
    }
    qsort(run->ranks, run->count, sizeof *run->ranks, compare_ranks);
    for (size_t i = 0; i < run->count; i++) {
        if (i == 0 || run->ranks[i] != run->ranks[kept - 1]) {
            run->ranks[kept++] = run->ranks[i];
        }
    }
    run->count = kept;
    run->rows = ui_grow(NULL, kept, sizeof *run->rows);
    memset(run->rows, 0, kept * sizeof *run->rows);
    return UI_DONE;
}

/* Formulas know one level, that of messages between nodes; so does the simulation that checks them. */
static void keep_outermost_level(iw_net *net)
{
    static const char outside[] = ", messages between nodes";
    const size_t room = sizeof net->name - sizeof outside, used = strlen(net->name);

    if (net->inner_count > 0) {
        net->inner_count = 0;
        net->nics = (iw_net_nics){.count = 0};
        memcpy(net->name + (used < room ? used : room), outside, sizeof outside);
    }
}

static int make_net(struct ui *ui, const struct model_opts *opts, struct model_run *run)
{
    iw_model_question *question = &run->report.question;
    int code = simulate_make_net(ui, &opts->net, 0, &run->net);

    if (code != UI_DONE) {
        return code;
    }
    keep_outermost_level(run->net);
    question->latency_ns =
        (double)(run->net->o_send_ps + run->net->L_ps + run->net->o_recv_ps) / (double)IW_PS_PER_NS;
    run->has_net = run->net->o_send_ps > 0 || run->net->o_recv_ps > 0 || run->net->g_ps > 0;
    run->net->is_device_progress = !run->has_net; /* the theorem's messages need no CPU */
    run->report.net = run->has_net ? run->net->name : NULL;
    if (run->has_net) {
        const uint64_t most = run->ranks[run->count - 1];

        iw_caveats_of_net(run->net, most < UINT32_MAX ? (uint32_t)most : UINT32_MAX, &run->report.caveats);
    }
    if (!run->has_net && !opt_given(opts, compute_ps)) {
        return ui_usage(
            ui, "a barrier without work needs a network, since noise hits only messages that cost CPU time: "
                "add --net hdr-fat-tree, or --compute 1ms");
    }
    return UI_DONE;
}

static int answer_cone(struct ui *ui, const struct model_opts *opts, struct model_run *run)
{
    iw_status status;

    ui->option = "--noise";
    status = iw_model_cone(&ui->log, model_noise(opts), run->net, run->report.question.work_ns, run->ranks,
                           run->count, run->rows);
    ui->option = NULL;
    run->report.is_cone = true;
    return ui_exit_of_value(ui, status);
}

/* Detours in wall-clock time hit the messages of a barrier too, for which dissemination has a model. Without
 * noise there is nothing to recur on. */
static bool is_for_cone(const struct model_opts *opts, const struct model_run *run)
{
    if (strcmp(model_noise(opts), "none") == 0) {
        return false;
    }
    return !opt_given(opts, compute_ps) ||
           (run->has_net && run->report.question.barrier == IW_MODEL_DISSEMINATION &&
            (strncmp(model_noise(opts), "periodic:", 9) == 0 ||
             strncmp(model_noise(opts), "poisson:", 8) == 0));
}

/* Sources without name are known by their class. */
static const char *source_name(const iw_source *source)
{
    return source->name[0] != '\0' ? source->name : iw_class_name(source->kind);
}

static iw_status answer_rows(const iw_log *log, struct model_run *run)
{
    const iw_model_question *question = &run->report.question;
    iw_status status = IW_OK;

    for (size_t i = 0; i < run->count && status == IW_OK; i++) {
        iw_model_row *row = &run->rows[i];
        size_t worst = 0;

        if (run->window == NULL) {
            status = iw_model_answer(log, run->law, question, run->ranks[i], row);
            continue;
        }
        status = iw_window_model_answer(log, run->window, question, run->ranks[i], row, &worst);
        row->worst_source =
            worst < run->recording->source_count ? source_name(&run->recording->sources[worst]) : NULL;
    }
    return status;
}

static int answer_law(struct ui *ui, const struct model_opts *opts, struct model_run *run)
{
    iw_model_report *report = &run->report;
    iw_status status;

    ui->option = "--noise";
    status = iw_law_new(&ui->log, model_noise(opts), report->question.work_ns, &run->law);
    ui->option = NULL;
    if (status != IW_OK) {
        return ui_exit_of_value(ui, status);
    }
    (void)iw_model_chains(run->law, &report->question, report->chains);
    status = answer_rows(&ui->log, run);
    if (status == IW_OK && report->question.work_ns > 0) {
        status = iw_model_half_ranks(&ui->log, run->law, &report->question, &report->half_rule,
                                     &report->half_ranks);
    }
    if (status == IW_OK && report->question.work_ns > 0) {
        status = iw_model_doubled(&ui->log, run->law, &report->question, &report->first_doubled,
                                  &report->last_doubled);
    }
    return ui_exit_of(status);
}

static int answer_recording(struct ui *ui, const struct model_opts *opts, struct model_run *run)
{
    const iw_import_opts import = IW_IMPORT_OPTS_INIT;
    const iw_window_options window = {.work_ns = run->report.question.work_ns,
                                      .rarest_s = (double)opts->rarest_ps / (double)IW_PS_PER_S,
                                      .seed = opts->seed};
    iw_status status = iw_recording_import(&ui->log, model_noise(opts), &import, &run->recording);

    if (status == IW_ERR_USAGE) {
        ui_hint(ui, "'idlewave noise convert' reads other formats");
    }
    if (status == IW_OK) {
        status = iw_recording_keep_cpus(&ui->log, model_noise(opts), run->only, &run->recording);
    }
    if (status == IW_OK) {
        status = iw_window_model_new(&ui->log, run->recording, &window, &run->window);
    }
    if (status == IW_OK) {
        run->report.cpu_count = run->recording->cpu_count;
        iw_caveats_of_recording(run->recording, model_noise(opts), &run->report.caveats);
        run->report.horizon = iw_window_model_horizon(run->window);
        status = answer_rows(&ui->log, run);
    }
    return ui_exit_of(status);
}

int model_answer(struct ui *ui, const struct model_opts *opts, struct model_run *run)
{
    const bool is_alone = !opt_given(opts, compute_ps), is_file = simulate_noise_is_file(model_noise(opts));
    iw_model_report *report = &run->report;
    int code;

    report->noise = is_file ? ui_file_name(model_noise(opts)) : model_noise(opts);
    report->command = ui->command;
    report->half_ranks = report->first_doubled = report->last_doubled = (double)NAN;
    report->question.work_ns = is_alone ? 0 : (double)opts->compute_ps / (double)IW_PS_PER_NS;
    report->question.barrier = opt_given(opts, barrier) ? (iw_model_barrier)opts->barrier
                               : is_alone               ? IW_MODEL_DISSEMINATION
                                                        : IW_MODEL_TREE;
    if (is_alone && is_file) {
        return ui_usage(ui, "a noise file needs the work of a phase: add --compute 1ms");
    }
    code = simulate_read_cpus(ui, opts->noise.cpus, &run->cpus, &run->only);
    if (code == UI_DONE && run->only != NULL) {
        report->cpus = iw_cpu_set_text(run->only, run->cpus_text, sizeof run->cpus_text);
    }
    if (code == UI_DONE) {
        code = simulate_check_cpus(ui, opts->noise.cpus, is_file ? 1 : 0);
    }
    if (code == UI_DONE) {
        code = make_ranks(ui, opts, run);
    }
    if (code == UI_DONE) {
        code = make_net(ui, opts, run);
    }
    report->rows = run->rows;
    report->count = run->count;
    if (code != UI_DONE) {
        return code;
    }
    if (!is_file && is_for_cone(opts, run)) {
        return answer_cone(ui, opts, run);
    }
    return is_file ? answer_recording(ui, opts, run) : answer_law(ui, opts, run);
}

void model_release(struct model_run *run)
{
    iw_net_free(run->net);
    free(run->ranks);
    free(run->rows);
    iw_law_free(run->law);
    iw_window_model_free(run->window);
    iw_recording_free(run->recording);
}
