/* Buckets of gradients: what is reduced when, and of which parameters a forward has to wait for.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * As Megatron: buckets fill in reverse order of layers during the backward of the last micro-batch. Only the
 * first chunk of the first stage is cut into several; other chunks are one bucket each, and without overlap
 * all of a stage is one.
 */
#include <math.h>

#include "base/base.h"
#include "training/step_plan.h"

static iw_status append(struct iwi_plan_builder *b, const struct iwi_bucket *bucket)
{
    struct iwi_train_stage *stage = &b->plan->stages[b->stage];

    IW_TRY(iwi_grow(b->log, (void **)&stage->buckets, &stage->bucket_room, (size_t)stage->bucket_count + 1,
                    sizeof *stage->buckets));
    stage->buckets[stage->bucket_count++] = *bucket;
    return IW_OK;
}

static iw_status add_bucket(struct iwi_plan_builder *b, uint32_t ready, uint32_t chunk, double parameters)
{
    const iw_training *spec = b->spec;
    const uint32_t sharers = spec->dp * spec->cp;
    const bool is_plain = spec->sharding == IW_TRAINING_PLAIN;
    const struct iwi_nccl_call reduce = {is_plain ? IWI_NCCL_ALL_REDUCE : IWI_NCCL_REDUCE_SCATTER,
                                         4.0 * parameters, sharers, spec->tp};
    const struct iwi_nccl_call gather = {IWI_NCCL_GATHER, is_plain ? 0 : 2.0 * parameters, sharers, spec->tp};
    const struct iwi_bucket bucket = {ready, chunk, iwi_nccl_ps(spec, &reduce), iwi_nccl_ps(spec, &gather)};

    if (b->stage == 0 && sharers > 1 && parameters > 0) {
        iwi_count_volume(b->plan, is_plain ? "DP all-reduce" : "DP reduce-scatter", 1, &reduce,
                         bucket.reduce_ps);
        if (!is_plain) {
            iwi_count_volume(b->plan, "DP all-gather", 1, &gather, bucket.gather_ps);
        }
    }
    return append(b, &bucket);
}

/* Rows: all at the end. */
static iw_status add_once_bucket(struct iwi_plan_builder *b)
{
    struct iwi_bucket bucket = {.ready = b->plan->stages[b->stage].count - 1};

    iwi_once_over_dp(b, &bucket);
    return bucket.reduce_ps + bucket.gather_ps > 0 ? append(b, &bucket) : IW_OK;
}

/* The first chunk of the model: its last backward is layers from the last to the first. */
static iw_status cut_first_chunk(struct iwi_plan_builder *b, uint32_t from, uint32_t last)
{
    const iw_training *spec = b->spec;
    const double whole = iwi_chunk_parameters(spec, 0);
    const uint32_t layers = iwi_chunk_layers(spec, 0), ops = last + 1 - from;
    const double layer = iwi_training_has_model(spec) && spec->parameters <= 0
                             ? iwi_layer_parameters(spec) / spec->tp
                             : whole / (layers > 0 ? layers : 1);
    double filled = 0, left = whole;

    for (uint32_t i = 1; i <= layers; i++) {
        filled += layer;
        if (filled >= iwi_bucket_parameters(spec) && i < layers) {
            IW_TRY(add_bucket(b, from + (uint32_t)((uint64_t)ops * i / layers) - 1, 0, filled));
            left -= filled;
            filled = 0;
        }
    }
    return add_bucket(b, last, 0, fmax(left, 0));
}

/* Marks the first F of each chunk with the bucket that has all its parameters: the last one. */
static void mark_forwards(struct iwi_plan_builder *b)
{
    const iw_training *spec = b->spec;
    struct iwi_train_stage *stage = &b->plan->stages[b->stage];

    for (uint32_t chunk = 0; chunk < spec->chunks && spec->overlaps_parameters; chunk++) {
        const struct iwi_slot slot = {false, 0, chunk};

        for (uint32_t i = 0; i < stage->bucket_count; i++) {
            if (stage->buckets[i].chunk == chunk || stage->bucket_count == 1) {
                stage->ops[b->first[iwi_slot_index(spec, b->stage, &slot)]].bucket = i + 1;
            }
        }
    }
}

iw_status iwi_add_buckets(struct iwi_plan_builder *b)
{
    const iw_training *spec = b->spec;
    struct iwi_train_stage *stage = &b->plan->stages[b->stage];
    double all = 0;

    if (spec->sharding == IW_TRAINING_FSDP || spec->dp * spec->cp == 1) {
        return IW_OK;
    }
    if (spec->rows != NULL) {
        IW_TRY(add_once_bucket(b));
        mark_forwards(b);
        return IW_OK;
    }
    for (uint32_t chunk = spec->chunks; spec->overlaps_gradients && chunk-- > 0;) {
        const struct iwi_slot slot = {true, spec->microbatches - 1, chunk};
        const size_t index = iwi_slot_index(spec, b->stage, &slot);
        const uint32_t part = chunk * spec->pp + b->stage;

        if (part == 0) {
            IW_TRY(cut_first_chunk(b, b->first[index], b->last[index]));
        } else {
            IW_TRY(add_bucket(b, b->last[index], chunk, iwi_chunk_parameters(spec, part)));
        }
    }
    for (uint32_t chunk = 0; chunk < spec->chunks; chunk++) {
        all += iwi_chunk_parameters(spec, chunk * spec->pp + b->stage);
    }
    if (!spec->overlaps_gradients) {
        IW_TRY(add_bucket(b, stage->count - 1, 0, all));
    }
    mark_forwards(b);
    return IW_OK;
}
