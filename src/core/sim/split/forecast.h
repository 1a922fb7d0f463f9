/* Which way of splitting a simulation is the fastest that fits.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FORECAST_H
#define IWI_FORECAST_H

#include <idlewave/sim.h>

#include "core/sim/plan.h"

/* By constants of docs/explanation/scale.md. idle_cpus: where members of this process find a CPU for
 * themselves; UINT32_MAX: not asked. */
void iwi_forecast_fill(const struct iwi_plan *plan, const iw_program *program, const iw_noise *noise,
                       const iw_sim_opts *opts, uint32_t idle_cpus, iw_forecast *all);

/* For a run that begins now: with no more members than there are idle CPUs, where there is a choice. */
void iwi_forecast_now(const struct iwi_plan *plan, const iw_program *program, const iw_noise *noise,
                      const iw_sim_opts *opts, iw_forecast *all);

/* CPU seconds of what is done again and again: before the first, and each. */
struct iwi_repeated {
    double begin_s, each_s;
};

/* CPU seconds that parts of a simulation take on this machine. */
struct iwi_sampled {
    double plan_s;                      /* before anything runs */
    double reference_s;                 /* the run without noise; 0: there is none */
    struct iwi_repeated batches, paths; /* trials side by side; a trial that is explained */
    /* What was simulated meanwhile; 0: it was stopped before. */
    iw_time noiseless_ps;
    double makespan_ps; /* mean of the trials */
};

/* Times something that tells its progress, and stops it when it has told enough. */
struct iwi_stopwatch {
    double begin_s, enough_s;
    double times;                                    /* how often the whole of it will be run */
    double first_s, first_share, last_s, last_share; /* CPU time at the first and last look, and its share */
    bool has_looked;
};

/* From now on, by this thread: for about enough_s, or longer if it will be run for very long. */
iw_progress iwi_stopwatch_begin(struct iwi_stopwatch *watch, double enough_s, double times);

/* CPU seconds of all of it, which has ended so. INFINITY: it was stopped before it told anything. */
double iwi_stopwatch_read(const struct iwi_stopwatch *watch, iw_status status);

/* Each part is run for so long, if it takes longer: enough for an answer to one question. */
#define IWI_SAMPLE_S 0.04

/* All but plan_s, by running each part for about enough_s. The trials are `all` batches of of->lanes, and so
 * many of them are explained. */
IW_NODISCARD iw_status iwi_sample_parts(const struct iwi_batches *of, uint64_t all, uint64_t explained,
                                        double enough_s, struct iwi_sampled *sampled_p);

/* iw_forecast_make() by such samples, and what it has found out. */
IW_NODISCARD iw_status iwi_forecast_parts(const iw_log *log, const iw_program *program, const iw_net *net,
                                          const iw_noise *noise, const iw_sim_opts *opts, double enough_s,
                                          iw_forecast *forecast_p, struct iwi_sampled *sampled_p);

/* Refuses (logged) what cannot be split as it has to be. */
IW_NODISCARD iw_status iwi_forecast_check(const iw_log *log, const iw_sim_opts *opts,
                                          const iw_forecast *forecast);

/* Of `program` on `members` members in one trial and lane: values that leave the block of the member that
 * sends most, the exchanges that carry them, and the share of all messages that the busiest member has. */
struct iwi_border_traffic {
    double values;
    uint64_t exchanges;
    double share;
};
/* Ranks that do something in the round. */
double iwi_active_ranks(const struct iwi_round *round);

struct iwi_border_traffic iwi_border_traffic_of(const iw_program *program, uint32_t members);

#endif
