/* What a simulation refuses or warns of before it runs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CHECK_H
#define IWI_CHECK_H

#include <idlewave/sim.h>

IW_NODISCARD iw_status iwi_check_simulation(const iw_log *log, const iw_program *program, const iw_net *net,
                                            const iw_noise *noise, const iw_sim_opts *opts);

/* Some message may be larger than S, or synchronous. */
bool iwi_may_rendezvous(const iw_program *program, const iw_net *net);

#endif
