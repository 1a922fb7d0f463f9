/* How a simulation is run: which engine, on which form of the program.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PLAN_H
#define IWI_PLAN_H

#include "core/sim/checkpoint/checkpoint.h"
#include "core/sim/engine.h"
#include "core/sim/flow/flow_state.h"
#include "core/sim/flow/flow_trace.h"
#include "core/sim/graph/graph.h"
#include "core/sim/window/window_plan.h"

enum { IWI_PLAN_NOTE = 160 };

struct iwi_plan {
    iw_engine engine;
    iw_rules rules;
    const struct iwi_schedule *schedule; /* NULL: rounds of a pattern, steps of a trace */
    struct iwi_schedule *own_schedule;   /* made for this plan, or NULL */
    bool runs_stored;                    /* flow on a schedule in order */
    struct iwi_turn_plan *turns;         /* the same, if it can be run so, or NULL */
    struct iwi_graph *graph;             /* flow on one that is not, or NULL */
    struct iwi_trace_code *code;         /* flow on a trace, or by members on a schedule; or NULL */
    struct iwi_trace_program *own_trace; /* the schedule as a trace, for members, or NULL */
    struct iwi_window_plan *window;      /* of the window engine, or NULL */
    char note[IWI_PLAN_NOTE];            /* why auto did not take flow, or a trace had to be stored */
};

/* IW_ERR_UNSUPPORTED (logged) if the wanted engine cannot run the program; `net` tells which messages of a
 * trace go by rendezvous. */
IW_NODISCARD iw_status iwi_plan_init(const iw_log *log, const iw_program *program, const iw_net *net,
                                     const iw_sim_opts *opts, struct iwi_plan *plan);
void iwi_plan_release(struct iwi_plan *plan);

/* It runs on a struct iwi_flow. */
static inline bool iwi_plan_has_flow(const struct iwi_plan *plan)
{
    return plan->engine == IW_ENGINE_FLOW && plan->graph == NULL;
}

/* Why the ranks of this cannot be dealt to several members; NULL: they can. */
const char *iwi_partition_refusal(const struct iwi_plan *plan);

/* Before a partition of that many members runs: members that share a replica, or a stored schedule, need an
 * order of steps. IW_ERR_DEADLOCK (logged) where iwi_flow_schedule() would find one. */
IW_NODISCARD iw_status iwi_plan_for_members(const iw_log *log, const iw_program *program, const iw_net *net,
                                            uint32_t members, struct iwi_plan *plan);

/* Takes the paths of all ranks of a trial (from 0 on) and their ends; called by several threads. */
struct iwi_path_sink {
    void (*take)(void *arg, uint64_t trial, const iw_split *split, const iw_time *end_ps);
    void *arg;
};

/* All trials over lanes and threads. `job` is the template of each batch. Fills makespan_ps[trials] and, if
 * not NULL, end_ps[trials x ranks]. */
struct iwi_batches {
    const struct iwi_plan *plan;
    struct iwi_job job;
    uint64_t trials;
    uint32_t lanes, threads;
    const iw_link *link;   /* splits the trials: this process runs every link->size-th batch; NULL: all */
    struct iwi_team *team; /* splits the ranks of each trial; NULL: it does not */
    iw_time *makespan_ps, *end_ps;
    struct iwi_checkpoint *checkpoint; /* of runs by a team; NULL: no restart points */
    bool is_reference;                 /* the run without noise */
    iw_time noiseless_ps;              /* known once that has ended, or before; 0: not yet */
    bool wants_ends;                   /* end_ps is to be filled: it is there on the first process */
    struct iwi_path_sink paths;        /* .take NULL: nothing is explained; lanes is 1 then */
};
IW_NODISCARD iw_status iwi_batches_run(const iw_log *log, const struct iwi_batches *batches);

/* The same by the team, of which all members have to call: each evaluates its block of ranks. All processes
 * get the makespans, the first of them the end times. */
IW_NODISCARD iw_status iwi_members_run(const iw_log *log, const struct iwi_batches *batches);

static inline uint32_t iwi_processes(const struct iwi_batches *batches)
{
    return batches->link == NULL ? 1 : batches->link->size;
}

/* Several neighbouring trials, whose noise is begun together, are taken at once: if there are enough for all
 * who take some. */
bool iwi_batches_begin_ahead(const struct iwi_batches *batches);

/* One run from the state that iwi_flow_restart() left. */
IW_NODISCARD iw_status iwi_plan_run_flow(const struct iwi_plan *plan, struct iwi_flow *flow);

/* ---- a simulation ---- */

/* What is known before its work is split. Stays where it was begun. */
struct iwi_prepared {
    struct iwi_plan plan;
    struct iwi_batches batches;
    struct iwi_delay_table delays;
    struct iwi_levels levels;
    int64_t *factors; /* of nodes, or NULL */
    uint32_t *send_numbers;
};

IW_NODISCARD iw_status iwi_prepared_init(const iw_log *log, const iw_program *program, const iw_net *net,
                                         const iw_noise *noise, const iw_sim_opts *opts,
                                         struct iwi_prepared *s);
void iwi_prepared_release(struct iwi_prepared *s);

/* Nothing disturbs it: all trials are as the run without noise. */
bool iwi_is_noiseless(const struct iwi_batches *batches);
IW_NODISCARD iw_status iwi_run_noiseless(const iw_log *log, const struct iwi_batches *batches,
                                         iw_time *makespan_p);

/* Units of progress of one batch: rounds, and segments of a trace; or 1 for a schedule. */
uint64_t iwi_batch_ticks(const struct iwi_batches *batches);

/* iw_simulate() of a program and network whose run without noise took noiseless_ps > 0: that is not run
 * again. For noise that is compared with other noise. */
IW_NODISCARD iw_status iwi_simulate_again(const iw_log *log, const iw_program *program, const iw_net *net,
                                          const iw_noise *noise, const iw_sim_opts *opts,
                                          iw_time noiseless_ps, iw_sim_result **result_p);

/* Trials once more, for result->explain: the one whose makespan is the median, and `trials` from the first on
 * (0: chosen). */
IW_NODISCARD iw_status iwi_explain_run(const iw_log *log, const struct iwi_batches *batches, uint64_t trials,
                                       iw_sim_result *result);
void iwi_explain_free(iw_explain *explain);

/* Memory for the paths of a trial. */
double iwi_explain_bytes(const struct iwi_batches *batches);

/* iwi_batches_run() with paths, which are thrown away; lanes is 1. */
IW_NODISCARD iw_status iwi_explain_sample(const iw_log *log, const struct iwi_batches *batches);

/* How many of `trials` with so many messages are explained; `wanted` 0: what takes a few seconds. */
uint64_t iwi_explain_trials(uint64_t messages, uint32_t ranks, uint64_t trials, uint64_t wanted);

/* ---- how the work is split over threads and processes: settled, and the parts joined ---- */

struct iwi_split_work {
    iw_parallel parallel; /* never AUTO */
    uint32_t lanes, threads;
};

/* The same on all processes: the first one chooses. */
IW_NODISCARD iw_status iwi_parallel_settle(const iw_log *log, const struct iwi_plan *plan,
                                           const iw_program *program, const iw_noise *noise,
                                           const iw_sim_opts *opts, struct iwi_split_work *split_p);

/* Each value becomes the largest that any process has. */
IW_NODISCARD iw_status iwi_parallel_join(const iw_log *log, const iw_link *link, int64_t *values,
                                         size_t count);

/* Runs all trials, split or not; afterwards all processes have all makespans, and the first one all end times
 * if they are wanted. */
IW_NODISCARD iw_status iwi_parallel_run(const iw_log *log, const struct iwi_batches *batches);

#endif
