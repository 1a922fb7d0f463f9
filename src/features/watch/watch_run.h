/* Watching by programs in the kernel, where this build can, and what both ways of watching end with.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WATCH_RUN_H
#define IWI_WATCH_RUN_H

#include <idlewave/watch.h>

#include "features/watch/detours.h"

/* As iw_watch(); `opts` is complete. If the programs cannot be had, `opening` is told why, and only that one.
 */
IW_NODISCARD iw_status iwi_watch_run(const iw_log *log, const iw_log *opening, const iw_watch_opts *opts,
                                     iw_watch_result **result_p);

/* ---- the sums of a watching, at its end or meanwhile ---- */

/* Adds up what is in the maps. */
IW_NODISCARD iw_status iwi_watch_result_add_up(struct iwi_detour_log *detours, iw_watch_result *result);

/* Sums of result->recording; watched_ns becomes at least the time that a row was wanted. */
IW_NODISCARD iw_status iwi_watch_events_add_up(const iw_log *log, iw_watch_result *result);

/* The source that took most first. */
void iwi_watch_sort_sources(iw_watch_result *result);

/* Marks the rows that the job wanted enough, and leaves the others out of the recording. Where it wanted
 * none, none is marked and the recording stays as it is. */
IW_NODISCARD iw_status iwi_watch_keep_rows(const iw_log *log, iw_watch_result *result);

#endif
