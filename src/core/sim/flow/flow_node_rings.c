/* Rings over nodes: every rank exchanges with the same four ranks in all rounds, so these are looked up once.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One pass serves both receives of a round and sends both messages of the next. As in flow_pass.c, blocks of
 * elements are computed as if there were no detour; elements whose work would pass their next one are
 * evaluated step by step. Costs are kept for each element: levels and sizes may differ, and change for few
 * ranks at a time.
 */
#include "core/sim/flow/flow_ring.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/program/collectives/node_rings.h"
#include "core/program/collectives/nodes.h"
#include "core/sim/flow/flow_state.h"
#include "core/sim/flow/flow_step.h"
#include "core/sim/split/partition.h"

/* Which rounds of an operation are a ring, and what they cost. */

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

enum { BLOCK = 64, WAYS = 2 }; /* ways: inside the node, and between nodes */

/* What a message costs, for each element and way. */
struct ways {
    iw_time *cpu[WAYS], *gap[WAYS], *wire[WAYS]; /* wire: of receives */
};

struct rings {
    struct iwi_flow *flow;
    const struct iwi_operation *op;
    struct iwi_node_map map;
    uint32_t *from[WAYS]; /* elements that messages come from */
    struct ways in, out;
    iw_time *reduce;
    iw_time *sent[WAYS],
        *sent_next[WAYS]; /* when the CPU parts of sends ended, before the pass and after it */
};

bool iwi_flow_is_node_rings(const struct iwi_flow *flow, const struct iwi_operation *op)
{
    const struct iwi_job *job = flow->job;

    return op->algorithm == &iwi_allreduce_node_rings && flow->partition == NULL && job->split == NULL &&
           job->steps == NULL && job->keeper == NULL && job->net_noise == NULL && flow->watch.open == NULL &&
           flow->start.round == 0 && !flow->may_touch && iwi_node_rings_are_even(op) &&
           op->bytes / op->ranks + 2 * (uint64_t)op->nodes.ranks <= job->net->S_bytes;
}

/* ---- costs ---- */

static void set_costs(const struct rings *r, struct ways *ways, size_t way, uint32_t rank,
                      const struct iwi_msg *msg)
{
    const struct iwi_flow *flow = r->flow;
    const struct iwi_cost cost =
        iwi_cost_at(flow->job->net, iwi_level_between(&flow->job->levels, rank, msg->peer), msg->bytes);

    for (size_t k = iwi_flow_at(flow, rank); k < iwi_flow_at(flow, rank) + flow->lanes; k++) {
        ways->cpu[way][k] = ways == &r->in ? cost.recv_cpu : cost.send_cpu;
        ways->gap[way][k] = cost.gap;
        ways->wire[way][k] = cost.wire;
    }
}

/* What the rank receives in the round (is_in), or sends. */
static void look_up(struct rings *r, uint64_t round, uint32_t rank, bool is_in)
{
    struct iwi_flow *flow = r->flow;
    struct iwi_role role = {.sends = flow->sends, .recvs = flow->recvs};

    r->op->algorithm->role(r->op, round, rank, &role);
    for (size_t way = 0; way < WAYS; way++) {
        set_costs(r, is_in ? &r->in : &r->out, way, rank, is_in ? &role.recvs[way] : &role.sends[way]);
    }
    for (uint32_t lane = 0; is_in && lane < flow->lanes; lane++) {
        const size_t k = iwi_flow_at(flow, rank) + lane;

        r->reduce[k] = iwi_bytes_cost(flow->job->program->reduce, role.reduce_bytes);
        for (size_t way = 0; way < WAYS; way++) {
            r->from[way][k] = (uint32_t)(iwi_flow_at(flow, role.recvs[way].peer) + lane);
        }
    }
}

static void look_up_changed(struct rings *r, uint64_t round, bool is_in)
{
    uint32_t nodes[IWI_NODE_RINGS_CHANGED];
    const uint32_t count = iwi_node_rings_changed(r->op, round, nodes);

    for (uint32_t rank = 0; count > IWI_NODE_RINGS_CHANGED && rank < r->op->ranks; rank++) {
        look_up(r, round, rank, is_in);
    }
    for (uint32_t n = 0; count <= IWI_NODE_RINGS_CHANGED && n < count; n++) {
        for (uint32_t seat = 0; seat < iwi_largest_node(&r->map); seat++) {
            look_up(r, round, iwi_rank_at(&r->map, nodes[n], seat), is_in);
        }
    }
}

/* ---- passes ---- */

static iw_time do_work(struct iwi_flow *flow, size_t k, iw_time t, iw_time d)
{
    iw_time *next = &flow->next_detour[k];

    return t + d <= *next ? t + d
                          : iwi_flow_work_slow(flow, flow->first_rank + (uint32_t)(k >> flow->lane_shift), k,
                                               next, t, d, NULL);
}

static iw_time receive(struct rings *r, size_t k, iw_time now)
{
    struct iwi_flow *flow = r->flow;
    const iw_time arrival[WAYS] = {r->sent[0][r->from[0][k]] + r->in.wire[0][k],
                                   r->sent[1][r->from[1][k]] + r->in.wire[1][k]};
    const size_t first = arrival[0] <= arrival[1] ? 0 : 1;

    for (size_t n = 0; n < WAYS; n++) {
        const size_t way = n == 0 ? first : 1 - first;
        const iw_time served = iwi_max(iwi_max(now, arrival[way]), flow->recv_gap[k]);

        flow->recv_gap[k] = served + r->in.gap[way][k];
        now = do_work(flow, k, served, r->in.cpu[way][k]);
    }
    return do_work(flow, k, now, r->reduce[k]);
}

/* Element k, exactly. */
static void pass_element(struct rings *r, size_t k, bool has_receive, bool has_send)
{
    struct iwi_flow *flow = r->flow;
    iw_time now = flow->cpu[k];

    if (has_receive) {
        now = receive(r, k, now);
    }
    for (size_t way = 0; has_send && way < WAYS; way++) {
        const iw_time start = iwi_max(now, flow->send_gap[k]);

        flow->send_gap[k] = start + r->out.gap[way][k];
        now = do_work(flow, k, start, r->out.cpu[way][k]);
        r->sent_next[way][k] = now;
    }
    flow->cpu[k] = now;
}

struct block {
    iw_time served[BLOCK], recv_gap[BLOCK], send_gap[BLOCK], sent[WAYS][BLOCK];
};

/* As if there were no detour; false if there is one. */
IWI_STEP bool compute_block(const struct rings *r, size_t first, struct block *block)
{
    const struct iwi_flow *flow = r->flow;
    const iw_time *restrict near = r->sent[0], *restrict far = r->sent[1];
    iw_time slack = 0;

    for (size_t n = 0; n < BLOCK; n++) {
        const size_t k = first + n;
        const iw_time inside = near[r->from[0][k]] + r->in.wire[0][k];
        const iw_time between = far[r->from[1][k]] + r->in.wire[1][k];
        const bool is_inside = inside <= between; /* first */
        const iw_time cpu0 = r->in.cpu[0][k], cpu1 = r->in.cpu[1][k], gap0 = r->in.gap[0][k];
        const iw_time gap1 = r->in.gap[1][k], cpu = is_inside ? cpu0 : cpu1, gap = is_inside ? gap0 : gap1;
        const iw_time served =
            iwi_max(iwi_max(flow->cpu[k], is_inside ? inside : between), flow->recv_gap[k]);
        const iw_time other = iwi_max(iwi_max(served + cpu, is_inside ? between : inside), served + gap);
        const iw_time ready = other + (cpu0 + cpu1 - cpu) + r->reduce[k];
        const iw_time start = iwi_max(ready, flow->send_gap[k]), sent = start + r->out.cpu[0][k];
        const iw_time last = iwi_max(sent, start + r->out.gap[0][k]);

        block->served[n] = served;
        block->recv_gap[n] = other + (gap0 + gap1 - gap);
        block->send_gap[n] = last + r->out.gap[1][k];
        block->sent[0][n] = sent;
        block->sent[1][n] = last + r->out.cpu[1][k];
        slack |= flow->next_detour[k] - block->sent[1][n];
    }
    return slack >= 0;
}

static void keep_element(struct rings *r, size_t k, const struct block *block, size_t n)
{
    r->flow->recv_gap[k] = block->recv_gap[n];
    r->flow->send_gap[k] = block->send_gap[n];
    r->flow->cpu[k] = block->sent[1][n];
    r->sent_next[0][k] = block->sent[0][n];
    r->sent_next[1][k] = block->sent[1][n];
}

/* Some elements meet a detour, unless it was over before their work began. */
static void keep_some(struct rings *r, size_t first, struct block *block)
{
    struct iwi_flow *flow = r->flow;

    iwi_flow_seek(flow, first, flow->next_detour + first, block->served, BLOCK);
    for (size_t n = 0; n < BLOCK; n++) {
        if (flow->next_detour[first + n] < block->sent[1][n]) {
            pass_element(r, first + n, true, true);
        } else {
            keep_element(r, first + n, block, n);
        }
    }
}

IWI_VECTOR_VERSIONS static void pass_blocks(struct rings *r, size_t count)
{
    struct block block;

    for (size_t k = 0; k + BLOCK <= count; k += BLOCK) {
        if (compute_block(r, k, &block)) {
            for (size_t n = 0; n < BLOCK; n++) {
                keep_element(r, k + n, &block, n);
            }
        } else {
            keep_some(r, k, &block);
        }
    }
}

static void swap(iw_time **a, iw_time **b)
{
    iw_time *kept = *a;

    *a = *b;
    *b = kept;
}

static void pass_all(struct rings *r, bool has_receive, bool has_send)
{
    const bool is_whole = has_receive && has_send;

    if (is_whole) {
        pass_blocks(r, r->flow->count);
    }
    for (size_t k = is_whole ? r->flow->count / BLOCK * BLOCK : 0; k < r->flow->count; k++) {
        pass_element(r, k, has_receive, has_send);
    }
    for (size_t way = 0; way < WAYS; way++) {
        swap(&r->sent[way], &r->sent_next[way]);
    }
}

/* ---- all rounds ---- */

static void release(struct rings *r)
{
    for (size_t way = 0; way < WAYS; way++) {
        free(r->from[way]);
        free(r->in.cpu[way]);
        free(r->in.gap[way]);
        free(r->in.wire[way]);
        free(r->out.cpu[way]);
        free(r->out.gap[way]);
        free(r->out.wire[way]);
        free(r->sent[way]);
        free(r->sent_next[way]);
    }
    free(r->reduce);
}

static iw_status allocate(struct rings *r)
{
    const iw_log *log = r->flow->log;
    const size_t count = r->flow->count;
    bool is_there = true;

    r->reduce = iwi_new_array(log, count, sizeof *r->reduce);
    is_there = r->reduce != NULL;
    for (size_t way = 0; way < WAYS && is_there; way++) {
        iw_time **arrays[] = {&r->in.cpu[way],  &r->in.gap[way],   &r->in.wire[way], &r->out.cpu[way],
                              &r->out.gap[way], &r->out.wire[way], &r->sent[way],    &r->sent_next[way]};

        r->from[way] = iwi_new_array(log, count, sizeof *r->from[way]);
        is_there = r->from[way] != NULL;
        for (size_t k = 0; k < sizeof arrays / sizeof arrays[0] && is_there; k++) {
            *arrays[k] = iwi_new_array(log, count, sizeof(iw_time));
            is_there = *arrays[k] != NULL;
        }
    }
    return is_there ? iwi_flow_reserve_scratch(r->flow, WAYS) : IW_ERR_NOMEM;
}

static iw_status run_rounds(struct rings *r)
{
    const uint64_t rounds = r->op->algorithm->round_count(r->op);

    for (uint64_t pass = 0; pass <= rounds; pass++) {
        if (pass > 0) {
            look_up_changed(r, pass - 1, true);
        }
        if (pass < rounds) {
            look_up_changed(r, pass, false);
        }
        pass_all(r, pass > 0, pass < rounds);
        IW_TRY(iwi_tick(r->flow->job->ticker, pass > 0 ? 1 : 0));
    }
    return IW_OK;
}

iw_status iwi_flow_node_rings(struct iwi_flow *flow, const struct iwi_operation *op)
{
    struct rings r = {.flow = flow, .op = op, .map = iwi_node_map_of(op)};
    iw_status status = allocate(&r);

    if (status == IW_OK) {
        status = run_rounds(&r);
    }
    release(&r);
    return status;
}
