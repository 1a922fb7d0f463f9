/* One log for several threads: a message at a time, and of errors the first only.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SHARED_LOG_H
#define IWI_SHARED_LOG_H

#include <pthread.h>
#include <stdbool.h>

#include <idlewave/log.h>

/* Stays where it was begun: `log` points to it. */
struct iwi_shared_log {
    const iw_log *caller;
    pthread_mutex_t lock;
    bool has_failed; /* an error was logged: threads fail alike, one error says it */
    iw_log log;      /* for the threads */
};

void iwi_shared_log_init(struct iwi_shared_log *shared, const iw_log *caller);
void iwi_shared_log_release(struct iwi_shared_log *shared);

#endif
