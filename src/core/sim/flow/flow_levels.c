/* Where the messages of a streaming pass change their level.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Two ranks that move together, r and r + shift, stay at their level while both stay within a group of the
 * innermost level: groups of the others begin where some of these begin.
 */
#include "core/base/base.h"
#include "core/sim/flow/flow_pass.h"

static uint32_t peer_of(const struct iwi_hop *hop, uint32_t rank, uint32_t ranks)
{
    if (hop->is_flip) {
        return rank ^ hop->flip;
    }
    return rank < ranks - hop->shift ? rank + hop->shift : rank - (ranks - hop->shift);
}

/* How many ranks from `rank` on have their peers at the level that its own has. */
static uint32_t stretch(const struct iwi_levels *levels, const struct iwi_hop *hop, uint32_t rank,
                        uint32_t ranks, uint32_t own)
{
    const uint32_t peer = peer_of(hop, rank, ranks);
    uint32_t count = own;

    if (hop->is_flip && levels->nodes == 0 && levels->places == NULL &&
        levels->ranks[0] % (2 * hop->flip) == 0) {
        return count; /* it stays in the group */
    }
    if (hop->is_flip) {
        count = (uint32_t)iwi_min(count, hop->flip - rank % hop->flip);
    } else {
        count = (uint32_t)iwi_min(count, ranks - peer);
    }
    return (uint32_t)iwi_min(count, iwi_level_stretch(levels, peer));
}

struct iwi_level_run iwi_level_run_at(const struct iwi_flow *flow, const struct iwi_span *span,
                                      const struct iwi_pass *pass, size_t k, size_t end)
{
    const struct iwi_levels *levels = &flow->job->levels;
    const uint32_t ranks = flow->job->program->ranks;
    const size_t row = k >> span->width_shift, column = k - (row << span->width_shift);
    const size_t at = span->first + row * span->stride + column;
    const size_t i = at < flow->count ? at : at - flow->count;
    const uint32_t rank = flow->first_rank + (uint32_t)(i >> flow->lane_shift);
    const size_t row_end = span->width_shift < 63 ? (row + 1) << span->width_shift : end;
    uint32_t count = (uint32_t)iwi_min(iwi_level_stretch(levels, rank), ranks - rank);
    struct iwi_level_run run = {.count = (row_end < end ? row_end : end) - k};

    if (pass->has_receive) {
        run.in = iwi_level_between(levels, rank, peer_of(&pass->levels->from, rank, ranks));
        count = stretch(levels, &pass->levels->from, rank, ranks, count);
    }
    if (pass->has_send) {
        run.out = iwi_level_between(levels, rank, peer_of(&pass->levels->to, rank, ranks));
        count = stretch(levels, &pass->levels->to, rank, ranks, count);
    }
    if ((size_t)count << flow->lane_shift < run.count + (i & (flow->lanes - 1))) {
        run.count = ((size_t)count << flow->lane_shift) - (i & (flow->lanes - 1));
    }
    return run;
}
