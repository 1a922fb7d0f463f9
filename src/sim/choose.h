/* How many lanes and threads a simulation gets where it is not told; results do not depend on it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CHOOSE_H
#define IWI_CHOOSE_H

#include <idlewave/sim.h>

/* Times that the flow engine holds at once per lane: of each rank, or of each message of the largest round.
 */
uint64_t iwi_elements_per_lane(const iw_program *program);

/* `engine`: the one that will run. */
uint32_t iwi_choose_lanes(const iw_program *program, iw_engine engine, const iw_sim_opts *opts);

uint32_t iwi_choose_threads(const iw_program *program, const iw_sim_opts *opts, uint32_t lanes);

#endif
