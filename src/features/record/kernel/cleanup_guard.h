/* Puts things back whatever happens to this process: a small process that waits for its end.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The guard is in a session of its own, so that what ends a terminal's or a batch step's process group does
 * not reach it; it sleeps in a read of a socket whose other end only this process holds. When that closes, be
 * it by iwi_cleanup_guard_release() or because the process was killed, it undoes what it was told, and ends.
 * Should the guard itself be killed, iwi_cleanup_guard_release() undoes it.
 */
#ifndef IWI_CLEANUP_GUARD_H
#define IWI_CLEANUP_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

enum { IWI_CLEANUP_STEPS = 8 };

/* One thing to put back: a text into a file (`text` not NULL), or a folder to be removed. */
struct iwi_undo {
    int folder; /* open until the release; the guard has its own copy */
    char path[96];
    char text[32];
    bool is_removal;
};

struct iwi_cleanup_guard {
    pid_t pid;
    int pipe; /* our end of the socket; -1: no guard */
    struct iwi_undo steps[IWI_CLEANUP_STEPS];
    size_t count;
};

/* Undoes `steps` in their reverse order at the end. The change itself is made after this, so that there is no
 * moment in which it would stay. False with errno: no process or pipe could be had. */
bool iwi_cleanup_guard_start(struct iwi_cleanup_guard *guard, const struct iwi_undo *steps, size_t count);

/* Has everything put back now, and waits for it; false: something could not be. */
bool iwi_cleanup_guard_release(struct iwi_cleanup_guard *guard);

#endif
