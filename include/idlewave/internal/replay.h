/* idlewave/internal/replay.h - what `idlewave replay` hands to the library that it preloads, and to its
 * injector.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A page of shared memory and the plans (idlewave/internal/inject.h), all anonymous files that the process
 * has open which becomes the program. The variable IW_REPLAY_VARIABLE names the page as "/proc/PID/fd/N", so
 * that processes find it that were started by others which had closed their files: a script's, an
 * interpreter's.
 */
#ifndef IW_INTERNAL_REPLAY_H
#define IW_INTERNAL_REPLAY_H

#include <stdint.h>

#include <idlewave/internal/inject.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IW_REPLAY_VARIABLE "IDLEWAVE_REPLAY"
#define IW_REPLAY_LIBRARY "libidlewave-replay.so"
#define IW_REPLAY_INJECTOR "idlewave-fifo" /* the name of the injector process of fifo */
#define IW_REPLAY_HIGH_FILE 200            /* our files: far from the numbers that a program's own get */

#define IW_REPLAY_MAGIC UINT64_C(0x79616c7065726977) /* "iwreplay" */
#define IW_REPLAY_VERSION 1

/** Threads beyond so many meet the detours of the first ones again. */
#define IW_REPLAY_MOST_PLANS 16

/** What the injector of the fifo back end is asked for. */
typedef enum iw_replay_command { IW_REPLAY_NOTHING, IW_REPLAY_START, IW_REPLAY_STOP } iw_replay_command;

typedef struct iw_replay_page {
    uint64_t magic;
    uint32_t version, size; /* of this struct */
    int32_t owner_pid;      /* the process that became the program, or what starts it */
    int32_t plan_fds[IW_REPLAY_MOST_PLANS];
    uint32_t plan_count; /* the thread k + 1 meets plan k mod plan_count; fifo: 1 */
    uint32_t back_end;   /* iw_back_end */
    uint32_t sync;       /* iw_sync */
    uint32_t is_quiet, has_all_threads;

    /* The injector process (fifo). Who asks writes the command, counts up `asked`, sends the injector SIGUSR1
     * and waits until `answered` is the same; all by atomic operations, one at a time. Phases are only
     * counted. */
    int32_t injector_pid;
    uint32_t command, asked, answered;
    uint32_t phases;
    int32_t program_pid;     /* START: whose end stops the noise */
    int32_t status;          /* of the last command, an iw_status */
    char failure[256];       /* why, if it is not IW_OK */
    iw_inject_counts counts; /* STOP: what happened */
} iw_replay_page;

#ifdef __cplusplus
}
#endif
#endif
