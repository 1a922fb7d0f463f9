/* Graphs by passes over their ranks: each rank runs as far as it can with the messages that are known.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What a rank does follows from the arrivals of its messages alone. A rank that gets a message later than it
 * should have had it, or with another arrival, runs again from its beginning. When no arrival changes any
 * more, all of them are right: a message arrives later than its send starts, so the earliest wrong one would
 * be sent by a rank that had all it needed.
 */
#include <idlewave/time.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/heap.h"
#include "core/net/cost.h"
#include "core/noise/cores.h"
#include "core/sim/engine.h"
#include "core/sim/graph/graph.h"
#include "core/sim/window/window_plan.h"

struct event {
    iw_time time;
    uint64_t what;
};

/* An operation (a node within its rank) is ready for the CPU. */
static uint64_t ready_event(uint32_t node)
{
    return UINT64_C(1) << 63 | node;
}

/* A receive is posted, before the CPU takes anything at that instant. */
static uint64_t post_event(uint32_t node)
{
    return node;
}

static bool is_ready(const struct event *event)
{
    return event->what >> 63 != 0;
}

static bool is_before(const struct event *a, const struct event *b)
{
    return a->time < b->time || (a->time == b->time && a->what < b->what);
}

IWI_HEAP(events, event, is_before)

/* CPUs of the ranks of a graph, and the noise that they meet. */

/* Of one rank. */
struct graph_cpu {
    iw_time free;               /* from then on */
    iw_time next_detour;        /* as struct iwi_flow has it */
    iw_time send_gap, recv_gap; /* of its first NIC: free from then on */
};

/* What all ranks share, and what few need. */
struct graph_cpus {
    const struct iwi_job *job;
    size_t words; /* of noise state per stream */
    int64_t *noise_words;
    uint32_t cores; /* of a rank: K */
    iw_time *other_next;
    int64_t *other_words;
    uint32_t more_nics;
    iw_time *more_gaps; /* send and receive, of the other NICs of each rank */
    bool is_too_late;
};

static inline __attribute__((always_inline)) iw_time graph_finish_message(struct graph_cpus *cpus,
                                                                          uint32_t rank,
                                                                          struct graph_cpu *cpu, iw_time t,
                                                                          iw_time d, iw_time touch);
static inline __attribute__((always_inline)) iw_time *graph_gap(struct graph_cpus *cpus, uint32_t rank,
                                                                struct graph_cpu *cpu, uint8_t nic,
                                                                bool is_recv);
static iw_time graph_finish_hit(struct graph_cpus *cpus, uint32_t rank, struct graph_cpu *cpu, iw_time t,
                                iw_time d);

static inline __attribute__((always_inline)) iw_time graph_finish(struct graph_cpus *cpus, uint32_t rank,
                                                                  struct graph_cpu *cpu, iw_time t, iw_time d)
{
    const iw_time end = t + d;

    return end > cpu->next_detour || end >= IWI_LATEST ? graph_finish_hit(cpus, rank, cpu, t, d) : end;
}

/* The part of a message; `touch` as in struct iwi_cost. */
static inline __attribute__((always_inline)) iw_time graph_finish_message(struct graph_cpus *cpus,
                                                                          uint32_t rank,
                                                                          struct graph_cpu *cpu, iw_time t,
                                                                          iw_time d, iw_time touch)
{
    return graph_finish(cpus, rank, cpu, t, d + touch) - touch;
}

/* The gap for sends, or for receives, of a NIC. */
static inline __attribute__((always_inline)) iw_time *graph_gap(struct graph_cpus *cpus, uint32_t rank,
                                                                struct graph_cpu *cpu, uint8_t nic,
                                                                bool is_recv)
{
    if (nic == 0) {
        return is_recv ? &cpu->recv_gap : &cpu->send_gap;
    }
    return &cpus->more_gaps[2 * ((size_t)rank * cpus->more_nics + nic - 1) + is_recv];
}

/* What there is of it is released on failure too. */
static iw_status graph_cpus_init(const iw_log *log, const struct iwi_job *job, struct graph_cpus *cpus)
{
    const size_t ranks = job->schedule->ranks;

    *cpus = (struct graph_cpus){.job = job,
                                .words = job->noise == NULL ? 0 : iwi_noise_words(job->noise),
                                .cores = job->noise == NULL ? 1 : iw_noise_cores_per_rank(job->noise),
                                .more_nics = job->schedule->nic_count - UINT32_C(1)};
    cpus->more_gaps = iwi_new_array(log, ranks * 2 * cpus->more_nics, sizeof *cpus->more_gaps);
    cpus->noise_words = iwi_new_array(log, ranks * cpus->words, sizeof *cpus->noise_words);
    cpus->other_next = iwi_new_array(log, ranks * (cpus->cores - 1), sizeof *cpus->other_next);
    cpus->other_words =
        iwi_new_array(log, ranks * (cpus->cores - 1) * cpus->words, sizeof *cpus->other_words);
    return cpus->more_gaps != NULL && cpus->noise_words != NULL && cpus->other_next != NULL &&
                   cpus->other_words != NULL
               ? IW_OK
               : IW_ERR_NOMEM;
}

static void graph_cpus_release(struct graph_cpus *cpus)
{
    free(cpus->more_gaps);
    free(cpus->noise_words);
    free(cpus->other_next);
    free(cpus->other_words);
}

static struct iwi_cores cores_of(struct graph_cpus *cpus, uint32_t rank, struct graph_cpu *cpu)
{
    const size_t others = (size_t)rank * (cpus->cores - 1);

    return (struct iwi_cores){.noise = cpus->job->noise,
                              .id = {cpus->job->seed, cpus->job->first_trial, rank * cpus->cores},
                              .words = cpus->noise_words + rank * cpus->words,
                              .next = &cpu->next_detour,
                              .other_words = cpus->other_words + others * cpus->words,
                              .other_next = cpus->other_next + others};
}

/* A rank as it is at time 0; it may have run before. */
static void graph_cpu_begin(struct graph_cpus *cpus, uint32_t rank, struct graph_cpu *cpu)
{
    *cpu = (struct graph_cpu){.next_detour = IWI_NEVER};
    if (cpus->more_nics > 0) {
        memset(cpus->more_gaps + (size_t)2 * rank * cpus->more_nics, 0,
               (size_t)2 * cpus->more_nics * sizeof *cpus->more_gaps);
    }
    if (cpus->job->noise != NULL) {
        const struct iwi_cores cores = cores_of(cpus, rank, cpu);

        iwi_cores_begin(&cores);
    }
}

/* The end of d of work that begins at t and meets a detour, or is too late. */
static iw_time graph_finish_hit(struct graph_cpus *cpus, uint32_t rank, struct graph_cpu *cpu, iw_time t,
                                iw_time d)
{
    const struct iwi_cores cores = cores_of(cpus, rank, cpu);
    const iw_time end = t + d > IWI_LATEST
                            ? IWI_LATEST
                            : iwi_finish(cpus->job->noise, cores.id, cores.words, cores.next, t, d, NULL);

    cpus->is_too_late |= end >= IWI_LATEST;
    return end;
}

/* The end of a compute phase (0 = first) of the rank that begins at t. */
static iw_time graph_phase(struct graph_cpus *cpus, uint32_t rank, struct graph_cpu *cpu, uint32_t phase,
                           iw_time t, iw_time amount)
{
    const struct iwi_job *job = cpus->job;
    const iw_time delay = job->has_delays ? iwi_program_delay(job->program, rank, phase + UINT64_C(1)) : 0;
    const iw_time work = iwi_job_work(job, rank, amount);
    const struct iwi_cores cores = cores_of(cpus, rank, cpu);
    iw_time extra = 0;

    if (cpus->cores > 1) {
        const iw_time end = iwi_cores_phase(&cores, phase, t, work, delay, NULL);

        cpus->is_too_late |= end >= IWI_LATEST;
        return end;
    }
    if (job->noise != NULL) {
        extra = iwi_noise_phase(job->noise, cores.id, cores.words, cores.next, phase, t, work, NULL);
    }
    return graph_finish(cpus, rank, cpu, t, delay + extra + work);
}

/* What passes over the ranks of a graph have to know before it runs; and which way a graph runs. */

enum { MOST_NODES = 1 << 30 };

/* ---- what passes cannot run ---- */

static iw_time least_cost(const iw_net_costs *costs)
{
    iw_time least = costs->o_send_ps + costs->L_ps;

    for (uint32_t i = 0; i < costs->segment_count; i++) {
        least = iwi_min(least, costs->segments[i].o_send_ps + costs->segments[i].L_ps);
    }
    return least;
}

/* From the start of a send to the arrival of its message, at least. */
static iw_time least_delay(const iw_net *net)
{
    iw_time least = least_cost(&net->costs);

    for (uint32_t i = 0; i < net->inner_count; i++) {
        least = iwi_min(least, least_cost(&net->inner[i].costs));
    }
    return least;
}

/* UINT64_MAX: all are on the first CPU. */
static uint64_t first_on_other_cpu(const struct iwi_schedule *schedule)
{
    const uint64_t count = schedule->cpu_count > 1 ? schedule->first_node[schedule->ranks] : 0;
    uint64_t node = 0;

    while (node < count && schedule->nodes[node].cpu == 0) {
        node++;
    }
    return node < count ? node : UINT64_MAX;
}

/* Of the whole graph. */
static struct iwi_graph_refusal refusal_of(const struct iwi_schedule *schedule, const iw_net *net)
{
    const uint64_t node_count = schedule->first_node[schedule->ranks];

    if (schedule->cpu_count > 1) {
        return (struct iwi_graph_refusal){"the graph uses several CPUs on a rank",
                                          first_on_other_cpu(schedule)};
    }
    if (least_delay(net) < 1) {
        return (struct iwi_graph_refusal){"messages of the graph may take no time: o and L are 0",
                                          UINT64_MAX};
    }
    if (node_count > MOST_NODES || schedule->first_dep[node_count] > UINT32_MAX) {
        return (struct iwi_graph_refusal){"the graph has more than 2^30 operations or 2^32 dependencies",
                                          UINT64_MAX};
    }
    return (struct iwi_graph_refusal){NULL, UINT64_MAX};
}

/* ---- successors ---- */

static void list_successors_of_rank(struct iwi_passes *passes, uint32_t rank)
{
    const struct iwi_schedule *schedule = passes->schedule;
    const uint64_t begin = schedule->first_node[rank], end = schedule->first_node[rank + 1];
    uint32_t *first = passes->first_successor + begin;
    uint32_t position = (uint32_t)schedule->first_dep[begin];

    memset(first, 0, (size_t)(end - begin) * sizeof *first);
    for (uint64_t d = schedule->first_dep[begin]; d < schedule->first_dep[end]; d++) {
        first[schedule->deps[d].node]++;
    }
    for (uint64_t node = 0; node < end - begin; node++) { /* from counts to ends */
        position += first[node];
        first[node] = position;
    }
    for (uint64_t node = end; node-- > begin;) { /* ends move down to starts */
        for (uint64_t d = schedule->first_dep[node + 1]; d-- > schedule->first_dep[node];) {
            const struct iwi_dep dep = schedule->deps[d];

            passes->successors[--first[dep.node]] = 2 * (uint32_t)(node - begin) + dep.is_start;
            passes->has_posting |= dep.is_start && schedule->nodes[begin + dep.node].kind == IWI_RECV;
        }
    }
}

/* ---- the whole ---- */

static iw_status fill(const iw_log *log, const iw_net *net, struct iwi_passes *passes,
                      struct iwi_graph_refusal *refusal)
{
    const struct iwi_schedule *schedule = passes->schedule;
    const size_t nodes = (size_t)schedule->first_node[schedule->ranks];
    const size_t deps = (size_t)schedule->first_dep[nodes];

    passes->largest_rank = (uint32_t)iwi_schedule_largest_rank(schedule);
    passes->partner_of = iwi_rank_array_new(log, nodes, sizeof *passes->partner_of);
    if (passes->partner_of == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iwi_passes_match(log, net, passes, refusal));
    if (refusal->why != NULL) {
        return IW_OK;
    }
    passes->first_successor = iwi_rank_array_new(log, nodes + 1, sizeof *passes->first_successor);
    passes->successors = iwi_rank_array_new(log, deps, sizeof *passes->successors);
    if (passes->first_successor == NULL || passes->successors == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        list_successors_of_rank(passes, rank);
    }
    passes->first_successor[nodes] = (uint32_t)deps;
    return IW_OK;
}

iw_status iwi_passes_new(const iw_log *log, const struct iwi_schedule *schedule, const iw_net *net,
                         struct iwi_graph_refusal *refusal, struct iwi_passes **passes_p)
{
    struct iwi_passes *passes = NULL;
    iw_status status = IW_OK;

    *refusal = refusal_of(schedule, net);
    if (refusal->why == NULL) {
        passes = iwi_new_array(log, 1, sizeof *passes);
        if (passes == NULL) {
            return IW_ERR_NOMEM;
        }
        passes->schedule = schedule;
        status = fill(log, net, passes, refusal);
    }
    if (status != IW_OK || refusal->why != NULL) {
        iwi_passes_free(passes);
        passes = NULL;
    }
    if (status == IW_OK) {
        *passes_p = passes;
    }
    return status;
}

void iwi_passes_free(struct iwi_passes *passes)
{
    if (passes != NULL) {
        free(passes->partner_of);
        free(passes->first_successor);
        free(passes->successors);
        free(passes);
    }
}

/* ---- which way ---- */

iw_status iwi_graph_new(const iw_log *log, const struct iwi_schedule *schedule, const iw_net *net,
                        struct iwi_graph_refusal *refusal, struct iwi_graph **graph_p)
{
    struct iwi_passes *passes = NULL;
    struct iwi_graph *graph = NULL;

    IW_TRY(iwi_passes_new(log, schedule, net, refusal, &passes));
    if (passes != NULL) {
        graph = iwi_new_array(log, 1, sizeof *graph);
        if (graph == NULL) {
            iwi_passes_free(passes);
            return IW_ERR_NOMEM;
        }
        graph->schedule = schedule;
        graph->passes = passes;
        (void)pthread_mutex_init(&graph->lock, NULL);
    }
    *graph_p = graph;
    return IW_OK;
}

void iwi_graph_free(struct iwi_graph *graph)
{
    if (graph != NULL) {
        iwi_passes_free(graph->passes);
        iwi_window_plan_free(graph->window);
        (void)pthread_mutex_destroy(&graph->lock);
        free(graph);
    }
}

static iw_status need_window(const iw_log *log, const struct iwi_job *job, struct iwi_graph *graph)
{
    iw_status status = IW_OK;

    (void)pthread_mutex_lock(&graph->lock);
    if (graph->window == NULL) {
        status = iwi_window_plan_new(log, graph->schedule, job->net, job->rendezvous, &graph->window);
    }
    (void)pthread_mutex_unlock(&graph->lock);
    return status;
}

/* Windows take whatever passes can begin. */
iw_status iwi_graph_run(const iw_log *log, const struct iwi_job *job, struct iwi_graph *graph)
{
    bool is_done = false;

    IW_TRY(iwi_passes_run(log, job, graph->passes, &is_done));
    if (is_done) {
        return IW_OK;
    }
    IW_TRY(need_window(log, job, graph));
    return iwi_window_run(log, job, graph->window);
}

#define STEP static inline __attribute__((always_inline))

/* What `open` of a node says beside a number of dependences. */
#define DONE UINT32_MAX
#define PENDING \
    (UINT32_C(1) << 31) /* a posted receive whose message has come: + the next one of these, + 1 */

/* All nodes may be run so many times, on average. */
enum { MOST_RUNS = 12 };

struct pass_rank {
    struct graph_cpu cpu;
    iw_time last;     /* when what the CPU took last was ready; -1: nothing was taken */
    uint32_t pending; /* the first of its receives that are PENDING, + 1; 0: there is none */
    uint32_t done;    /* nodes */
    bool is_stale;    /* it has to run again from its beginning */
};

struct pass_run {
    const struct iwi_passes *passes;
    const struct iwi_schedule *schedule;
    struct graph_cpus cpus;
    struct pass_rank *ranks;
    iw_time *time;         /* of nodes: what they require is there from then on; of receives: the arrival of
                              the message, 0: not known */
    iw_time *posted;       /* of receives that have dependences: what these require is there from then on */
    uint32_t *open;        /* of nodes: dependences that are not satisfied */
    uint64_t *has_turn;    /* a bit for each rank */
    uint32_t first, last;  /* no words of has_turn before, and none after, have bits set */
    uint32_t fresh;        /* ranks from here on have not run yet */
    uint64_t done, served; /* nodes; those that ran again count again in `served` */
    struct event *queue;
    size_t queued;
    uint64_t cost_bytes[IW_NET_INNER_MAX + 1]; /* of costs: by level, of the last message */
    struct iwi_cost costs[IW_NET_INNER_MAX + 1];
};

/* The rank at work. */
struct pass_here {
    struct pass_rank *rank;
    uint32_t number;
    uint64_t first; /* node */
};

STEP void give_turn(struct pass_run *run, uint32_t rank)
{
    const uint32_t word = rank / 64;

    run->has_turn[word] |= UINT64_C(1) << rank % 64;
    run->first = word < run->first ? word : run->first;
    run->last = word > run->last ? word : run->last;
}

STEP void push(struct pass_run *run, iw_time time, uint64_t what)
{
    events_put(run->queue, run->queued++, (struct event){time, what});
}

/* ---- messages ---- */

STEP const struct iwi_cost *cost_of(struct pass_run *run, uint32_t rank, const struct iwi_node *op)
{
    const uint32_t level = iwi_level_between(&run->cpus.job->levels, rank, op->peer);

    if (run->cost_bytes[level] != op->amount) {
        run->cost_bytes[level] = op->amount;
        run->costs[level] = iwi_cost_at(run->cpus.job->net, level, op->amount);
    }
    return &run->costs[level];
}

/* The arrival of a message is known, or has changed. */
STEP void deliver(struct pass_run *run, uint32_t to, uint32_t recv, iw_time arrival)
{
    const iw_time known = run->time[recv];

    if (known == arrival) {
        return;
    }
    run->time[recv] = arrival;
    if (to >= run->fresh) {
        return;
    }
    if (known != 0) {
        run->ranks[to].is_stale = true;
        give_turn(run, to);
    } else if (run->open[recv] == 0) {
        run->open[recv] = PENDING | run->ranks[to].pending;
        run->ranks[to].pending = (uint32_t)(recv - run->schedule->first_node[to]) + 1;
        give_turn(run, to);
    }
}

/* ---- dependences ---- */

/* What a node requires is there. Others may wait for the posting of a receive. */
STEP void become_ready(struct pass_run *run, const struct pass_here *here, uint32_t local, iw_time time)
{
    const uint64_t node = here->first + local;

    if (run->schedule->nodes[node].kind != IWI_RECV) {
        push(run, time, ready_event(local));
        return;
    }
    const iw_time arrival = run->time[node];

    if (arrival != 0) {
        push(run, iwi_max(time, arrival), ready_event(local));
    }
    if (run->passes->has_posting) {
        push(run, time, post_event(local));
    }
}

/* The start, or the end, of a node lets others go. */
STEP void let_go(struct pass_run *run, const struct pass_here *here, uint32_t local, bool is_start,
                 iw_time time)
{
    const struct iwi_passes *passes = run->passes;
    const uint32_t end = passes->first_successor[here->first + local + 1];

    for (uint32_t i = passes->first_successor[here->first + local]; i < end; i++) {
        const uint32_t next = passes->successors[i] / 2;
        const uint64_t node = here->first + next;

        if ((passes->successors[i] & 1) == is_start) {
            iw_time *there =
                run->schedule->nodes[node].kind == IWI_RECV ? &run->posted[node] : &run->time[node];
            const iw_time ready = iwi_max(*there, time);

            *there = ready;
            if (--run->open[node] == 0) {
                become_ready(run, here, next, ready);
            }
        }
    }
}

/* ---- operations ---- */

STEP iw_time delay_of(const struct pass_run *run, const struct pass_here *here, uint64_t node,
                      const struct iwi_cost *cost, iw_time sent)
{
    const struct iwi_job *job = run->cpus.job;
    struct iwi_leaving leaving;

    if (job->net_noise == NULL) {
        return 0;
    }
    leaving = (struct iwi_leaving){sent, job->send_numbers[node], here->number,
                                   job->schedule->nodes[node].peer, IWI_CARRIED_DATA};
    return iwi_job_delay(job, job->first_trial, cost->inner, &leaving);
}

STEP void send(struct pass_run *run, const struct pass_here *here, uint32_t local, iw_time t)
{
    const uint64_t node = here->first + local;
    const struct iwi_node *op = &run->schedule->nodes[node];
    const struct iwi_cost *cost = cost_of(run, here->number, op);
    struct graph_cpu *cpu = &here->rank->cpu;
    iw_time *gap = graph_gap(&run->cpus, here->number, cpu, op->nic, false);
    const iw_time start = iwi_max(t, *gap);

    *gap = start + cost->gap;
    cpu->free = graph_finish_message(&run->cpus, here->number, cpu, start, cost->send_cpu, cost->send_touch);
    deliver(run, op->peer, run->passes->partner_of[node],
            cpu->free + cost->wire + delay_of(run, here, node, cost, cpu->free));
    let_go(run, here, local, true, start);
}

STEP void receive(struct pass_run *run, const struct pass_here *here, uint32_t local, iw_time t)
{
    const struct iwi_node *op = &run->schedule->nodes[here->first + local];
    const struct iwi_cost *cost = cost_of(run, here->number, op);
    struct graph_cpu *cpu = &here->rank->cpu;
    iw_time *gap = graph_gap(&run->cpus, here->number, cpu, op->nic, true);
    const iw_time start = iwi_max(t, *gap);

    *gap = start + cost->gap;
    cpu->free = graph_finish_message(&run->cpus, here->number, cpu, start, cost->recv_cpu, cost->recv_touch);
}

STEP void calculate(struct pass_run *run, const struct pass_here *here, uint32_t local, iw_time t)
{
    const uint64_t node = here->first + local;
    const struct iwi_node *op = &run->schedule->nodes[node];
    struct graph_cpu *cpu = &here->rank->cpu;

    cpu->free = (op->flags & IWI_NODE_PHASE) != 0
                    ? graph_phase(&run->cpus, here->number, cpu, run->passes->partner_of[node], t,
                                  (iw_time)op->amount)
                    : graph_finish(&run->cpus, here->number, cpu, t, (iw_time)op->amount);
    let_go(run, here, local, true, t);
}

/* The CPU takes the operation, which has been ready since `ready`. */
STEP void serve(struct pass_run *run, const struct pass_here *here, uint32_t local, iw_time ready)
{
    struct pass_rank *rank = here->rank;
    const iw_time t = iwi_max(rank->cpu.free, ready);

    rank->last = ready;
    rank->done++;
    run->open[here->first + local] = DONE;
    switch (run->schedule->nodes[here->first + local].kind) {
    case IWI_SEND: send(run, here, local, t); break;
    case IWI_RECV: receive(run, here, local, t); break;
    default: calculate(run, here, local, t); break;
    }
    let_go(run, here, local, false, rank->cpu.free);
}

/* ---- ranks ---- */

/* The rank begins, or begins again, with all messages that are known. */
static void begin(struct pass_run *run, const struct pass_here *here)
{
    const struct iwi_schedule *schedule = run->schedule;
    const uint32_t count = (uint32_t)(schedule->first_node[here->number + 1] - here->first);
    const uint64_t *first_dep = schedule->first_dep + here->first;

    run->done -= here->rank->done;
    *here->rank = (struct pass_rank){.last = -1};
    graph_cpu_begin(&run->cpus, here->number, &here->rank->cpu);
    run->queued = 0;
    for (uint32_t local = 0; local < count; local++) {
        const uint8_t kind = schedule->nodes[here->first + local].kind;

        run->open[here->first + local] = (uint32_t)(first_dep[local + 1] - first_dep[local]);
        if (kind == IWI_SEND) { /* where its message will be delivered */
            __builtin_prefetch(&run->time[run->passes->partner_of[here->first + local]], 1);
        }
        if (kind != IWI_RECV) {
            run->time[here->first + local] = 0;
        } else if (run->open[here->first + local] > 0) {
            run->posted[here->first + local] = 0;
        }
    }
    for (uint32_t local = 0; local < count; local++) {
        if (first_dep[local + 1] == first_dep[local]) {
            become_ready(run, here, local, 0);
        }
    }
}

/* Takes the receives whose messages have come. False if one of them would have been served before what was.
 */
static bool take_pending(struct pass_run *run, const struct pass_here *here)
{
    struct pass_rank *rank = here->rank;

    while (rank->pending != 0) {
        const uint32_t local = rank->pending - 1;
        const uint64_t node = here->first + local;
        const bool has_deps = run->schedule->first_dep[node + 1] > run->schedule->first_dep[node];
        const iw_time ready = iwi_max(has_deps ? run->posted[node] : 0, run->time[node]);

        if (ready <= rank->last) {
            return false;
        }
        rank->pending = run->open[node] & ~PENDING;
        run->open[node] = 0;
        push(run, ready, ready_event(local));
    }
    return true;
}

/* One rank, as far as it gets with what is known. */
static void run_rank(struct pass_run *run, uint32_t number)
{
    const struct pass_here here = {&run->ranks[number], number, run->schedule->first_node[number]};
    uint32_t before;

    run->queued = 0;
    if (number >= run->fresh || here.rank->is_stale || !take_pending(run, &here)) {
        run->fresh = number >= run->fresh ? number + 1 : run->fresh;
        begin(run, &here);
    }
    before = here.rank->done;
    while (run->queued > 0) {
        const struct event event = events_take(run->queue, run->queued--);

        if (is_ready(&event)) {
            serve(run, &here, (uint32_t)event.what, event.time);
        } else {
            let_go(run, &here, (uint32_t)event.what, true, event.time);
        }
    }
    run->done += here.rank->done - before;
    run->served += here.rank->done - before;
}

/* ---- the run ---- */

static bool goes_on(const struct pass_run *run)
{
    return run->served <= MOST_RUNS * run->schedule->first_node[run->schedule->ranks] &&
           !run->cpus.is_too_late;
}

/* The ranks of a word of has_turn, in their order; one that gets another turn meanwhile waits for the next
 * pass unless it is further on. */
static void pass_word(struct pass_run *run, uint32_t word)
{
    uint64_t ahead = UINT64_MAX;

    while ((run->has_turn[word] & ahead) != 0) {
        const uint32_t bit = (uint32_t)__builtin_ctzll(run->has_turn[word] & ahead);

        ahead = bit == 63 ? 0 : UINT64_MAX << (bit + 1);
        run->has_turn[word] &= ~(UINT64_C(1) << bit);
        run_rank(run, word * 64 + bit);
    }
}

/* From the first to the last rank that has a turn. */
static iw_status pass(struct pass_run *run)
{
    const uint64_t nodes = run->schedule->first_node[run->schedule->ranks];
    const uint32_t last = run->last;
    uint32_t word = run->first;

    run->first = UINT32_MAX;
    run->last = 0;
    for (; word <= iwi_max(last, run->last) && goes_on(run); word++) {
        pass_word(run, word);
        IW_TRY(iwi_tick_rarely(run->cpus.job->ticker, word, run->done, nodes));
    }
    return IW_OK;
}

static iw_status run_passes(struct pass_run *run, bool *is_done_p)
{
    const uint64_t nodes = run->schedule->first_node[run->schedule->ranks];

    for (uint32_t rank = 0; rank < run->schedule->ranks; rank++) {
        give_turn(run, rank);
    }
    while (run->first != UINT32_MAX && goes_on(run)) {
        IW_TRY(pass(run));
    }
    *is_done_p = run->first == UINT32_MAX && run->done == nodes && !run->cpus.is_too_late;
    return IW_OK;
}

static iw_status allocate(const iw_log *log, const struct iwi_job *job, struct pass_run *run)
{
    const size_t ranks = run->schedule->ranks, nodes = (size_t)run->schedule->first_node[ranks];

    IW_TRY(graph_cpus_init(log, job, &run->cpus));
    run->ranks = iwi_new_array(log, ranks, sizeof *run->ranks);
    run->time = iwi_rank_array_new(log, nodes, sizeof *run->time);
    run->open = iwi_rank_array_new(log, nodes, sizeof *run->open);
    run->posted = iwi_rank_array_new(log, nodes, sizeof *run->posted); /* mostly never touched */
    run->has_turn = iwi_new_array(log, ranks / 64 + 1, sizeof *run->has_turn);
    /* a receive may be in it twice: to be posted, and to be served */
    run->queue = iwi_new_array(log, (size_t)2 * run->passes->largest_rank, sizeof *run->queue);
    return run->ranks != NULL && run->time != NULL && run->open != NULL && run->posted != NULL &&
                   run->has_turn != NULL && run->queue != NULL
               ? IW_OK
               : IW_ERR_NOMEM;
}

iw_status iwi_passes_run(const iw_log *log, const struct iwi_job *job, const struct iwi_passes *passes,
                         bool *is_done_p)
{
    struct pass_run run = {.passes = passes, .schedule = passes->schedule, .first = UINT32_MAX};
    iw_status status = allocate(log, job, &run);

    for (size_t level = 0; level <= IW_NET_INNER_MAX; level++) {
        run.cost_bytes[level] = UINT64_MAX;
    }
    *is_done_p = false;
    if (status == IW_OK) {
        memset(run.time, 0, (size_t)passes->schedule->first_node[passes->schedule->ranks] * sizeof *run.time);
        status = run_passes(&run, is_done_p);
    }
    for (uint32_t rank = 0; *is_done_p && rank < passes->schedule->ranks; rank++) {
        job->end_ps[rank] = run.ranks[rank].cpu.free;
    }
    graph_cpus_release(&run.cpus);
    free(run.ranks);
    free(run.time);
    free(run.open);
    free(run.posted);
    free(run.has_turn);
    free(run.queue);
    return status;
}
