/* Laps around a ring, rank by rank.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In lap n the rank number i of a block of ranks goes through N passes, (n - 1) N + i + 1 ... n N + i. Its
 * neighbour has done what it needs: one pass less. The first rank of a block follows the last one of the
 * block before in the lap before, which ended one pass earlier if that is number N - 1. So a rank needs one
 * track, that of the rank before it, and members of a team give each other one in each lap. Without a team
 * all ranks are one block. Ranks beyond number N - 1, of blocks that are larger than others, go through the
 * passes of that one; they need the end of the pass before, too, with which every track begins.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_exchange.h"
#include "core/sim/flow/flow_ring.h"
#include "core/sim/split/partition.h"

enum { MOST_PASSES = 1 << 16 }; /* of a lap: what members wait for is not too long */

/* How far the work is. */
struct progress {
    uint64_t turns, done_turns; /* of a rank in a lap */
    uint64_t units, ticked;     /* rounds, where all ranks of the program take part */
};

struct laps {
    struct iwi_flow *flow;
    const struct iwi_flow_group *group;
    const struct iwi_ring *ring;
    uint32_t first, count; /* ranks of the ring that are here */
    uint64_t passes, laps; /* of a lap: N; how many */
    struct iwi_track in, out;
    struct progress progress;
};

static uint32_t world_rank(const struct iwi_flow_group *group, uint32_t rank)
{
    return group == NULL ? rank : iwi_flow_group_rank(group, rank);
}

static struct iwi_runner runner_of(const struct laps *l, uint32_t rank, uint32_t lane)
{
    const struct iwi_levels *levels = &l->flow->job->levels;
    const uint32_t world = world_rank(l->group, rank);
    struct iwi_runner runner = {.flow = l->flow,
                                .ring = l->ring,
                                .rank = rank,
                                .world = world,
                                .at = iwi_flow_at(l->flow, world) + lane};

    if (levels->count > 0) {
        runner.in_level =
            iwi_level_between(levels, world, world_rank(l->group, rank > 0 ? rank - 1 : l->ring->ranks - 1));
        runner.out_level =
            iwi_level_between(levels, world, world_rank(l->group, rank + 1 < l->ring->ranks ? rank + 1 : 0));
    }
    return runner;
}

static void swap(struct iwi_track *a, struct iwi_track *b)
{
    const struct iwi_track kept = *a;

    *a = *b;
    *b = kept;
}

static iw_status tick(struct laps *l)
{
    struct progress *progress = &l->progress;
    const uint64_t due =
        (uint64_t)((double)progress->units * (double)progress->done_turns / (double)progress->turns);
    const uint64_t units = due - progress->ticked;

    if (progress->done_turns++ % 64 != 0 && progress->done_turns <= progress->turns) {
        return IW_OK;
    }
    progress->ticked = due;
    return iwi_tick(l->flow->job->ticker, units);
}

/* The lap of one rank; its track is in l->in for the next. */
static void run_rank(struct laps *l, const struct iwi_runner *runner, uint64_t lap)
{
    const uint64_t all = l->ring->end - l->ring->begin, number = runner->rank - l->first;
    const uint64_t end = lap * l->passes + (number < l->passes ? number : l->passes - 1) + 1;
    const uint64_t first = lap == 0 ? 1 : end - l->passes;

    if (lap == 0) {
        iwi_runner_start(runner);
    }
    l->out.pieces[0] = (struct iwi_track_piece){.first = first - 1, .value = l->flow->cpu[runner->at]};
    l->out.count = 1;
    l->out.end = first;
    iwi_runner_run(runner, first, end < all + 1 ? end : all + 1, &l->in, &l->out);
    swap(&l->in, &l->out);
}

/* Gives the track of the last rank here to the next member, and takes that of the one before the first. */
static iw_status pass_on(struct laps *l)
{
    struct iwi_flow *flow = l->flow;
    const uint32_t members = flow->partition->members, own = flow->member->number;
    const uint32_t next = own + 1 < members ? own + 1 : 0, before = own > 0 ? own - 1 : members - 1;
    const size_t bytes = (l->in.count + 1) * sizeof *l->in.pieces,
                 most = (l->passes + 3) * sizeof *l->in.pieces;
    struct iwi_inbox *inbox;
    void *room;

    iwi_letters_begin(flow->exchange);
    IW_TRY(iwi_letter_room(flow, next, bytes, &room));
    memcpy(room, l->in.pieces, bytes);
    IW_TRY(iwi_letters_send(flow));
    IW_TRY(iwi_letter_take(flow, before, true, &inbox));
    l->in.count = (inbox->bytes.count - inbox->at) / sizeof *l->in.pieces - 1;
    if (inbox->bytes.count - inbox->at > most || l->in.count == 0) {
        return iwi_fail(
            flow->log, IW_ERR_FORMAT,
            "member %" PRIu32
            " sent %zu bytes where the passes of a ring were due: run the same program in all processes",
            before, inbox->bytes.count);
    }
    memcpy(l->in.pieces, inbox->bytes.data + inbox->at, inbox->bytes.count - inbox->at);
    return IW_OK;
}

static iw_status run_lane(struct laps *l, uint32_t lane)
{
    for (uint64_t lap = 0; lap < l->laps; lap++) {
        for (uint32_t rank = l->first; rank < l->first + l->count; rank++) {
            const struct iwi_runner runner = runner_of(l, rank, lane);

            IW_TRY(tick(l));
            run_rank(l, &runner, lap);
        }
        if (l->flow->partition != NULL) {
            IW_TRY(pass_on(l));
        }
    }
    return IW_OK;
}

static iw_status run_lanes(struct laps *l)
{
    const size_t most = (size_t)l->passes + 3; /* the pass before, a lap, and what is behind them */

    l->in.pieces = iwi_new_array(l->flow->log, most, sizeof *l->in.pieces);
    l->out.pieces = iwi_new_array(l->flow->log, most, sizeof *l->out.pieces);
    if (l->in.pieces == NULL || l->out.pieces == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t lane = 0; lane < l->flow->lanes; lane++) {
        IW_TRY(run_lane(l, lane));
    }
    return tick(l);
}

iw_status iwi_flow_ring(struct iwi_flow *flow, const struct iwi_flow_group *group,
                        const struct iwi_ring *ring)
{
    const bool is_split = flow->partition != NULL;
    struct laps l = {.flow = flow,
                     .group = group,
                     .ring = ring,
                     .first = is_split ? flow->first_rank : 0,
                     .count = is_split ? flow->ranks : ring->ranks,
                     .passes = is_split ? flow->partition->smallest : ring->ranks};
    iw_status status;

    l.passes = l.passes < MOST_PASSES ? l.passes : MOST_PASSES;
    l.laps = (ring->end - ring->begin - 1) / l.passes + 2;
    l.progress.turns = l.laps * l.count * flow->lanes;
    l.progress.units = ring->ranks == flow->job->program->ranks ? ring->end - ring->begin : 0;
    status = run_lanes(&l);
    free(l.in.pieces);
    free(l.out.pieces);
    return status;
}
