/* How sure a simulation is: its interval, and what other noise would have said.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include <idlewave/noise_set.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/noise/source.h"
#include "core/numeric/numeric.h"
#include "core/program/program.h"
#include "core/sim/later_half.h"
#include "core/stats/mean_interval.h"
#include "features/simulate/simulate.h"

/* ======== the interval ======== */

/* Trials of each redraw. Redraws have twice the trials together: see iwi_paired_interval(). */
static uint32_t certainty_per_redraw(uint64_t trials)
{
    return (uint32_t)((2 * trials + IW_CERTAINTY_REDRAWS - 1) / IW_CERTAINTY_REDRAWS);
}

/* Whether it takes simulations. */
static bool has_redraws(const iw_noise_set *set, uint64_t trials)
{
    return iw_noise_set_law(set, 0) != NULL && trials >= IW_CERTAINTY_LEAST_TRIALS &&
           iwi_set_blocks(set) >= 2;
}

uint64_t iw_certainty_trials(const iw_noise_set *set, uint64_t trials)
{
    return has_redraws(set, trials) ? (uint64_t)IW_CERTAINTY_REDRAWS * certainty_per_redraw(trials) : 0;
}

/* ---- the job again ---- */

static iw_status give_program(void *arg, uint32_t ranks, double work, iw_program **program_p)
{
    (void)ranks;
    (void)work;
    *program_p = arg;
    return IW_OK;
}

static void keep_program(void *arg, iw_program *program)
{
    (void)arg;
    (void)program;
}

/* The job of the question; its program stays the caller's. */
static struct iwi_paired_job certainty_job(const iw_certainty_question *question)
{
    return (struct iwi_paired_job){.sim = *question->opts,
                                   .net = question->net,
                                   .program = {give_program, keep_program, (void *)question->program},
                                   .redraws = IW_CERTAINTY_REDRAWS};
}

/* T/T0 - 1 of each trial. */
static void certainty_slowdowns(const iw_sim_result *result, double *slowdowns)
{
    for (uint64_t i = 0; i < result->trials; i++) {
        slowdowns[i] = (double)(result->makespan_ps[i] - result->noiseless_ps) / (double)result->noiseless_ps;
    }
}

/* Slowdowns of the trials, then room for those of redraws. */
static iw_status new_values(const iw_log *log, const iw_sim_result *result, size_t room, double **values_p)
{
    double *values = iwi_new_array(log, room, sizeof *values);

    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    certainty_slowdowns(result, values);
    *values_p = values;
    return IW_OK;
}

static iw_status run_redraws(const iw_log *log, const iw_certainty_question *q, iw_estimate *slowdown_p)
{
    const struct iwi_variant as_it_is = {.is_removed = NULL};
    struct iwi_inquiry inquiry = {
        .log = log, .set = q->set, .job = certainty_job(q), .blocks = iwi_set_blocks(q->set)};
    struct iwi_experiment experiment;
    double *values;
    iw_status status;

    IW_TRY(iwi_experiment_init(&inquiry, 0, q->result->trials, IW_CERTAINTY_REDRAWS, &experiment));
    experiment.per_redraw = certainty_per_redraw(q->result->trials);
    experiment.noiseless_ps = q->result->noiseless_ps;
    inquiry.work_total = iw_program_messages(q->program) * iw_certainty_trials(q->set, q->result->trials);
    IW_TRY(new_values(log, q->result, iwi_experiment_values(&experiment), &values));
    status = iwi_experiment_run_redraws(&experiment, &as_it_is, 1, values);
    if (status == IW_OK) {
        *slowdown_p = iwi_experiment_slowdown(&experiment, values, &as_it_is);
    }
    free(values);
    return status;
}

/* ---- by the model ---- */

/* Beyond this Student's law is the normal one. */
static const double MOST_FREEDOM = 1e6;

/* A variance v of a ratio is that of 1/v events that come at random. */
static double freedom_of(double variance)
{
    return fmin(fmax(2.0, 1.0 / variance - 1.0), MOST_FREEDOM);
}

static double least_of(const double *slowdowns, size_t count)
{
    double least = INFINITY;

    for (size_t i = 0; i < count; i++) {
        least = fmin(least, slowdowns[i]);
    }
    return least;
}

/* What is left at least of what comes often, drawn anew. */
static double least_often(const struct iwi_file_spread *spread)
{
    return fmax(0.0, 1.0 - iwi_t_quantile(0.975, freedom_of(spread->often_variance)) *
                               sqrt(spread->often_variance));
}

/* The slowdown that is there however few long detours there are: by the model a part of the mean, or what a
 * rank loses by itself, which the model leaves out where it comes many times in a phase. No more than any
 * trial has, all of which meet what comes often. */
static double sure_slowdown(const struct iwi_file_spread *spread, double mean, double least)
{
    return least_often(spread) * fmax(0.0, fmin(fmax(spread->often_part * mean, spread->often_share), least));
}

iw_status iwi_count_recording(const iw_log *log, const iw_noise_set *set, const struct iwi_exposure *exposure,
                              const double *slowdowns, size_t count, uint64_t seed, iw_estimate *slowdown_p,
                              double *most_p)
{
    const double mean = iwi_mean_estimate(slowdowns, count).value, least = least_of(slowdowns, count);
    const iw_reach reach = iwi_reach_for(set, exposure, mean);
    struct iwi_file_spread spread;
    double most;

    IW_TRY(iwi_recording_spread(log, set, exposure, mean, seed, &spread));
    *slowdown_p = iwi_paired_interval(
        &(struct iwi_sample){.trials = slowdowns,
                             .trial_count = count,
                             .file_variance = spread.variance * mean * mean,
                             .file_freedom = freedom_of(spread.variance),
                             .file_below = (1.0 - spread.least_part) * mean,
                             .file_floor = spread.often_part * least_often(&spread),
                             .file_sure = sure_slowdown(&spread, mean, fmin(mean, least)),
                             .one_hit = (double)reach.longest_ns * 1e-9 / exposure->quiet_s,
                             .most_unmet = INFINITY});
    /* Noise makes nothing faster, but for programs in which what comes first decides what runs next
     * (docs/explanation/semantics.md, 9): their trials show it. */
    if (slowdown_p->low < 0.0) {
        slowdown_p->low = fmax(slowdown_p->low, fmin(0.0, least));
    }
    most = slowdown_p->high + reach.unseen;
    slowdown_p->high = reach.is_bound ? INFINITY : most;
    if (most_p != NULL) {
        *most_p = most;
    }
    return IW_OK;
}

static iw_status count_recording(const iw_log *log, const iw_certainty_question *q, iw_estimate *slowdown_p)
{
    const iw_sim_result *result = q->result;
    const struct iwi_exposure exposure = {.ranks = result->ranks,
                                          .quiet_s = (double)result->noiseless_ps / (double)IW_PS_PER_S};
    double *values;
    iw_status status;

    IW_TRY(new_values(log, result, (size_t)result->trials, &values));
    status = iwi_count_recording(log, q->set, &exposure, values, (size_t)result->trials, result->seed,
                                 slowdown_p, NULL);
    free(values);
    return status;
}

/* ======== what a recording may lack: what it would cost ======== */

/* Few trials tell what it costs, and one more source takes time. */
enum { TRIALS_WITH_MORE = 10 };

/* Of W/3, counting what is under way when the job begins. Of ten trials one meets it in 95 % of cases from
 * there on; of fewer trials it has to be W/3, where each meets it in 63 %. */
static const double LEAST_PART = 0.3;

/* Of what noise costs: less than that is not worth a sentence. */
static const double LEAST_COST = 0.1;

uint64_t iwi_sensitivity_trials(uint64_t trials)
{
    const uint64_t half = (trials + 1) / 2;

    return half < TRIALS_WITH_MORE ? half : TRIALS_WITH_MORE;
}

/* How many of them the job meets on average, those included that are under way when it begins, or only those
 * that come later. */
static double met_by(const struct iwi_experiment *experiment, double slowdown, const iw_sensitivity *asked,
                     bool has_start)
{
    const double cores =
        (double)iw_program_ranks(experiment->program) * (double)experiment->inquiry->set->cores_per_rank;
    const double job_s = (double)experiment->noiseless_ps / (double)IW_PS_PER_S * (1.0 + slowdown);

    return cores * (job_s + (has_start ? (double)asked->length_ns * 1e-9 : 0.0)) / asked->every_s;
}

/* Too rare for so few trials to meet: none costs more than it lasts. */
static iw_sensitivity computed(const struct iwi_experiment *experiment, double slowdown, iw_sensitivity asked)
{
    const double quiet_ns = (double)experiment->noiseless_ps / (double)IW_PS_PER_NS;
    const double more = met_by(experiment, slowdown, &asked, true) * (double)asked.length_ns / quiet_ns;

    asked.slowdown = slowdown + more;
    return quiet_ns > 0.0 && more > LEAST_COST * slowdown && experiment->is_monotone
               ? asked
               : (iw_sensitivity){.slowdown = NAN};
}

/* Trial by trial against what was simulated, so that chance of the trials is in both. */
static double mean_with(const double *without, size_t all, const double *with, size_t count)
{
    double more = 0.0;

    for (size_t i = 0; i < count; i++) {
        more += with[i] - without[i];
    }
    return iwi_mean(without, all) + more / (double)count;
}

iw_status iwi_sensitivity_find(const struct iwi_experiment *experiment, const double *slowdowns,
                               iw_sensitivity *sensitivity)
{
    const iw_sensitivity asked = *sensitivity;
    const struct iwi_variant variant = {.added = &asked};
    const double slowdown = iwi_mean(slowdowns, (size_t)experiment->trials);
    struct iwi_experiment few = *experiment;
    double *values;
    iw_status status;

    if (asked.length_ns == 0 ||
        few.inquiry->job.sim.rules == IW_RULES_LOGGOPSIM) { /* whose noise is a trace */
        *sensitivity = (iw_sensitivity){.slowdown = NAN};
        return IW_OK;
    }
    few.trials = iwi_sensitivity_trials(experiment->trials);
    if (met_by(experiment, slowdown, &asked, few.trials == TRIALS_WITH_MORE) <=
        (few.trials == TRIALS_WITH_MORE ? LEAST_PART : 1.0)) {
        *sensitivity = computed(experiment, slowdown, asked);
        return IW_OK;
    }
    values = iwi_new_array(few.inquiry->log, (size_t)few.trials, sizeof *values);
    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    few.inquiry->work_total += iw_program_messages(few.program) * few.trials;
    status = iwi_experiment_run_trials(&few, &variant, values);
    if (status == IW_OK) {
        sensitivity->trials = few.trials;
        sensitivity->slowdown = mean_with(slowdowns, (size_t)experiment->trials, values, (size_t)few.trials);
    }
    free(values);
    return status;
}

/* ---- both ---- */

static double mean_slowdown(const iw_sim_result *result)
{
    double sum = 0.0;

    for (uint64_t i = 0; i < result->trials; i++) {
        sum += (double)(result->makespan_ps[i] - result->noiseless_ps);
    }
    return sum / (double)result->trials / (double)result->noiseless_ps;
}

static iw_status find_sensitivity(const iw_log *log, const iw_certainty_question *q,
                                  iw_sensitivity *sensitivity)
{
    struct iwi_inquiry inquiry = {.log = log, .set = q->set, .job = certainty_job(q)};
    struct iwi_experiment experiment;
    double *values;
    iw_status status;

    if (sensitivity->length_ns == 0) {
        return IW_OK;
    }
    IW_TRY(iwi_experiment_init(&inquiry, 0, q->result->trials, 0, &experiment));
    experiment.noiseless_ps = q->result->noiseless_ps;
    IW_TRY(new_values(log, q->result, (size_t)q->result->trials, &values));
    status = iwi_sensitivity_find(&experiment, values, sensitivity);
    free(values);
    return status;
}

static iw_status find(const iw_log *log, const iw_certainty_question *question, iw_certainty *certainty_p)
{
    const iw_sim_result *result = question->result;
    const double slowdown = result->noiseless_ps > 0 ? mean_slowdown(result) : NAN;
    iw_certainty certainty = {.reach =
                                  iw_reach_of(question->set, result->ranks, result->noiseless_ps, slowdown),
                              .slowdown = {slowdown, NAN, NAN}};

    if (!isnan(slowdown) && has_redraws(question->set, result->trials)) {
        IW_TRY(run_redraws(log, question, &certainty.slowdown));
    } else if (!isnan(slowdown) && result->trials >= IW_CERTAINTY_LEAST_TRIALS &&
               certainty.reach.watched_s > 0.0 && !certainty.reach.is_extrapolated) {
        IW_TRY(count_recording(log, question, &certainty.slowdown));
    }
    IW_TRY(find_sensitivity(log, question, &certainty.reach.sensitivity));
    *certainty_p = certainty;
    return IW_OK;
}

iw_status iw_certainty_find(const iw_log *log, const iw_certainty_question *question,
                            iw_certainty *certainty_p)
{
    iw_certainty_question known = *question;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    IW_TRY(IWI_READ_OPTS(log, "IW_SIM_OPTS_INIT", question->opts, &opts));
    known.opts = &opts;
    return find(log, &known, certainty_p);
}

/* ======== independent nodes ======== */

enum { ALIGNED, APART, VARIANTS };

static const struct iwi_variant variants[VARIANTS] = {
    [ALIGNED] = {.is_removed = NULL}, [APART] = {.is_apart = true}};

bool iw_independence_is_asked(const iw_noise_set *set)
{
    return iw_noise_set_window(set) != NULL && set->sync == IW_SYNC_NONE;
}

uint64_t iw_independence_trials(const iw_noise_set *set, uint64_t trials)
{
    const uint64_t redrawn = trials >= IW_CERTAINTY_LEAST_TRIALS && iwi_set_blocks(set) >= 2
                                 ? (uint64_t)IW_CERTAINTY_REDRAWS * certainty_per_redraw(trials)
                                 : 0;

    return iw_independence_is_asked(set) ? trials + VARIANTS * redrawn : 0;
}

/* Mean and interval: of trials and of recordings drawn anew. Too few trials have no interval. */
static iw_estimate estimate(const struct iwi_experiment *experiment, const double *values)
{
    iw_estimate e = iwi_mean_estimate(values, (size_t)experiment->trials);

    if (experiment->trials < IW_CERTAINTY_LEAST_TRIALS) {
        return (iw_estimate){e.value, NAN, NAN};
    }
    return iwi_paired_interval(&(struct iwi_sample){.trials = values,
                                                    .trial_count = (size_t)experiment->trials,
                                                    .redraws = values + experiment->trials,
                                                    .redraw_count = experiment->redraws,
                                                    .per_redraw = experiment->per_redraw,
                                                    .blocks = experiment->inquiry->blocks});
}

static iw_status compare_nodes(struct iwi_experiment *experiment, const iw_sim_result *result,
                               iw_independence *independence)
{
    const size_t stride = iwi_experiment_values(experiment);
    double *values = iwi_new_array(experiment->inquiry->log, VARIANTS * stride, sizeof *values);
    double *apart;
    iw_status status;

    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    apart = values + APART * stride;
    certainty_slowdowns(result, values);
    status = iwi_experiment_run_trials(experiment, &variants[APART], apart);
    if (status == IW_OK) {
        status = iwi_experiment_run_redraws(experiment, variants, VARIANTS, values);
    }
    if (status == IW_OK) {
        independence->independent = estimate(experiment, apart);
        for (size_t i = 0; i < stride; i++) {
            apart[i] -= values[i];
        }
        independence->overstated = estimate(experiment, apart);
    }
    free(values);
    return status;
}

static iw_status find_independence(const iw_log *log, const iw_certainty_question *q,
                                   iw_independence *independence)
{
    const uint64_t trials = q->result->trials;
    struct iwi_inquiry inquiry = {
        .log = log, .set = q->set, .job = certainty_job(q), .blocks = iwi_set_blocks(q->set)};
    struct iwi_experiment experiment;

    IW_TRY(iwi_experiment_init(&inquiry, 0, trials,
                               trials >= IW_CERTAINTY_LEAST_TRIALS ? inquiry.job.redraws : 0, &experiment));
    experiment.per_redraw = experiment.redraws > 0 ? certainty_per_redraw(trials) : 0;
    experiment.noiseless_ps = q->result->noiseless_ps;
    inquiry.work_total = iw_program_messages(q->program) * iw_independence_trials(q->set, trials);
    return compare_nodes(&experiment, q->result, independence);
}

iw_status iw_independence_find(const iw_log *log, const iw_certainty_question *question,
                               iw_independence *independence_p)
{
    iw_independence independence = {.independent = {NAN, NAN, NAN}, .overstated = {NAN, NAN, NAN}};
    const iw_wall_window *window = iw_noise_set_window(question->set);
    iw_certainty_question known = *question;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    if (!iw_independence_is_asked(question->set)) {
        return iwi_fail(log, IW_ERR_USAGE, "the nodes are not aligned: they are independent already");
    }
    IW_TRY(IWI_READ_OPTS(log, "IW_SIM_OPTS_INIT", question->opts, &opts));
    known.opts = &opts;
    independence.window = *window;
    independence.nodes = (question->result->ranks - 1) / iw_noise_set_ranks_per_node(question->set) + 1;
    independence.recorded_nodes = iwi_set_aligned_nodes(question->set);
    if (question->result->noiseless_ps > 0) {
        IW_TRY(find_independence(log, &known, &independence));
    }
    *independence_p = independence;
    return IW_OK;
}

/* ======== ranks that meet copies of one CPU ======== */

/* A text trace, or the recording of one CPU. */
static bool has_one_cpu(const struct iwi_set_input *input)
{
    if (input->fit != NULL) { /* laws are drawn for each rank */
        return false;
    }
    for (size_t node = 0; node < input->node_count; node++) {
        if (input->recordings[node]->cpu_count == 1) {
            return true;
        }
    }
    return input->node_count == 0 && !iwi_noise_is_spec(input->text);
}

bool iw_node_wide_is_asked(const iw_noise_set *set)
{
    bool is_any = false;

    for (size_t i = 0; i < set->input_count; i++) {
        is_any |= has_one_cpu(&set->inputs[i]);
    }
    return is_any && set->cores_per_node > 1 && set->sync == IW_SYNC_NONE;
}

uint64_t iw_node_wide_trials(const iw_noise_set *set, uint64_t trials)
{
    return iw_node_wide_is_asked(set) ? trials : 0;
}

static iw_status simulate(const iw_log *log, const iw_certainty_question *q, double *slowdowns)
{
    static const struct iwi_variant joined = {.is_joined = true};
    struct iwi_inquiry inquiry = {.log = log, .set = q->set, .job = certainty_job(q)};
    struct iwi_experiment experiment;

    IW_TRY(iwi_experiment_init(&inquiry, 0, q->result->trials, 0, &experiment));
    experiment.noiseless_ps = q->result->noiseless_ps;
    inquiry.work_total = iw_program_messages(q->program) * q->result->trials;
    return iwi_experiment_run_trials(&experiment, &joined, slowdowns);
}

static iw_status find_node_wide(const iw_log *log, const iw_certainty_question *q, double *slowdowns,
                                iw_estimate *node_wide_p)
{
    const iw_sim_result *result = q->result;
    const struct iwi_exposure exposure = {.ranks = result->ranks,
                                          .quiet_s = (double)result->noiseless_ps / (double)IW_PS_PER_S,
                                          .is_joined = true};

    IW_TRY(simulate(log, q, slowdowns));
    if (result->trials < IW_CERTAINTY_LEAST_TRIALS) {
        node_wide_p->value = iwi_mean_estimate(slowdowns, (size_t)result->trials).value;
        return IW_OK;
    }
    return iwi_count_recording(log, q->set, &exposure, slowdowns, (size_t)result->trials, result->seed,
                               node_wide_p, NULL);
}

iw_status iw_node_wide_find(const iw_log *log, const iw_certainty_question *question,
                            iw_estimate *node_wide_p)
{
    iw_estimate node_wide = {NAN, NAN, NAN};
    iw_certainty_question known = *question;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    double *slowdowns;
    iw_status status = IW_OK;

    if (!iw_node_wide_is_asked(question->set)) {
        return iwi_fail(log, IW_ERR_USAGE, "the ranks of a node do not share one recorded CPU");
    }
    IW_TRY(IWI_READ_OPTS(log, "IW_SIM_OPTS_INIT", question->opts, &opts));
    known.opts = &opts;
    slowdowns = iwi_new_array(log, (size_t)question->result->trials, sizeof *slowdowns);
    if (slowdowns == NULL) {
        return IW_ERR_NOMEM;
    }
    if (question->result->noiseless_ps > 0) {
        status = find_node_wide(log, &known, slowdowns, &node_wide);
    }
    free(slowdowns);
    if (status == IW_OK) {
        *node_wide_p = node_wide;
    }
    return status;
}

/* ======== the steady state ======== */

/* The same trials with half as many repetitions end where the second half of the run begins. So what that
 * half takes is the difference of two simulations, under the same noise. */

/* More narrow an interval that is narrower than that of the run already. */
static const uint64_t MOST_TRIALS = 40;

bool iw_steady_is_asked(const iw_noise_set *set, const iw_program *program, uint64_t trials)
{
    return program->repeat > 1 && program->schedule == NULL && program->trace == NULL &&
           program->delay_count == 0 && trials >= IW_LEAST_TRIALS && iw_noise_set_source_count(set) > 0;
}

uint64_t iw_steady_trials(const iw_noise_set *set, const iw_program *program, uint64_t trials)
{
    return !iw_steady_is_asked(set, program, trials) ? 0 : trials < MOST_TRIALS ? trials : MOST_TRIALS;
}

/* The first half, in the trials of the question. */
static iw_status run_half(const iw_log *log, const iw_certainty_question *q, iw_sim_result **half_p)
{
    iw_program half = *q->program; /* a pattern, which is written down nowhere */
    iw_sim_opts opts = *q->opts;
    iw_noise *noise = NULL;
    iw_status status;

    half.repeat = q->program->repeat / 2;
    opts.trials = iw_steady_trials(q->set, q->program, q->result->trials);
    opts.want_explain = opts.want_end_times = false;
    opts.steps = (iw_step_sink){NULL, NULL};
    opts.checkpoint_dir = NULL;
    IW_TRY(iw_noise_set_make(log, q->set, NULL, opts.seed, 0, &noise));
    status = iw_simulate(log, &half, q->net, noise, &opts, half_p);
    iw_noise_free(noise);
    return status;
}

static iw_status compare(const iw_log *log, const iw_certainty_question *q, const iw_sim_result *half,
                         iw_steady *steady)
{
    const size_t trials = (size_t)half->trials;
    const double later = (double)steady->repetitions;
    const double share = (double)q->program->repeat / later;
    const double quiet_ps = (double)(q->result->noiseless_ps - half->noiseless_ps);
    double *slowdowns = iwi_new_array(log, 2 * trials, sizeof *slowdowns), *starts_ns;

    if (slowdowns == NULL) {
        return IW_ERR_NOMEM;
    }
    starts_ns = slowdowns + trials;
    (void)iwi_later_half(q->result, half, slowdowns); /* it takes time: that was asked before */
    for (size_t i = 0; i < trials; i++) {
        const double whole_ps = (double)q->result->makespan_ps[i],
                     later_ps = whole_ps - (double)half->makespan_ps[i];
        const double quiet_start_ps = (double)q->result->noiseless_ps - share * quiet_ps;

        starts_ns[i] = (whole_ps - share * later_ps - quiet_start_ps) / (double)IW_PS_PER_NS;
    }
    steady->slowdown = iwi_mean_estimate(slowdowns, trials);
    steady->start_ns = iwi_mean_estimate(starts_ns, trials);
    free(slowdowns);
    return IW_OK;
}

iw_status iw_steady_find(const iw_log *log, const iw_certainty_question *question, iw_steady *steady_p)
{
    iw_steady steady = {.slowdown = {NAN, NAN, NAN}, .start_ns = {NAN, NAN, NAN}};
    iw_certainty_question known = *question;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *half = NULL;
    iw_status status;

    if (!iw_steady_is_asked(question->set, question->program, question->result->trials)) {
        return iwi_fail(log, IW_ERR_USAGE, "needs a repeated pattern under noise only, and enough trials");
    }
    IW_TRY(IWI_READ_OPTS(log, "IW_SIM_OPTS_INIT", question->opts, &opts));
    known.opts = &opts;
    steady.repetitions = question->program->repeat - question->program->repeat / 2;
    status = run_half(log, &known, &half);
    if (status == IW_OK && question->result->noiseless_ps > half->noiseless_ps) {
        status = compare(log, &known, half, &steady);
    }
    iw_sim_result_free(half);
    *steady_p = steady;
    return status;
}
