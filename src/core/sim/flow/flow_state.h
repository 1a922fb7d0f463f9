/* The state of the flow engine: arrays over ranks and lanes, element rank * lanes + lane.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_STATE_H
#define IWI_FLOW_STATE_H

#include <assert.h>

#include "core/base/rng.h"
#include "core/net/cost.h"
#include "core/noise/cores.h"
#include "core/noise/stream.h"
#include "core/sim/checkpoint/checkpoint.h"
#include "core/sim/engine.h"
#include "core/sim/flow/flow_paths.h"
#include "core/sim/step_watch.h"

struct iwi_stream;
struct iwi_pass_levels;
struct iwi_exchange;
struct iwi_replica_shares;
struct iwi_turn_plan;

/* The draws of neighbouring trials for one message: they come together. */
struct iwi_drawn_delays {
    uint64_t trials; /* number of the block of them */
    uint32_t rank, number;
    struct iwi_draw_block bits;
};

struct iwi_flow {
    const iw_log *log;
    const struct iwi_job *job;
    uint32_t first_rank, ranks; /* those evaluated here: a block of the program's, or all; 1 if all would do
                                   the same (is_alike) */
    uint32_t lanes, lane_shift; /* lanes == 1 << lane_shift */
    bool is_alike;
    const struct iwi_partition *partition; /* NULL: all ranks are here, also if is_alike */
    struct iwi_member *member;
    struct iwi_exchange *exchange;   /* with the other members; NULL without a partition */
    size_t count;                    /* ranks * lanes */
    iw_time *cpu;                    /* free from then on */
    iw_time *send_gap, *recv_gap;    /* free from then on; NULL if no gap ever counts */
    iw_time *next_detour;            /* start of the first detour that is not over; at most IWI_LATEST */
    iw_time *begun[IWI_DRAW_TRIALS]; /* next_detour of neighbouring trials at time 0; NULL but for [0] unless
                                        begun ahead */
    uint64_t begun_trial, begun_count; /* the first of them; how many: 0 or all */
    /* made when first used: */
    iw_time *posted_other; /* rendezvous in streaming rounds: what `posted` becomes */
    iw_time *left;         /* streaming rounds on a network with noise: when messages left */
    iw_time *other;        /* streaming rounds: what `cpu` becomes in a pass that cannot be made in place */
    struct iwi_stream *stream;           /* streaming rounds: room for working in the cache */
    struct iwi_pass_levels *pass_levels; /* the same, on networks with levels: IWI_PASS_LEVELS of them */
    /* traces with restart points: values of messages that cross the end of a segment, kept_bytes for each
     * replica of kept_base ranks; `kept` while a point is written, kept_found (owned) what one held */
    iw_time *kept, *kept_found;
    size_t kept_bytes;
    uint32_t kept_base;
    struct iwi_replica_shares *parts; /* traces on a partition: of replicas that are not all here */
    iw_time *slots;                   /* other rounds: the same for each send of a rank */
    iw_time *posted;                  /* rendezvous: when the receives of this round were posted */
    size_t slot_count;                /* ranks x sends of each */
    size_t words;                     /* of noise state per element */
    int64_t *noise_words;
    iw_time post_touch; /* as iwi_post_touch() */
    bool may_touch;     /* as iwi_net_may_touch(); false without noise */
    uint32_t cores;     /* of a rank: K */
    /* of the other K - 1 cores of each element, one core after the other; NULL: there are none */
    iw_time *other_next;
    int64_t *other_words;
    /* explaining only (lanes == 1): how each of the times above came about; of gaps, what begins them, and
     * what they add */
    struct iwi_paths *paths;
    uint32_t *cpu_path, *slot_path, *posted_path;
    uint32_t *left_path; /* made when first used: streaming rounds, of messages received */
    struct iwi_path_step *send_gap_path, *recv_gap_path;
    struct iwi_path_roots kept_paths[2]; /* of whoever runs the rounds: needed across them */
    /* scratch of one rank's part of a round */
    struct iwi_msg *sends, *recvs;
    struct iwi_arrival *arrivals;
    uint32_t fan;
    bool has_closed_form;      /* of its noise */
    struct iwi_position start; /* where the run begins; each number is set back to 0 by whoever went by it */
    struct iwi_position at;    /* how far it has come */
    bool is_first_operation;   /* nothing was sent before the operation that runs now */
    bool is_last_operation;    /* nothing comes after the operation that runs now */
    bool is_too_late;          /* some time passed IWI_LATEST and was cut there */
    uint32_t *sends_before;    /* of each element, so far; NULL: the network delays no messages */
    struct iwi_drawn_delays drawn;
    struct iwi_step_watch watch; /* watch.open is NULL unless steps are wanted; lanes == 1 then */
    /* by level: the costs of the size used last */
    uint64_t cost_bytes[IW_NET_INNER_MAX + 1];
    struct iwi_cost costs[IW_NET_INNER_MAX + 1];
};

/* What a streaming round keeps per rank and lane at most: cpu, other, next_detour and both gaps. */
enum { IWI_FLOW_BYTES = 5 * sizeof(iw_time) };
_Static_assert(IWI_FLOW_BYTES <= 64, "2^28 ranks must fit into 24 GiB");

/* The first element of a rank of the program that is evaluated here. */
static inline size_t iwi_flow_at(const struct iwi_flow *flow, uint32_t rank)
{
    return (size_t)(rank - flow->first_rank) << flow->lane_shift;
}

IW_NODISCARD iw_status iwi_flow_new(const iw_log *log, const struct iwi_job *job, struct iwi_flow **flow_p);
void iwi_flow_free(struct iwi_flow *flow);

/* Back to time 0 for the trials of `job`, which differs from the one before only in trial and noise. */
void iwi_flow_restart(struct iwi_flow *flow, const struct iwi_job *job);

/* Room for rounds of `ranks` ranks here in which one has up to `fan` sends or receives, and for rendezvous.
 */
IW_NODISCARD iw_status iwi_flow_reserve(struct iwi_flow *flow, uint32_t ranks, uint32_t fan,
                                        bool has_rendezvous);

/* Room for waits of up to `fan` receives. */
IW_NODISCARD iw_status iwi_flow_reserve_scratch(struct iwi_flow *flow, uint32_t fan);

/* The detour is hit: exact, for element i of `rank`. `next` is its next_detour, or a copy that stands for it.
 * `path` goes on with what noise takes, unless NULL. */
iw_time iwi_flow_work_slow(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time *next, iw_time t,
                           iw_time d, uint32_t *path);

/* Elements i ... i + count - 1, which work from ts[n] on: detours that are over by then are not next any
 * more. `nexts` are their next_detour, or copies. */
void iwi_flow_seek(struct iwi_flow *flow, size_t i, iw_time *nexts, const iw_time *ts, size_t count);

/* Asks for what iwi_flow_seek() needs to bring these elements through their next `later` of time. */
void iwi_flow_fetch(struct iwi_flow *flow, size_t i, iw_time later, size_t count);

/* By how much the network delays the eager message that element i of `rank` has sent to `peer` just now. */
iw_time iwi_flow_delay(struct iwi_flow *flow, uint32_t rank, uint32_t peer, size_t i,
                       const struct iwi_cost *cost);

/* The same where steps are watched: what the detour takes is noise of the step that the rank is in. */
iw_time iwi_flow_work_hit(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time t, iw_time d,
                          uint32_t *path);

/* Of the CPU of element i; NULL: nothing is explained. */
static inline uint32_t *iwi_flow_cpu_path(const struct iwi_flow *flow, size_t i)
{
    return flow->cpu_path == NULL ? NULL : &flow->cpu_path[i];
}

IW_NODISCARD iw_status iwi_flow_settle_paths(struct iwi_flow *flow);

/* Where no round is under way: if there are many paths, they are added up. */
static inline iw_status iwi_flow_keep_paths(struct iwi_flow *flow)
{
    return flow->paths != NULL &&
                   iwi_paths_are_many(flow->paths, 3 * flow->count + 2 * flow->kept_paths[0].count)
               ? iwi_flow_settle_paths(flow)
               : IW_OK;
}

/* What explains the end of each rank. */
IW_NODISCARD iw_status iwi_flow_take_paths(struct iwi_flow *flow, iw_split *split);

/* A compute phase of `amount` on rank r begins: its delay, its noise and the speed of its node included. */
void iwi_flow_phase(struct iwi_flow *flow, uint32_t rank, uint64_t phase, iw_time amount);

/* The same on all ranks. */
void iwi_flow_phase_all(struct iwi_flow *flow, uint64_t phase, iw_time amount);

/* Phases are the same work on every rank that has no delay, and nobody looks at single ranks. */
bool iwi_flow_has_even_phases(const struct iwi_flow *flow);

/* The cores of element i, which is of that rank. */
struct iwi_cores iwi_flow_cores(const struct iwi_flow *flow, uint32_t rank, size_t i);

/* All ranks are at their end: so are their last steps. */
void iwi_flow_end_steps(struct iwi_flow *flow);

/* Ranks of the program that an operation runs over: its rank i is members[i] + offset; where there are more
 * of them than members, those follow again from offset + base on. */
struct iwi_flow_group {
    const uint32_t *members;
    uint32_t count, offset, base;
};

static inline uint32_t iwi_flow_group_rank(const struct iwi_flow_group *group, uint32_t i)
{
    assert(group->count > 0);
    return i < group->count
               ? group->offset + group->members[i]
               : group->offset + i / group->count * group->base + group->members[i % group->count];
}

/* All rounds of one operation; `group` NULL: over all ranks in their order, streaming where it can. `phase`
 * is the number of the first compute phase that it places. */
IW_NODISCARD iw_status iwi_flow_operation(struct iwi_flow *flow, const struct iwi_operation *op,
                                          const struct iwi_flow_group *group, uint64_t phase);

/* This round streams: every rank does the same, and nothing is explained or told exactly. */
bool iwi_flow_streams(const struct iwi_job *job, const struct iwi_round *round);

/* Nothing is under way, and this round (and pass of the streaming run that begins with it) comes next: a
 * restart point may be written. Inside collectives of a trace there are none. */
static inline iw_status iwi_flow_visit(struct iwi_flow *flow, uint64_t round, uint64_t pass)
{
    if (flow->job->keeper == NULL || flow->is_alike || flow->job->program->trace != NULL) {
        return IW_OK;
    }
    flow->at.round = round;
    flow->at.pass = pass;
    return iwi_checkpointer_visit(flow->job->keeper, flow, &flow->at);
}

/* The program is one streaming operation in which no gap delays anything. */
bool iwi_flow_is_free_of_gaps(const struct iwi_job *job);

/* Patterns, round by round. */
IW_NODISCARD iw_status iwi_flow_pattern(struct iwi_flow *flow);

/* A streaming run of rounds first ... end - 1 of an operation: all are shifts or flips of eager messages. */
IW_NODISCARD iw_status iwi_flow_stream(struct iwi_flow *flow, const struct iwi_operation *op, uint64_t first,
                                       uint64_t end);

/* A round of pairs of eager messages. */
IW_NODISCARD iw_status iwi_flow_pairs(struct iwi_flow *flow, const struct iwi_round *round);

/* ---- rounds in which every rank sends to all others at once ---- */

/* Such a round, and nothing else is wanted of it; by rendezvous only on networks without levels. */
bool iwi_flow_is_all_to_all(const struct iwi_flow *flow, const struct iwi_round *round);

/* Over all ranks in their order. */
IW_NODISCARD iw_status iwi_flow_all_to_all(struct iwi_flow *flow, uint32_t ranks,
                                           const struct iwi_round *round);

/* ---- rings over nodes: two messages a rank and round ---- */

/* allreduce:node-rings over all ranks, with eager messages on even nodes; nothing but end times is wanted. */
bool iwi_flow_is_node_rings(const struct iwi_flow *flow, const struct iwi_operation *op);

/* All its rounds. */
IW_NODISCARD iw_status iwi_flow_node_rings(struct iwi_flow *flow, const struct iwi_operation *op);

/* ---- sweeps through a grid, as a whole ---- */

/* All rounds of this operation can be evaluated at once: all ranks are here, and no path is explained. */
bool iwi_flow_is_sweep(const struct iwi_flow *flow, const struct iwi_operation *op,
                       const struct iwi_flow_group *group);

/* `phase` is the number of its compute phase. */
IW_NODISCARD iw_status iwi_flow_sweep(struct iwi_flow *flow, const struct iwi_operation *op, uint64_t phase);

/* ---- stored schedules in order ---- */

/* NULL if the flow engine can run this schedule, which is in order; else why not. */
const char *iwi_flow_refusal(const struct iwi_schedule *schedule);

/* Such a schedule as ranks take turns at it. *turns_p is NULL if its messages are not received in the order
 * of sends between two ranks, or have no partner, or need a rendezvous. */
IW_NODISCARD iw_status iwi_turn_plan_new(const iw_log *log, const struct iwi_schedule *schedule,
                                         const iw_net *net, struct iwi_turn_plan **turns_p);
void iwi_turn_plan_free(struct iwi_turn_plan *turns);

/* Runs flow->job->schedule from the state that iwi_flow_restart() left; `turns` is made of it, or NULL. */
IW_NODISCARD iw_status iwi_flow_schedule(struct iwi_flow *flow, const struct iwi_turn_plan *turns);

/* The same by turns; nothing is explained. */
IW_NODISCARD iw_status iwi_flow_turns(struct iwi_flow *flow, const struct iwi_turn_plan *turns);

#endif
