/* idlewave/log.h - what the library tells its caller meanwhile: messages to a sink, never to a stream, and
 * how far a long call is.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every fallible function takes a `const iw_log *` first; NULL keeps silent. Messages are lowercase
 * sentences without a full stop, the cause first, subjects in single quotes, places named
 * ('app.goal:17', rank 17 op 5). Settings that would help are in backquotes, as these headers spell them
 * (`rendezvous`); where a struct has to be named, its short name comes first (`import.format`). A program
 * with names of its own for them, such as options, can put those in their place.
 */
#ifndef IW_LOG_H
#define IW_LOG_H

#include <stdbool.h>
#include <stdint.h>

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

/* ======== Progress ======== */

typedef struct iw_progress_now {
    double share;         /* of the work that is done, from 0 to 1 */
    uint64_t done, total; /* the same in what the call counts: cells of a study, nanoseconds of a recording */
} iw_progress_now;

/** How far a long call is, and whether it shall go on. `step` may be NULL. It is called a few times a second,
 * by one thread at a time, maybe not the one that made the call. False: the call ends as soon as it can, with
 * IW_ERR_CANCELLED unless it says otherwise; that is not logged. */
typedef struct iw_progress {
    bool (*step)(void *arg, const iw_progress_now *now);
    void *arg;
} iw_progress;

#ifdef __cplusplus
}
#endif
#endif
