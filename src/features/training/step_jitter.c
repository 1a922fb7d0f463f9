/* Jitter of a run: detours of hosts, devices, loaders and networks; slow GPUs; lengths of micro-batches.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "core/noise/node_speed.h"
#include "core/noise/spec.h"
#include "core/numeric/numeric.h"
#include "features/training/step_run.h"

/* ---- what a program meets ---- */

/* Random numbers follow the number of the source: "none" as often as there are sources before it. */
static iw_status new_noise(const iw_log *log, const iw_training *spec, uint32_t number, iw_noise **noise_p,
                           iw_caveats *caveats)
{
    const iw_training_source *source = &spec->sources[number];
    iw_noise *noise;
    iw_status status = iw_noise_new(log, &noise);

    if (status != IW_OK) {
        return status;
    }
    for (uint32_t i = 0; status == IW_OK && i < number; i++) {
        status = iw_noise_add(log, noise, "none");
    }
    if (status == IW_OK) {
        status = iwi_train_noise_open(log, noise, source->spec, caveats);
    }
    if (status == IW_OK && (source->where == IW_TRAINING_NETWORK || source->factor > 0) &&
        iwi_noise_has_phases(noise)) {
        status =
            iwi_fail(log, IW_ERR_RANGE, "'%s': %s; give a rate in time, for example poisson:0.1Hz,exp:4ms",
                     source->spec,
                     source->factor > 0 ? "slowness must have a duration" : "collectives have no phases");
    }
    if (status != IW_OK) {
        iw_noise_free(noise);
        return status;
    }
    if (source->scope == IW_TRAINING_ALL_RANKS && source->skew_ps > 0) {
        iw_noise_align(noise, IW_SYNC_START, source->skew_ps, 1);
    } else { /* ranks of a node meet a recorded CPU each, as far as there are any; of other scopes the first
              */
        const uint32_t cpus = (uint32_t)iwi_min(spec->node_gpus, iw_noise_recorded_cpus(noise));

        iw_noise_align(noise, IW_SYNC_NONE, 0, source->scope == IW_TRAINING_EACH_RANK && cpus > 1 ? cpus : 1);
    }
    *noise_p = noise;
    return IW_OK;
}

static uint32_t slow_of(const int64_t *factors, uint32_t ranks)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < ranks; i++) {
        count += factors[i] > IWI_FACTOR_UNIT;
    }
    return count;
}

static iw_status new_speeds(const iw_log *log, const iw_training *spec, const iw_training_opts *opts,
                            struct iwi_train_jitter *jitter)
{
    int64_t *factors;

    jitter->replaced = opts->replaced > 0 ? opts->replaced : UINT32_MAX;
    if (spec->slow[0] == '\0') {
        return IW_OK;
    }
    IW_TRY(iw_node_speeds_new(log, spec->slow, 1, &jitter->speeds));
    IW_TRY(iwi_node_factors(log, jitter->speeds, jitter->ranks, opts->seed, 0, 0, &factors));
    jitter->slow_count = slow_of(factors, jitter->ranks);
    jitter->has_one_slow = jitter->slow_count == 1 && iwi_spec_arguments(spec->slow, "slow") != NULL;
    free(factors);
    return IW_OK;
}

/* All but the sources. */
static iw_status new_jitter(const iw_log *log, const iw_training *spec, const iw_training_opts *opts,
                            struct iwi_train_jitter **jitter_p)
{
    struct iwi_train_jitter *jitter = iwi_new_array(log, 1, sizeof *jitter);
    iw_status status;

    if (jitter == NULL) {
        return IW_ERR_NOMEM;
    }
    jitter->seed = opts->seed;
    jitter->node_gpus = spec->node_gpus;
    jitter->ranks = spec->tp * spec->cp * spec->dp * spec->pp;
    jitter->forward_sigma = spec->forward_sigma;
    jitter->backward_sigma = spec->backward_sigma;
    status = new_speeds(log, spec, opts, jitter);
    if (status != IW_OK) {
        iwi_train_jitter_free(jitter);
        return status;
    }
    *jitter_p = jitter;
    return IW_OK;
}

iw_status iwi_train_jitter_new(const iw_log *log, const iw_training *spec, const iw_training_opts *opts,
                               struct iwi_train_jitter **jitter_p)
{
    struct iwi_train_jitter *jitter;
    iw_status status = IW_OK;

    IW_TRY(new_jitter(log, spec, opts, &jitter));
    for (uint32_t i = 0; status == IW_OK && i < spec->source_count; i++) {
        const iw_training_source *source = &spec->sources[i];

        status = new_noise(log, spec, i, &jitter->sources[i].noise, &jitter->caveats);
        jitter->sources[i].where = source->where;
        jitter->sources[i].scope = source->scope;
        jitter->sources[i].is_skewed = source->skew_ps > 0;
        jitter->sources[i].factor = llround(source->factor * IWI_FACTOR_UNIT);
        jitter->count += status == IW_OK;
    }
    if (status != IW_OK) {
        iwi_train_jitter_free(jitter);
        return status;
    }
    *jitter_p = jitter;
    return IW_OK;
}

iw_status iwi_train_jitter_like(const iw_log *log, const iw_training *spec, const iw_training_opts *opts,
                                const struct iwi_train_jitter *other, struct iwi_train_jitter **jitter_p)
{
    IW_TRY(new_jitter(log, spec, opts, jitter_p));
    memcpy((*jitter_p)->sources, other->sources, sizeof other->sources);
    (*jitter_p)->count = other->count;
    (*jitter_p)->is_borrowed = true;
    return IW_OK;
}

void iwi_train_jitter_free(struct iwi_train_jitter *jitter)
{
    if (jitter == NULL) {
        return;
    }
    for (uint32_t i = 0; !jitter->is_borrowed && i < jitter->count; i++) {
        iw_noise_free(jitter->sources[i].noise);
    }
    iw_node_speeds_free(jitter->speeds);
    free(jitter);
}

/* ---- walks ---- */

struct iwi_stream_id iwi_train_stream(const struct iwi_train_run *run, uint32_t source, size_t index)
{
    const struct iwi_train_jitter *jitter = run->jitter;
    const bool is_together = (run->change.together >> source & 1) != 0;
    struct iwi_stream_id id = {jitter->seed, run->trial, (uint32_t)index};

    if (is_together ||
        (jitter->sources[source].scope == IW_TRAINING_ALL_RANKS && !jitter->sources[source].is_skewed)) {
        id.rank = 0;
    } else if (jitter->sources[source].scope == IW_TRAINING_EACH_NODE) {
        id.rank /= jitter->node_gpus;
    }
    return id;
}

/* Loaders are not everywhere, whatever their jitter stops. */
static bool is_hit(const struct iwi_train_run *run, uint32_t source, size_t index)
{
    return run->jitter->sources[source].where != IW_TRAINING_LOADER || iwi_train_has_loader(run, index);
}

/* False if no rank meets a detour ever. */
static bool begin_walk(struct iwi_train_run *run, uint32_t source, struct iwi_walk *walk)
{
    const size_t ranks = (size_t)run->plan->pp * run->width;
    bool has_detours = false;

    for (size_t i = 0; walk->next != NULL && i < ranks; i++) {
        walk->next[i] = iwi_noise_begin(walk->noise, iwi_train_stream(run, source, i),
                                        walk->words + i * walk->words_each);
        walk->next[i] = is_hit(run, source, i) ? walk->next[i] : IWI_NEVER;
        has_detours |= walk->next[i] != IWI_NEVER;
    }
    return has_detours;
}

/* What a source stops in this run. */
static int place_of(const struct iwi_train_run *run, uint32_t source)
{
    const bool has_phases = iwi_noise_has_phases(run->walks[source].noise);

    if ((run->change.moved >> source & 1) != 0) {
        return has_phases ? IWI_STOPS : IW_TRAINING_DEVICE;
    }
    return (int)run->jitter->sources[source].where;
}

void iwi_train_walks_begin(struct iwi_train_run *run)
{
    for (int where = 0; where <= IWI_STOPS; where++) {
        run->at[where].count = run->at[where].phased_count = 0;
    }
    for (uint32_t i = 0; run->jitter != NULL && i < run->jitter->count; i++) {
        struct iwi_walks *at = &run->at[place_of(run, i)];

        if ((run->change.without >> i & 1) != 0) {
            continue;
        }
        if (iwi_noise_has_phases(run->walks[i].noise)) {
            at->phased[at->phased_count++] = i;
        }
        if (begin_walk(run, i, &run->walks[i])) {
            at->sources[at->count++] = i;
        }
        (void)begin_walk(run, i, &run->tail_walks[i]);
    }
}

/* finish() where detours are times in which everything takes `factor` as long. */
static iw_time finish_slower(struct iwi_walk *walk, struct iwi_stream_id id, size_t index, int64_t factor,
                             iw_time t, iw_time d)
{
    __extension__ typedef __int128 wide;

    while (d > 0) {
        const struct iwi_stream_detour slow =
            iwi_noise_detour(walk->noise, id, walk->words + index * walk->words_each, &walk->next[index], t);
        const iw_time before = slow.start > t ? iwi_min(d, slow.start - t) : 0;
        iw_time room;

        t += before;
        d -= before;
        if (d > 0) {
            room = (iw_time)((wide)(slow.end - t) * IWI_FACTOR_UNIT / factor);
            if (d <= room) {
                return t + iwi_scaled_work(d, factor);
            }
            d -= room;
            t = slow.end;
        }
    }
    return t;
}

iw_time iwi_train_finish_slow(struct iwi_train_run *run, enum iw_training_where where, bool is_tail,
                              size_t index, iw_time t, iw_time d)
{
    const struct iwi_walks *at = &run->at[where];
    iw_time end = t + d;

    for (uint32_t k = 0; k < at->count; k++) {
        const uint32_t source = at->sources[k];
        const int64_t factor = run->jitter->sources[source].factor;
        struct iwi_walk *walk = is_tail ? &run->tail_walks[source] : &run->walks[source];

        if (end > walk->next[index] && end > t) {
            const struct iwi_stream_id id = iwi_train_stream(run, source, index);

            run->team.is_hit = true;
            end = factor > 0 ? finish_slower(walk, id, index, factor, t, end - t)
                             : iwi_noise_finish(walk->noise, id, walk->words + index * walk->words_each,
                                                &walk->next[index], t, end - t, NULL);
        }
    }
    return end;
}

bool iwi_train_is_quiet(struct iwi_train_run *run, enum iw_training_where where, size_t index, iw_time from,
                        iw_time until)
{
    const struct iwi_walks *at = &run->at[where];

    for (uint32_t k = 0; k < at->count; k++) {
        struct iwi_walk *walk = &run->walks[at->sources[k]];

        if (walk->next[index] < until) { /* it may be over */
            (void)iwi_noise_detour(walk->noise, iwi_train_stream(run, at->sources[k], index),
                                   walk->words + index * walk->words_each, &walk->next[index], from);
        }
        if (walk->next[index] < until) {
            return false;
        }
    }
    return true;
}

uint64_t iwi_train_first_phase(const struct iwi_train_run *run, uint64_t step)
{
    return step * run->plan->batch / run->plan->usual_batch;
}

iw_time iwi_train_extra(struct iwi_train_run *run, int where, size_t index, uint64_t phase, iw_time t,
                        iw_time work)
{
    const struct iwi_walks *at = &run->at[where];
    iw_time extra = 0;

    for (uint32_t k = 0; k < at->phased_count; k++) {
        const uint32_t source = at->phased[k];
        struct iwi_walk *walk = &run->walks[source];

        if (is_hit(run, source, index)) {
            const iw_time taken = iwi_noise_phase(walk->noise, iwi_train_stream(run, source, index),
                                                  walk->words + index * walk->words_each, &walk->next[index],
                                                  phase, t, work, NULL);

            extra += taken;
            if (run->is_watched) {
                run->watched[source * (size_t)run->plan->pp * run->width + index] += taken;
            }
        }
    }
    return extra;
}

/* ---- work that differs ---- */

/* What one slow GPU costs depends on its stage. So it stands in each of them in turn, from a place that is
 * drawn: a few trials then cover all stages. Several, or a law for all, are drawn anew in each trial. */
iw_status iwi_train_draw_speeds(const iw_log *log, struct iwi_train_run *run)
{
    const struct iwi_train_jitter *jitter = run->jitter;
    uint64_t trial = run->trial;

    if (jitter == NULL || jitter->speeds == NULL) {
        return IW_OK;
    }
    if (jitter->has_one_slow) {
        run->turned = (size_t)(trial % run->plan->pp) * run->width;
        trial /= run->plan->pp;
    }
    free(run->factors);
    run->factors = NULL;
    return iwi_node_factors(log, jitter->speeds, jitter->ranks, jitter->seed, trial,
                            run->change.replaces_slow ? jitter->replaced : 0, &run->factors);
}

int64_t iwi_train_factor(const struct iwi_train_run *run, size_t index)
{
    return run->factors != NULL ? run->factors[(index + run->turned) % run->jitter->ranks] : IWI_FACTOR_UNIT;
}

iw_time iwi_train_speeded(const struct iwi_train_run *run, iw_time work, size_t index)
{
    return run->factors != NULL ? iwi_scaled_work(work, iwi_train_factor(run, index)) : work;
}

iw_time iwi_train_scaled(const struct iwi_train_run *run, const struct iwi_train_op *op, size_t index,
                         uint32_t replica)
{
    iw_time work = op->work_ps;

    if (run->lengths[0] != NULL && !run->change.has_equal_lengths) {
        work = iwi_scaled_work(
            work, run->lengths[op->is_backward][(size_t)replica * run->plan->microbatches + op->microbatch]);
    }
    return iwi_train_speeded(run, work, index);
}

/* Lognormal with mean 1. */
static int64_t length_factor(double normal, double sigma)
{
    return llround(exp(sigma * normal - sigma * sigma / 2.0) * IWI_FACTOR_UNIT);
}

void iwi_train_draw_lengths(struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;

    for (uint32_t replica = 0; run->lengths[0] != NULL && replica < plan->dp; replica++) {
        const struct iwi_draw_id draw = {
            .seed = run->jitter->seed, .trial = run->trial, .purpose = IWI_DRAW_LENGTH, .rank = replica};

        for (uint32_t m = 0; m < plan->microbatches; m++) {
            const double normal =
                iwi_normal_quantile(iwi_draw_unit(draw, run->step * plan->microbatches + m));
            const size_t at = (size_t)replica * plan->microbatches + m;

            run->lengths[0][at] = length_factor(normal, run->jitter->forward_sigma);
            run->lengths[1][at] = length_factor(normal, run->jitter->backward_sigma);
        }
    }
}
