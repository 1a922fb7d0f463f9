/* One program under variants of the noise, in the same trials, and the 95 % interval of what they say.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/noise/source.h"
#include "core/numeric/numeric.h"
#include "core/sim/monotone.h"
#include "core/sim/plan.h"
#include "core/stats/mean_interval.h"
#include "features/simulate/simulate.h"

/* ======== the interval ======== */

/* Without redraws it is that of the trials (stats/mean_interval.h), as `simulate` prints it.
 *
 * With a relative variance v of the file, t(97.5 %, df) sqrt(v) of the mean are added to each side in
 * quadrature; above at least exp(1.96 sqrt(v)) - 1 of it: a recording that happened to hold few detours
 * also shows little spread, but its logarithm hardly does; below at least what is left if the few events that
 * count came by luck (length_bins.h). With redraws:
 *
 * The mean over N trials errs for two reasons: other trials would have had other phases, and another
 * recording of the same node would have held other detours. Both variances are estimated and added.
 *
 *   x_t      number of trial t,  t = 1..N
 *   y_kj     number of trial j = 1..m under the k-th redrawing of the recording,  k = 1..R
 *
 *   within   s2 = (sum_t (x_t - mean x)^2 + sum_kj (y_kj - mean y_k)^2) / (N-1 + R(m-1))
 *            the variance of a trial; both kinds of trials tell it, and a rare hit is seen by more of them
 *   trials   V1 = s2 / N
 *   between  MSB = m sum_k (mean y_k - mean y)^2 / (R-1),   E MSB = s2 + m (variance of the recording)
 *   file     V2 = max(0.15 e, (MSB - s2) / m) B/(B-1),   e = s2/m sqrt(2/(R-1) + 2/(N-1 + R(m-1)))
 *            e is the standard error of the difference if the recording adds nothing. Cut at 0 instead, too
 *            many recordings that add about as much as the trials would seem to add nothing. A bootstrap of B
 *            blocks varies less than recordings do, by (B-1)/B.
 *
 *   half width = t(97.5 %, df) sqrt(V1 + V2),
 *   df = (V1 + V2)^2 / (V1^2 / (N-1 + R(m-1)) + V2^2 / (R-1))      (Satterthwaite 1946)
 *
 * A kind of hit that no trial met does not show in any variance: with 95 % confidence fewer than 3 of n
 * trials meet it (1 - 0.05^(1/n) < 3/n), each once or so. So the upper bound is not below 3/n of the largest
 * hit, or what all hits together can add, if that is less. */

static const double NORMAL_975 = 1.95996;  /* quantile of the normal law */
static const double LEAST_OF_ERROR = 0.15; /* by trial: 91 to 98 % cover, whatever the recording adds */

static double squares_about(const double *values, size_t count, double center)
{
    double sum = 0.0;

    for (size_t i = 0; i < count; i++) {
        sum += (values[i] - center) * (values[i] - center);
    }
    return sum;
}

/* Sums of squares within and between redraws. */
struct scatter {
    double within, between;
};

static struct scatter scatter_of(const struct iwi_sample *sample)
{
    const size_t m = sample->per_redraw;
    const double mean = iwi_mean(sample->redraws, sample->redraw_count * m);
    struct scatter scatter = {0.0, 0.0};

    for (size_t k = 0; k < sample->redraw_count; k++) {
        const double own_mean = iwi_mean(&sample->redraws[k * m], m);

        scatter.within += squares_about(&sample->redraws[k * m], m, own_mean);
        scatter.between += (double)m * (own_mean - mean) * (own_mean - mean);
    }
    return scatter;
}

/* With redraws. */
static double half_width(const struct iwi_sample *sample, double mean)
{
    const double n = (double)sample->trial_count, m = (double)sample->per_redraw;
    const double r = (double)sample->redraw_count, blocks = (double)sample->blocks;
    const double squares = squares_about(sample->trials, sample->trial_count, mean);
    const struct scatter scatter = scatter_of(sample);
    const double of_trials = n - 1.0 + r * (m - 1.0), s2 = (squares + scatter.within) / of_trials;
    const double trials = s2 / n, error = s2 / m * sqrt(2.0 / (r - 1.0) + 2.0 / of_trials);
    const double file =
        fmax(LEAST_OF_ERROR * error, (scatter.between / (r - 1.0) - s2) / m) * blocks / (blocks - 1.0);
    const double freedom =
        (trials + file) * (trials + file) / (trials * trials / of_trials + file * file / (r - 1.0));

    if (!(trials + file > 0.0)) {
        return trials + file; /* 0, or not a number */
    }
    /* never below the smaller of the two; squares of tiny variances are 0 */
    return iwi_t_quantile(0.975, fmax(freedom, r - 1.0)) * sqrt(trials + file);
}

iw_estimate iwi_paired_interval(const struct iwi_sample *sample)
{
    const size_t redraw_trials = sample->redraw_count * sample->per_redraw;
    const double unmet =
        fmin(3.0 * sample->one_hit / (double)(sample->trial_count + redraw_trials), sample->most_unmet);
    iw_estimate e = iwi_mean_estimate(sample->trials, sample->trial_count);

    if (sample->redraw_count >= 2) {
        const double half = half_width(sample, e.value);

        e.low = e.value - half;
        e.high = e.value + half;
    } else if (sample->file_variance > 0.0) {
        const double file = iwi_t_quantile(0.975, sample->file_freedom) * sqrt(sample->file_variance);
        const double above = e.value * expm1(NORMAL_975 * sqrt(sample->file_variance) / e.value);

        /* each side by its own, trials may be skewed */
        e.low = fmax(e.value - hypot(e.value - e.low, fmax(file, sample->file_below)),
                     fmax(sample->file_floor * e.low, sample->file_sure));
        e.high = e.value + hypot(e.high - e.value, fmax(file, above));
    }
    if (unmet > 0.0 && unmet > e.high) {
        e.high = unmet;
    }
    return e;
}

/* ======== variants ======== */

/* ---- programs ---- */

static iw_status make_reserved(struct iwi_inquiry *inquiry, uint32_t ranks, iw_program **reserved_p)
{
    const uint32_t cores = inquiry->job.cores_per_node;
    const iw_program_maker *maker = &inquiry->job.program;
    iw_status status;

    *reserved_p = NULL;
    if (cores < 2) {
        return IW_OK;
    }
    status = maker->make(maker->arg, ranks, iw_spare_work(cores, inquiry->job.spare_cores), reserved_p);
    return status == IW_ERR_UNSUPPORTED ? IW_OK : status;
}

/* Redraws have four times the trials together: the difference of two variances that tells what the recording
 * adds is noisier than either, and with fewer it would make most intervals far too wide. */
static uint32_t per_redraw_of(uint64_t trials, uint32_t redraws)
{
    return (uint32_t)iwi_max(2, (int64_t)((4 * trials + redraws - 1) / redraws));
}

iw_status iwi_experiment_init(struct iwi_inquiry *inquiry, uint32_t ranks, uint64_t trials, uint32_t redraws,
                              struct iwi_experiment *experiment_p)
{
    const iw_program_maker *maker = &inquiry->job.program;
    struct iwi_experiment experiment = {
        .inquiry = inquiry, .trials = trials, .redraws = inquiry->blocks < 2 || redraws < 2 ? 0 : redraws};
    iw_status status;

    IW_TRY(maker->make(maker->arg, ranks, 1.0, &experiment.program));
    status = iwi_is_monotone(inquiry->log, experiment.program, inquiry->job.net, inquiry->job.sim.rules,
                             inquiry->set->sync, &experiment.is_monotone);
    if (status == IW_OK) {
        status = make_reserved(inquiry, ranks, &experiment.reserved);
    }
    if (status != IW_OK) {
        maker->release(maker->arg, experiment.program);
        return status;
    }
    experiment.per_redraw = experiment.redraws > 0 ? per_redraw_of(trials, experiment.redraws) : 0;
    *experiment_p = experiment;
    return IW_OK;
}

void iwi_experiment_release(struct iwi_experiment *experiment)
{
    const iw_program_maker *maker = &experiment->inquiry->job.program;

    if (experiment->reserved != NULL) {
        maker->release(maker->arg, experiment->reserved);
    }
    maker->release(maker->arg, experiment->program);
}

/* ---- progress ---- */

size_t iwi_experiment_values(const struct iwi_experiment *experiment)
{
    return (size_t)experiment->trials + (size_t)experiment->redraws * experiment->per_redraw;
}

uint64_t iwi_experiment_work(const struct iwi_experiment *experiment, size_t variant_count)
{
    return iw_program_messages(experiment->program) * iwi_experiment_values(experiment) * variant_count;
}

struct stretch {
    struct iwi_inquiry *inquiry;
    uint64_t work; /* of the simulation under way */
};

static bool step(void *arg, const iw_progress_now *now)
{
    const struct stretch *stretch = arg;
    const struct iwi_inquiry *inquiry = stretch->inquiry;
    const iw_progress *progress = &inquiry->job.sim.progress;
    const uint64_t done = inquiry->work_done + (uint64_t)(now->share * (double)stretch->work);

    return progress->step(progress->arg, &(iw_progress_now){(double)done / (double)inquiry->work_total, done,
                                                            inquiry->work_total});
}

/* ---- one simulation ---- */

/* Trial numbers: first those of the user, then of redraw 1, 2, ...; none is used twice. */
static uint64_t first_trial(const struct iwi_experiment *experiment, uint32_t redraw)
{
    const uint64_t first = experiment->inquiry->job.sim.first_trial;

    return redraw == 0 ? first : first + experiment->trials + (uint64_t)(redraw - 1) * experiment->per_redraw;
}

static iw_sim_opts sim_opts(const struct iwi_experiment *experiment, uint32_t redraw, struct stretch *stretch)
{
    iw_sim_opts opts = experiment->inquiry->job.sim;

    opts.trials = redraw == 0 ? experiment->trials : experiment->per_redraw;
    opts.first_trial = first_trial(experiment, redraw);
    opts.want_explain = opts.want_end_times = false;
    opts.steps = (iw_step_sink){NULL, NULL};
    opts.checkpoint_dir = NULL;
    if (opts.progress.step != NULL) {
        opts.progress = (iw_progress){step, stretch};
    }
    return opts;
}

void iwi_pass_error(void *arg, iw_log_level level, const char *text)
{
    const iw_log *log = arg;

    if (level == IW_LOG_ERROR && log != NULL) {
        log->write(log->arg, level, text);
    }
}

/* Without noise all trials are the same. */
static iw_status simulate(struct iwi_experiment *experiment, const struct iwi_variant *variant,
                          const iw_noise *noise, uint32_t redraw, double *values)
{
    struct iwi_inquiry *inquiry = experiment->inquiry;
    const iw_program *program = variant->is_reserved ? experiment->reserved : experiment->program;
    struct stretch stretch = {inquiry, 0};
    iw_sim_opts opts = sim_opts(experiment, redraw, &stretch);
    const uint64_t trials = opts.trials;
    const iw_log errors = {iwi_pass_error, (void *)inquiry->log};
    iw_net net = *inquiry->job.net;
    iw_sim_result *result;

    if (variant->has_quiet_net) {
        net.noise = (iw_net_noise){.point_count = 0};
    }
    opts.trials = iw_noise_source_count(noise) > 0 || iw_net_is_noisy(&net) ? trials : 1;
    opts.replaced_nodes = variant->replaced;
    stretch.work = iw_program_messages(program) * trials;
    IW_TRY(iwi_simulate_again(experiment->noiseless_ps == 0 ? inquiry->log : &errors, program, &net, noise,
                              &opts, variant->is_reserved ? 0 : experiment->noiseless_ps, &result));
    inquiry->engine_seconds += result->engine_seconds;
    inquiry->work_done += stretch.work;
    if (experiment->noiseless_ps == 0) {
        experiment->noiseless_ps = result->noiseless_ps;
    }
    if (experiment->noiseless_ps == 0) {
        iw_sim_result_free(result);
        return iwi_fail(
            inquiry->log, IW_ERR_RANGE,
            "the job takes no time without noise, so its slowdown is undefined: give it work (`compute_ps`)");
    }
    for (uint64_t i = 0; i < trials; i++) {
        const iw_time makespan_ps = result->makespan_ps[i < opts.trials ? i : 0];

        values[i] = (double)(makespan_ps - experiment->noiseless_ps) / (double)experiment->noiseless_ps;
    }
    iw_sim_result_free(result);
    return IW_OK;
}

/* Behind all others, whose random numbers stay as they are. */
static iw_status add_supposed(const iw_log *log, const iw_sensitivity *supposed, iw_noise *noise)
{
    char spec[96];

    snprintf(spec, sizeof spec, "poisson:%.9gHz,fixed:%" PRId64 "ns", 1.0 / supposed->every_s,
             supposed->length_ns);
    return iw_noise_add(log, noise, spec);
}

/* Of the noise that its sources make. */
static iw_status set_up_noise(const struct iwi_inquiry *inquiry, const struct iwi_variant *variant,
                              iw_noise *noise)
{
    const iw_noise_set *set = inquiry->set;

    iw_noise_align(noise, variant->is_together ? IW_SYNC_START : set->sync,
                   variant->is_together ? 0 : set->skew_ps, set->ranks_per_node);
    if (variant->is_apart) {
        iwi_noise_take_apart(noise);
    }
    if (variant->is_joined) {
        iwi_noise_join_copies(noise);
    }
    return variant->added != NULL ? add_supposed(inquiry->log, variant->added, noise) : IW_OK;
}

iw_status iwi_variant_noise(const struct iwi_inquiry *inquiry, const struct iwi_variant *variant,
                            const struct iwi_drawn *drawn, iw_noise **noise_p)
{
    iw_noise *noise;
    iw_status status;

    IW_TRY(iwi_set_make(inquiry->log, inquiry->set, drawn, variant->is_removed, &noise));
    status = set_up_noise(inquiry, variant, noise);
    if (status != IW_OK) {
        iw_noise_free(noise);
        return status;
    }
    *noise_p = noise;
    return IW_OK;
}

static bool is_removed_in(const struct iwi_variant *variant, size_t part)
{
    return variant->is_removed != NULL && variant->is_removed[part];
}

/* It leaves the sources of its noise as they were made. */
static bool keeps_sources(const struct iwi_variant *variant)
{
    return !variant->is_apart && !variant->is_joined && variant->added == NULL;
}

bool iwi_variants_share_noise(const struct iwi_inquiry *inquiry, const struct iwi_variant *a,
                              const struct iwi_variant *b)
{
    bool is_same = keeps_sources(a) && keeps_sources(b);

    for (size_t i = 0; i < inquiry->set->part_count && is_same; i++) {
        is_same = is_removed_in(a, i) == is_removed_in(b, i);
    }
    return is_same;
}

/* ---- many ---- */

/* Variant `first` and all behind it that share its noise. */
static iw_status run_those_alike(struct iwi_experiment *experiment, const struct iwi_variant *variants,
                                 size_t count, size_t first, const struct iwi_drawn *drawn, uint32_t redraw,
                                 double *values)
{
    const struct iwi_inquiry *inquiry = experiment->inquiry;
    const size_t stride = iwi_experiment_values(experiment);
    const size_t at =
        redraw == 0 ? 0 : (size_t)experiment->trials + (size_t)(redraw - 1) * experiment->per_redraw;
    iw_noise *noise;
    iw_status status = iwi_set_make(inquiry->log, inquiry->set, drawn, variants[first].is_removed, &noise);

    IW_TRY(status);
    for (size_t i = first; i < count && status == IW_OK; i++) {
        if (i == first || iwi_variants_share_noise(inquiry, &variants[first], &variants[i])) {
            status = set_up_noise(inquiry, &variants[i], noise);
            if (status == IW_OK) {
                status = simulate(experiment, &variants[i], noise, redraw, &values[i * stride + at]);
            }
        }
    }
    iw_noise_free(noise);
    return status;
}

static iw_status run_redraw(struct iwi_experiment *experiment, const struct iwi_variant *variants,
                            size_t count, uint32_t redraw, double *values)
{
    const struct iwi_inquiry *inquiry = experiment->inquiry;
    struct iwi_drawn drawn;
    iw_status status;

    IW_TRY(iwi_drawn_init(inquiry->log, inquiry->set, inquiry->job.sim.seed, redraw, &drawn));
    status = IW_OK;
    for (size_t i = 0; i < count && status == IW_OK; i++) {
        bool is_done = false;

        for (size_t before = 0; before < i; before++) {
            is_done |= iwi_variants_share_noise(inquiry, &variants[before], &variants[i]);
        }
        if (!is_done) {
            status = run_those_alike(experiment, variants, count, i, &drawn, redraw, values);
        }
    }
    iwi_drawn_release(&drawn);
    return status;
}

iw_status iwi_experiment_run_redraws(struct iwi_experiment *experiment, const struct iwi_variant *variants,
                                     size_t count, double *values)
{
    for (uint32_t redraw = 1; redraw <= experiment->redraws; redraw++) {
        IW_TRY(run_redraw(experiment, variants, count, redraw, values));
    }
    return IW_OK;
}

iw_status iwi_experiment_run(struct iwi_experiment *experiment, const struct iwi_variant *variants,
                             size_t count, double *values)
{
    IW_TRY(run_redraw(experiment, variants, count, 0, values));
    return iwi_experiment_run_redraws(experiment, variants, count, values);
}

iw_status iwi_experiment_run_trials(struct iwi_experiment *experiment, const struct iwi_variant *variant,
                                    double *values)
{
    return run_redraw(experiment, variant, 1, 0, values);
}

/* ---- estimates ---- */

/* The noise that a number comes from. */
struct cause {
    struct iwi_removed_filter filter;
    bool is_together; /* and hits all nodes at the same time */
};

/* Recorded parts that may hit a trial. */
struct hits {
    int64_t longest_ns;
    double share;
};

static struct hits hits_of(const iw_noise_set *set, const struct iwi_removed_filter *filter)
{
    struct hits hits = {0, 0.0};

    for (size_t i = 0; i < set->part_count; i++) {
        const iw_noise_set_source *part = &set->parts[i];

        if (part->is_recorded && (filter->is_removed == NULL || filter->is_removed[i] == filter->value)) {
            hits.longest_ns = iwi_max(hits.longest_ns, part->longest_ns);
            hits.share += part->share;
        }
    }
    return hits;
}

/* What noise takes of all P ranks, a share s of a run of T0 (1 + slowdown), is the most that it can delay the
 * run by: slowdown <= x / (1 - x) with x = P s. The share itself comes from a recording: what came once in it
 * may come 4.7 times as often (Poisson, 95 %). Where what comes first decides what runs next, a short delay
 * may cost more than it lasts. */
static double most_of(const struct iwi_experiment *experiment, double share)
{
    const double most_often = 4.74, x = most_often * share * (double)iw_program_ranks(experiment->program);

    return experiment->is_monotone && x < 1.0 ? x / (1.0 - x) : INFINITY;
}

/* Fitted laws have no longest detour, and nothing of them is unseen. */
static double unseen_of(const struct iwi_experiment *experiment, const struct cause *cause, double value)
{
    const iw_reach reach = iwi_reach_for(
        experiment->inquiry->set,
        &(struct iwi_exposure){.ranks = iw_program_ranks(experiment->program),
                               .quiet_s = (double)experiment->noiseless_ps / (double)IW_PS_PER_S,
                               .is_together = cause->is_together,
                               .filter = cause->filter},
        value);

    if (reach.is_extrapolated || experiment->redraws == 0) {
        return 0.0;
    }
    return reach.is_bound && !experiment->is_whole_known ? INFINITY : reach.unseen;
}

/* `lost`: slowdown by the cause; NaN: that is what the values are. */
static iw_estimate estimate(const struct iwi_experiment *experiment, const double *values,
                            const struct cause *cause, double lost)
{
    const struct hits hits = hits_of(experiment->inquiry->set, &cause->filter);
    const double longest_ps = (double)hits.longest_ns * (double)IW_PS_PER_NS;
    iw_estimate e =
        iwi_paired_interval(&(struct iwi_sample){.trials = values,
                                                 .trial_count = (size_t)experiment->trials,
                                                 .redraws = values + experiment->trials,
                                                 .redraw_count = experiment->redraws,
                                                 .per_redraw = experiment->per_redraw,
                                                 .blocks = experiment->inquiry->blocks,
                                                 .one_hit = longest_ps / (double)experiment->noiseless_ps,
                                                 .most_unmet = most_of(experiment, hits.share)});

    e.high += unseen_of(experiment, cause, isnan(lost) ? e.value : lost);
    return e;
}

double iwi_not_below_0(double low)
{
    return low < 0.0 ? 0.0 : low;
}

/* Noise makes nothing faster where the program is monotone: a slowdown is not below 0. */
iw_estimate iwi_experiment_slowdown(const struct iwi_experiment *experiment, const double *values,
                                    const struct iwi_variant *variant)
{
    iw_estimate slowdown = estimate(experiment, values,
                                    &(struct cause){{variant->is_removed, false}, variant->is_together}, NAN);

    slowdown.low = experiment->is_monotone && experiment->inquiry->job.sim.node_speeds == NULL
                       ? iwi_not_below_0(slowdown.low)
                       : slowdown.low;
    return slowdown;
}

iw_estimate iwi_experiment_saving(const struct iwi_experiment *experiment, const double *before,
                                  const double *after, const struct iwi_variant *variant, double *work)
{
    const bool is_removal = iwi_is_removal(variant);

    for (size_t i = 0; i < iwi_experiment_values(experiment); i++) {
        work[i] = before[i] - after[i];
    }
    /* where nothing goes, what is unseen is that of the noise as it is, however little of it is saved */
    return estimate(experiment, work, &(struct cause){{is_removal ? variant->is_removed : NULL, true}, false},
                    is_removal ? NAN : iwi_mean_estimate(before, (size_t)experiment->trials).value);
}
