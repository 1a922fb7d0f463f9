/* Watching where programs in the kernel are not allowed: by the kernel's trace events.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WATCH_EVENTS_H
#define IWI_WATCH_EVENTS_H

#include <idlewave/watch.h>

/* Whether what is asked for can be had this way: a recording can, nothing that is told meanwhile. */
bool iwi_watch_events_can(const iw_watch_opts *opts);

/* As iw_watch(); `opts` is complete. */
IW_NODISCARD iw_status iwi_watch_events_run(const iw_log *log, const iw_watch_opts *opts,
                                            iw_watch_result **result_p);

/* Sums of result->recording; watched_ns becomes at least the time that a row was wanted. */
IW_NODISCARD iw_status iwi_watch_events_add_up(const iw_log *log, iw_watch_result *result);

#endif
