/* How a simulation is run: which engine, on which form of the program.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PLAN_H
#define IWI_PLAN_H

#include "sim/engine.h"
#include "sim/flow_match.h"
#include "sim/flow_trace.h"

struct iwi_plan {
    iw_engine engine;
    iw_rules rules;
    const struct iwi_schedule *schedule; /* NULL: rounds of a pattern, steps of a trace */
    struct iwi_schedule *own_schedule;   /* made for this plan, or NULL */
    struct iwi_match *match;             /* flow on a schedule, or NULL */
    struct iwi_trace_code *code;         /* flow on a trace, or NULL */
    char note[160];                      /* why auto took event, or a trace had to be stored */
};

/* IW_ERR_UNSUPPORTED (logged) if the wanted engine cannot run the program; `net` tells which messages of a
 * trace go by rendezvous. */
IW_NODISCARD iw_status iwi_plan_init(const iw_log *log, const iw_program *program, const iw_net *net,
                                     const iw_sim_opts *opts, struct iwi_plan *plan);
void iwi_plan_release(struct iwi_plan *plan);

/* A chain as an in-order schedule; *chain_p is NULL if the graph is no chain. */
IW_NODISCARD iw_status iwi_schedule_from_chain(const iw_log *log, const struct iwi_schedule *dag,
                                               struct iwi_schedule **chain_p);

/* All trials over lanes and threads. `job` is the template of each batch. Fills makespan_ps[trials] and, if
 * not NULL, end_ps[trials x ranks]. */
struct iwi_batches {
    const struct iwi_plan *plan;
    struct iwi_job job;
    uint64_t trials;
    uint32_t lanes, threads;
    iw_time *makespan_ps, *end_ps;
};
IW_NODISCARD iw_status iwi_batches_run(const iw_log *log, const struct iwi_batches *batches);

/* Progress over all threads: reports at most ten times a second. */
struct iwi_ticker *iwi_ticker_new(const iw_log *log, iw_progress progress, uint64_t total);
void iwi_ticker_free(struct iwi_ticker *ticker);

#endif
