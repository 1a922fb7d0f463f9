/* Time that a rank lost and its peers did not.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Peers make the same visits (kind, size, size of the group, as often) and stand in the same stage. Two
 * things are compared: stretches of computation, and for how long a rank did nothing before each visit, since
 * it left the one before. Where all peers have equally many of them in a step, the i-th of each (before the
 * i-th visit of a kind) are compared; else their sums over the step. One is too long by what it exceeds the
 * median of the peers (the lower one of two), if that is more than 3 deviations (1.4826 MAD) of theirs, 2 %
 * of it, and 5 us.
 */
#ifndef IWI_SLOW_H
#define IWI_SLOW_H

#include "features/explain/arrivals/visits.h"

/* Adds pauses: of the cause IWI_PAUSE_SLOW for computation, IWI_PAUSE_OTHER for doing nothing. For files that
 * name none. `visits` is finished and aligned. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_visits_find_slow(struct iwi_visits *visits);

#endif
