/* idlewave/log.h - where the library's messages go: to the caller's sink, never to a stream.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every fallible function takes a `const iw_log *` first; NULL keeps silent. Messages are lowercase
 * sentences without a full stop, the cause first, subjects in single quotes, places named
 * ('app.goal:17', rank 17 op 5).
 */
#ifndef IW_LOG_H
#define IW_LOG_H

#include <idlewave/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iw_log_level { IW_LOG_ERROR, IW_LOG_WARN, IW_LOG_INFO } iw_log_level;

typedef void (*iw_log_fn)(void *arg, iw_log_level level, const char *text);

typedef struct iw_log {
    iw_log_fn write; /* may be called from several threads, one call at a time */
    void *arg;
} iw_log;

#ifdef __cplusplus
}
#endif
#endif
