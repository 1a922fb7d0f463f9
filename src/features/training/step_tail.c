/* The end of a step: gradients reduced, the norm of all of them, the optimizer, parameters gathered.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/base/base.h"
#include "features/training/step_run.h"

/* The next collective over data parallelism on a lane of a stage: it begins when all of `ready` are there. */
static void reduce(struct iwi_train_run *run, uint32_t stage, enum iwi_lane on, const iw_time *ready,
                   iw_time collective_ps)
{
    const struct iwi_train_plan *plan = run->plan;
    const size_t base = (size_t)stage * run->width;
    iw_time *lane = run->lanes[on] + base;
    const bool is_hit = run->at[IW_TRAINING_NETWORK].count > 0 && plan->tail_leaves_node;

    for (uint32_t i = 0; i < run->width; i++) {
        lane[i] = iwi_max(lane[i], ready[i]);
    }
    if (run->width > 1) {
        iwi_group_latest(lane, run->width, plan->cp * plan->dp, plan->tp);
    }
    for (uint32_t i = 0; i < run->width; i++) {
        lane[i] =
            is_hit ? iwi_train_finish_slow(run, IW_TRAINING_NETWORK, true, base + i, lane[i], collective_ps)
                   : lane[i] + collective_ps;
    }
    if (is_hit) {
        iwi_group_latest(lane, run->width, plan->cp * plan->dp, plan->tp);
    }
}

static void reduce_gradients(struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;

    for (uint32_t s = 0; s < plan->pp; s++) {
        iw_time *compute = run->lanes[IWI_LANE_COMPUTE] + (size_t)s * run->width;
        const iw_time *reduced = run->lanes[IWI_LANE_REDUCE] + (size_t)s * run->width;

        for (uint32_t k = 0; k < plan->stages[s].bucket_count; k++) {
            reduce(run, s, IWI_LANE_REDUCE, run->ready + ((size_t)s * plan->most_buckets + k) * run->width,
                   plan->stages[s].buckets[k].reduce_ps);
        }
        for (uint32_t i = 0; i < run->width; i++) {
            compute[i] = iwi_max(compute[i], reduced[i]);
        }
    }
}

static void reduce_embedding(struct iwi_train_run *run)
{
    iw_time *first = run->lanes[IWI_LANE_COMPUTE], *last = first + (size_t)(run->plan->pp - 1) * run->width;

    for (uint32_t i = 0; run->plan->is_tied && i < run->width; i++) {
        first[i] = last[i] = iwi_max(first[i], last[i]) + run->plan->embedding_ps;
    }
}

/* When the norm of all gradients is known. */
static iw_time reduce_norm(struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;
    const size_t ranks = (size_t)plan->pp * run->width;
    iw_time start = 0, end = 0;

    for (size_t i = 0; i < ranks; i++) {
        start = iwi_max(start, run->lanes[IWI_LANE_COMPUTE][i]);
    }
    end = start + plan->norm_ps;
    for (size_t i = 0; run->at[IW_TRAINING_NETWORK].count > 0 && i < ranks; i++) {
        end = iwi_max(end, iwi_train_finish_slow(run, IW_TRAINING_NETWORK, true, i, start, plan->norm_ps));
    }
    return end;
}

/* All ranks wait for the norm; their hosts read it, so that no launch is ahead any more. */
static void update(struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;
    const size_t ranks = (size_t)plan->pp * run->width;
    const iw_time norm = reduce_norm(run);
    iw_time *compute = run->lanes[IWI_LANE_COMPUTE];

    for (size_t i = 0; i < ranks; i++) {
        iw_time t = norm;

        if (plan->has_launches) {
            run->host[i] =
                iwi_train_finish(run, IW_TRAINING_HOST, i, iwi_max(run->host[i], norm), plan->launch_ps);
            t = run->host[i];
        }
        compute[i] =
            iwi_train_finish(run, IW_TRAINING_DEVICE, i, t, iwi_train_speeded(run, plan->optimizer_ps, i));
    }
}

/* Of the first chunk first: the buckets were ready the other way round. */
static void gather_parameters(struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;

    for (uint32_t s = 0; s < plan->pp; s++) {
        const size_t base = (size_t)s * run->width;
        iw_time *compute = run->lanes[IWI_LANE_COMPUTE] + base, *gather = run->lanes[IWI_LANE_GATHER] + base;

        for (uint32_t k = plan->stages[s].bucket_count; k-- > 0;) {
            reduce(run, s, IWI_LANE_GATHER, compute, plan->stages[s].buckets[k].gather_ps);
            memcpy(run->gathered + ((size_t)s * plan->most_buckets + k) * run->width, gather,
                   run->width * sizeof *gather);
        }
        for (uint32_t i = 0; !plan->overlaps_parameters && i < run->width; i++) {
            compute[i] = iwi_max(compute[i], gather[i]);
        }
        for (uint32_t i = 0; plan->couples_dp && i < run->width; i++) { /* what FSDP gathers next is new */
            gather[i] = iwi_max(compute[i], gather[i]);
        }
    }
}

void iwi_train_tail(struct iwi_train_run *run)
{
    reduce_gradients(run);
    reduce_embedding(run);
    update(run);
    gather_parameters(run);
}
