/* What the engines share: one job in, end times out.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_ENGINE_H
#define IWI_ENGINE_H

#include <stddef.h>
#include <string.h>

#include <idlewave/log.h>
#include <idlewave/sim.h>

#include "core/net/cost.h"
#include "core/net/level.h"
#include "core/net/net_noise.h"
#include "core/noise/node_speed.h"
#include "core/program/program.h"
#include "core/sim/split/partition.h"
#include "core/team/team.h"

struct iwi_checkpointer;

enum { IWI_MOST_LANES = 8 };

/* A single trial tells its steps while it runs; else the first of several is run once more for that. */
static inline bool iwi_tells_steps(const iw_sim_opts *opts)
{
    return opts->steps.step != NULL && opts->trials == 1;
}

/* Of all processes of the run: who chooses, tells and explains. */
static inline bool iwi_is_first(const iw_sim_opts *opts)
{
    return opts->link == NULL || opts->link->rank == 0;
}

/* Where noise on a path is put down. */
#define IWI_LOST_OF(split)                                        \
    {                                                             \
        &(split)->part_ps[IW_PART_NOISE], (split)->worst, IW_HITS \
    }

/* A message for a wait. */
struct iwi_arrival {
    iw_time time;
    uint32_t index; /* of the receive in its wait */
};

/* By time, ties by index. */
void iwi_sort_arrivals(struct iwi_arrival *arrivals, size_t count);

/* The same for many that are nearly in order, or a few such sequences mixed; `scratch` has room for
 * IWI_SORT_ROOM times as many. */
enum { IWI_SORT_ROOM = 6 };
void iwi_sort_by_lines(struct iwi_arrival *arrivals, size_t count, struct iwi_arrival *scratch);

/* One evaluation of a program: `lanes` trials, numbered from first_trial on. */
struct iwi_job {
    const iw_program *program;
    const struct iwi_schedule *schedule; /* NULL: the program is a pattern and the engine takes rounds */
    const iw_net *net;
    struct iwi_levels levels; /* of the network, for the program's ranks */
    iw_time memory_ps;        /* what phases take to move their bytes, all ranks at once; 0: they move none */
    const iw_noise *noise;    /* NULL: none */
    const int64_t *node_factors; /* of work, in billionths, by rank / ranks_per_node; NULL: all are 1 */
    uint32_t ranks_per_node;
    const struct iwi_delay_table *net_noise; /* NULL: no message is delayed */
    uint32_t noisy_level;                    /* of the network: messages at it and further out are */
    const uint32_t *send_numbers; /* of each node of the schedule, if it is a send: how many its rank has
                                     before it; NULL:  there is no schedule, or no noise of the network */
    bool has_delays;              /* false: the program's delays are left out (noiseless reference) */
    bool want_warnings;           /* of questionable programs: once per simulation is enough */
    iw_rendezvous rendezvous;
    uint64_t seed, first_trial;
    uint32_t lanes;
    const struct iwi_partition *partition; /* NULL: all ranks are evaluated here */
    struct iwi_checkpointer *keeper;       /* writes restart points; NULL: none are wanted */
    struct iwi_member *member;             /* whose block of it is evaluated here; set if partition is */
    bool begins_ahead; /* the same thread runs neighbouring trials next: their noise may be begun with this
                          one's */
    struct iwi_ticker *ticker; /* NULL: not counted. A pattern counts its rounds, a schedule 1. */
    iw_time *end_ps;           /* out: end of each rank (event engines; the flow engine keeps its own) */
    iw_split *split;           /* out, or NULL: one per rank; lanes is 1 then */
    const iw_step_sink *steps; /* gets the steps, or NULL; lanes is 1 then */
    bool has_few_steps;        /* rounds that could stream do not: what noise takes of them is told */
};

/* The node of a rank, as far as noise of the network tells nodes apart. */
static inline uint32_t iwi_job_node(const struct iwi_job *job, uint32_t rank)
{
    return job->noisy_level == 0
               ? rank
               : iwi_level_place(&job->levels, rank) / job->levels.ranks[job->noisy_level - 1];
}

/* By how much the network delays what leaves at this level, in a simulation with such noise. */
static inline iw_time iwi_job_delay(const struct iwi_job *job, uint64_t trial, uint32_t level,
                                    const struct iwi_leaving *leaving)
{
    const iw_delay_series *series = job->net_noise->series;

    if (level < job->noisy_level || leaving->from == leaving->to) {
        return 0;
    }
    if (series != NULL) {
        return iwi_series_delay(series,
                                iwi_series_offset(series, job->seed, trial, iwi_job_node(job, leaving->from),
                                                  iwi_job_node(job, leaving->to)),
                                leaving->time);
    }
    return iwi_delay_of(job->net_noise,
                        iwi_net_noise_bits(job->seed, trial, leaving->from, leaving->number, leaving->what)
                            .v[trial % IWI_DRAW_TRIALS]);
}

/* What a compute phase of `work` is on the node of that rank. */
static inline iw_time iwi_job_work(const struct iwi_job *job, uint32_t rank, iw_time work)
{
    return job->node_factors == NULL ? work
                                     : iwi_scaled_work(work, job->node_factors[rank / job->ranks_per_node]);
}

/* The reference: everything, one lane, rules of docs/explanation/semantics.md. */
IW_NODISCARD iw_status iwi_event_run(const iw_log *log, const struct iwi_job *job);

/* LogGOPSim's rules; the schedule is a DAG; one lane. */
IW_NODISCARD iw_status iwi_loggopsim_run(const iw_log *log, const struct iwi_job *job);

/* Logs that simulated time ran out and returns IW_ERR_RANGE. */
iw_status iwi_fail_too_late(const iw_log *log);

/* Logs which operations can never run and returns IW_ERR_DEADLOCK. `nodes` are global node numbers, at most
 * one per rank is needed. "3 ranks cannot go on: rank 0 op 2 (recv 8 B from rank 1, tag 7), ..." */
iw_status iwi_report_stuck(const iw_log *log, const struct iwi_schedule *schedule, const uint64_t *nodes,
                           size_t count);

/* The same of all ranks: where a rank is stuck, or IWI_NOT_STUCK. IW_OK if none is. */
#define IWI_NOT_STUCK UINT64_MAX
typedef uint64_t (*iwi_stuck_node)(const void *run, uint32_t rank);
IW_NODISCARD iw_status iwi_report_stuck_ranks(const iw_log *log, const struct iwi_schedule *schedule,
                                              iwi_stuck_node find, const void *run);

/* ---- what a message adds to a path: to its parts, and to their share at inner levels ---- */

/* Of a network with so many inner levels; shares of others are not looked at. Paths are copied at every
 * message. */
static inline void iwi_path_copy(iw_split *to, const iw_split *from, uint32_t inner_count)
{
    memcpy(to, from, offsetof(iw_split, inner_ps) + inner_count * sizeof from->inner_ps[0]);
}

static inline void iwi_path_add(iw_split *path, const struct iwi_cost *cost, iw_part part, iw_time ps)
{
    path->part_ps[part] += ps;
    if (cost->inner < IW_NET_INNER_MAX) {
        path->inner_ps[cost->inner][part - IW_PART_OVERHEAD] += ps;
    }
}

/* A gap of g + (k-1)G behind the start of a message. */
static inline void iwi_path_add_gap(iw_split *path, const struct iwi_cost *cost)
{
    iwi_path_add(path, cost, IW_PART_GAP, cost->gap - cost->bytes_part);
    iwi_path_add(path, cost, IW_PART_BYTES, cost->bytes_part);
}

/* L + (k-1)G on the wire. */
static inline void iwi_path_add_wire(iw_split *path, const struct iwi_cost *cost)
{
    iwi_path_add(path, cost, IW_PART_LATENCY, cost->wire - cost->bytes_part);
    iwi_path_add(path, cost, IW_PART_BYTES, cost->bytes_part);
    path->hops++;
}

/* ---- how far a simulation is, and whether it shall go on: work done, counted from any thread ---- */

struct iwi_ticker;

/* `progress` is told at most once in interval_ns, and at the end. */
struct iwi_ticker *iwi_ticker_new(const iw_log *log, iw_progress progress, int64_t interval_ns,
                                  uint64_t total);
void iwi_ticker_free(struct iwi_ticker *ticker);

/* IW_ERR_CANCELLED: the user wants no more of it. 0 units: only asks for that. `ticker` NULL: not counted. */
IW_NODISCARD iw_status iwi_tick(struct iwi_ticker *ticker, uint64_t units);

/* Inside a unit that takes long, of which this share is done. */
IW_NODISCARD iw_status iwi_tick_part(struct iwi_ticker *ticker, double part);

/* The same for loops whose turns are too short to look at a clock in each: `done` of `all` operations. */
static inline iw_status iwi_tick_rarely(struct iwi_ticker *ticker, uint64_t turn, uint64_t done, uint64_t all)
{
    return ticker != NULL && turn % 4096 == 0 ? iwi_tick_part(ticker, (double)done / (double)all) : IW_OK;
}

/* An array over ranks or more: on huge pages if it is large. */
void *iwi_rank_array_new(const iw_log *log, size_t count, size_t element_size);

#endif
