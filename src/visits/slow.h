/* Time that a rank lost and its peers did not.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Peers make the same visits (kind, size, size of the group, as often) and stand in the same stage. Where all
 * of them compute in equally many stretches in a step, the i-th of each are compared; else what each computes
 * in the step. A stretch is slow by what it exceeds the median of the peers (the lower one of two), if that
 * is more than 3 deviations (1.4826 MAD) of theirs, 2 % of it, and 5 us. Where a file has no computation,
 * only visits, the times between these are compared.
 */
#ifndef IWI_SLOW_H
#define IWI_SLOW_H

#include "visits/visits.h"

/* Adds pauses of the cause IWI_PAUSE_SLOW (IWI_PAUSE_OTHER where there is no computation), unless the file
 * had some. `visits` is finished. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_visits_find_slow(struct iwi_visits *visits);

#endif
