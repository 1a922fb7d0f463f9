/* Which way of splitting a simulation is the fastest that fits.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FORECAST_H
#define IWI_FORECAST_H

#include <idlewave/sim.h>

#include "core/sim/plan.h"

struct iwi_machine {
    double speed;       /* how many times faster it is than that of docs/explanation/scale.md */
    uint32_t idle_cpus; /* where members of this process find a CPU for themselves; UINT32_MAX: not asked */
};

/* By constants of docs/explanation/scale.md. */
void iwi_forecast_fill(const struct iwi_plan *plan, const iw_program *program, const iw_noise *noise,
                       const iw_sim_opts *opts, const struct iwi_machine *machine, iw_forecast *all);

/* For a run that begins now: with no more members than there are idle CPUs, where there is a choice. */
void iwi_forecast_now(const struct iwi_plan *plan, const iw_program *program, const iw_noise *noise,
                      const iw_sim_opts *opts, iw_forecast *all);

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
struct iwi_border_traffic iwi_border_traffic_of(const iw_program *program, uint32_t members);

#endif
