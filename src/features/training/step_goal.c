/* Steps of a plan as a graph for GOAL, operation by operation as step_run.c evaluates them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All times are calcs; messages are signals of one byte, for a network on which they take no time. CPUs of a
 * rank: 0 host, 1 to 3 the lanes, 4 signals, from 5 on messages between stages that are under way.
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/noise/node_speed.h"
#include "core/program/program.h"
#include "features/training/step_run.h"

struct iwi_graph_rank {
    struct iwi_node *nodes;
    uint64_t *first_dep; /* of each node */
    uint32_t *deps;
    size_t node_room, first_room, dep_room;
    uint32_t count;
    size_t dep_count;
};

struct iwi_step_graph {
    const iw_log *log;
    uint32_t ranks, next_tag;
    struct iwi_graph_rank *rank;
    iw_status status; /* the first failure; nothing is added after it */
};

/* No node: what needs it needs nothing. */
#define IWI_NO_NODE UINT32_MAX

/* Schedules that grow rank by rank. */

static iw_status step_graph_init(const iw_log *log, uint32_t ranks, struct iwi_step_graph *all)
{
    *all = (struct iwi_step_graph){.log = log, .ranks = ranks};
    all->rank = iwi_new_array(log, ranks, sizeof *all->rank);
    return all->rank != NULL ? IW_OK : IW_ERR_NOMEM;
}

static void step_graph_release(struct iwi_step_graph *all)
{
    for (uint32_t i = 0; all->rank != NULL && i < all->ranks; i++) {
        free(all->rank[i].nodes);
        free(all->rank[i].first_dep);
        free(all->rank[i].deps);
    }
    free(all->rank);
    all->rank = NULL;
}

static iw_status make_room(const struct iwi_step_graph *all, struct iwi_graph_rank *rank, size_t deps)
{
    IW_TRY(iwi_grow(all->log, (void **)&rank->nodes, &rank->node_room, (size_t)rank->count + 1,
                    sizeof *rank->nodes));
    IW_TRY(iwi_grow(all->log, (void **)&rank->first_dep, &rank->first_room, (size_t)rank->count + 1,
                    sizeof *rank->first_dep));
    return iwi_grow(all->log, (void **)&rank->deps, &rank->dep_room, rank->dep_count + deps,
                    sizeof *rank->deps);
}

/* Adds a node that needs `count` others of its rank; returns its number. */
static uint32_t step_graph_add(struct iwi_step_graph *all, uint32_t rank, struct iwi_node node,
                               const uint32_t *needs, size_t count)
{
    struct iwi_graph_rank *at = &all->rank[rank];

    if (all->status == IW_OK) {
        all->status = make_room(all, at, count);
    }
    if (all->status != IW_OK) {
        return IWI_NO_NODE;
    }
    at->first_dep[at->count] = at->dep_count;
    for (size_t i = 0; i < count; i++) {
        if (needs[i] != IWI_NO_NODE) {
            at->deps[at->dep_count++] = needs[i];
        }
    }
    at->nodes[at->count] = node;
    return at->count++;
}

/* A calc on a CPU. */
static uint32_t step_graph_calc(struct iwi_step_graph *all, uint32_t rank, uint8_t cpu, iw_time ps,
                                const uint32_t *needs, size_t count)
{
    return step_graph_add(
        all, rank,
        (struct iwi_node){
            .kind = IWI_CALC, .flags = ps > 0 ? IWI_NODE_PHASE : 0, .cpu = cpu, .amount = (uint64_t)ps},
        needs, count);
}

/* A message of one byte that `from` sends after a node; returns its receive. */
static uint32_t step_graph_signal(struct iwi_step_graph *all, uint8_t cpu, uint32_t from, uint32_t after,
                                  uint32_t to)
{
    const uint32_t tag = all->next_tag++;

    (void)step_graph_add(all, from,
                         (struct iwi_node){.kind = IWI_SEND, .cpu = cpu, .peer = to, .tag = tag, .amount = 1},
                         &after, 1);
    return step_graph_add(
        all, to, (struct iwi_node){.kind = IWI_RECV, .cpu = cpu, .peer = from, .tag = tag, .amount = 1}, NULL,
        0);
}

static void lay_out(const struct iwi_step_graph *all, struct iwi_schedule *schedule)
{
    uint64_t node = 0, dep = 0;

    for (uint32_t r = 0; r < all->ranks; r++) {
        const struct iwi_graph_rank *from = &all->rank[r];

        schedule->first_node[r] = node;
        for (uint32_t i = 0; i < from->count; i++) {
            schedule->nodes[node + i] = from->nodes[i];
            schedule->first_dep[node + i] = dep + from->first_dep[i];
            if (from->nodes[i].cpu >= schedule->cpu_count) {
                schedule->cpu_count = (uint8_t)(from->nodes[i].cpu + 1);
            }
        }
        for (size_t i = 0; i < from->dep_count; i++) {
            schedule->deps[dep + i] = (struct iwi_dep){from->deps[i], false};
        }
        node += from->count;
        dep += from->dep_count;
    }
    schedule->first_node[all->ranks] = node;
    schedule->first_dep[node] = dep;
}

/* All of it as one schedule. */
static iw_status step_graph_finish(struct iwi_step_graph *all, struct iwi_schedule **schedule_p)
{
    uint64_t nodes = 0, deps = 0;

    if (all->status != IW_OK) {
        return all->status;
    }
    for (uint32_t r = 0; r < all->ranks; r++) {
        nodes += all->rank[r].count;
        deps += all->rank[r].dep_count;
    }
    IW_TRY(iwi_schedule_new(all->log, all->ranks, nodes, deps, schedule_p));
    lay_out(all, *schedule_p);
    return IW_OK;
}

enum { CPU_HOST, CPU_LANES, CPU_SIGNALS = CPU_LANES + IWI_LANES, CPU_HOPS, HOPS = 64 };

/* Graphs of more operations are refused. */
static const uint64_t MOST_OPS = UINT64_C(1) << 24;

struct writer {
    const struct iwi_train_plan *plan;
    int64_t *factors; /* of GPUs, or NULL */
    struct iwi_step_graph all;
    uint32_t width;
    uint32_t *host, *lanes[IWI_LANES]; /* the last node of each, by rank */
    uint32_t *ends;                    /* [stage][operation][i] */
    uint32_t *gathered;                /* [stage][bucket][i] */
    uint32_t *scratch;                 /* by rank: what a collective comes after, and then its end */
    uint32_t *members;
    uint32_t hop;
};

static uint32_t *end_of(const struct writer *w, uint32_t stage, uint32_t op)
{
    return w->ends + ((size_t)stage * w->plan->most_ops + op) * w->width;
}

static uint32_t *gathered_of(const struct writer *w, uint32_t stage, uint32_t bucket)
{
    return w->gathered + ((size_t)stage * w->plan->most_buckets + bucket) * w->width;
}

static uint32_t join(struct writer *w, uint32_t rank, uint8_t cpu, uint32_t a, uint32_t b)
{
    return step_graph_calc(&w->all, rank, cpu, 0, (uint32_t[]){a, b}, 2);
}

/* ---- collectives ---- */

/* The first member waits for all, spends the time, and lets all go on. w->scratch has their nodes. */
static void meet(struct writer *w, uint32_t count, uint8_t cpu, iw_time ps)
{
    const uint32_t first = w->members[0];
    uint32_t node = w->scratch[first];

    for (uint32_t k = 1; k < count; k++) {
        const uint32_t rank = w->members[k];
        const uint32_t got = step_graph_signal(&w->all, CPU_SIGNALS, rank, w->scratch[rank], first);

        node = join(w, first, CPU_SIGNALS, node, got);
    }
    node = step_graph_calc(&w->all, first, cpu, ps, &node, 1);
    w->scratch[first] = node;
    for (uint32_t k = 1; k < count; k++) {
        w->scratch[w->members[k]] = step_graph_signal(&w->all, CPU_SIGNALS, first, node, w->members[k]);
    }
}

/* All groups of `size` ranks, `stride` apart, of a stage. */
static void meet_groups(struct writer *w, uint32_t stage, uint32_t size, uint32_t stride, uint8_t cpu,
                        iw_time ps)
{
    for (uint32_t block = 0; block < w->width; block += size * stride) {
        for (uint32_t i = block; i < block + stride; i++) {
            for (uint32_t k = 0; k < size; k++) {
                w->members[k] = stage * w->width + i + k * stride;
            }
            meet(w, size, cpu, ps);
        }
    }
}

/* ---- operations ---- */

/* The arrival of its input from another stage. */
static uint32_t arrival(struct writer *w, const struct iwi_train_op *op, uint32_t stage, uint32_t i)
{
    const uint32_t from = op->input_stage * w->width + i, to = stage * w->width + i;
    uint32_t got;

    if (op->input == 0) {
        return IWI_NO_NODE;
    }
    got = end_of(w, op->input_stage, op->input - 1)[i];
    if (from != to) {
        got = step_graph_signal(&w->all, CPU_SIGNALS, from, got, to);
    }
    return step_graph_calc(&w->all, to, (uint8_t)(CPU_HOPS + w->hop % HOPS), op->hop_ps, &got, 1);
}

/* Everything up to the collective, on one rank. */
static uint32_t add_op(struct writer *w, uint32_t stage, const struct iwi_train_op *op, uint32_t i)
{
    const struct iwi_train_plan *plan = w->plan;
    const uint32_t rank = stage * w->width + i;
    const bool has_host = plan->has_launches && op->launches > 0;
    const iw_time work = w->factors != NULL ? iwi_scaled_work(op->work_ps, w->factors[rank]) : op->work_ps;
    const iw_time last = has_host && op->launches > 1 ? work / op->launches : 0;
    uint32_t node, launched = IWI_NO_NODE;

    node =
        step_graph_calc(&w->all, rank, CPU_SIGNALS, 0,
                        (uint32_t[]){w->lanes[op->lane][rank], arrival(w, op, stage, i),
                                     op->after > 0 ? end_of(w, stage, op->after - 1)[i] : IWI_NO_NODE,
                                     op->bucket > 0 ? gathered_of(w, stage, op->bucket - 1)[i] : IWI_NO_NODE},
                        4);
    if (has_host) {
        const uint32_t behind =
            op->queued_behind > 0 ? end_of(w, stage, op->queued_behind - 1)[i] : IWI_NO_NODE;

        w->host[rank] =
            step_graph_calc(&w->all, rank, CPU_HOST, plan->launch_ps,
                            (uint32_t[]){w->host[rank], behind, op->host_waits ? node : IWI_NO_NODE}, 3);
        node = join(w, rank, CPU_SIGNALS, node, w->host[rank]);
        if (op->launches > 1) {
            w->host[rank] = step_graph_calc(&w->all, rank, CPU_HOST, (op->launches - 1) * plan->launch_ps,
                                            &w->host[rank], 1);
            launched = w->host[rank];
        }
    }
    node = step_graph_calc(&w->all, rank, (uint8_t)(CPU_LANES + op->lane), work - last, &node, 1);
    return last > 0 ? step_graph_calc(&w->all, rank, (uint8_t)(CPU_LANES + op->lane), last,
                                      (uint32_t[]){node, launched}, 2)
                    : node;
}

static void add_turn(struct writer *w, const struct iwi_train_turn *turn)
{
    const struct iwi_train_plan *plan = w->plan;
    const struct iwi_train_op *op = &plan->stages[turn->stage].ops[turn->op];
    const struct iwi_train_members members = iwi_train_members(plan, op->group);
    const uint32_t base = turn->stage * w->width;

    w->hop += op->input > 0;
    for (uint32_t i = 0; i < w->width; i++) {
        w->scratch[base + i] = add_op(w, turn->stage, op, i);
    }
    if (op->group != IWI_ALONE) {
        meet_groups(w, turn->stage, members.size, members.stride, (uint8_t)(CPU_LANES + op->lane),
                    op->collective_ps);
    }
    for (uint32_t i = 0; i < w->width; i++) {
        end_of(w, turn->stage, turn->op)[i] = w->lanes[op->lane][base + i] = w->scratch[base + i];
    }
}

/* ---- the tail ---- */

static void reduce(struct writer *w, uint32_t stage, enum iwi_lane lane, const uint32_t *ready, iw_time ps)
{
    const uint32_t base = stage * w->width;

    for (uint32_t i = 0; i < w->width; i++) {
        w->scratch[base + i] = join(w, base + i, CPU_SIGNALS, w->lanes[lane][base + i], ready[i]);
    }
    meet_groups(w, stage, w->plan->cp * w->plan->dp, w->plan->tp, (uint8_t)(CPU_LANES + lane), ps);
    for (uint32_t i = 0; i < w->width; i++) {
        w->lanes[lane][base + i] = w->scratch[base + i];
    }
}

static void join_lanes(struct writer *w, enum iwi_lane to, enum iwi_lane from)
{
    for (uint32_t r = 0; r < w->all.ranks; r++) {
        w->lanes[to][r] = join(w, r, CPU_SIGNALS, w->lanes[to][r], w->lanes[from][r]);
    }
}

static void reduce_gradients(struct writer *w)
{
    const struct iwi_train_plan *plan = w->plan;

    for (uint32_t s = 0; s < plan->pp; s++) {
        for (uint32_t k = 0; k < plan->stages[s].bucket_count; k++) {
            const struct iwi_bucket *bucket = &plan->stages[s].buckets[k];

            reduce(w, s, IWI_LANE_REDUCE, end_of(w, s, bucket->ready), bucket->reduce_ps);
        }
    }
    join_lanes(w, IWI_LANE_COMPUTE, IWI_LANE_REDUCE);
}

static void add_embedding(struct writer *w)
{
    uint32_t *compute = w->lanes[IWI_LANE_COMPUTE];

    for (uint32_t i = 0; w->plan->is_tied && i < w->width; i++) {
        const uint32_t last = (w->plan->pp - 1) * w->width + i;

        w->members[0] = i;
        w->members[1] = last;
        w->scratch[i] = compute[i];
        w->scratch[last] = compute[last];
        meet(w, 2, CPU_LANES, w->plan->embedding_ps);
        compute[i] = w->scratch[i];
        compute[last] = w->scratch[last];
    }
}

static void update(struct writer *w)
{
    const struct iwi_train_plan *plan = w->plan;
    uint32_t *compute = w->lanes[IWI_LANE_COMPUTE];

    for (uint32_t r = 0; r < w->all.ranks; r++) {
        w->members[r] = r;
        w->scratch[r] = compute[r];
    }
    meet(w, w->all.ranks, CPU_LANES, plan->norm_ps);
    for (uint32_t r = 0; r < w->all.ranks; r++) {
        const iw_time work =
            w->factors != NULL ? iwi_scaled_work(plan->optimizer_ps, w->factors[r]) : plan->optimizer_ps;
        uint32_t node = w->scratch[r];

        if (plan->has_launches) {
            node = w->host[r] = step_graph_calc(&w->all, r, CPU_HOST, plan->launch_ps,
                                                (uint32_t[]){w->host[r], w->scratch[r]}, 2);
        }
        compute[r] = step_graph_calc(&w->all, r, CPU_LANES, work, &node, 1);
    }
}

static void gather_parameters(struct writer *w)
{
    const struct iwi_train_plan *plan = w->plan;

    for (uint32_t s = 0; s < plan->pp; s++) {
        for (uint32_t k = plan->stages[s].bucket_count; k-- > 0;) {
            reduce(w, s, IWI_LANE_GATHER, w->lanes[IWI_LANE_COMPUTE] + (size_t)s * w->width,
                   plan->stages[s].buckets[k].gather_ps);
            for (uint32_t i = 0; i < w->width; i++) {
                gathered_of(w, s, k)[i] = w->lanes[IWI_LANE_GATHER][(size_t)s * w->width + i];
            }
        }
    }
    if (!plan->overlaps_parameters) {
        join_lanes(w, IWI_LANE_COMPUTE, IWI_LANE_GATHER);
    }
    if (plan->couples_dp) {
        join_lanes(w, IWI_LANE_GATHER, IWI_LANE_COMPUTE);
    }
}

/* ---- all ---- */

static uint32_t *new_nodes(const iw_log *log, size_t count)
{
    uint32_t *nodes = iwi_new_array(log, count, sizeof *nodes);

    for (size_t i = 0; nodes != NULL && i < count; i++) {
        nodes[i] = IWI_NO_NODE;
    }
    return nodes;
}

static iw_status write_steps(const iw_log *log, struct writer *w, uint32_t steps,
                             struct iwi_schedule **schedule_p)
{
    const struct iwi_train_plan *plan = w->plan;
    const uint32_t ranks = plan->pp * w->width;

    IW_TRY(step_graph_init(log, ranks, &w->all));
    for (int lane = 0; lane < IWI_LANES; lane++) {
        w->lanes[lane] = new_nodes(log, ranks);
    }
    w->host = new_nodes(log, ranks);
    w->scratch = new_nodes(log, ranks);
    w->members = new_nodes(log, ranks);
    w->ends = new_nodes(log, (size_t)ranks * plan->most_ops);
    w->gathered = new_nodes(log, (size_t)ranks * plan->most_buckets);
    if (w->lanes[0] == NULL || w->lanes[1] == NULL || w->lanes[2] == NULL || w->host == NULL ||
        w->scratch == NULL || w->members == NULL || w->ends == NULL || w->gathered == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t step = 0; step < steps; step++) {
        for (uint64_t i = 0; i < plan->turn_count; i++) {
            add_turn(w, &plan->turns[i]);
        }
        reduce_gradients(w);
        add_embedding(w);
        update(w);
        gather_parameters(w);
    }
    return step_graph_finish(&w->all, schedule_p);
}

static void release(struct writer *w)
{
    step_graph_release(&w->all);
    for (int lane = 0; lane < IWI_LANES; lane++) {
        free(w->lanes[lane]);
    }
    free(w->host);
    free(w->factors);
    free(w->scratch);
    free(w->members);
    free(w->ends);
    free(w->gathered);
}

static iw_status check(const iw_log *log, const iw_training *spec, const struct iwi_train_plan *plan,
                       uint32_t steps)
{
    if (spec->load_ps > 0 || spec->forward_sigma > 0 || spec->backward_sigma > 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "a graph has no loaders and no random lengths: leave out 'load' and the sigmas");
    }
    if (plan->turn_count * plan->tp * plan->cp * plan->dp * steps > MOST_OPS) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "%" PRIu64 " operations per replica are too many for a graph of messages: use fewer "
                        "GPUs or steps, or detail chunk",
                        plan->turn_count);
    }
    return IW_OK;
}

/* Those of the first trial. */
static iw_status draw_factors(const iw_log *log, const iw_training *spec, uint64_t seed, struct writer *w)
{
    iw_node_speeds *speeds;
    iw_status status;

    if (spec->slow[0] == '\0') {
        return IW_OK;
    }
    IW_TRY(iw_node_speeds_new(log, spec->slow, 1, &speeds));
    status = iwi_node_factors(log, speeds, w->width * spec->pp, seed, 0, 0, &w->factors);
    iw_node_speeds_free(speeds);
    return status;
}

iw_status iw_training_program(const iw_log *log, const iw_training *spec, uint32_t steps, uint64_t seed,
                              iw_program **program_p)
{
    iw_training own = *spec;
    struct writer w = {.width = spec->tp * spec->cp * spec->dp};
    struct iwi_train_plan *plan = NULL;
    struct iwi_schedule *schedule = NULL;
    iw_status status = iwi_training_settle(log, &own);

    own.source_count = 0;
    if (status == IW_OK) {
        status = iwi_train_plan_new(log, &own, &plan);
    }
    if (status == IW_OK) {
        status = check(log, &own, plan, steps);
    }
    if (status == IW_OK) {
        status = draw_factors(log, &own, seed, &w);
    }
    if (status == IW_OK) {
        w.plan = plan;
        status = write_steps(log, &w, steps, &schedule);
    }
    release(&w);
    iwi_train_plan_free(plan);
    return status == IW_OK ? iwi_program_from_schedule(log, schedule, program_p) : status;
}
