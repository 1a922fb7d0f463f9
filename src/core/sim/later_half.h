/* What the second half of a run costs, trial by trial: the start of the run is over by then.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_LATER_HALF_H
#define IWI_LATER_HALF_H

#include <idlewave/sim.h>

/* T/T0 - 1 of what `whole` repeats beyond `half`, whose trials are the first of the same; `slowdowns` has
 * room for them. False: the second half takes no time without noise. */
bool iwi_later_half(const iw_sim_result *whole, const iw_sim_result *half, double *slowdowns);

#endif
