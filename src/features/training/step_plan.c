/* The operations of all stages: what each comes after, and an order in which they can be evaluated.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/training/step_plan.h"

#include <stdlib.h>

#include "core/base/base.h"

static iw_status add_buckets(struct iwi_plan_builder *b);

/* ---- inputs from other stages ---- */

/* The slot that makes the input of another one; false: it has none. */
static bool input_of(const iw_training *spec, uint32_t stage, const struct iwi_slot *slot,
                     uint32_t *from_stage, struct iwi_slot *from)
{
    *from = *slot;
    if (!slot->is_backward) {
        if (stage > 0) {
            *from_stage = stage - 1;
            return true;
        }
        *from_stage = spec->pp - 1;
        from->chunk--;
        return slot->chunk > 0;
    }
    if (stage + 1 < spec->pp) {
        *from_stage = stage + 1;
        return true;
    }
    *from_stage = 0;
    from->chunk++;
    return slot->chunk + 1 < spec->chunks;
}

static void link_slot(struct iwi_plan_builder *b, uint32_t stage, const struct iwi_slot *slot, iw_time hop_ps)
{
    const iw_training *spec = b->spec;
    struct iwi_train_op *op = &b->plan->stages[stage].ops[b->first[iwi_slot_index(spec, stage, slot)]];
    struct iwi_slot from;
    uint32_t from_stage;

    if (input_of(spec, stage, slot, &from_stage, &from)) {
        op->input_stage = from_stage;
        op->input = b->last[iwi_slot_index(spec, from_stage, &from)] + 1;
        op->hop_ps = hop_ps;
        op->host_waits = spec->syncs_p2p && spec->chunks == 1;
    }
}

/* ---- the queue between host and device ---- */

/* Launch number n needs the end of launch n - Q: the operation that has it. */
static void bound_launches(struct iwi_train_stage *stage, uint32_t queue)
{
    uint64_t launched = 0, done = 0; /* launches up to op i, and up to op j */
    uint32_t j = 0;

    for (uint32_t i = 0; i < stage->count; i++) {
        launched += stage->ops[i].launches;
        while (launched > queue && j < i && done < launched - queue) {
            done += stage->ops[j++].launches;
        }
        stage->ops[i].queued_behind = launched > queue ? j : 0;
    }
}

/* CUDA graphs: what a slot has from `first` on is one launch. */
static void join_launches(struct iwi_train_stage *stage, uint32_t first)
{
    for (uint32_t i = first; i < stage->count; i++) {
        stage->ops[i].launches = i == first;
    }
}

/* ---- stages ---- */

/* The last operation but for gradients that are reduced beside what follows. */
static uint32_t last_computed(const struct iwi_train_stage *stage)
{
    uint32_t last = stage->count - 1;

    while (last > 0 && stage->ops[last].lane == IWI_LANE_REDUCE) {
        last--;
    }
    return last;
}

static iw_status build_stage(struct iwi_plan_builder *b, uint32_t stage, struct iwi_slot *slots)
{
    const iw_training *spec = b->spec;
    struct iwi_train_stage *built = &b->plan->stages[stage];

    b->stage = stage;
    b->last_gather[0] = b->last_gather[1] = 0;
    iwi_stage_order(spec, stage, slots);
    for (uint32_t i = 0; i < 2 * spec->microbatches * spec->chunks; i++) {
        const size_t index = iwi_slot_index(spec, stage, &slots[i]);

        b->first[index] = built->count;
        IW_TRY(spec->rows != NULL ? iwi_add_row_slot(b, &slots[i]) : iwi_add_slot(b, &slots[i]));
        b->last[index] = last_computed(built);
        if (spec->has_graphs) {
            join_launches(built, b->first[index]);
        }
    }
    IW_TRY(iwi_add_once(b));
    bound_launches(built, spec->queue);
    IW_TRY(add_buckets(b));
    b->plan->most_ops = built->count > b->plan->most_ops ? built->count : b->plan->most_ops;
    b->plan->most_buckets =
        built->bucket_count > b->plan->most_buckets ? built->bucket_count : b->plan->most_buckets;
    b->plan->turn_count += built->count;
    return IW_OK;
}

static void link_stages(struct iwi_plan_builder *b, struct iwi_slot *slots)
{
    const iw_time hop_ps = iwi_hop_ps(b->spec);

    for (uint32_t stage = 0; stage < b->spec->pp; stage++) {
        iwi_stage_order(b->spec, stage, slots);
        for (uint32_t i = 0; i < 2 * b->spec->microbatches * b->spec->chunks; i++) {
            link_slot(b, stage, &slots[i], hop_ps);
        }
    }
}

/* Each stage goes on as far as its inputs allow, again and again. */
static iw_status order_turns(const iw_log *log, struct iwi_train_plan *plan)
{
    uint32_t *at = iwi_new_array(log, plan->pp, sizeof *at);
    uint64_t count = 0, before = UINT64_MAX;

    plan->turns = iwi_new_array(log, plan->turn_count, sizeof *plan->turns);
    if (at == NULL || plan->turns == NULL) {
        free(at);
        return IW_ERR_NOMEM;
    }
    while (count != before) {
        before = count;
        for (uint32_t s = 0; s < plan->pp; s++) {
            const struct iwi_train_stage *stage = &plan->stages[s];

            while (at[s] < stage->count && (stage->ops[at[s]].input == 0 ||
                                            stage->ops[at[s]].input <= at[stage->ops[at[s]].input_stage])) {
                plan->turns[count++] = (struct iwi_train_turn){s, at[s]++};
            }
        }
    }
    free(at);
    return count == plan->turn_count
               ? IW_OK
               : iwi_fail(log, IW_ERR_DEADLOCK, "the schedule of the pipeline cannot make progress");
}

static void fill_tail(const iw_training *spec, struct iwi_train_plan *plan)
{
    const uint32_t gpus = spec->tp * spec->cp * spec->dp * spec->pp;
    const struct iwi_nccl_call norm = {IWI_NCCL_ALL_REDUCE, 4, gpus, 1};
    const struct iwi_nccl_call embedding = {IWI_NCCL_ALL_REDUCE, 4.0 * spec->vocab * spec->hidden / spec->tp,
                                            2, spec->tp * spec->cp * spec->dp * (spec->pp - 1)};

    plan->norm_ps = iwi_nccl_ps(spec, &norm);
    if (gpus > 1) {
        iwi_count_volume(plan, "norm all-reduce", 1, &norm, plan->norm_ps);
    }
    plan->is_tied = spec->is_tied && spec->pp > 1 && spec->hidden > 0;
    if (plan->is_tied) {
        plan->embedding_ps = iwi_nccl_ps(spec, &embedding);
        iwi_count_volume(plan, "tied embedding all-reduce", 1, &embedding, plan->embedding_ps);
    }
    plan->tail_leaves_node = iwi_group_leaves_node(spec, spec->dp * spec->cp, spec->tp);
}

static void count_messages(const iw_training *spec, struct iwi_train_plan *plan)
{
    const struct iwi_nccl_call message = {IWI_NCCL_ALL_TO_ALL, (double)iwi_message_bytes(spec), 2,
                                          spec->tp * spec->cp * spec->dp};

    if (spec->pp > 1 && message.bytes > 0) {
        iwi_count_volume(plan, "PP message", 2 * (uint64_t)spec->microbatches * spec->chunks, &message,
                         iwi_hop_ps(spec));
    }
}

static iw_status build(struct iwi_plan_builder *b, struct iwi_slot *slots)
{
    const iw_training *spec = b->spec;

    for (uint32_t stage = 0; stage < spec->pp; stage++) {
        IW_TRY(build_stage(b, stage, slots));
    }
    link_stages(b, slots);
    count_messages(spec, b->plan);
    fill_tail(spec, b->plan);
    return order_turns(b->log, b->plan);
}

iw_status iwi_train_plan_new(const iw_log *log, const iw_training *spec, struct iwi_train_plan **plan_p)
{
    const size_t slot_count = 2 * (size_t)spec->microbatches * spec->chunks;
    struct iwi_plan_builder b = {.log = log, .spec = spec, .plan = iwi_new_array(log, 1, sizeof *b.plan)};
    struct iwi_slot *slots = iwi_new_array(log, slot_count, sizeof *slots);
    iw_status status = IW_ERR_NOMEM;

    b.first = iwi_new_array(log, slot_count * spec->pp, sizeof *b.first);
    b.last = iwi_new_array(log, slot_count * spec->pp, sizeof *b.last);
    if (b.plan != NULL && slots != NULL && b.first != NULL && b.last != NULL) {
        *b.plan = (struct iwi_train_plan){
            .tp = spec->tp,
            .cp = spec->cp,
            .ep = spec->ep,
            .dp = spec->dp,
            .pp = spec->pp,
            .microbatches = spec->microbatches,
            .couples_dp = spec->sharding == IW_TRAINING_FSDP || iwi_rows_couple_dp(spec),
            .overlaps_parameters = spec->overlaps_parameters,
            .has_launches = spec->launch_ps > 0,
            .launch_ps = spec->launch_ps,
            .optimizer_ps = spec->optimizer_ps,
            .load_ps = spec->load_ps,
            .prefetch = spec->prefetch,
            .batch = 1,
            .usual_batch = 1,
            .stages = iwi_new_array(log, spec->pp, sizeof *b.plan->stages),
        };
        status = b.plan->stages != NULL ? build(&b, slots) : IW_ERR_NOMEM;
    }
    free(slots);
    free(b.first);
    free(b.last);
    if (status != IW_OK) {
        iwi_train_plan_free(b.plan);
        return status;
    }
    *plan_p = b.plan;
    return IW_OK;
}

void iwi_train_plan_free(struct iwi_train_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    for (uint32_t i = 0; plan->stages != NULL && i < plan->pp; i++) {
        free(plan->stages[i].ops);
        free(plan->stages[i].buckets);
    }
    free(plan->stages);
    free(plan->turns);
    free(plan);
}

/* Buckets of gradients: what is reduced when, and of which parameters a forward has to wait for.
 *
 * As Megatron: buckets fill in reverse order of layers during the backward of the last micro-batch. Only the
 * first chunk of the first stage is cut into several; other chunks are one bucket each, and without overlap
 * all of a stage is one.
 */

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

/* The buckets of a stage that has all its operations. */
static iw_status add_buckets(struct iwi_plan_builder *b)
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
