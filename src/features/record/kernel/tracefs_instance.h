/* A private instance of the kernel's event tracing: events, clock and buffers of our own, gone when we are.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     IW_TRY(iwi_tracefs_instance_new(method));       method->state: tracefs is open
 *     ... learn the events ...
 *     iwi_tracefs_instance_make(instance, ...)      there is a folder instances/idlewave-<pid>, nothing is
 * traced
 *     ... choose a tracer ...
 *     iwi_tracefs_instance_start(instance)
 *
 * What others trace on this machine is not touched.
 */
#ifndef IWI_TRACEFS_INSTANCE_H
#define IWI_TRACEFS_INSTANCE_H

#include <kbuffer.h>
#include <stdbool.h>
#include <sys/types.h>

#include "features/record/clock/clock.h"
#include "features/record/kernel/kernel_events.h"

/* ---- the guard: puts things back whatever happens to this process: a small process that waits for its end
 * ---- */

/* The guard is in a session of its own, so that what ends a terminal's or a batch step's process group does
 * not reach it; it sleeps in a read of a socket whose other end only this process holds. When that closes, be
 * it by iwi_cleanup_guard_release() or because the process was killed, it undoes what it was told, and ends.
 * Should the guard itself be killed, iwi_cleanup_guard_release() undoes it.
 */

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

struct iwi_tracefs_instance {
    struct iwi_method *method;
    struct iwi_kernel_events *events;
    struct iwi_cleanup_guard guard;
    int tracing, folder; /* of tracefs, of the instance; -1: not open */
    int on;              /* its file tracing_on: while it is open, nobody can remove the instance */
    int *pipes;          /* trace_pipe_raw of each place; -1: not open */
    uint64_t *overruns;  /* events of each place that were overwritten, as counted so far */
    char path[64];       /* below tracefs */
    bool is_bridged;     /* stamps are CLOCK_MONOTONIC_RAW, else ticks of the method's clock */
    struct iwi_clock_bridge bridge;
    struct kbuffer *kbuffer;
    char *page;
    size_t page_size;
};

/* A reader of pages of this machine's kernel; NULL: out of memory. libtraceevent has names for that from 1.7
 * on. */
struct kbuffer *iwi_new_kbuffer(void);

/* Opens tracefs, and removes what idlewave processes that are gone have left there. The instance is
 * method->state then, also to be closed if something fails. */
IW_NODISCARD iw_status iwi_tracefs_instance_new(struct iwi_method *method);

/* Makes an instance for the watched CPUs. It is removed again at the end, whatever that is; then `steps` are
 * undone. */
IW_NODISCARD iw_status iwi_tracefs_instance_make(struct iwi_tracefs_instance *instance,
                                                 const struct iwi_undo *steps, size_t count);

/* A setting: text into a file below the instance's folder. Refuses for the method where that fails. */
IW_NODISCARD iw_status iwi_tracefs_instance_set(struct iwi_tracefs_instance *instance, const char *path,
                                                const char *text);

/* Enables all events that instance->events knows; they count from now on. */
IW_NODISCARD iw_status iwi_tracefs_instance_start(struct iwi_tracefs_instance *instance);

/* The methods' drain and close. */
IW_NODISCARD iw_status iwi_tracefs_instance_drain(struct iwi_method *method);
void iwi_tracefs_instance_close(struct iwi_method *method);

#endif
