/* Jitter of a run: detours of hosts, devices, loaders and networks; slow GPUs; lengths of micro-batches.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/rng.h"
#include "noise/node_speed.h"
#include "numeric/numeric.h"
#include "training/step_run.h"

/* ---- what a program meets ---- */

/* Random numbers follow the number of the source: "none" as often as there are sources before it. */
static iw_status new_noise(const iw_log *log, const iw_training *spec, uint32_t number, iw_noise **noise_p)
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
        status = iw_noise_add(log, noise, source->spec);
    }
    if (status == IW_OK && source->where == IW_TRAINING_NETWORK && iwi_noise_has_phases(noise)) {
        status = iwi_fail(log, IW_ERR_RANGE,
                          "'%s': collectives have no phases; give a rate in time, for example "
                          "poisson:0.1Hz,exp:4ms",
                          source->spec);
    }
    if (status != IW_OK) {
        iw_noise_free(noise);
        return status;
    }
    if (source->scope == IW_TRAINING_ALL_RANKS && source->skew_ps > 0) {
        iw_noise_align(noise, IW_SYNC_START, source->skew_ps, 1);
    }
    *noise_p = noise;
    return IW_OK;
}

static iw_status draw_factors(const iw_log *log, const iw_training *spec, uint64_t seed,
                              struct iwi_train_jitter *jitter)
{
    iw_node_speeds *speeds;
    iw_status status;

    if (spec->slow[0] == '\0') {
        return IW_OK;
    }
    IW_TRY(iw_node_speeds_new(log, spec->slow, 1, &speeds));
    status = iwi_node_factors(log, speeds, jitter->ranks, seed, 0, &jitter->factors);
    iw_node_speeds_free(speeds);
    return status;
}

iw_status iwi_train_jitter_new(const iw_log *log, const iw_training *spec, uint64_t seed,
                               struct iwi_train_jitter **jitter_p)
{
    struct iwi_train_jitter *jitter = iwi_new_array(log, 1, sizeof *jitter);
    iw_status status = jitter != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status != IW_OK) {
        return status;
    }
    jitter->seed = seed;
    jitter->node_gpus = spec->node_gpus;
    jitter->ranks = spec->tp * spec->cp * spec->dp * spec->pp;
    jitter->forward_sigma = spec->forward_sigma;
    jitter->backward_sigma = spec->backward_sigma;
    for (uint32_t i = 0; status == IW_OK && i < spec->source_count; i++) {
        status = new_noise(log, spec, i, &jitter->sources[i].noise);
        jitter->sources[i].where = spec->sources[i].where;
        jitter->sources[i].scope = spec->sources[i].scope;
        jitter->sources[i].is_skewed = spec->sources[i].skew_ps > 0;
        jitter->count += status == IW_OK;
    }
    if (status == IW_OK) {
        status = draw_factors(log, spec, seed, jitter);
    }
    if (status != IW_OK) {
        iwi_train_jitter_free(jitter);
        return status;
    }
    *jitter_p = jitter;
    return IW_OK;
}

void iwi_train_jitter_free(struct iwi_train_jitter *jitter)
{
    if (jitter == NULL) {
        return;
    }
    for (uint32_t i = 0; i < jitter->count; i++) {
        iw_noise_free(jitter->sources[i].noise);
    }
    free(jitter->factors);
    free(jitter);
}

/* ---- walks ---- */

static struct iwi_stream_id stream_of(const struct iwi_train_run *run, uint32_t source, size_t index)
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

static void begin_walk(struct iwi_train_run *run, uint32_t source, struct iwi_walk *walk)
{
    const size_t ranks = (size_t)run->plan->pp * run->width;

    for (size_t i = 0; walk->next != NULL && i < ranks; i++) {
        walk->next[i] =
            iwi_noise_begin(walk->noise, stream_of(run, source, i), walk->words + i * walk->words_each);
    }
}

void iwi_train_walks_begin(struct iwi_train_run *run)
{
    for (int where = 0; where < IW_TRAINING_WHERES; where++) {
        run->at[where].count = 0;
        run->at[where].has_phases = false;
    }
    for (uint32_t i = 0; run->jitter != NULL && i < run->jitter->count; i++) {
        struct iwi_walks *at = &run->at[run->jitter->sources[i].where];

        if ((run->change.without >> i & 1) != 0) {
            continue;
        }
        at->sources[at->count++] = i;
        at->has_phases |= iwi_noise_has_phases(run->walks[i].noise);
        begin_walk(run, i, &run->walks[i]);
        begin_walk(run, i, &run->tail_walks[i]);
    }
}

iw_time iwi_train_finish_slow(struct iwi_train_run *run, enum iw_training_where where, bool is_tail,
                              size_t index, iw_time t, iw_time d)
{
    const struct iwi_walks *at = &run->at[where];
    iw_time end = t + d;

    for (uint32_t k = 0; k < at->count; k++) {
        const uint32_t source = at->sources[k];
        struct iwi_walk *walk = is_tail ? &run->tail_walks[source] : &run->walks[source];

        if (end > walk->next[index] && end > t) {
            end = iwi_noise_finish(walk->noise, stream_of(run, source, index),
                                   walk->words + index * walk->words_each, &walk->next[index], t, end - t,
                                   NULL);
        }
    }
    return end;
}

iw_time iwi_train_extra(struct iwi_train_run *run, enum iw_training_where where, size_t index, uint64_t phase,
                        iw_time t, iw_time work)
{
    const struct iwi_walks *at = &run->at[where];
    iw_time extra = 0;

    for (uint32_t k = 0; at->has_phases && k < at->count; k++) {
        const uint32_t source = at->sources[k];
        struct iwi_walk *walk = &run->walks[source];

        if (iwi_noise_has_phases(walk->noise)) {
            extra += iwi_noise_phase(walk->noise, stream_of(run, source, index),
                                     walk->words + index * walk->words_each, &walk->next[index], phase, t,
                                     work, NULL);
        }
    }
    return extra;
}

/* ---- work that differs ---- */

iw_time iwi_train_scaled(const struct iwi_train_run *run, const struct iwi_train_op *op, size_t index,
                         uint32_t replica)
{
    iw_time work = op->work_ps;

    if (run->jitter == NULL || run->change.has_no_slow) {
        return work;
    }
    if (run->lengths[0] != NULL && op->launches > 0) {
        work = iwi_scaled_work(
            work, run->lengths[op->is_backward][(size_t)replica * run->plan->microbatches + op->microbatch]);
    }
    return run->jitter->factors != NULL ? iwi_scaled_work(work, run->jitter->factors[index]) : work;
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
