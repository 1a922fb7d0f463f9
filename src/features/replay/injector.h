/* What an injector is, for its back ends.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A back end waits until the target of injector->next, calls iwi_injector_take() with its first reading of
 * the clock unless that is too late, and spins until the time that this returns. It keeps others from the
 * injector meanwhile: hold() before and release() after the owner changes anything.
 */
#ifndef IWI_INJECTOR_H
#define IWI_INJECTOR_H

#include <stdatomic.h>
#include <time.h>

#include "core/base/monotonic.h"
#include "features/replay/pace.h"

/* A detour as it was made, for calibration. */
struct iwi_made {
    int64_t target_ns, entry_ns, spin_ns, end_ns; /* end: the last reading of the clock */
};

struct iwi_logbook {
    struct iwi_made *made;
    size_t room, count;
};

struct iwi_back_end_ops {
    const char *name;
    const iw_inject_costs *costs; /* known beforehand; NULL: to be calibrated */
    bool is_asleep; /* in a detour the thread sleeps until its planned end, however late it began */
    /* Begins to wait for injector->next. */
    iw_status (*open)(const iw_log *log, iw_injector *injector);
    void (*hold)(iw_injector *injector);    /* no detour is under way, and none begins */
    void (*release)(iw_injector *injector); /* injector->next, is_waiting may be others now */
    void (*close)(iw_injector *injector);
};

extern const struct iwi_back_end_ops iwi_back_end_timer, iwi_back_end_fifo, iwi_back_end_sleep;

struct iw_injector {
    const struct iwi_back_end_ops *ops;
    void *back_end; /* its state */
    const iw_inject_plan *plan;
    struct iwi_pace pace;
    struct iwi_detour next;
    int64_t target_ns; /* when to wake up for `next`: the lateness that is usual before its deadline */
    int64_t free_ns;   /* the last detour ends here */
    bool is_waiting;   /* for `next`; false: silence */
    bool is_paused;
    int64_t paused_ns; /* since */
    iw_inject_counts counts;
    struct iwi_logbook *logbook; /* or NULL */
};

static inline struct timespec iwi_timespec(int64_t time_ns)
{
    return (struct timespec){.tv_sec = (time_t)(time_ns / 1000000000),
                             .tv_nsec = (long)(time_ns % 1000000000)};
}

/* Spins until the clock says `end_ns`; `now_ns` is a reading just taken. Ends early when *is_halted, and when
 * the clock does what it must not: stands still or goes back. Returns the last reading. */
int64_t iwi_spin_until(int64_t now_ns, int64_t end_ns, const atomic_bool *is_halted);

/* Takes injector->next, which begins at `entry_ns`, and sets up the one after. Returns when it ends. */
int64_t iwi_injector_take(iw_injector *injector, int64_t entry_ns);

/* The last reading of the clock in the detour taken last, for the logbook. */
void iwi_injector_log_end(iw_injector *injector, int64_t end_ns);

/* At the first reading of the clock: the time of `next` has passed by more than IWI_LATE_MOST_NS, and not
 * because it had to wait for the one before. Then it is skipped, not taken. */
bool iwi_injector_is_too_late(const iw_injector *injector, int64_t entry_ns);

/* It is not made: counted as skipped. */
void iwi_injector_skip(iw_injector *injector, int64_t now_ns);

/* NULL: there is no such back end. */
const struct iwi_back_end_ops *iwi_back_end_find(iw_back_end back_end);

/* As iw_injector_start(), with a logbook (or NULL) that lives until the stop. */
IW_NODISCARD iw_status iwi_injector_start_logged(const iw_log *log, const iw_inject_plan *plan,
                                                 const struct iwi_back_end_ops *ops,
                                                 struct iwi_logbook *logbook, iw_injector **injector_p);

/* From now on places follow a clock that several hosts agree on: reference(t) = t + offset_ns + drift
 * (t - at_ns), t of CLOCK_MONOTONIC. Called by the thread that started it. */
void iwi_injector_set_clock(iw_injector *injector, int64_t offset_ns, double drift, int64_t at_ns);

#endif
