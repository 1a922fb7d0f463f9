/* One log for several threads.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/shared_log.h"

static void write_locked(void *arg, iw_log_level level, const char *text)
{
    struct iwi_shared_log *shared = arg;

    pthread_mutex_lock(&shared->lock);
    if (level != IW_LOG_ERROR || !shared->has_failed) {
        shared->caller->write(shared->caller->arg, level, text);
    }
    shared->has_failed |= level == IW_LOG_ERROR;
    pthread_mutex_unlock(&shared->lock);
}

void iwi_shared_log_init(struct iwi_shared_log *shared, const iw_log *caller)
{
    *shared = (struct iwi_shared_log){.caller = caller, .log = {write_locked, shared}};
    pthread_mutex_init(&shared->lock, NULL);
    if (caller == NULL || caller->write == NULL) {
        shared->log.write = NULL;
    }
}

void iwi_shared_log_release(struct iwi_shared_log *shared)
{
    pthread_mutex_destroy(&shared->lock);
}
