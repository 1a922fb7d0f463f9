/* Between those that make detours: where in the trace we are, what back ends share, what calibration
 * measures.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_INJECTOR_H
#define IWI_INJECTOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <idlewave/internal/inject.h>

#include "core/base/monotonic.h"
#include "features/replay/inject_plan.h"

/* ======== pace: pure computation, safe in signal handlers ======== */

/* Times `_ns` are of this host's CLOCK_MONOTONIC; reference times (`_ref_ns`) are of the clock that all hosts
 * agree on: reference(t) = t + offset + drift (t - at). The place in the trace at reference time r is
 * r - lap_ref_ns, from 0 to the trace's length. */

/* Later than this after its deadline a detour is not made any more: the thread was stopped, or kept signals
 * out; what would follow is not the noise of the trace. */
#define IWI_LATE_MOST_NS INT64_C(1000000)

struct iwi_clock_map {
    int64_t offset_ns, at_ns;
    double drift;
};

struct iwi_detour {
    int64_t deadline_ns, duration_ns;
};

struct iwi_pace {
    const iw_inject_plan *plan;
    struct iwi_clock_map map;
    int64_t lap_ref_ns; /* reference time at which the current passage of the trace began */
    size_t next;        /* detour of this passage; plan->count: the first of the next one */
    int64_t rest_ns;    /* of a detour that was under way when the place was set; 0: none */
    int64_t rest_at_ns;
    int64_t end_ns; /* nothing begins from here on */
    uint64_t phase; /* number of the next one */
    uint64_t skipped_count;
    double skipped_ns;
};

/* The place in the trace at reference time 0 of a node (not IW_SYNC_PHASE: its phase number `phase`), in
 * [0, length): a pure function of all these. */
int64_t iwi_pace_offset(const iw_inject_opts *opts, int64_t length_ns);
int64_t iwi_pace_phase_offset(const iw_inject_opts *opts, uint64_t phase, int64_t length_ns);

/* How late this node is; 0 without synchronisation, as in simulations. */
int64_t iwi_pace_skew(const iw_inject_opts *opts);

int64_t iwi_reference(const struct iwi_clock_map *map, int64_t now_ns);
int64_t iwi_from_reference(const struct iwi_clock_map *map, int64_t ref_ns);

/* From now on the trace passes; most_share of it. */
void iwi_pace_begin(struct iwi_pace *pace, const iw_inject_plan *plan, int64_t now_ns);

/* The cursor to the place of now: after a pause of `silent_ns`, which is not taken from most_share. */
void iwi_pace_go_on(struct iwi_pace *pace, int64_t now_ns, int64_t silent_ns);
void iwi_pace_phase(struct iwi_pace *pace, int64_t now_ns);
void iwi_pace_set_clock(struct iwi_pace *pace, struct iwi_clock_map map, int64_t now_ns);

/* The next detour that can be made by one who is free from `free_ns` on; others are counted as skipped.
 * False: no more of them, unless the place is set anew before end_ns. */
bool iwi_pace_next(struct iwi_pace *pace, int64_t free_ns, struct iwi_detour *detour_p);

/* ======== injectors ======== */

/* A back end waits until the target of injector->next, calls iwi_injector_take() with its first reading of
 * the clock unless that is too late, and spins until the time that this returns. It keeps others from the
 * injector meanwhile: hold() before and release() after the owner changes anything. */

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

/* ======== how busy a real-time thread may be ======== */

enum { IWI_DUTY_SLOTS = 64 };

/* Busy time of the last period, in slots by when it ended. */
struct iwi_duty {
    int64_t period_ns, most_ns;       /* at most this much in any such period */
    int64_t slot[IWI_DUTY_SLOTS + 1]; /* number of the slot that is in this place */
    int64_t busy_ns[IWI_DUTY_SLOTS + 1];
};

/* 90 % of sched_rt_runtime_us per sched_rt_period_us, read below `root` ("" for the real ones); without a
 * limit there, of the 95 % that are usual. */
void iwi_duty_init(struct iwi_duty *duty, const char *root);

/* Books a detour from start_ns on; false, and nothing is booked: it would be over the limit. */
bool iwi_duty_take(struct iwi_duty *duty, int64_t start_ns, int64_t duration_ns);

/* ======== what keeps one from taking a CPU for good ======== */

struct iwi_fifo_limits {
    int64_t heartbeat_ns; /* the watchdog, a thread of normal priority, says so often that it runs, */
    int64_t silence_ns;   /* and when it has not for so long, no detour is made */
    int64_t overrun_ns;   /* a detour that is so much longer than planned loses its priority for good */
};

#define IWI_FIFO_LIMITS                                                        \
    {                                                                          \
        .heartbeat_ns = INT64_C(500000000), .silence_ns = INT64_C(2000000000), \
        .overrun_ns = INT64_C(1000000000)                                      \
    }

IW_NODISCARD iw_status iwi_fifo_open(const iw_log *log, iw_injector *injector,
                                     const struct iwi_fifo_limits *limits);

/* ======== calibration ======== */

/* One detour as the thread met it. */
struct iwi_met_detour {
    double spin_ns, seen_ns, late_ns,
        leave_ns; /* leave: from the end of the spin to the thread's next reading */
};

struct iwi_calibration {
    struct iwi_met_detour *meetings;
    double *column; /* scratch, as long */
    size_t room, count;
};

/* IW_ERR_UNSUPPORTED if too few were met. Sorts them. */
IW_NODISCARD iw_status iwi_inject_evaluate(const iw_log *log, struct iwi_calibration *trial,
                                           iw_inject_costs *costs_p);

#endif
