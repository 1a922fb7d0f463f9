/* Which micro-batch and chunk a pipeline stage computes when.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * As Megatron's schedules.py: a number of forwards to warm up, then pairs of a forward and a backward, then
 * the backwards that are left. GPipe warms up with all of them.
 */
#include "features/training/step_plan.h"

/* Forward (backward) number k of a stage. Interleaved: all (micro-batch, chunk) in groups of G micro-batches,
 * in a group by chunk, in a chunk by micro-batch; backwards go through chunks the other way. */
static struct iwi_slot numbered(const iw_training *spec, uint32_t k, bool is_backward)
{
    const uint32_t v = spec->chunks, m = spec->microbatches;
    const uint32_t wanted = spec->group > 0 ? spec->group : spec->pp, size = wanted * v;
    const uint32_t first = k / size * wanted, left = m - first, here = left < wanted ? left : wanted;
    const uint32_t chunk = k % size / here;

    return (struct iwi_slot){is_backward, first + k % size % here, is_backward ? v - 1 - chunk : chunk};
}

static uint32_t warm_up(const iw_training *spec, uint32_t stage)
{
    const uint32_t v = spec->chunks, all = spec->microbatches * v, behind = spec->pp - 1 - stage;
    uint32_t count = behind;

    if (spec->schedule == IW_TRAINING_GPIPE) {
        return all;
    }
    if (v > 1) {
        count = 2 * behind + (v - 1) * (spec->group > 0 ? spec->group : spec->pp);
    }
    return count < all ? count : all;
}

void iwi_stage_order(const iw_training *spec, uint32_t stage, struct iwi_slot *slots)
{
    const uint32_t all = spec->microbatches * spec->chunks, warm = warm_up(spec, stage);

    for (uint32_t k = 0; k < all + warm; k++) {
        if (k < all) {
            *slots++ = numbered(spec, k, false);
        }
        if (k >= warm) {
            *slots++ = numbered(spec, k - warm, true);
        }
    }
}
