/* What a job would gain if sources of noise were gone.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/whatif.h>

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/base/order.h"
#include "features/simulate/simulate.h"
#include "features/whatif/break_even.h"
#include "features/whatif/changes.h"
#include "features/whatif/smallest_set.h"

static double smaller(double a, double b)
{
    return b < a ? b : a; /* NaN is no bound */
}

static double larger(double a, double b)
{
    return b > a ? b : a;
}

static bool is_removal(const iw_change *change)
{
    const struct iwi_variant variant = iwi_variant_of(change);

    return iwi_is_removal(&variant);
}

/* All that `part` removes goes with `whole` too. */
static bool is_part(const iw_change *part, const iw_change *whole, size_t part_count)
{
    for (size_t i = 0; i < part_count; i++) {
        if (part->is_removed[i] && !whole->is_removed[i]) {
            return false;
        }
    }
    return true;
}

static void keep_below(iw_estimate *e, iw_estimate now)
{
    e->low = smaller(e->low, now.low);
    e->high = smaller(e->high, now.high);
}

/* Where less noise never ends a trial later, no change saves more than noise costs now, and what is saved
 * without some sources is at most what is saved without more of them; what is left goes the other way. Values
 * keep to that by themselves, since all changes see the same trials. These make the ends of intervals, which
 * come from several methods, keep to it too.
 *
 * `now` is what `simulate` says, and stays: both ends of a change give way to it. */
static void keep_below_now(iw_change *change, iw_estimate now)
{
    if (change->kind != IW_CHANGE_APART) { /* that is another question */
        keep_below(&change->saving, now);
    }
    if (is_removal(change)) {
        keep_below(&change->slowdown, now);
    }
}

/* Among changes, each of which keeps below now: a whole saves at least what each part surely does, a part at
 * most what the whole can. `part_count` is the length of their is_removed. */
static void keep_among_wholes(iw_change *change, const iw_change *others, size_t count, size_t part_count)
{
    for (size_t i = 0; i < count && is_removal(change); i++) {
        const iw_change *other = &others[i];

        if (!is_removal(other)) {
            continue;
        }
        if (is_part(change, other, part_count)) {
            change->saving.high = smaller(change->saving.high, other->saving.high);
            change->slowdown.low = larger(change->slowdown.low, other->slowdown.low);
        }
        if (is_part(other, change, part_count)) {
            change->saving.low = larger(change->saving.low, other->saving.low);
            change->slowdown.high = smaller(change->slowdown.high, other->slowdown.high);
        }
    }
}

struct run {
    const iw_whatif_opts *opts;
    struct iwi_inquiry inquiry;
    struct iwi_experiment experiment;
    struct iwi_changes changes;
    struct iwi_variant *variants; /* 0: as it is; i + 1: change i */
    double *values;               /* of the variants, and room for one more */
    iw_whatif *whatif;
};

iw_status iwi_whatif_check(const iw_log *log, const iw_whatif_opts *opts)
{
    if (opts->sim.size != sizeof opts->sim) {
        return iwi_fail(log, IW_ERR_USAGE,
                        "unknown version of the options: initialise them with IW_WHATIF_OPTS_INIT");
    }
    if (opts->sim.trials < 2) {
        return iwi_fail(log, IW_ERR_RANGE, "one trial gives no confidence interval: use at least 2");
    }
    if (opts->redraws == 1) {
        return iwi_fail(log, IW_ERR_RANGE, "one redraw has no spread: use at least 2, or 0");
    }
    if (opts->cores_per_node == 1) {
        return iwi_fail(log, IW_ERR_RANGE, "nodes with one core cannot leave a core to the operating system");
    }
    if (opts->cores_per_node > 0 && iwi_spare_cores(opts) >= opts->cores_per_node) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "cannot spare %u of %u cores per node: leave at least one to the job",
                        iwi_spare_cores(opts), opts->cores_per_node);
    }
    return IW_OK;
}

/* ---- the changes ---- */

static iw_status run_changes(struct run *run)
{
    const struct iwi_inquiry *inquiry = &run->inquiry;
    const size_t count = run->changes.count + 1;

    run->variants = iwi_new_array(inquiry->log, count, sizeof *run->variants);
    run->values = iwi_new_array(inquiry->log, (count + 1) * iwi_experiment_values(&run->experiment),
                                sizeof *run->values);
    if (run->variants == NULL || run->values == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 1; i < count; i++) {
        run->variants[i] = iwi_variant_of(&run->changes.list[i - 1]);
    }
    run->inquiry.work_total += iwi_experiment_work(&run->experiment, count);
    return iwi_experiment_run(&run->experiment, run->variants, count, run->values);
}

static void estimate_change(struct run *run, const double *values, iw_change *change)
{
    const size_t stride = iwi_experiment_values(&run->experiment);
    const struct iwi_variant variant = iwi_variant_of(change);
    double *work = &run->values[(run->changes.count + 1) * stride];

    change->slowdown = iwi_experiment_slowdown(&run->experiment, values, &variant);
    change->saving = iwi_experiment_saving(&run->experiment, run->values, values, &variant, work);
    if (iwi_is_removal(&variant) && run->experiment.is_monotone) {
        change->saving.low = iwi_not_below_0(change->saving.low); /* without a detour nothing ends later */
    }
}

static void estimate_all(struct run *run)
{
    const size_t stride = iwi_experiment_values(&run->experiment);

    run->whatif->now = iwi_experiment_slowdown(&run->experiment, run->values, &run->variants[0]);
    run->experiment.is_whole_known = run->experiment.is_monotone && isfinite(run->whatif->now.high);
    for (size_t i = 0; i < run->changes.count; i++) {
        iw_change *change = &run->changes.list[i];

        estimate_change(run, &run->values[(i + 1) * stride], change);
        if (change->kind == IW_CHANGE_SOURCE || change->kind == IW_CHANGE_REST) {
            run->whatif->sum_of_sources += change->saving.value;
        }
    }
}

/* What would be saved without all noise is what it costs now. */
static void share_now(struct run *run)
{
    for (size_t i = 0; i < run->changes.count; i++) {
        iw_change *change = &run->changes.list[i];

        if (change->kind == IW_CHANGE_ALL && change->slowdown.high == 0.0) {
            change->saving = run->whatif->now;
        }
    }
}

/* As `simulate` has it, where it has one: the same question has one answer. */
static iw_status estimate_now(struct run *run)
{
    const struct iwi_experiment *experiment = &run->experiment;
    const struct iwi_exposure exposure = {.ranks = run->whatif->ranks,
                                          .quiet_s = (double)experiment->noiseless_ps / (double)IW_PS_PER_S};
    const iw_reach reach = iwi_reach_for(run->inquiry.set, &exposure, run->whatif->now.value);

    run->whatif->reach = reach;
    if (reach.watched_s > 0.0 && !reach.is_extrapolated && experiment->redraws > 0 &&
        experiment->trials >= IW_CERTAINTY_LEAST_TRIALS) {
        IW_TRY(iwi_count_recording(run->inquiry.log, run->inquiry.set, &exposure, run->values,
                                   (size_t)experiment->trials, run->inquiry.job.sim.seed, &run->whatif->now,
                                   &run->whatif->most_slowdown));
        share_now(run);
    }
    return iwi_sensitivity_find(experiment, run->values, &run->whatif->reach.sensitivity);
}

static const iw_change *find_change(const struct run *run, iw_change_kind kind)
{
    for (size_t i = 0; i < run->changes.count; i++) {
        if (run->changes.list[i].kind == kind) {
            return &run->changes.list[i];
        }
    }
    return NULL;
}

static void keep_parts_below_wholes(struct run *run)
{
    for (size_t i = 0; i < run->changes.count; i++) {
        keep_below_now(&run->changes.list[i], run->whatif->now);
    }
    for (size_t i = 0; i < run->changes.count; i++) {
        keep_among_wholes(&run->changes.list[i], run->changes.list, run->changes.count,
                          run->inquiry.set->part_count);
    }
}

/* The largest saving first, by what is shown of it: of a bound its lower end. */
IWI_COMPARE(compare_changes, iw_change, IWI_ORDER(iwi_shown(right->saving), iwi_shown(left->saving)),
            IWI_FALLING(share), IWI_TEXT(name))

/* ---- the smallest set for the target ---- */

/* "irq/eno1 + thread/cron", cut. */
static void name_set(const iw_noise_set *set, iw_change *change)
{
    size_t used = 0;

    snprintf(change->name, sizeof change->name, "nothing");
    for (size_t i = 0; i < set->part_count && used < sizeof change->name; i++) {
        if (change->is_removed[i]) {
            used += (size_t)snprintf(change->name + used, sizeof change->name - used, "%s%s",
                                     used > 0 ? " + " : "", set->parts[i].text);
        }
    }
}

/* Its numbers with those of the redraws. */
static iw_status evaluate_set(struct run *run, iw_change *change)
{
    const struct iwi_variant variant = iwi_variant_of(change);
    double *values = iwi_new_array(run->inquiry.log, iwi_experiment_values(&run->experiment), sizeof *values);
    iw_status status = values != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        run->inquiry.work_total += iwi_experiment_work(&run->experiment, 1);
        status = iwi_experiment_run(&run->experiment, &variant, 1, values);
    }
    if (status == IW_OK) {
        estimate_change(run, values, change);
        if (run->experiment.is_monotone) {
            keep_below_now(change, run->whatif->now);
            keep_among_wholes(change, run->changes.list, run->changes.count, run->inquiry.set->part_count);
        }
        name_set(run->inquiry.set, change);
    }
    free(values);
    return status;
}

static iw_status find_target_set(struct run *run)
{
    const iw_change *all = find_change(run, IW_CHANGE_ALL);
    const double now = run->whatif->now.value;
    struct iwi_smallest smallest;
    struct iwi_changes made = {NULL, 0, 0};
    iw_status status;

    IW_TRY(iwi_smallest_set(&run->experiment, &run->changes, now, all != NULL ? all->slowdown.value : now,
                            run->opts->target, &smallest));
    status = iwi_changes_add(run->inquiry.log, run->inquiry.set, IW_CHANGE_SET, smallest.is_removed, &made);
    free(smallest.is_removed);
    IW_TRY(status);
    run->whatif->target_set = made.list[0];
    free(made.list);
    run->whatif->has_target_set = smallest.is_found;
    run->whatif->is_target_exact = smallest.is_exact;
    return smallest.is_found ? evaluate_set(run, &run->whatif->target_set) : IW_OK;
}

/* ---- one core reserved ---- */

static iw_status find_break_even(struct run *run, const iw_change *reserve)
{
    const struct iwi_inquiry *inquiry = &run->inquiry;
    iw_sim_opts opts = inquiry->job.sim;
    iw_sim_result *result;

    opts.trials = 1;
    opts.progress.step = NULL;
    opts.checkpoint_dir = NULL;
    opts.want_explain = opts.want_end_times = false;
    opts.steps = (iw_step_sink){NULL, NULL};
    opts.node_speeds = NULL;
    IW_TRY(iw_simulate(NULL, run->experiment.reserved, inquiry->job.net, NULL, &opts, &result));
    run->whatif->break_even.price = (double)result->noiseless_ps / (double)run->experiment.noiseless_ps - 1.0;
    iw_sim_result_free(result);
    return iwi_break_even_find(&run->inquiry, reserve, run->whatif->ranks, &run->whatif->break_even);
}

/* ---- how much was recorded ---- */

/* What comes every T on a node, on whichever of its CPUs, is missed with probability exp(-W/T) in W of
 * watched time, that of all nodes together: over 5 % if T > W/3. The input that was watched least counts. */
static void tell_recorded(const iw_noise_set *set, iw_whatif *whatif)
{
    for (size_t i = 0; i < set->input_count; i++) {
        const struct iwi_set_input *input = &set->inputs[i];
        const double length_s = (double)input->length_ns * 1e-9;
        const double watched_s = length_s * (double)input->node_count;

        if (input->node_count > 0 && (whatif->recorded_s == 0.0 || length_s < whatif->recorded_s)) {
            whatif->recorded_s = length_s;
        }
        if (input->node_count > 0 &&
            (whatif->rare_limit_s == 0.0 || watched_s / 3.0 < whatif->rare_limit_s)) {
            whatif->rare_limit_s = watched_s / 3.0;
        }
    }
}

/* ---- what it was asked of ---- */

static iw_status name_removed(const iw_log *log, const iw_noise_set *set, iw_change *change)
{
    size_t count = 0;

    change->removes = iwi_new_array(log, change->removed_count, sizeof *change->removes);
    if (change->removes == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < set->part_count && count < change->removed_count; i++) {
        if (change->is_removed[i]) {
            change->removes[count++] = set->parts[i].text;
        }
    }
    return IW_OK;
}

static iw_status describe(const struct run *run)
{
    const iw_noise_set *set = run->inquiry.set;
    iw_whatif *whatif = run->whatif;

    snprintf(whatif->net, sizeof whatif->net, "%s", run->inquiry.job.net->name);
    whatif->ranks_per_node = iw_noise_set_ranks_per_node(set);
    whatif->recorded_cpus = iw_noise_set_recorded_cpus(set);
    whatif->cores_per_rank = set->cores_per_rank;
    whatif->loop = set->loop;
    if (iw_noise_set_cpus(set) != NULL) {
        (void)iw_cpu_set_text(iw_noise_set_cpus(set), whatif->noise_cpus, sizeof whatif->noise_cpus);
    }
    iw_noise_set_caveats(set, &whatif->caveats);
    iw_caveats_of_net(run->inquiry.job.net, whatif->ranks, &whatif->caveats);
    whatif->sources = set->parts;
    whatif->source_count = set->part_count;
    for (size_t i = 0; i < whatif->change_count; i++) {
        IW_TRY(name_removed(run->inquiry.log, set, &whatif->changes[i]));
    }
    return whatif->has_target_set ? name_removed(run->inquiry.log, set, &whatif->target_set) : IW_OK;
}

/* ---- all of it ---- */

static iw_status answer(struct run *run)
{
    const iw_whatif_opts *opts = run->opts;
    iw_whatif *whatif = run->whatif;
    const iw_change *reserve;

    IW_TRY(iwi_changes_list(run->inquiry.log, run->inquiry.set, opts, run->experiment.reserved != NULL,
                            &run->changes));
    IW_TRY(run_changes(run));
    whatif->ranks = iw_program_ranks(run->experiment.program);
    whatif->trials = run->experiment.trials;
    whatif->seed = opts->sim.seed;
    whatif->redraws = run->experiment.redraws;
    whatif->noiseless_ps = run->experiment.noiseless_ps;
    whatif->is_monotone = run->experiment.is_monotone;
    whatif->messages = iw_program_messages(run->experiment.program);
    whatif->target = opts->target;
    whatif->is_reserve_unknown = opts->cores_per_node > 0 && run->experiment.reserved == NULL;
    estimate_all(run);
    IW_TRY(estimate_now(run));
    if (run->experiment.is_monotone) {
        keep_parts_below_wholes(run);
    }
    iwi_sort(run->changes.list, run->changes.count, compare_changes);
    if (iwi_has_bounds(run->changes.list, run->changes.count)) {
        whatif->sum_of_sources = NAN;
    }
    tell_recorded(run->inquiry.set, whatif);
    if (opts->target >= 0.0) {
        IW_TRY(find_target_set(run));
    }
    reserve = find_change(run, IW_CHANGE_RESERVE);
    if (reserve != NULL) {
        IW_TRY(find_break_even(run, reserve));
    }
    whatif->engine_seconds = run->inquiry.engine_seconds;
    whatif->changes = run->changes.list;
    whatif->change_count = run->changes.count;
    run->changes = (struct iwi_changes){NULL, 0, 0};
    return describe(run);
}

iw_status iw_whatif_run(const iw_log *log, const iw_noise_set *set, const iw_whatif_opts *given,
                        iw_whatif **whatif_p)
{
    iw_whatif_opts known = IW_WHATIF_OPTS_INIT;
    const iw_whatif_opts *opts = &known;
    struct run run = {.opts = opts, .inquiry = {.log = log, .set = set, .blocks = iwi_set_blocks(set)}};
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_WHATIF_OPTS_INIT", given, &known));
    IW_TRY(iwi_whatif_check(log, opts));
    run.inquiry.job = iwi_whatif_job(opts);
    IW_TRY(iwi_experiment_init(&run.inquiry, 0, opts->sim.trials, opts->redraws, &run.experiment));
    run.whatif = iwi_new_array(log, 1, sizeof *run.whatif);
    status = run.whatif != NULL ? answer(&run) : IW_ERR_NOMEM;
    iwi_experiment_release(&run.experiment);
    iwi_changes_release(&run.changes);
    free(run.variants);
    free(run.values);
    if (status != IW_OK) {
        iw_whatif_free(run.whatif);
        return status;
    }
    *whatif_p = run.whatif;
    return IW_OK;
}

void iw_whatif_free(iw_whatif *whatif)
{
    if (whatif == NULL) {
        return;
    }
    for (size_t i = 0; i < whatif->change_count; i++) {
        free(whatif->changes[i].is_removed);
        free(whatif->changes[i].removes);
    }
    free(whatif->changes);
    free(whatif->target_set.is_removed);
    free(whatif->target_set.removes);
    free(whatif);
}
