/* Watching where programs in the kernel are not allowed: by the kernel's trace events.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WATCH_EVENTS_H
#define IWI_WATCH_EVENTS_H

#include <idlewave/watch.h>

/* Sums of result->recording; watched_ns becomes at least the time that a row was wanted. */
IW_NODISCARD iw_status iwi_watch_events_add_up(const iw_log *log, iw_watch_result *result);

/* ---- what both ways of watching end with: sources by their time, and the rows that are kept ---- */

/* The source that took most first. */
void iwi_watch_sort_sources(iw_watch_result *result);

/* Marks the rows that the job wanted enough, and leaves the others out of the recording. Where it wanted
 * none, none is marked and the recording stays as it is. */
IW_NODISCARD iw_status iwi_watch_keep_rows(const iw_log *log, iw_watch_result *result);

#endif
