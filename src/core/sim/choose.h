/* How many lanes and threads a simulation gets where it is not told; results do not depend on it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CHOOSE_H
#define IWI_CHOOSE_H

#include <idlewave/sim.h>

#include "core/program/program.h"

/* The first round of an operation; .fan 1 if it has none. Of later ones only alltoall:linear's differ. */
struct iwi_round iwi_first_round(const struct iwi_operation *op);

/* What is wanted of a run: end times, by one thread, which need least memory; by members that share the
 * ranks; or paths as well. */
enum iwi_kept_for { IWI_KEPT_FOR_ENDS, IWI_KEPT_FOR_SPLIT, IWI_KEPT_FOR_PATHS };

/* Times that the flow engine holds at once per lane: of each rank, or of each message of the largest round.
 */
uint64_t iwi_elements_per_lane(const iw_program *program, enum iwi_kept_for wanted);

/* What the flow engine keeps for each rank and lane: its streaming state or, beyond the six times of that,
 * one for each further send; and the words of the noise (NULL: none). */
uint64_t iwi_rank_bytes(const iw_program *program, const iw_noise *noise, enum iwi_kept_for wanted);

/* `engine`: the one that will run; `noise` NULL: none. */
uint32_t iwi_choose_lanes(const iw_program *program, const iw_noise *noise, iw_engine engine,
                          const iw_sim_opts *opts);

uint32_t iwi_choose_threads(const iw_program *program, const iw_sim_opts *opts, uint32_t lanes);

#endif
