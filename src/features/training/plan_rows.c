/* The operations of one F or B from the rows of a workload file: computation, then a collective.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows of a micro-batch stand one after the other, in a backward from the last to the first: input
 * gradients, then weight gradients, as ASTRA-sim has it. A stage of v chunks cuts them into v parts of equal
 * computation; a collective belongs to the part in which the computation before it ends. Computations without
 * a collective between them are one operation. Collectives of weight gradients go on beside what follows.
 */
#include "core/base/base.h"
#include "features/training/step_plan.h"

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
    return iwi_add_op(cut->b, &op);
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
    return iwi_add_op(cut->b, &op);
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
            IW_TRY(iwi_add_op(b, &op));
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
