/* The sums of a watching, at its end or meanwhile.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WATCH_RESULT_H
#define IWI_WATCH_RESULT_H

#include "features/watch/detours.h"

/* Adds up what is in the maps. */
IW_NODISCARD iw_status iwi_watch_result_add_up(struct iwi_detour_log *detours, iw_watch_result *result);

/* The same, with calls that the kernel left out. Fills in all but job, watched_ns, load_ns and recording,
 * anew each time. */
IW_NODISCARD iw_status iwi_watch_result_fill(struct iwi_detour_log *detours, iw_watch_result *result);

#endif
