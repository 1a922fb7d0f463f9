/* What jitter costs: the program as it is and each of its variants, in pairs of trials; what is absorbed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/noise/spec.h"
#include "core/noise/stream.h"
#include "core/stats/mean_interval.h"
#include "features/training/step_run.h"
#include "features/training/trials.h"

static iw_status sum_up_steps(const iw_log *log, const struct iwi_trials *trials, iw_training_result *result)
{
    const size_t count = (size_t)(trials->opts->steps * trials->opts->trials);
    double *sorted = iwi_new_array(log, count, sizeof *sorted);

    if (sorted == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = trials->step_ns[i];
    }
    iwi_sort_doubles(sorted, count);
    result->p10_ns = iw_quantile_sorted(sorted, count, 0.1);
    result->median_ns = iw_quantile_sorted(sorted, count, 0.5);
    result->p90_ns = iw_quantile_sorted(sorted, count, 0.9);
    result->worst_ns = sorted[count - 1];
    free(sorted);
    return IW_OK;
}

/* ---- changes ---- */

static void price(iw_training_result *result, iw_training_change *row)
{
    row->share = row->saved_ns.value * 1e3 / (double)result->noiseless_ps;
    row->gpu_hours = (double)result->sizes.gpus * row->saved_ns.value / result->step_ns.value;
    row->cost_per_day = result->cost_per_hour > 0 ? row->gpu_hours * 24.0 * result->cost_per_hour : NAN;
}

/* What the changed program is without jitter; of a usual batch. */
static void describe(const struct iwi_train_variant *variant, double step_ns, iw_training_change *row)
{
    const double batch = (double)variant->plan->batch / (double)variant->plan->usual_batch;

    row->batch = batch;
    row->noiseless_ns = (double)variant->noiseless_ps / 1e3 / batch;
    row->bubble = iwi_plan_bubble(variant->plan, variant->noiseless_ps);
    row->loss = step_ns / row->noiseless_ns - 1.0;
}

void iwi_bill_fill_noiseless(const struct iwi_trials *trials, iw_training_result *result)
{
    for (uint32_t c = 0; c < result->change_count; c++) {
        iw_training_change *row = &result->changes[c];
        double saved_ns;

        describe(&trials->variants[1 + c], 0, row);
        row->loss = 0;
        saved_ns = (double)result->noiseless_ps / 1e3 - row->noiseless_ns;
        row->saved_ns = (iw_estimate){saved_ns, saved_ns, saved_ns};
        price(result, row);
    }
}

static void fill_changes(const struct iwi_trials *trials, double *values, iw_training_result *result)
{
    const uint64_t count = trials->opts->trials;

    for (uint32_t c = 0; c < result->change_count; c++) {
        const double *mean_ns = trials->mean_ns + (1 + c) * count;
        iw_training_change *row = &result->changes[c];

        for (uint64_t t = 0; t < count; t++) {
            values[t] = trials->mean_ns[t] - mean_ns[t];
        }
        row->saved_ns = iwi_mean_estimate(values, (size_t)count);
        price(result, row);
        describe(&trials->variants[1 + c], result->step_ns.value - row->saved_ns.value, row);
    }
}

/* ---- what is absorbed ---- */

/* Of the longest that a source takes from a rank, trial by trial: what reaches the step; what would if the
 * GPU itself was stopped. */
struct absorbed {
    double longest, reaches, stopped;
};

static struct absorbed absorbed_in(const struct iwi_trials *trials, uint32_t source, uint64_t trial)
{
    const uint64_t count = trials->opts->trials;
    const struct iwi_train_taken *taken = &trials->taken[trial];
    const double without = trials->mean_ns[trials->without[source] * count + trial];
    struct absorbed a = {.longest = taken->longest_ns[source] / (double)taken->steps[source],
                         .reaches = trials->mean_ns[trial] - without};

    a.stopped = trials->moved[source] > 0 ? trials->mean_ns[trials->moved[source] * count + trial] - without
                                          : a.reaches;
    return a;
}

static void fill_absorption(const struct iwi_trials *trials, uint32_t source, double *values,
                            iw_training_absorption *row)
{
    const uint64_t count = trials->opts->trials;
    iw_estimate *parts[] = {&row->longest_ns, &row->ahead_ns, &row->slack_ns, &row->reaches_ns};

    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++) {
        for (uint64_t t = 0; t < count; t++) {
            const struct absorbed a = absorbed_in(trials, source, t);
            const double each[] = {a.longest, a.stopped - a.reaches, a.longest - a.stopped, a.reaches};

            values[t] = each[part];
        }
        *parts[part] = iwi_mean_estimate(values, (size_t)count);
    }
    for (uint64_t t = 0; t < count; t++) {
        row->taken_ns +=
            trials->taken[t].mean_ns[source] / (double)trials->taken[t].steps[source] / (double)count;
    }
    row->share = row->longest_ns.value > 0 ? row->reaches_ns.value / row->longest_ns.value : NAN;
}

static void fill_absorptions(const struct iwi_trials *trials, double *values, iw_training_result *result)
{
    for (uint32_t i = 0; trials->taken != NULL && i < result->source_count; i++) {
        iw_training_absorption *row = &result->absorption[result->absorption_count++];

        memcpy(row->source, result->sources[i].name, sizeof row->source); /* as long as that */
        fill_absorption(trials, i, values, row);
    }
}

/* By what jitter adds, which is never negative, and so neither is its interval. */
static void fill_step(const struct iwi_trials *trials, double *values, iw_training_result *result)
{
    const double noiseless_ns = (double)result->noiseless_ps / 1e3;
    iw_estimate added;

    for (uint64_t t = 0; t < trials->opts->trials; t++) {
        values[t] = trials->mean_ns[t] - noiseless_ns;
    }
    added = iwi_mean_estimate(values, (size_t)trials->opts->trials);
    result->step_ns =
        (iw_estimate){added.value + noiseless_ns, added.low + noiseless_ns, added.high + noiseless_ns};
}

iw_status iwi_bill_fill(const iw_log *log, const struct iwi_trials *trials, iw_training_result *result)
{
    double *values = iwi_new_array(log, (size_t)trials->opts->trials, sizeof *values);
    iw_status status;

    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    fill_step(trials, values, result);
    fill_changes(trials, values, result);
    fill_absorptions(trials, values, result);
    status = sum_up_steps(log, trials, result);
    free(values);
    return status;
}

/* Variants of a program for the bill: without a source, synchronised, and with other loaders, workers,
 * micro-batches or launches.
 */

/* ---- copies of settings ---- */

static iw_status copy_list(const iw_log *log, size_t size, uint32_t count, void **list)
{
    void *copy = *list != NULL ? iwi_new_array(log, count, size) : NULL;
    const iw_status status = *list == NULL || copy != NULL ? IW_OK : IW_ERR_NOMEM;

    if (copy != NULL) {
        memcpy(copy, *list, count * size);
    }
    *list = copy;
    return status;
}

/* Settings with lists of their own. */
static iw_status training_copy(const iw_log *log, const iw_training *from, iw_training *to)
{
    const struct {
        void **list;
        size_t size;
        uint32_t count;
    } lists[] = {
        {(void **)&to->chunk_layers, sizeof *to->chunk_layers, from->chunk_layers_count},
        {(void **)&to->forward_ps, sizeof *to->forward_ps, from->forward_count},
        {(void **)&to->backward_ps, sizeof *to->backward_ps, from->backward_count},
        {(void **)&to->rows, sizeof *to->rows, from->row_count},
        {(void **)&to->once_rows, sizeof *to->once_rows, from->once_count},
    };
    iw_status status = IW_OK;

    *to = *from;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const iw_status copied = copy_list(log, lists[i].size, lists[i].count, lists[i].list);

        status = status == IW_OK ? copied : status;
    }
    return status;
}

/* ---- variants ---- */

static const struct iwi_train_variant *program_of(const struct iwi_trials *trials)
{
    return &trials->variants[0];
}

static struct iwi_train_variant *add_variant(struct iwi_trials *trials, struct iwi_train_change change)
{
    struct iwi_train_variant *variant = &trials->variants[trials->count++];

    *variant = *program_of(trials);
    variant->change = change;
    return variant;
}

static struct iwi_train_variant *add_row(struct iwi_trials *trials, iw_training_result *result,
                                         const char *source, struct iwi_train_change change)
{
    snprintf(result->changes[result->change_count++].source, sizeof result->changes[0].source, "%s", source);
    return add_variant(trials, change);
}

static char *last_what(iw_training_result *result)
{
    return result->changes[result->change_count - 1].what;
}

enum { WHAT_SIZE = sizeof((iw_training_change *)0)->what };

static uint64_t batch_of(const iw_training *spec)
{
    return (uint64_t)spec->dp * spec->microbatches * spec->microbatch_size;
}

/* Plan, jitter and noiseless step of a variant whose settings are made. */
static iw_status complete(const iw_log *log, const struct iwi_trials *trials,
                          struct iwi_train_variant *variant)
{
    const struct iwi_train_variant *program = program_of(trials);
    struct iwi_train_parts *own = variant->own;
    const uint64_t batch = batch_of(&own->spec), usual = batch_of(program->spec);

    IW_TRY(iwi_training_check(log, &own->spec));
    IW_TRY(iwi_training_settle(log, &own->spec));
    IW_TRY(iwi_train_plan_new(log, &own->spec, &own->plan));
    own->plan->batch = batch;
    own->plan->usual_batch = usual;
    if (program->jitter != NULL) {
        IW_TRY(iwi_train_jitter_like(log, &own->spec, trials->opts, program->jitter, &own->jitter));
    }
    variant->spec = &own->spec;
    variant->plan = own->plan;
    variant->jitter = own->jitter;
    variant->steps = (trials->opts->steps * usual + batch - 1) / batch;
    return iwi_noiseless_step(log, variant->spec, variant->plan, &variant->noiseless_ps);
}

/* A copy of the settings to be changed; the rate of GPUs stays. */
static iw_status begin_own(const iw_log *log, const struct iwi_trials *trials,
                           struct iwi_train_variant *variant)
{
    variant->own = iwi_new_array(log, 1, sizeof *variant->own);
    if (variant->own == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(training_copy(log, program_of(trials)->spec, &variant->own->spec));
    variant->own->spec.step_rate = 0;
    return IW_OK;
}

void iwi_variants_release(struct iwi_trials *trials)
{
    for (uint32_t i = 0; i < trials->count; i++) {
        struct iwi_train_parts *own = trials->variants[i].own;

        if (own != NULL) {
            iw_training_release(&own->spec);
            iwi_train_plan_free(own->plan);
            iwi_train_jitter_free(own->jitter);
            free(own);
        }
    }
}

/* ---- sources ---- */

static void add_sources(struct iwi_trials *trials, iw_training_result *result)
{
    const iw_training *spec = program_of(trials)->spec;

    for (uint32_t i = 0; i < spec->source_count; i++) {
        const iw_training_source *source = &spec->sources[i];

        trials->without[i] = trials->count;
        (void)add_row(trials, result, source->name, (struct iwi_train_change){.without = 1u << i});
        snprintf(last_what(result), WHAT_SIZE, "without %s", source->name);
        if (source->scope != IW_TRAINING_ALL_RANKS || source->skew_ps > 0) {
            (void)add_row(trials, result, source->name, (struct iwi_train_change){.together = 1u << i});
            snprintf(last_what(result), WHAT_SIZE, "%s synchronised", source->name);
        }
    }
}

/* No rows of the bill: what would reach the step of a source that stopped the GPU itself. */
static void add_moved(struct iwi_trials *trials)
{
    const iw_training *spec = program_of(trials)->spec;

    for (uint32_t i = 0; i < spec->source_count; i++) {
        if (spec->sources[i].where == IW_TRAINING_HOST || spec->sources[i].where == IW_TRAINING_LOADER) {
            trials->moved[i] = trials->count;
            (void)add_variant(trials, (struct iwi_train_change){.moved = 1u << i});
        }
    }
}

static void add_alike(struct iwi_trials *trials, iw_training_result *result)
{
    const iw_training *spec = program_of(trials)->spec;
    const struct iwi_train_jitter *jitter = program_of(trials)->jitter;
    const uint32_t replaced = (uint32_t)iwi_min(jitter->slow_count, jitter->replaced);
    const bool differs = replaced == jitter->slow_count && iwi_spec_arguments(spec->slow, "normal") != NULL;

    if (replaced > 0) {
        (void)add_row(trials, result, "", (struct iwi_train_change){.replaces_slow = true});
        if (differs) { /* how many are slow, from trial to trial */
            snprintf(last_what(result), WHAT_SIZE, "all slow GPUs replaced");
        } else {
            snprintf(last_what(result), WHAT_SIZE, "%" PRIu32 " slow GPU%s replaced", replaced,
                     replaced == 1 ? "" : "s");
        }
    }
    if (spec->forward_sigma > 0 || spec->backward_sigma > 0) {
        (void)add_row(trials, result, "", (struct iwi_train_change){.has_equal_lengths = true});
        snprintf(last_what(result), WHAT_SIZE, "micro-batches of equal length");
    }
}

/* ---- loaders ---- */

/* On cores of their own neither loaders lose any to others nor others to them. A batch that takes longer to
 * make, which is what acts on phases of a loader, does so there too. */
static void add_pinned(struct iwi_trials *trials, iw_training_result *result)
{
    const struct iwi_train_jitter *jitter = program_of(trials)->jitter;
    const iw_training *spec = program_of(trials)->spec;
    struct iwi_train_change change = {0};

    for (uint32_t i = 0; i < spec->source_count; i++) {
        if (spec->sources[i].is_of_loader || (spec->sources[i].where == IW_TRAINING_LOADER &&
                                              !iwi_noise_has_phases(jitter->sources[i].noise))) {
            change.without |= 1u << i;
        }
    }
    if (change.without != 0) {
        (void)add_row(trials, result, "", change);
        snprintf(last_what(result), WHAT_SIZE, "loaders pinned");
    }
}

static bool has_source_on(const iw_training *spec, iw_training_where where)
{
    for (uint32_t i = 0; i < spec->source_count; i++) {
        if (spec->sources[i].where == where) {
            return true;
        }
    }
    return false;
}

/* ---- other programs ---- */

static bool binds_queue(const struct iwi_train_plan *plan)
{
    for (uint32_t s = 0; s < plan->pp; s++) {
        for (uint32_t i = 0; i < plan->stages[s].count; i++) {
            if (plan->stages[s].ops[i].queued_behind > 0) {
                return true;
            }
        }
    }
    return false;
}

static bool can_prefetch(const struct iwi_train_variant *program)
{
    return (program->spec->load_ps > 0 || has_source_on(program->spec, IW_TRAINING_LOADER)) &&
           program->spec->prefetch <= 512;
}

static bool can_graph(const struct iwi_train_variant *program)
{
    return has_source_on(program->spec, IW_TRAINING_HOST) && !program->spec->has_graphs;
}

/* 4x is the most that CUDA_SCALE_LAUNCH_QUEUES takes. */
static bool can_queue(const struct iwi_train_variant *program)
{
    return has_source_on(program->spec, IW_TRAINING_HOST) && binds_queue(program->plan) &&
           program->spec->queue <= 1u << 18;
}

static bool can_halve(const struct iwi_train_variant *program)
{
    const iw_training *spec = program->spec;

    return spec->pp > 1 && !iwi_training_is_measured(spec) && spec->microbatch_size % 2 == 0 &&
           spec->microbatches <= 1u << 10;
}

static bool can_double(const struct iwi_train_variant *program)
{
    return program->spec->pp > 1 && !can_halve(program) && program->spec->microbatches <= 1u << 10;
}

static void prefetch_twice(iw_training *spec, char *what)
{
    spec->prefetch *= 2;
    snprintf(what, WHAT_SIZE, "%" PRIu32 " batches prefetched", spec->prefetch);
}

static void use_graphs(iw_training *spec, char *what)
{
    spec->has_graphs = true;
    snprintf(what, WHAT_SIZE, "CUDA graphs");
}

static void lengthen_queue(iw_training *spec, char *what)
{
    spec->queue *= 4;
    snprintf(what, WHAT_SIZE, "launch queue of %" PRIu32, spec->queue);
}

static void halve_microbatches(iw_training *spec, char *what)
{
    spec->microbatches *= 2;
    spec->microbatch_size /= 2;
    snprintf(what, WHAT_SIZE, "%" PRIu32 " micro-batches of half the size", spec->microbatches);
}

static void double_microbatches(iw_training *spec, char *what)
{
    spec->microbatches *= 2;
    snprintf(what, WHAT_SIZE, "%" PRIu32 " micro-batches, twice the batch", spec->microbatches);
}

static const struct {
    bool (*is_apt)(const struct iwi_train_variant *program);
    void (*apply)(iw_training *spec, char *what);
} others[] = {
    {can_prefetch, prefetch_twice},  {can_graph, use_graphs},           {can_queue, lengthen_queue},
    {can_halve, halve_microbatches}, {can_double, double_microbatches},
};

static iw_status add_others(const iw_log *log, struct iwi_trials *trials, iw_training_result *result)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (others[i].is_apt(program_of(trials))) {
            struct iwi_train_variant *variant = add_row(trials, result, "", (struct iwi_train_change){0});

            IW_TRY(begin_own(log, trials, variant));
            others[i].apply(&variant->own->spec, last_what(result));
            IW_TRY(complete(log, trials, variant));
        }
    }
    return IW_OK;
}

/* ---- what the user wants to try ---- */

/* Who has to hold so much more on a GPU should know. */
static const double MORE = 1.1;

static uint64_t gpus_of(const iw_training *spec)
{
    return (uint64_t)spec->tp * spec->cp * spec->dp * spec->pp;
}

static iw_status add_try(const iw_log *log, struct iwi_trials *trials, const char *text,
                         iw_training_result *result)
{
    const iw_training *spec = program_of(trials)->spec;
    struct iwi_train_variant *variant = add_row(trials, result, "", (struct iwi_train_change){0});

    snprintf(last_what(result), WHAT_SIZE, "%.63s", text);
    IW_TRY(begin_own(log, trials, variant));
    IW_TRY(iwi_training_apply(log, text, &variant->own->spec));
    if (gpus_of(&variant->own->spec) != gpus_of(spec)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'%.60s' needs %" PRIu64 " GPUs, but the program has %" PRIu64
                        ": variants must use the same number",
                        text, gpus_of(&variant->own->spec), gpus_of(spec));
    }
    if (iwi_training_has_model(spec) && iwi_state_bytes(&variant->own->spec) > MORE * iwi_state_bytes(spec)) {
        snprintf(last_what(result), WHAT_SIZE, "%.40s (%.3g GB per GPU)", text,
                 iwi_state_bytes(&variant->own->spec) / 1e9);
    }
    return complete(log, trials, variant);
}

iw_status iwi_variants_make_tries(const iw_log *log, struct iwi_trials *trials, iw_training_result *result)
{
    const iw_training_opts *opts = trials->opts;

    if (opts->try_count > IW_TRAINING_TRIES_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "%" PRIu32 " variants are too many: at most %d", opts->try_count,
                        IW_TRAINING_TRIES_MAX);
    }
    for (uint32_t i = 0; i < opts->try_count; i++) {
        IW_TRY(add_try(log, trials, opts->tries[i], result));
    }
    return IW_OK;
}

iw_status iwi_variants_make(const iw_log *log, struct iwi_trials *trials, iw_training_result *result)
{
    if (trials->opts->wants_bill) {
        add_sources(trials, result);
        add_alike(trials, result);
    }
    if (trials->opts->wants_bill && trials->opts->wants_variants) {
        add_pinned(trials, result);
        IW_TRY(add_others(log, trials, result));
    }
    IW_TRY(iwi_variants_make_tries(log, trials, result));
    if (trials->opts->wants_bill) {
        add_moved(trials);
    }
    return IW_OK;
}
