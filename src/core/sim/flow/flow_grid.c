/* Halos in the flow engine: passes over vectors of neighbouring elements.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * As any round, one has two passes: all ranks send, then all wait. What differs from rank to rank is whether
 * there is a neighbour, how far away, and at which level of the network. All that is the same for stretches
 * of ranks, mostly whole lines of the grid, so each message is a loop over a stretch. Receives are served in
 * the order of arrival: the arrivals of a block are sorted by a network of comparisons, each of them a loop
 * over the block.
 */
#include <string.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_grid.h"
#include "core/sim/flow/flow_step.h"

/* An arrival that does not come: it is served last. */
#define IWI_ABSENT IWI_NEVER

/* A tag is a direction times this, and a level. */
enum { IWI_TAG = 8 };

_Static_assert((int)IWI_TAG > (int)IW_NET_INNER_MAX, "levels must fit into tags");

/* The waits of a block: a row for each message, first in the order of directions, then in that of arrival. */
struct iwi_wait_block {
    iw_time arrivals[IWI_GRID_FAN][IWI_GRID_BLOCK];
    int64_t tags[IWI_GRID_FAN][IWI_GRID_BLOCK]; /* where levels differ: direction * IWI_TAG + level */
    iw_time start[IWI_GRID_BLOCK];
};

/* Rows `low` and `high` of the block: the earlier arrival first. Without levels messages of one time are
 * alike. */
IWI_STEP void waits_compare(struct iwi_wait_block *block, uint32_t low, uint32_t high, size_t count,
                            const bool has_levels)
{
    iw_time *restrict a = block->arrivals[low];
    iw_time *restrict b = block->arrivals[high];
    int64_t *restrict a_tag = block->tags[low];
    int64_t *restrict b_tag = block->tags[high];

    for (size_t n = 0; n < count; n++) {
        const iw_time x = a[n], y = b[n];

        if (has_levels) {
            const int64_t p = a_tag[n], q = b_tag[n];
            const bool is_later = x > y || (x == y && p > q);

            a_tag[n] = is_later ? q : p;
            b_tag[n] = is_later ? p : q;
        }
        a[n] = iwi_min(x, y);
        b[n] = iwi_max(x, y);
    }
}

/* Batcher's merge exchange (Knuth, volume 3, 5.2.2 M): sorts any number of rows. */
IWI_STEP void iwi_waits_sort(struct iwi_wait_block *block, uint32_t rows, size_t count, const bool has_levels)
{
    uint32_t top = 1;

    while (top * 2 < rows) {
        top *= 2;
    }
    for (uint32_t p = rows > 1 ? top : 0; p > 0; p /= 2) {
        uint32_t q = top, r = 0, d = p;

        for (;;) {
            for (uint32_t k = 0; k + d < rows; k++) {
                if ((k & p) == r) {
                    waits_compare(block, k, k + d, count, has_levels);
                }
            }
            if (q == p) {
                break;
            }
            d = q - p;
            q /= 2;
            r = p;
        }
    }
}

/* ---- compute phases of all ranks ---- */

enum { BLOCK = 512 };

/* Element i, of which `done` would pass the next detour. */
static iw_time finish_one(struct iwi_flow *flow, size_t i, iw_time start, iw_time done)
{
    return iwi_flow_work_slow(flow, flow->first_rank + (uint32_t)(i >> flow->lane_shift), i,
                              &flow->next_detour[i], start, done - start, NULL);
}

/* Elements i ... i + count - 1 work from start[n] on; done[n] is the end if nothing comes in between, and
 * becomes the true one. */
static void flow_finish_all(struct iwi_flow *flow, size_t i, size_t count, const iw_time *start,
                            iw_time *done)
{
    iw_time *next = flow->next_detour + i;

    iwi_flow_seek(flow, i, next, start, count);
    for (size_t n = 0; n < count; n += IWI_PICKED_MOST) {
        const size_t now = count - n < IWI_PICKED_MOST ? count - n : IWI_PICKED_MOST;

        IWI_FOR_PICKED (hit, iwi_pick_behind(next + n, done + n, 0, now)) {
            const size_t k = n + hit;

            done[k] = finish_one(flow, i + k, start[k], done[k]);
        }
        if (flow->words > 0) { /* nothing begins before `done` any more, and the words are at hand */
            iwi_flow_seek(flow, i + n, next + n, done + n, now);
        }
    }
}

/* Elements i ... i + count - 1 work for d. */
IWI_VECTOR_VERSIONS static void work_all(struct iwi_flow *flow, size_t i, size_t count, iw_time d)
{
    iw_time *restrict cpu = flow->cpu + i;
    const iw_time *restrict next = flow->next_detour + i;
    iw_time start[BLOCK];
    iw_time slack = 0;

    for (size_t n = 0; n < count; n++) {
        start[n] = cpu[n];
        cpu[n] += d;
        slack |= next[n] - cpu[n];
    }
    if (slack < 0) {
        flow_finish_all(flow, i, count, start, cpu);
    }
}

bool iwi_flow_has_even_phases(const struct iwi_flow *flow)
{
    const struct iwi_job *job = flow->job;

    return flow->cores == 1 && job->node_factors == NULL && flow->paths == NULL && flow->watch.open == NULL &&
           !(job->noise != NULL && iwi_noise_has_phases(job->noise));
}

/* Ranks rank ... end - 1, of which none has a delay. */
static void phase_of_many(struct iwi_flow *flow, uint32_t rank, uint32_t end, iw_time amount)
{
    const size_t last = iwi_flow_at(flow, end);

    for (size_t i = iwi_flow_at(flow, rank); i < last; i += BLOCK) {
        work_all(flow, i, last - i < BLOCK ? last - i : BLOCK, iwi_max(amount, flow->job->memory_ps));
    }
}

void iwi_flow_phase_all(struct iwi_flow *flow, uint64_t phase, iw_time amount)
{
    const struct iwi_job *job = flow->job;
    const uint32_t end = flow->first_rank + flow->ranks;
    const size_t delays = job->has_delays ? job->program->delay_count : 0;
    uint32_t rank = flow->first_rank;

    for (; !iwi_flow_has_even_phases(flow) && rank < end; rank++) {
        iwi_flow_phase(flow, rank, phase, amount);
    }
    for (size_t k = 0; k < delays && rank < end; k++) { /* by rank */
        const iw_delay *delay = &job->program->delays[k];

        if (delay->step == phase + 1 && delay->rank >= rank && delay->rank < end) {
            phase_of_many(flow, rank, delay->rank, amount);
            iwi_flow_phase(flow, delay->rank, phase, amount);
            rank = delay->rank + 1;
        }
    }
    phase_of_many(flow, rank, end, amount);
}

/* ---- halos ---- */

/* Where a pass is in each direction, and what it needs next from elsewhere. */
struct places {
    struct iwi_bands of[IWI_GRID_FAN];
    const iw_time *away[IWI_GRID_FAN];
};

/* Ranks side by side whose messages in one direction are alike. */
struct grid_stretch {
    uint32_t count;
    bool has_peer, is_away; /* away: another member has the peers */
    int64_t offset;         /* of the peers, in elements */
    uint32_t level;
};

/* The same for all blocks of a round; a constant where it matters. */
struct kind {
    bool is_closed, has_levels;
};

/* Every rank has a neighbour there. */
static bool is_closed(const struct iwi_direction *direction)
{
    return direction->is_closed && direction->size > 1;
}

bool iwi_grid_is_alike(const struct iwi_operation *op, uint64_t index, const struct iwi_round *round)
{
    bool is_alike = round->is_grid && round->fan <= IWI_GRID_FAN;

    for (uint32_t k = 0; is_alike && k < round->fan; k++) {
        struct iwi_direction direction;

        op->algorithm->direction(op, index, k, &direction);
        is_alike = is_closed(&direction);
    }
    return is_alike;
}

static struct iwi_halo_grid grid_of(struct iwi_flow *flow, const struct iwi_round_run *run)
{
    const struct iwi_job *job = flow->job;
    struct iwi_halo_grid grid = {.flow = flow, .fan = run->round.fan, .is_closed = true};

    for (uint32_t k = 0; k < grid.fan; k++) {
        run->op->algorithm->direction(run->op, run->index, k, &grid.directions[k]);
        grid.is_closed &= is_closed(&grid.directions[k]);
    }
    for (uint32_t level = 0; level <= job->levels.count; level++) {
        struct iwi_grid_price *price = &grid.prices[level];

        price->cost = iwi_cost_at(job->net, level, run->round.bytes);
        price->notice = iwi_cost_notice(price->cost.costs, job->rendezvous);
        price->handshake = iwi_cost_handshake(price->cost.costs, job->rendezvous);
    }
    grid.is_rendezvous = grid.prices[0].cost.is_rendezvous;
    return grid;
}

/* From the first rank on, those who need lines first_line, ... of values. */
static struct places places_of(const struct iwi_halo_grid *grid, uint32_t first_line)
{
    struct places places = {.away = {NULL}};

    for (uint32_t k = 0; k < grid->fan; k++) {
        places.of[k] = iwi_grid_line(grid, first_line + k, false);
        places.away[k] = grid->away[first_line + k];
    }
    return places;
}

/* The stretch that begins at `rank`, of at most so many ranks; `bands` goes behind it. */
static inline struct grid_stretch stretch_at(const struct iwi_halo_grid *grid, struct iwi_bands *bands,
                                             uint32_t rank, uint32_t most, const bool has_levels)
{
    const struct iwi_levels *levels = &grid->flow->job->levels;
    const struct iwi_band_run *run = &bands->runs[bands->at];
    struct grid_stretch stretch = {.count = bands->left < most ? (uint32_t)bands->left : most,
                                   .has_peer = run->has_peer,
                                   .offset =
                                       grid->flow->is_alike ? 0 : run->offset * (int64_t)grid->flow->lanes};
    const uint32_t peer = (uint32_t)(rank + run->offset);

    if (grid->flow->partition != NULL && run->has_peer) {
        stretch.count = iwi_grid_here(grid->flow, peer, stretch.count, &stretch.is_away);
    }
    if (has_levels && run->has_peer) {
        stretch.level = iwi_level_between(levels, rank, peer);
        stretch.count = (uint32_t)iwi_min(stretch.count, iwi_level_stretch(levels, rank));
        stretch.count = (uint32_t)iwi_min(stretch.count, iwi_level_stretch(levels, peer));
    }
    iwi_bands_skip(bands, stretch.count);
    return stretch;
}

/* Where the peers of a stretch from element i on have their values: in `here`, or as they came. */
static inline const iw_time *values_of(const struct iwi_flow *flow, const struct grid_stretch *stretch,
                                       size_t i, const iw_time *here, const iw_time **away_p)
{
    const iw_time *away = *away_p;

    if (!stretch->is_away) {
        return here + ((int64_t)i + stretch->offset);
    }
    *away_p += (size_t)stretch->count << flow->lane_shift;
    return away;
}

/* ---- sends ---- */

static void send_hit(struct iwi_flow *flow, size_t i, size_t count, iw_time gap, iw_time *sent)
{
    iw_time start[IWI_GRID_BLOCK];

    for (size_t n = 0; n < count; n++) {
        start[n] = flow->send_gap[i + n] - gap;
    }
    flow_finish_all(flow, i, count, start, flow->cpu + i);
    memcpy(sent, flow->cpu + i, count * sizeof *sent);
}

/* Rule 2 for elements i ... i + count - 1. */
IWI_STEP void send_stretch(struct iwi_flow *flow, size_t i, size_t count, const struct iwi_cost *cost,
                           iw_time *restrict sent)
{
    iw_time *restrict cpu = flow->cpu + i;
    iw_time *restrict send_gap = flow->send_gap + i;
    const iw_time *restrict next = flow->next_detour + i;
    const iw_time work = cost->send_cpu, gap = cost->gap;
    iw_time slack = 0; /* negative as soon as one element meets a detour */

    for (size_t n = 0; n < count; n++) {
        const iw_time start = iwi_max(cpu[n], send_gap[n]), done = start + work;

        send_gap[n] = start + gap;
        cpu[n] = done;
        sent[n] = done;
        slack |= next[n] - done;
    }
    if (slack < 0) {
        send_hit(flow, i, count, gap, sent);
    }
}

IWI_STEP void send_block(const struct iwi_halo_grid *grid, struct places *to, uint32_t rank, uint32_t ranks,
                         const struct kind kind)
{
    struct iwi_flow *flow = grid->flow;

    for (uint32_t k = 0; k < grid->fan; k++) {
        iw_time *sent = flow->slots + k * flow->count;
        struct grid_stretch stretch = {.count = ranks, .has_peer = true};

        for (uint32_t done = 0; done < ranks; done += stretch.count) {
            const size_t i = iwi_flow_at(flow, rank + done);

            if (!kind.is_closed || kind.has_levels) {
                stretch = stretch_at(grid, &to->of[k], rank + done, ranks - done, kind.has_levels);
            }
            if (stretch.has_peer) {
                send_stretch(flow, i, (size_t)stretch.count << flow->lane_shift,
                             &grid->prices[stretch.level].cost, sent + i);
            }
        }
    }
}

/* ---- receives ---- */

/* When the message of one direction is there, for the elements of a stretch; `from`: when it was sent. */
IWI_STEP void arrive(const struct iwi_halo_grid *grid, const struct iwi_grid_price *price,
                     const iw_time *restrict from, const iw_time *restrict posted, size_t count,
                     iw_time *restrict arrivals)
{
    const iw_time notice = price->notice, way = price->cost.wire;

    if (grid->is_rendezvous) {
        for (size_t n = 0; n < count; n++) {
            arrivals[n] = iwi_max(from[n] + notice, posted[n]) + price->handshake + way;
        }
        return;
    }
    for (size_t n = 0; n < count; n++) {
        arrivals[n] = from[n] + way;
    }
}

IWI_STEP void fill_arrivals(const struct iwi_halo_grid *grid, struct places *from, uint32_t rank,
                            uint32_t ranks, struct iwi_wait_block *block, const struct kind kind)
{
    struct iwi_flow *flow = grid->flow;

    for (uint32_t k = 0; k < grid->fan; k++) {
        const iw_time *sent = flow->slots + k * flow->count;
        struct grid_stretch stretch;

        for (uint32_t done = 0; done < ranks; done += stretch.count) {
            const size_t i = iwi_flow_at(flow, rank + done), at = (size_t)done << flow->lane_shift;
            size_t count;

            stretch = stretch_at(grid, &from->of[k], rank + done, ranks - done, kind.has_levels);
            count = (size_t)stretch.count << flow->lane_shift;
            if (stretch.has_peer) {
                arrive(grid, &grid->prices[stretch.level], values_of(flow, &stretch, i, sent, &from->away[k]),
                       grid->is_rendezvous ? flow->posted + i : NULL, count, &block->arrivals[k][at]);
            }
            for (size_t n = at; !stretch.has_peer && n < at + count; n++) {
                block->arrivals[k][n] = IWI_ABSENT;
            }
            for (size_t n = at; kind.has_levels && n < at + count; n++) {
                block->tags[k][n] = (int64_t)k * IWI_TAG + stretch.level;
            }
        }
    }
}

/* Rule 3: one receive of each element of the block. */
IWI_STEP void receive_row(const struct iwi_halo_grid *grid, size_t i, size_t count,
                          struct iwi_wait_block *block, uint32_t row, const struct kind kind)
{
    struct iwi_flow *flow = grid->flow;
    iw_time *restrict cpu = flow->cpu + i;
    iw_time *restrict recv_gap = flow->recv_gap + i;
    iw_time *restrict start = block->start;
    const iw_time *restrict next = flow->next_detour + i;
    const iw_time *restrict arrivals = block->arrivals[row];
    const int64_t *restrict tags = block->tags[row];
    iw_time slack = 0;

    for (size_t n = 0; n < count; n++) {
        const struct iwi_cost *cost = &grid->prices[kind.has_levels ? tags[n] % IWI_TAG : 0].cost;
        const iw_time at = arrivals[n], served = iwi_max(iwi_max(cpu[n], at), recv_gap[n]);
        const bool is_there = kind.is_closed || at != IWI_ABSENT;

        start[n] = is_there ? served : cpu[n];
        recv_gap[n] = is_there ? served + cost->gap : recv_gap[n];
        cpu[n] = is_there ? served + cost->recv_cpu : cpu[n];
        slack |= next[n] - cpu[n];
    }
    if (slack < 0) {
        flow_finish_all(flow, i, count, start, cpu);
    }
}

/* Rule 5, the sender's side, for elements i ... i + count - 1; `posted`: when their peers did. */
IWI_STEP void wait_for_stretch(struct iwi_flow *flow, const struct iwi_grid_price *price, size_t i,
                               size_t count, const iw_time *restrict sent, const iw_time *restrict posted)
{
    iw_time *restrict cpu = flow->cpu + i;
    iw_time *restrict send_gap = flow->send_gap + i;
    const iw_time notice = price->notice, handshake = price->handshake, gap = price->cost.gap;

    for (size_t n = 0; n < count; n++) {
        const iw_time transfer = iwi_max(sent[n] + notice, posted[n]) + handshake;

        send_gap[n] = iwi_max(send_gap[n], transfer + gap);
        cpu[n] = iwi_max(cpu[n], transfer);
    }
}

IWI_STEP void wait_for_sends(const struct iwi_halo_grid *grid, struct places *to, uint32_t rank,
                             uint32_t ranks, const struct kind kind)
{
    struct iwi_flow *flow = grid->flow;

    for (uint32_t k = 0; k < grid->fan; k++) {
        struct grid_stretch stretch;

        for (uint32_t done = 0; done < ranks; done += stretch.count) {
            const size_t i = iwi_flow_at(flow, rank + done);

            stretch = stretch_at(grid, &to->of[k], rank + done, ranks - done, kind.has_levels);
            if (stretch.has_peer) {
                wait_for_stretch(flow, &grid->prices[stretch.level], i,
                                 (size_t)stretch.count << flow->lane_shift, flow->slots + k * flow->count + i,
                                 values_of(flow, &stretch, i, flow->posted, &to->away[k]));
            }
        }
    }
}

/* ---- passes ---- */

IWI_STEP void send_all(const struct iwi_halo_grid *grid, const struct kind kind)
{
    const struct iwi_flow *flow = grid->flow;
    const uint32_t block_ranks = IWI_GRID_BLOCK >> flow->lane_shift, end = flow->first_rank + flow->ranks;
    struct places to;

    for (uint32_t k = 0; k < grid->fan; k++) {
        to.of[k] = iwi_grid_line(grid, k, true);
    }
    for (uint32_t rank = flow->first_rank; rank < end; rank += block_ranks) {
        send_block(grid, &to, rank, (uint32_t)iwi_min(block_ranks, end - rank), kind);
    }
}

IWI_STEP void wait_for_all(const struct iwi_halo_grid *grid, const struct kind kind)
{
    const struct iwi_flow *flow = grid->flow;
    const uint32_t block_ranks = IWI_GRID_BLOCK >> flow->lane_shift, end = flow->first_rank + flow->ranks;
    struct places from = places_of(grid, 0), to = places_of(grid, grid->fan);
    struct iwi_wait_block block;

    for (uint32_t rank = flow->first_rank; rank < end; rank += block_ranks) {
        const uint32_t ranks = (uint32_t)iwi_min(block_ranks, end - rank);
        const size_t count = (size_t)ranks << flow->lane_shift;

        fill_arrivals(grid, &from, rank, ranks, &block, kind);
        iwi_waits_sort(&block, grid->fan, count, kind.has_levels);
        for (uint32_t row = 0; row < grid->fan; row++) {
            receive_row(grid, iwi_flow_at(flow, rank), count, &block, row, kind);
        }
        if (grid->is_rendezvous) {
            wait_for_sends(grid, &to, rank, ranks, kind);
        }
    }
}

/* The kinds as constants. */
IWI_VECTOR_VERSIONS static void send_closed(const struct iwi_halo_grid *grid)
{
    send_all(grid, (struct kind){true, false});
}

IWI_VECTOR_VERSIONS static void send_open(const struct iwi_halo_grid *grid)
{
    send_all(grid, (struct kind){false, false});
}

IWI_VECTOR_VERSIONS static void send_at_levels(const struct iwi_halo_grid *grid)
{
    send_all(grid, (struct kind){false, true});
}

IWI_VECTOR_VERSIONS static void wait_closed(const struct iwi_halo_grid *grid)
{
    wait_for_all(grid, (struct kind){true, false});
}

IWI_VECTOR_VERSIONS static void wait_open(const struct iwi_halo_grid *grid)
{
    wait_for_all(grid, (struct kind){false, false});
}

IWI_VECTOR_VERSIONS static void wait_at_levels(const struct iwi_halo_grid *grid)
{
    wait_for_all(grid, (struct kind){false, true});
}

bool iwi_flow_is_grid(const struct iwi_flow *flow, const struct iwi_round_run *run)
{
    return run->round.is_grid && run->round.fan <= IWI_GRID_FAN && run->group == NULL &&
           flow->job->split == NULL && flow->job->net_noise == NULL && flow->watch.open == NULL &&
           !flow->may_touch;
}

static void post_all(struct iwi_flow *flow)
{
    for (size_t i = 0; i < flow->count; i++) {
        const uint32_t rank = flow->first_rank + (uint32_t)(i >> flow->lane_shift);

        flow->posted[i] = step_post(flow, rank, i, NULL, false);
    }
}

iw_status iwi_flow_grid(struct iwi_flow *flow, const struct iwi_round_run *run)
{
    struct iwi_halo_grid grid = grid_of(flow, run);
    const bool has_levels = flow->job->levels.count > 0;

    if (grid.is_rendezvous) {
        post_all(flow);
    }
    (has_levels ? send_at_levels : grid.is_closed ? send_closed : send_open)(&grid);
    if (flow->partition != NULL) {
        IW_TRY(iwi_exchange_grid(&grid));
    }
    (has_levels ? wait_at_levels : grid.is_closed ? wait_closed : wait_open)(&grid);
    return IW_OK;
}
