/* The operations of one F or B: layers in their halves, with the collectives that follow each.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives that follow each other without computation between them are one operation of their sum: all
 * members end the first one together, so nothing is lost by that.
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/training/step_plan.h"

/* What one slot is made of. */
struct slot_parts {
    const struct iwi_slot *slot;
    uint32_t layers, part; /* part of the model */
    iw_time work_ps;       /* of all its layers */
    uint32_t pieces;       /* 1, or one a layer */
    bool has_halves;
    double attention;                      /* share of a layer */
    iw_time between_ps, first_ps, last_ps; /* tensor-parallel collectives between halves, before, behind */
    bool is_begun;
};

/* ---- times ---- */

static double micro_flop_s(const iw_training *spec, double flop_of_token)
{
    const double tokens = (double)spec->sequence * spec->microbatch_size;

    return flop_of_token * tokens / ((double)spec->tp * spec->cp * spec->rate);
}

/* Part `index` of `count` of a time, so that all parts add up to it. */
static iw_time share_of(iw_time whole, uint32_t index, uint32_t count)
{
    __extension__ typedef __int128 wide;

    return (iw_time)((wide)whole * (index + 1) / count) - (iw_time)((wide)whole * index / count);
}

static iw_time measured(const iw_time *times, uint32_t count, uint32_t stage)
{
    return times[count == 1 ? 0 : stage];
}

static iw_time slot_work(const struct iwi_plan_builder *b, const struct iwi_slot *slot, uint32_t layers)
{
    const iw_training *spec = b->spec;
    double flop;

    if (spec->forward_ps != NULL) {
        return share_of(slot->is_backward ? measured(spec->backward_ps, spec->backward_count, b->stage)
                                          : measured(spec->forward_ps, spec->forward_count, b->stage),
                        slot->chunk, spec->chunks);
    }
    flop = iwi_layer_flop(spec) * (slot->is_backward ? 2.0 : 1.0);
    if (slot->is_backward && spec->recompute != IW_TRAINING_KEEP) {
        flop +=
            spec->recompute == IW_TRAINING_RECOMPUTE_ALL ? iwi_layer_flop(spec) : iwi_attention_flop(spec);
    }
    return iwi_seconds_ps(layers * micro_flop_s(spec, flop));
}

static double attention_share(const iw_training *spec)
{
    const double ffn = spec->experts == 0 ? spec->ffn : (double)spec->expert_ffn * spec->top_k;

    return iwi_training_has_model(spec) ? 1.0 - 6.0 * spec->hidden * ffn / iwi_layer_flop(spec) : 0.5;
}

/* ---- collectives ---- */

/* One of so many; counted for the volumes of a step. */
static iw_time collective(struct iwi_plan_builder *b, const char *what, uint64_t count,
                          const struct iwi_nccl_call *call)
{
    const iw_time each_ps = iwi_nccl_ps(b->spec, call);

    if (b->stage == 0 && call->bytes > 0 && call->members > 1) {
        iwi_count_volume(b->plan, what, count, call, each_ps);
    }
    return each_ps;
}

/* Measured times have them inside. */
static void tensor_collectives(struct iwi_plan_builder *b, struct slot_parts *parts)
{
    const iw_training *spec = b->spec;
    const double bytes = (double)iwi_activation_bytes(spec);
    const struct iwi_nccl_call gather = {IWI_NCCL_GATHER, bytes, spec->tp, 1};
    const struct iwi_nccl_call scatter = {IWI_NCCL_REDUCE_SCATTER, bytes, spec->tp, 1};
    const struct iwi_nccl_call reduce = {IWI_NCCL_ALL_REDUCE, bytes, spec->tp, 1};
    const bool repeats = parts->slot->is_backward && spec->recompute == IW_TRAINING_RECOMPUTE_ALL;
    const uint64_t halves = 2 * (uint64_t)parts->layers * (repeats ? 2 : 1);

    if (spec->forward_ps != NULL || spec->tp == 1 || parts->layers == 0) {
        return;
    }
    if (spec->is_sequence_parallel) {
        /* B gathers its input again beside the computation of gradients: hidden */
        parts->first_ps =
            collective(b, "TP all-gather",
                       halves + (parts->slot->is_backward ? 2 * (uint64_t)parts->layers : 0), &gather);
        parts->last_ps = collective(b, "TP reduce-scatter", halves, &scatter);
    } else {
        parts->last_ps = collective(b, "TP all-reduce", halves, &reduce);
    }
    parts->between_ps = parts->first_ps + parts->last_ps;
    if (repeats) {
        parts->first_ps *= 2;
        parts->last_ps *= 2;
        parts->between_ps *= 2;
    }
}

/* What the rings of keys and values of so many layers, two in B, take beyond the attention beside them. */
static iw_time context_exposed(struct iwi_plan_builder *b, const struct slot_parts *parts, uint32_t layers,
                               iw_time attention_ps)
{
    const uint64_t rings = (uint64_t)layers * (parts->slot->is_backward ? 2 : 1);
    const iw_training *spec = b->spec;
    const uint32_t kv = spec->kv_heads > 0 ? spec->kv_heads : spec->heads;
    const double bytes = 2.0 * spec->sequence / spec->cp * spec->microbatch_size * spec->hidden * kv /
                         spec->heads * 2.0 / spec->tp;
    const struct iwi_nccl_call call = {IWI_NCCL_GATHER, bytes * spec->cp, spec->cp, spec->tp};
    const iw_time ring_ps = collective(b, "CP ring of K, V", rings, &call);

    return iwi_max(0, (iw_time)rings * ring_ps - attention_ps);
}

static iw_time expert_exchange(struct iwi_plan_builder *b, uint64_t count)
{
    const iw_training *spec = b->spec;
    const double tokens = (double)spec->sequence * spec->microbatch_size / ((double)spec->tp * spec->cp);
    const struct iwi_nccl_call call = {IWI_NCCL_ALL_TO_ALL,
                                       tokens * spec->top_k * spec->hidden * 2.0 * (spec->ep - 1) / spec->ep,
                                       spec->ep, spec->tp};

    return collective(b, "EP all-to-all", count, &call);
}

/* ---- operations ---- */

/* Appends an operation to the stage that is being built. */
static iw_status add_op(struct iwi_plan_builder *b, const struct iwi_train_op *op)
{
    struct iwi_train_stage *stage = &b->plan->stages[b->stage];

    IW_TRY(
        iwi_grow(b->log, (void **)&stage->ops, &stage->room, (size_t)stage->count + 1, sizeof *stage->ops));
    stage->ops[stage->count++] = *op;
    return IW_OK;
}

/* An operation of the slot with its marks. */
static iw_status add(struct iwi_plan_builder *b, struct slot_parts *parts, struct iwi_train_op op)
{
    op.microbatch = parts->slot->microbatch;
    op.is_backward = parts->slot->is_backward;
    op.is_phase = op.work_ps > 0 && !parts->is_begun;
    parts->is_begun |= op.work_ps > 0;
    return add_op(b, &op);
}

static iw_status add_collective(struct iwi_plan_builder *b, struct slot_parts *parts,
                                enum iwi_train_group group, iw_time collective_ps)
{
    const iw_training *spec = b->spec;
    const uint32_t members = group == IWI_WITH_TP ? spec->tp : group == IWI_WITH_CP ? spec->cp : spec->ep;

    return add(b, parts,
               (struct iwi_train_op){
                   .group = (uint8_t)group,
                   .launches = 1,
                   .collective_ps = collective_ps,
                   .leaves_node = iwi_group_leaves_node(spec, members, group == IWI_WITH_TP ? 1 : spec->tp)});
}

static uint32_t launches_of(const struct iwi_plan_builder *b, const struct slot_parts *parts,
                            uint32_t divided)
{
    const uint64_t forward = (uint64_t)b->spec->launches * (parts->pieces == 1 ? parts->layers : 1);
    const uint64_t all = (parts->slot->is_backward ? 2 : 1) * forward / divided;

    return all > 0 ? (uint32_t)all : 1;
}

/* Computation that ends with the collectives of tensor parallelism. */
static iw_status add_work(struct iwi_plan_builder *b, struct slot_parts *parts, iw_time work_ps,
                          iw_time collective_ps)
{
    return add(b, parts,
               (struct iwi_train_op){.group = b->spec->tp > 1 ? IWI_WITH_TP : IWI_ALONE,
                                     .launches = launches_of(b, parts, parts->has_halves ? 2 : 1),
                                     .work_ps = work_ps,
                                     .collective_ps = collective_ps,
                                     .leaves_node = iwi_group_leaves_node(b->spec, b->spec->tp, 1)});
}

static iw_status add_context(struct iwi_plan_builder *b, struct slot_parts *parts, uint32_t layers,
                             iw_time attention_ps)
{
    return b->spec->cp > 1 && layers > 0 && iwi_training_has_model(b->spec)
               ? add_collective(b, parts, IWI_WITH_CP, context_exposed(b, parts, layers, attention_ps))
               : IW_OK;
}

static iw_status add_attention(struct iwi_plan_builder *b, struct slot_parts *parts, iw_time work_ps,
                               iw_time collective_ps)
{
    IW_TRY(add_context(b, parts, 1, work_ps));
    return add_work(b, parts, work_ps, collective_ps);
}

static iw_status add_ffn(struct iwi_plan_builder *b, struct slot_parts *parts, iw_time work_ps,
                         iw_time collective_ps)
{
    const bool has_experts = b->spec->experts > 0 && b->spec->ep > 1;
    const iw_time exchange_ps = has_experts ? expert_exchange(b, 2) : 0;

    if (!has_experts) {
        return add_work(b, parts, work_ps, collective_ps);
    }
    IW_TRY(add_collective(b, parts, IWI_WITH_EP, exchange_ps));
    IW_TRY(add_work(b, parts, work_ps, 0));
    IW_TRY(add_collective(b, parts, IWI_WITH_EP, exchange_ps));
    return add_collective(b, parts, IWI_WITH_TP, collective_ps);
}

/* Both halves of layer `index` of the slot, in the order of its direction. */
static iw_status add_halves(struct iwi_plan_builder *b, struct slot_parts *parts, uint32_t index)
{
    const iw_time whole = share_of(parts->work_ps, index, parts->pieces);
    const iw_time attention = (iw_time)((double)whole * parts->attention);
    const bool is_last = index + 1 == parts->pieces;
    const iw_time behind = is_last ? parts->last_ps : parts->between_ps;

    if (parts->slot->is_backward) {
        IW_TRY(add_ffn(b, parts, whole - attention, parts->between_ps));
        return add_attention(b, parts, attention, behind);
    }
    IW_TRY(add_attention(b, parts, attention, parts->between_ps));
    return add_ffn(b, parts, whole - attention, behind);
}

/* ---- FSDP: a layer is gathered before it is used ---- */

static struct iwi_nccl_call layer_call(const struct iwi_plan_builder *b, const struct slot_parts *parts,
                                       enum iwi_nccl_op op)
{
    const double parameters = iwi_chunk_parameters(b->spec, parts->part) / fmax(1.0, parts->pieces);

    return (struct iwi_nccl_call){op, parameters * (op == IWI_NCCL_GATHER ? 2.0 : 4.0),
                                  b->spec->dp * b->spec->cp, b->spec->tp};
}

/* Two gathered layers are alive: the gather of one begins when the one before the last has been used. */
static iw_status add_gather(struct iwi_plan_builder *b, struct slot_parts *parts)
{
    const struct iwi_nccl_call call = layer_call(b, parts, IWI_NCCL_GATHER);
    const struct iwi_train_op op = {.lane = IWI_LANE_GATHER,
                                    .group = IWI_WITH_DP,
                                    .launches = 1,
                                    .after = b->last_gather[0],
                                    .collective_ps = collective(b, "DP all-gather", 1, &call),
                                    .leaves_node = iwi_group_leaves_node(b->spec, call.members, call.stride)};

    return add(b, parts, op);
}

static iw_status add_scatter(struct iwi_plan_builder *b, struct slot_parts *parts, uint32_t used)
{
    const struct iwi_nccl_call call = layer_call(b, parts, IWI_NCCL_REDUCE_SCATTER);
    const struct iwi_train_op op = {.lane = IWI_LANE_REDUCE,
                                    .group = IWI_WITH_DP,
                                    .launches = 1,
                                    .after = used + 1,
                                    .collective_ps = collective(b, "DP reduce-scatter", 1, &call),
                                    .leaves_node = iwi_group_leaves_node(b->spec, call.members, call.stride)};

    return add(b, parts, op);
}

/* ---- slots ---- */

static iw_status add_piece(struct iwi_plan_builder *b, struct slot_parts *parts, uint32_t index)
{
    struct iwi_train_stage *stage = &b->plan->stages[b->stage];
    const bool is_sharded = b->spec->sharding == IW_TRAINING_FSDP && b->spec->dp * b->spec->cp > 1;
    const iw_time all_collectives =
        (iw_time)(2 * (uint64_t)parts->layers - 1) * parts->between_ps + parts->last_ps;
    uint32_t first;

    if (is_sharded) {
        IW_TRY(add_gather(b, parts));
    }
    first = stage->count;
    if (parts->has_halves) {
        IW_TRY(add_halves(b, parts, index));
    } else {
        IW_TRY(add_context(b, parts, parts->layers / parts->pieces,
                           (iw_time)((double)parts->work_ps / parts->pieces * parts->attention)));
        IW_TRY(add_work(b, parts, share_of(parts->work_ps, index, parts->pieces),
                        parts->layers > 0 && parts->pieces == 1 ? all_collectives : 0));
    }
    if (is_sharded) {
        stage->ops[first].after = first; /* the gather just before it, + 1 */
        b->last_gather[0] = b->last_gather[1];
        b->last_gather[1] = stage->count;
        if (parts->slot->is_backward) {
            IW_TRY(add_scatter(b, parts, stage->count - 1));
        }
    }
    return IW_OK;
}

/* Logits and the loss, on the last chunk. */
static iw_status add_logits(struct iwi_plan_builder *b, struct slot_parts *parts)
{
    const iw_training *spec = b->spec;
    const double flop = 2.0 * spec->hidden * spec->vocab * (parts->slot->is_backward ? 2.0 : 1.0);
    const double bytes = 4.0 * spec->sequence * spec->microbatch_size / spec->cp;
    const struct iwi_nccl_call call = {IWI_NCCL_ALL_REDUCE, bytes, spec->tp, 1};
    const iw_time each_ps = iwi_nccl_ps(spec, &call);

    if (parts->part + 1 != spec->pp * spec->chunks || spec->forward_ps != NULL || !spec->has_logits) {
        return IW_OK;
    }
    if (!parts->slot->is_backward && spec->tp > 1) {
        iwi_count_volume(b->plan, "cross-entropy all-reduce", 3, &call, each_ps);
    }
    return add_work(b, parts, iwi_seconds_ps(micro_flop_s(spec, flop)),
                    parts->slot->is_backward ? 0 : 3 * each_ps);
}

static bool is_split_for_buckets(const iw_training *spec, const struct slot_parts *parts)
{
    return parts->slot->is_backward && parts->slot->microbatch + 1 == spec->microbatches &&
           parts->part == 0 && spec->overlaps_gradients && spec->dp * spec->cp > 1;
}

static void choose_pieces(const iw_training *spec, struct slot_parts *parts)
{
    const bool is_by_layer = spec->detail == IW_TRAINING_BY_LAYER || spec->experts > 0 ||
                             spec->sharding == IW_TRAINING_FSDP || is_split_for_buckets(spec, parts);

    parts->pieces = is_by_layer && parts->layers > 0 ? parts->layers : 1;
    parts->has_halves =
        is_by_layer && parts->layers > 0 && (spec->tp > 1 || spec->cp > 1 || spec->experts > 0);
}

iw_status iwi_add_slot(struct iwi_plan_builder *b, const struct iwi_slot *slot)
{
    const iw_training *spec = b->spec;
    struct slot_parts parts = {.slot = slot, .part = slot->chunk * spec->pp + b->stage};

    parts.layers = iwi_chunk_layers(spec, parts.part);
    parts.work_ps = slot_work(b, slot, parts.layers);
    parts.attention = attention_share(spec);
    choose_pieces(spec, &parts);
    tensor_collectives(b, &parts);
    if (slot->is_backward) {
        IW_TRY(add_logits(b, &parts));
    }
    if (parts.first_ps > 0) {
        IW_TRY(add_collective(b, &parts, IWI_WITH_TP, parts.first_ps));
    }
    for (uint32_t i = 0; i < parts.pieces && (parts.layers > 0 || spec->forward_ps != NULL); i++) {
        IW_TRY(add_piece(b, &parts, i));
    }
    if (!slot->is_backward) {
        IW_TRY(add_logits(b, &parts));
    }
    if (!parts.is_begun) { /* an embedding alone: nothing that takes time, but what others depend on */
        return add_work(b, &parts, 0, 0);
    }
    return IW_OK;
}

/* The operations of one F or B from the rows of a workload file: computation, then a collective.
 *
 * The rows of a micro-batch stand one after the other, in a backward from the last to the first: input
 * gradients, then weight gradients, as ASTRA-sim has it. A stage of v chunks cuts them into v parts of equal
 * computation; a collective belongs to the part in which the computation before it ends. Computations without
 * a collective between them are one operation. Collectives of weight gradients go on beside what follows.
 */

/* Rows that only communicate have 1 ns of computation, which is no kernel. */
static const iw_time NO_KERNEL_PS = IW_PS_PER_NS;

struct cut {
    struct iwi_plan_builder *b;
    const struct iwi_slot *slot;
    iw_time from_ps, to_ps; /* this chunk's part of all computation of the slot's pass */
    iw_time at_ps;
    iw_time work_ps; /* of the operation that is being made */
    uint32_t launches;
    bool is_begun, has_ops;
};

/* ---- collectives ---- */

static enum iwi_train_group group_of(iw_training_span span)
{
    static const enum iwi_train_group groups[IW_TRAINING_SPANS] = {
        [IW_TRAINING_OVER_TP] = IWI_WITH_TP,
        [IW_TRAINING_OVER_EP] = IWI_WITH_EP,
        [IW_TRAINING_OVER_DP] = IWI_WITH_DP,
        [IW_TRAINING_OVER_DP_EP] = IWI_WITH_EXPERT_DP,
    };

    return groups[span];
}

static bool is_real(const struct iwi_plan_builder *b, const iw_training_call *call)
{
    return call->kind != IW_TRAINING_NO_CALL && call->bytes > 0 &&
           iwi_train_members(b->plan, group_of(call->span)).size > 1;
}

/* Its time; counted for the volumes of a step. */
static iw_time call_ps(struct iwi_plan_builder *b, const iw_training_call *call)
{
    static const struct {
        enum iwi_nccl_op op;
        const char *names[IW_TRAINING_SPANS];
    } kinds[] = {
        [IW_TRAINING_ALL_REDUCE] = {IWI_NCCL_ALL_REDUCE,
                                    {"TP all-reduce", "EP all-reduce", "DP all-reduce",
                                     "expert DP all-reduce"}},
        [IW_TRAINING_ALL_GATHER] = {IWI_NCCL_GATHER,
                                    {"TP all-gather", "EP all-gather", "DP all-gather",
                                     "expert DP all-gather"}},
        [IW_TRAINING_REDUCE_SCATTER] = {IWI_NCCL_REDUCE_SCATTER,
                                        {"TP reduce-scatter", "EP reduce-scatter", "DP reduce-scatter",
                                         "expert DP reduce-scatter"}},
        [IW_TRAINING_ALL_TO_ALL] = {IWI_NCCL_ALL_TO_ALL,
                                    {"TP all-to-all", "EP all-to-all", "DP all-to-all",
                                     "expert DP all-to-all"}},
    };
    const struct iwi_train_members members = iwi_train_members(b->plan, group_of(call->span));
    const double sent = call->kind == IW_TRAINING_ALL_TO_ALL ? (members.size - 1.0) / members.size : 1.0;
    const struct iwi_nccl_call nccl = {kinds[call->kind].op, call->bytes * sent, members.size,
                                       members.stride};
    const iw_time each_ps = iwi_nccl_ps(b->spec, &nccl);

    if (b->stage == 0) {
        iwi_count_volume(b->plan, kinds[call->kind].names[call->span], 1, &nccl, each_ps);
    }
    return each_ps;
}

static void set_call(struct iwi_plan_builder *b, const iw_training_call *call, struct iwi_train_op *op)
{
    const struct iwi_train_members members = iwi_train_members(b->plan, group_of(call->span));

    op->group = (uint8_t)group_of(call->span);
    op->collective_ps = call_ps(b, call);
    op->leaves_node = iwi_group_leaves_node(b->spec, members.size, members.stride);
    op->launches++;
}

/* ---- operations ---- */

static iw_status flush(struct cut *cut, const iw_training_call *call)
{
    struct iwi_train_op op = {.microbatch = cut->slot->microbatch,
                              .is_backward = cut->slot->is_backward,
                              .is_phase = cut->work_ps > 0 && !cut->is_begun,
                              .work_ps = cut->work_ps,
                              .launches = cut->launches};

    if (call != NULL) {
        set_call(cut->b, call, &op);
    }
    op.launches = op.launches > 0 ? op.launches : 1;
    cut->is_begun |= cut->work_ps > 0;
    cut->has_ops = true;
    cut->work_ps = 0;
    cut->launches = 0;
    return add_op(cut->b, &op);
}

/* Beside what follows, once what was computed so far is there. */
static iw_status flush_beside(struct cut *cut, const iw_training_call *call)
{
    struct iwi_train_op op = {
        .lane = IWI_LANE_REDUCE, .microbatch = cut->slot->microbatch, .is_backward = true};

    if (cut->work_ps > 0 || !cut->has_ops) {
        IW_TRY(flush(cut, NULL));
    }
    op.after = cut->b->plan->stages[cut->b->stage].count;
    set_call(cut->b, call, &op);
    return add_op(cut->b, &op);
}

/* One pass of a row, as far as it lies in the part. */
static iw_status take(struct cut *cut, const iw_training_row *row, unsigned pass)
{
    const iw_time begin_ps = cut->at_ps, end_ps = begin_ps + row->work_ps[pass];
    const iw_time inside_ps = iwi_min(end_ps, cut->to_ps) - iwi_max(begin_ps, cut->from_ps);
    const bool ends_here = end_ps <= cut->to_ps && (end_ps > cut->from_ps || cut->from_ps == 0);
    const uint32_t launches = cut->b->spec->launches / 2;

    cut->at_ps = end_ps;
    if (inside_ps > 0) {
        cut->work_ps += inside_ps;
        cut->launches += row->work_ps[pass] > NO_KERNEL_PS ? (launches > 0 ? launches : 1) : 0;
    }
    if (!ends_here || !is_real(cut->b, &row->calls[pass])) {
        return IW_OK;
    }
    return pass == IW_TRAINING_WEIGHT_GRADIENT ? flush_beside(cut, &row->calls[pass])
                                               : flush(cut, &row->calls[pass]);
}

/* ---- slots ---- */

static iw_time share(iw_time whole_ps, uint32_t index, uint32_t count)
{
    __extension__ typedef __int128 wide;

    return (iw_time)((wide)whole_ps * index / count);
}

static void place(struct cut *cut, const iw_training_row *rows)
{
    const iw_training *spec = cut->b->spec;
    const bool is_backward = cut->slot->is_backward;
    const uint32_t index = is_backward ? spec->chunks - 1 - cut->slot->chunk : cut->slot->chunk;
    iw_time all_ps = 0;

    for (uint32_t i = 0; i < spec->rows_each; i++) {
        all_ps += is_backward ? rows[i].work_ps[IW_TRAINING_INPUT_GRADIENT] +
                                    rows[i].work_ps[IW_TRAINING_WEIGHT_GRADIENT]
                              : rows[i].work_ps[IW_TRAINING_F];
    }
    cut->from_ps = share(all_ps, index, spec->chunks);
    cut->to_ps = share(all_ps, index + 1, spec->chunks);
}

iw_status iwi_add_row_slot(struct iwi_plan_builder *b, const struct iwi_slot *slot)
{
    const iw_training *spec = b->spec;
    const uint32_t first = slot->microbatch % (spec->row_count / spec->rows_each) * spec->rows_each;
    const iw_training_row *rows = spec->rows + first;
    struct cut cut = {.b = b, .slot = slot};

    place(&cut, rows);
    for (uint32_t i = 0; i < spec->rows_each; i++) {
        const iw_training_row *row = &rows[slot->is_backward ? spec->rows_each - 1 - i : i];

        if (!slot->is_backward) {
            IW_TRY(take(&cut, row, IW_TRAINING_F));
        } else {
            IW_TRY(take(&cut, row, IW_TRAINING_INPUT_GRADIENT));
            IW_TRY(take(&cut, row, IW_TRAINING_WEIGHT_GRADIENT));
        }
    }
    return cut.work_ps > 0 || !cut.has_ops ? flush(&cut, NULL) : IW_OK;
}

/* ---- once a step ---- */

static bool is_over_dp(const iw_training_call *call)
{
    return call->span == IW_TRAINING_OVER_DP || call->span == IW_TRAINING_OVER_DP_EP;
}

iw_status iwi_add_once(struct iwi_plan_builder *b)
{
    const iw_training *spec = b->spec;

    for (uint32_t i = 0; i < spec->once_count * IW_TRAINING_PASSES; i++) {
        const iw_training_call *call = &spec->once_rows[i / IW_TRAINING_PASSES].calls[i % IW_TRAINING_PASSES];
        struct iwi_train_op op = {.microbatch = spec->microbatches - 1, .is_backward = true};

        if (is_real(b, call) && !is_over_dp(call)) {
            set_call(b, call, &op);
            IW_TRY(add_op(b, &op));
        }
    }
    return IW_OK;
}

void iwi_once_over_dp(struct iwi_plan_builder *b, struct iwi_bucket *bucket)
{
    const iw_training *spec = b->spec;

    for (uint32_t i = 0; i < spec->once_count * IW_TRAINING_PASSES; i++) {
        const iw_training_call *call = &spec->once_rows[i / IW_TRAINING_PASSES].calls[i % IW_TRAINING_PASSES];

        if (is_real(b, call) && is_over_dp(call)) {
            *(call->kind == IW_TRAINING_ALL_GATHER ? &bucket->gather_ps : &bucket->reduce_ps) +=
                call_ps(b, call);
        }
    }
}

bool iwi_rows_couple_dp(const iw_training *spec)
{
    for (uint32_t i = 0; i < spec->row_count * IW_TRAINING_PASSES; i++) {
        const iw_training_call *call = &spec->rows[i / IW_TRAINING_PASSES].calls[i % IW_TRAINING_PASSES];

        if (call->kind != IW_TRAINING_NO_CALL && is_over_dp(call)) {
            return true;
        }
    }
    return false;
}

void iwi_count_volume(struct iwi_train_plan *plan, const char *what, uint64_t count,
                      const struct iwi_nccl_call *call, iw_time each_ps)
{
    uint32_t i = 0;

    /* NOLINTBEGIN(clang-analyzer-core.NonNullParamChecker): all calls have names, which it does not see */
    while (i < plan->volume_count &&
           (strcmp(plan->volumes[i].what, what) != 0 || plan->volumes[i].bytes != (uint64_t)call->bytes)) {
        i++;
    }
    /* NOLINTEND(clang-analyzer-core.NonNullParamChecker) */
    if (i == plan->volume_count) {
        if (i == IW_TRAINING_VOLUMES_MAX) {
            return;
        }
        plan->volumes[plan->volume_count++] = (iw_training_volume){.bytes = (uint64_t)call->bytes,
                                                                   .group = call->members,
                                                                   .stride = call->stride,
                                                                   .each_ps = each_ps};
        snprintf(plan->volumes[i].what, sizeof plan->volumes[i].what, "%s", what);
    }
    plan->volumes[i].count += count;
}

struct iwi_train_members iwi_train_members(const struct iwi_train_plan *plan, unsigned group)
{
    switch (group) {
    case IWI_WITH_TP: return (struct iwi_train_members){plan->tp, 1};
    case IWI_WITH_CP: return (struct iwi_train_members){plan->cp, plan->tp};
    case IWI_WITH_EP: return (struct iwi_train_members){plan->ep, plan->tp};
    case IWI_WITH_DP: return (struct iwi_train_members){plan->cp * plan->dp, plan->tp};
    case IWI_WITH_EXPERT_DP:
        return (struct iwi_train_members){plan->cp * plan->dp / plan->ep, plan->tp * plan->ep};
    default: return (struct iwi_train_members){1, 1};
    }
}
