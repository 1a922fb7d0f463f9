/* Watching, where this build can.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WATCH_RUN_H
#define IWI_WATCH_RUN_H

#include <idlewave/watch.h>

/* As iw_watch(). */
IW_NODISCARD iw_status iwi_watch_run(const iw_log *log, const iw_watch_opts *given,
                                     iw_watch_result **result_p);

#endif
