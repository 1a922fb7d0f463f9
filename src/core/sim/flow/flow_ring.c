/* Which rounds of an operation are a ring, and what they cost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/flow/flow_ring.h"

#include "core/base/base.h"
#include "core/sim/split/partition.h"

/* Fewer ranks or rounds of equal blocks are quicker pass by pass. */
enum { LEAST_RANKS = 64, LEAST_ROUNDS = 32 };

/* The round as one stretch; false: it is no step around a ring. */
static bool as_stretch(const struct iwi_operation *op, uint64_t index, struct iwi_ring_stretch *stretch)
{
    struct iwi_round round;

    op->algorithm->round(op, index, &round);
    *stretch = (struct iwi_ring_stretch){.begin = index,
                                         .end = index + 1,
                                         .behind = round.behind,
                                         .blocks = round.blocks,
                                         .is_reducing = round.is_reducing};
    if (round.is_shift && round.shift == 1) {
        stretch->is_reducing = round.reduce_bytes > 0;
        stretch->behind = (uint32_t)(index % op->ranks);
        stretch->blocks = (struct iwi_block_sizes){{op->ranks, op->ranks}, {round.bytes, 0, 0}};
        return !stretch->is_reducing || round.reduce_bytes == round.bytes;
    }
    return round.is_ring;
}

static bool is_equal(const struct iwi_ring_stretch *stretch, uint32_t ranks)
{
    return stretch->blocks.end[0] == ranks;
}

static bool is_eager(const struct iwi_ring_stretch *stretch, uint64_t S_bytes)
{
    return stretch->blocks.bytes[0] <= S_bytes && stretch->blocks.bytes[1] <= S_bytes &&
           stretch->blocks.bytes[2] <= S_bytes;
}

/* The round after it passes on what it brought. */
static bool goes_on(const struct iwi_ring_stretch *a, const struct iwi_ring_stretch *b, uint32_t ranks)
{
    bool is_same = a->is_reducing == b->is_reducing && (a->behind + (a->end - a->begin)) % ranks == b->behind;

    for (int k = 0; k < 3; k++) {
        is_same = is_same && a->blocks.bytes[k] == b->blocks.bytes[k] &&
                  (k == 2 || a->blocks.end[k] == b->blocks.end[k]);
    }
    return is_same;
}

static void fill_costs(const struct iwi_flow *flow, struct iwi_ring_stretch *stretch)
{
    for (int k = 0; k < 3; k++) {
        const uint64_t bytes = stretch->blocks.bytes[k];

        for (uint32_t level = 0; level <= flow->job->levels.count; level++) {
            stretch->costs[k][level] = iwi_cost_at(flow->job->net, level, bytes);
        }
        stretch->reduce[k] = stretch->is_reducing ? iwi_bytes_cost(flow->job->program->reduce, bytes) : 0;
    }
}

/* Who wants steps told, paths explained or restart points gets rounds. Of a team all members take part, or
 * none: in groups only some may have ranks. */
static bool may_run(const struct iwi_flow *flow, const struct iwi_flow_group *group)
{
    const struct iwi_job *job = flow->job;
    const bool is_shared = flow->partition == NULL || (group == NULL && flow->partition->smallest > 0);

    return is_shared && !flow->is_alike && job->split == NULL && job->net_noise == NULL &&
           job->steps == NULL && job->keeper == NULL && flow->watch.open == NULL && flow->start.pass == 0;
}

bool iwi_ring_find(const struct iwi_flow *flow, const struct iwi_operation *op,
                   const struct iwi_flow_group *group, uint64_t index, uint64_t round_count,
                   struct iwi_ring *ring)
{
    struct iwi_ring_stretch next;
    bool are_equal = true;

    *ring = (struct iwi_ring){.begin = index, .end = index, .ranks = op->ranks};
    for (; may_run(flow, group) && ring->end < round_count && as_stretch(op, ring->end, &next) &&
           is_eager(&next, flow->job->net->S_bytes);
         ring->end++) {
        struct iwi_ring_stretch *last = ring->stretches + ring->stretch_count - (ring->stretch_count > 0);

        if (ring->stretch_count > 0 && goes_on(last, &next, op->ranks)) {
            last->end++;
        } else if (ring->stretch_count < IWI_RING_STRETCHES) {
            ring->stretches[ring->stretch_count++] = next;
            are_equal = are_equal && is_equal(&next, op->ranks);
        } else {
            break;
        }
    }
    for (size_t k = 0; k < ring->stretch_count; k++) {
        fill_costs(flow, &ring->stretches[k]);
    }
    return ring->end > index &&
           (!are_equal || group != NULL || (op->ranks >= LEAST_RANKS && ring->end - index >= LEAST_ROUNDS));
}

/* ---- costs ---- */

static const struct iwi_ring_stretch *stretch_of(const struct iwi_ring *ring, uint64_t round)
{
    const struct iwi_ring_stretch *stretch = ring->stretches;

    while (round >= stretch->end) {
        stretch++;
    }
    return stretch;
}

/* Which of the sizes the block has that `rank` sends in the round, and in how many rounds from then on. */
static uint32_t size_at(const struct iwi_ring *ring, const struct iwi_ring_stretch *stretch, uint32_t rank,
                        uint64_t round, uint64_t *rounds_p)
{
    const uint64_t ranks = ring->ranks, behind = (stretch->behind + (round - stretch->begin)) % ranks;
    const uint64_t block = (rank + ranks - behind) % ranks; /* the next one is the one before it */
    const uint32_t size = block < stretch->blocks.end[0] ? 0 : block < stretch->blocks.end[1] ? 1 : 2;
    const uint64_t first = size == 0 ? 0 : stretch->blocks.end[size - 1];
    const uint64_t left = stretch->end - round;

    *rounds_p = is_equal(stretch, ring->ranks) || block - first + 1 > left ? left : block - first + 1;
    return size;
}

struct iwi_ring_costs iwi_ring_costs_at(const struct iwi_ring *ring, uint32_t rank, uint32_t in_level,
                                        uint32_t out_level, uint64_t pass)
{
    const uint64_t round = ring->begin + pass;
    const uint32_t from = rank > 0 ? rank - 1 : ring->ranks - 1;
    struct iwi_ring_costs costs = {.end = UINT64_MAX};
    uint64_t rounds;

    if (pass > 0) {
        const struct iwi_ring_stretch *stretch = stretch_of(ring, round - 1);
        const uint32_t size = size_at(ring, stretch, from, round - 1, &rounds);
        const struct iwi_cost *cost = &stretch->costs[size][in_level];

        costs.wire = cost->wire;
        costs.receive = cost->recv_cpu;
        costs.receive_touch = cost->recv_touch;
        costs.reduce = stretch->reduce[size];
        costs.in_gap = cost->gap;
        costs.end = pass + rounds;
    }
    if (round < ring->end) {
        const struct iwi_ring_stretch *stretch = stretch_of(ring, round);
        const struct iwi_cost *cost =
            &stretch->costs[size_at(ring, stretch, rank, round, &rounds)][out_level];

        costs.has_send = true;
        costs.send = cost->send_cpu;
        costs.send_touch = cost->send_touch;
        costs.out_gap = cost->gap;
        costs.end = pass + rounds < costs.end ? pass + rounds : costs.end;
    }
    return costs;
}
