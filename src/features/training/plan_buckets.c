/* Buckets of gradients: what is reduced when, and of which parameters a forward has to wait for.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * As Megatron: buckets fill in reverse order of layers during the backward of the last micro-batch. Only the
 * first chunk of the first stage is cut into several; other chunks are one bucket each, and without overlap
 * all of a stage is one.
 */
#include "core/base/base.h"
#include "features/training/step_plan.h"

static iw_status append(struct iwi_plan_builder *b, const struct iwi_bucket *bucket)
{
    struct iwi_train_stage *stage = &b->plan->stages[b->stage];

    IW_TRY(iwi_grow(b->log, (void **)&stage->buckets, &stage->bucket_room, (size_t)stage->bucket_count + 1,
                    sizeof *stage->buckets));
    stage->buckets[stage->bucket_count++] = *bucket;
    return IW_OK;
}

/* Parameters on one rank: those that every replica has, and experts, which `ep` times fewer ranks share. */
struct content {
    double common, experts;
};

static struct content chunk_content(const iw_training *spec, uint32_t part)
{
    const double experts = iwi_expert_parameters(spec) * iwi_chunk_layers(spec, part);

    return (struct content){iwi_chunk_parameters(spec, part) - experts, experts};
}

/* Gradients of `parameters` reduced over `members` ranks, and what was updated gathered. */
static void add_exchange(struct iwi_plan_builder *b, double parameters, const char *const names[3],
                         struct iwi_train_members members, struct iwi_bucket *bucket)
{
    const iw_training *spec = b->spec;
    const bool is_plain = spec->sharding == IW_TRAINING_PLAIN;
    const struct iwi_nccl_call reduce = {is_plain ? IWI_NCCL_ALL_REDUCE : IWI_NCCL_REDUCE_SCATTER,
                                         4.0 * parameters, members.size, members.stride};
    const struct iwi_nccl_call gather = {IWI_NCCL_GATHER, is_plain ? 0 : 2.0 * parameters, members.size,
                                         members.stride};
    const iw_time reduce_ps = iwi_nccl_ps(spec, &reduce), gather_ps = iwi_nccl_ps(spec, &gather);

    bucket->reduce_ps += reduce_ps;
    bucket->gather_ps += gather_ps;
    if (b->stage == 0 && members.size > 1 && parameters > 0) {
        iwi_count_volume(b->plan, is_plain ? names[0] : names[1], 1, &reduce, reduce_ps);
        if (!is_plain) {
            iwi_count_volume(b->plan, names[2], 1, &gather, gather_ps);
        }
    }
}

static iw_status add_bucket(struct iwi_plan_builder *b, uint32_t ready, uint32_t chunk,
                            struct content content)
{
    static const char *const common[] = {"DP all-reduce", "DP reduce-scatter", "DP all-gather"};
    static const char *const experts[] = {"expert all-reduce", "expert reduce-scatter", "expert all-gather"};
    struct iwi_bucket bucket = {.ready = ready, .chunk = chunk};

    add_exchange(b, content.common, common, iwi_train_members(b->plan, IWI_WITH_DP), &bucket);
    add_exchange(b, content.experts, experts, iwi_train_members(b->plan, IWI_WITH_EXPERT_DP), &bucket);
    return append(b, &bucket);
}

/* Rows: all at the end. */
static iw_status add_once_bucket(struct iwi_plan_builder *b)
{
    struct iwi_bucket bucket = {.ready = b->plan->stages[b->stage].count - 1};

    iwi_once_over_dp(b, &bucket);
    return bucket.reduce_ps + bucket.gather_ps > 0 ? append(b, &bucket) : IW_OK;
}

static struct content layer_content(const iw_training *spec, uint32_t layers)
{
    if (!iwi_training_has_model(spec) || spec->parameters > 0) {
        return (struct content){iwi_chunk_parameters(spec, 0) / (layers > 0 ? layers : 1), 0};
    }
    return (struct content){iwi_layer_shared_parameters(spec) / spec->tp, iwi_expert_parameters(spec)};
}

/* The first chunk of the model: its last backward is layers from the last to the first. */
static iw_status cut_first_chunk(struct iwi_plan_builder *b, uint32_t from, uint32_t last)
{
    const iw_training *spec = b->spec;
    const uint32_t layers = iwi_chunk_layers(spec, 0), ops = last + 1 - from;
    const struct content layer = layer_content(spec, layers);
    struct content left = chunk_content(spec, 0);
    uint32_t filled = 0; /* layers of the bucket */

    for (uint32_t i = 1; i < layers; i++) {
        filled++;
        if (filled * (layer.common + layer.experts) >= iwi_bucket_parameters(spec)) {
            const struct content full = {filled * layer.common, filled * layer.experts};

            IW_TRY(add_bucket(b, from + (uint32_t)((uint64_t)ops * i / layers) - 1, 0, full));
            left.common -= full.common;
            left.experts -= full.experts;
            filled = 0;
        }
    }
    return add_bucket(b, last, 0, left);
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
    struct content all = {0, 0};

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
            IW_TRY(add_bucket(b, b->last[index], chunk, chunk_content(spec, part)));
        }
    }
    for (uint32_t chunk = 0; chunk < spec->chunks; chunk++) {
        const struct content part = chunk_content(spec, chunk * spec->pp + b->stage);

        all.common += part.common;
        all.experts += part.experts;
    }
    if (!spec->overlaps_gradients) {
        IW_TRY(add_bucket(b, stage->count - 1, 0, all));
    }
    mark_forwards(b);
    return IW_OK;
}
