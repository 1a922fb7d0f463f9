/* What answering a question will take, from samples of what it simulates.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/whatif.h>

#include <math.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "core/base/opts.h"
#include "core/sim/split/forecast.h"
#include "features/simulate/simulate.h"
#include "features/whatif/break_even.h"
#include "features/whatif/changes.h"
#include "features/whatif/smallest_set.h"

/* Changes are sampled, up to so many of them: the others take as long on average. */
enum { MOST_SAMPLED = 8 };

/* What parts of the answer take. */
struct effort {
    double cpu_s, elapsed_s;
    double message_s; /* of one trial under all noise */
    double trials_s;  /* all trials of a change, without redraws */
    uint64_t bytes;   /* for the state of ranks */
    double room_bytes;
};

static void add_cpu(double cpu_s, struct effort *effort)
{
    effort->cpu_s += cpu_s;
    effort->elapsed_s += cpu_s;
}

/* How often a change is simulated: with the noise as it is, and with each redraw, which has trials of its
 * own. One sample tells both. */
static double simulations_of(const struct iwi_experiment *experiment, const iw_forecast *sampled)
{
    const double batches = ceil((double)experiment->trials / sampled->trials_split.lanes);
    const double of_redraw = ceil((double)experiment->per_redraw / sampled->trials_split.lanes);

    return experiment->redraws == 0 ? 1.0 : batches / of_redraw + experiment->redraws;
}

static iw_status forecast(const struct iwi_experiment *experiment, const struct iwi_variant *variant,
                          const iw_noise *noise, uint64_t trials, iw_forecast *all,
                          struct iwi_sampled *sampled)
{
    const struct iwi_inquiry *inquiry = experiment->inquiry;
    const iw_log errors = {iwi_pass_error, (void *)inquiry->log};
    iw_sim_opts opts = inquiry->job.sim;
    iw_net net = *inquiry->job.net;

    if (variant->has_quiet_net) {
        net.noise = (iw_net_noise){.point_count = 0};
    }
    opts.trials = iw_noise_source_count(noise) > 0 || iw_net_is_noisy(&net) ? trials : 1;
    opts.replaced_nodes = variant->replaced;
    return iwi_forecast_parts(&errors, variant->is_reserved ? experiment->reserved : experiment->program,
                              &net, noise, &opts, IWI_SAMPLE_S, all, sampled);
}

/* With all trials side by side. */
static iw_status forecast_memory(const struct iwi_experiment *experiment, const struct iwi_variant *variant,
                                 const iw_noise *noise, struct effort *effort)
{
    struct iwi_sampled sampled;
    iw_forecast all;

    IW_TRY(forecast(experiment, variant, noise, experiment->trials, &all, &sampled));
    effort->bytes =
        all.chosen == IW_PARALLEL_RANKS ? all.ranks_split.process_bytes : all.trials_split.process_bytes;
    effort->room_bytes = all.room_bytes;
    return IW_OK;
}

static const struct iwi_variant as_it_is = {.is_removed = NULL};

/* Of one change. The run without noise is simulated once for all of them. */
static iw_status sample_change(const struct iwi_experiment *experiment, const struct iwi_variant *variant,
                               const struct iwi_drawn *drawn, bool is_first, struct effort *effort)
{
    const double begin_s = iwi_process_cpu_s();
    struct iwi_sampled sampled;
    iw_noise *noise = NULL;
    iw_forecast all;
    double times, make_s;
    iw_status status;

    IW_TRY(iwi_variant_noise(experiment->inquiry, variant, drawn, &noise));
    /* what shares the noise of the first has it made already */
    make_s = is_first || !iwi_variants_share_noise(experiment->inquiry, &as_it_is, variant)
                 ? iwi_process_cpu_s() - begin_s
                 : 0.0;
    status = forecast(experiment, variant, noise,
                      experiment->redraws > 0 ? experiment->per_redraw : experiment->trials, &all, &sampled);
    if (status == IW_OK && is_first) {
        status = forecast_memory(experiment, variant, noise, effort);
    }
    iw_noise_free(noise);
    IW_TRY(status);
    times = simulations_of(experiment, &all);
    add_cpu((1.0 + experiment->redraws) * make_s, effort);
    effort->cpu_s += times * (all.cpu_s - sampled.reference_s);
    effort->elapsed_s += times * (all.elapsed_s - sampled.reference_s);
    if (is_first) {
        add_cpu(sampled.reference_s, effort);
        effort->message_s = all.message_s;
        effort->trials_s = times / (1.0 + experiment->redraws) * all.elapsed_s + make_s;
    }
    return IW_OK;
}

static iw_status sample_changes(const struct iwi_experiment *experiment, const struct iwi_changes *changes,
                                const struct iwi_drawn *drawn, struct effort *effort_p)
{
    const size_t count = changes->count < MOST_SAMPLED ? changes->count : MOST_SAMPLED;
    struct effort some = {.cpu_s = 0.0};

    IW_TRY(sample_change(experiment, &as_it_is, drawn, true, effort_p));
    for (size_t i = 0; i < count; i++) {
        const struct iwi_variant variant = iwi_variant_of(&changes->list[i * changes->count / count]);

        IW_TRY(sample_change(experiment, &variant, drawn, false, &some));
    }
    if (count > 0) {
        effort_p->cpu_s += some.cpu_s * (double)changes->count / (double)count;
        effort_p->elapsed_s += some.elapsed_s * (double)changes->count / (double)count;
    }
    return IW_OK;
}

/* The changes under a recording drawn anew, which most simulations run with. */
static iw_status take_sample(const struct iwi_experiment *experiment, const struct iwi_changes *changes,
                             struct effort *effort_p)
{
    const struct iwi_inquiry *inquiry = experiment->inquiry;
    const double begin_s = iwi_process_cpu_s();
    struct iwi_drawn drawn;
    iw_status status;

    add_cpu(begin_s, effort_p); /* starting and reading, as in the run */
    IW_TRY(
        iwi_drawn_init(inquiry->log, inquiry->set, inquiry->job.sim.seed, experiment->redraws > 0, &drawn));
    add_cpu(experiment->redraws * (iwi_process_cpu_s() - begin_s), effort_p);
    status = sample_changes(experiment, changes, &drawn, effort_p);
    iwi_drawn_release(&drawn);
    return status;
}

/* ---- all of it ---- */

static void fill_seconds(const iw_whatif_opts *opts, const struct iwi_experiment *experiment,
                         const struct effort *effort, iw_whatif_plan *plan)
{
    plan->simulations = (uint64_t)(plan->change_count + 1) * iwi_experiment_values(experiment);
    plan->seconds = effort->elapsed_s;
    plan->cpu_seconds = effort->cpu_s;
    if (opts->target >= 0.0) {
        plan->target_seconds = (double)iwi_smallest_set_budget(experiment) * effort->trials_s;
    }
    if (experiment->reserved != NULL) {
        plan->reserve_seconds = iwi_break_even_messages(experiment) * effort->message_s;
    }
    plan->sample_ranks = plan->ranks;
    plan->bytes = effort->bytes;
    plan->room_bytes = effort->room_bytes;
}

static iw_status fill(const iw_whatif_opts *opts, struct iwi_experiment *experiment, iw_whatif_plan *plan)
{
    struct effort effort = {.cpu_s = 0.0};
    struct iwi_changes changes = {NULL, 0, 0};
    iw_status status;

    IW_TRY(iwi_changes_list(experiment->inquiry->log, experiment->inquiry->set, opts,
                            experiment->reserved != NULL, &changes));
    *plan = (iw_whatif_plan){.ranks = iw_program_ranks(experiment->program),
                             .messages = iw_program_messages(experiment->program),
                             .change_count = changes.count,
                             .trials = experiment->trials,
                             .redraws = experiment->redraws,
                             .per_redraw = experiment->per_redraw};
    status = take_sample(experiment, &changes, &effort);
    iwi_changes_release(&changes);
    IW_TRY(status);
    fill_seconds(opts, experiment, &effort, plan);
    return IW_OK;
}

iw_status iw_whatif_plan_make(const iw_log *log, const iw_noise_set *set, const iw_whatif_opts *given,
                              iw_whatif_plan *plan_p)
{
    iw_whatif_opts known = IW_WHATIF_OPTS_INIT;
    const iw_whatif_opts *opts = &known;
    struct iwi_inquiry inquiry = {.log = log, .set = set, .blocks = iwi_set_blocks(set)};
    struct iwi_experiment experiment;
    iw_whatif_plan plan;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_WHATIF_OPTS_INIT", given, &known));
    IW_TRY(iwi_whatif_check(log, opts));
    inquiry.job = iwi_whatif_job(opts);
    IW_TRY(iwi_experiment_init(&inquiry, 0, opts->sim.trials, opts->redraws, &experiment));
    status = fill(opts, &experiment, &plan);
    iwi_experiment_release(&experiment);
    if (status == IW_OK) {
        *plan_p = plan;
    }
    return status;
}
