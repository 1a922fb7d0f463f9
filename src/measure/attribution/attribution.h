/* Who took the time: what the kernel tells about the measured CPUs, laid upon the detours.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Rungs of a ladder, the best that works is used. A rung is one file with one ops struct and one line in
 * attribution.c. It turns what the kernel reports into shares: at this instant, that source held a measured
 * CPU for so long. A share belongs to the detour in which its instant lies.
 */
#ifndef IWI_ATTRIBUTION_H
#define IWI_ATTRIBUTION_H

#include <sys/types.h>

#include <idlewave/measure.h>

#include "measure/clock/clock.h"

/* The number of no source. In a stack: the measuring thread itself runs. In a share: events were lost, so
 * nothing is known of that time. */
#define IWI_NO_SOURCE UINT32_MAX

/* Of one source, nested ones not included. */
struct iwi_share {
    uint64_t at;    /* tick of the clock, after the interruption has begun and before it is over */
    uint64_t ticks; /* so long */
    uint32_t source;
};

/* Shares of one CPU that are not laid upon detours yet, ascending by `at`. */
struct iwi_shares {
    struct iwi_share *array;
    size_t count, capacity;
};

/* A measuring thread; its place is its number in the threads and in the recording. */
struct iwi_watched {
    uint32_t cpu;
    pid_t tid;
};

enum { IWI_REASON_SIZE = 256, IWI_ATTRIBUTION_NOTE_SIZE = 1024 };

struct iwi_rung_state {
    const struct iwi_rung_ops *ops;
    const iw_log *log;
    const char *root; /* of /proc and /sys; "" but in tests */
    const struct iwi_clock *clock;
    const struct iwi_watched *watched;
    size_t count;
    iw_recording *recording;      /* its list of sources */
    struct iwi_shares *shares;    /* one of each place */
    uint64_t lost;                /* kernel events that found no room, as far as told */
    char reason[IWI_REASON_SIZE]; /* why it could not be opened, for people: "tracefs is not mounted and ..."
                                   */
    void *state;
};

struct iwi_rung_ops {
    iw_rung rung;
    /* The kernel reports all that it does: what no event explains is the hypervisor's or the hardware's. */
    bool sees_all;
    /* From its return on, events count. Logs nothing but a lack of memory: where it does not work here, it
     * undoes what it has done, fills in `reason` and gives another status than IW_OK. */
    iw_status (*open)(struct iwi_rung_state *rung);
    /* Adds shares for everything that has happened until now; called every few seconds and once at the end.
     */
    iw_status (*drain)(struct iwi_rung_state *rung);
    /* Puts everything back. */
    void (*close)(struct iwi_rung_state *rung);
};

extern const struct iwi_rung_ops iwi_rung_osnoise, iwi_rung_tracefs, iwi_rung_perf, iwi_rung_switches;

/* Appends a share; `at` must not be below that of the last one (else it is raised to it). */
IW_NODISCARD iw_status iwi_rung_add(struct iwi_rung_state *rung, size_t place, uint64_t at, uint64_t ticks,
                                    uint32_t source);

/* Place of a CPU, or of a measuring thread; rung->count: none. */
size_t iwi_rung_place_of_cpu(const struct iwi_rung_state *rung, uint32_t cpu);
size_t iwi_rung_place_of_thread(const struct iwi_rung_state *rung, pid_t tid);

/* Logs nothing: for `return iwi_rung_refuse(rung, "...")` in open(). */
iw_status iwi_rung_refuse(struct iwi_rung_state *rung, const char *format, ...) IW_PRINTF(2, 3);

/* ---- the ladder ---- */

/* What one source took of a detour. */
struct iwi_taker {
    uint32_t source;
    double ns;
};

struct iwi_attributor {
    struct iwi_rung_state rung; /* ops NULL: none */
    struct iwi_watched *watched;
    char note[IWI_ATTRIBUTION_NOTE_SIZE]; /* which better rungs did not work and why; "" if none */
    uint32_t unseen;          /* source of what no event explains; 0, unknown, where not all is reported */
    double *blind_until_ns;   /* of each place: events were lost up to here */
    uint64_t lost_before;     /* events lost before the recording began */
    size_t *part_capacity;    /* of each place, for the arrays of its detours */
    struct iwi_taker *takers; /* of the detour at hand */
    size_t taker_capacity;
    uint64_t shares, matched; /* laid, and those of them that met a detour */
};

/* Takes `watched` over, also if it fails: close in any case. Opens the best rung, or exactly the one that
 * `opts` want (then IW_ERR_IO with the reason logged, if it does not work). */
IW_NODISCARD iw_status iwi_attribution_open(const iw_log *log, const char *root, const iw_measure_opts *opts,
                                            const struct iwi_clock *clock, struct iwi_watched *watched,
                                            size_t count, iw_recording *recording,
                                            struct iwi_attributor *attribution);

/* The recording begins: forgets what the kernel has reported until now. */
IW_NODISCARD iw_status iwi_attribution_begin(struct iwi_attributor *attribution);

/* Forgets what has been reported for a place and is not laid yet: it will see no further detours. */
void iwi_attribution_forget(struct iwi_attributor *attribution, size_t place);

/* Fetches what the kernel has reported until now. */
IW_NODISCARD iw_status iwi_attribution_drain(struct iwi_attributor *attribution);

/* Names the sources of detours first..end-1 of a place, whose times count from tick `zero`. Detours are given
 * in their order, after all shares up to the end of the last have been drained. Shares that lie between
 * detours, as those of interruptions below the threshold, are counted and forgotten. */
IW_NODISCARD iw_status iwi_attribute_detours(struct iwi_attributor *attribution, size_t place, uint64_t zero,
                                             size_t first, size_t end);

void iwi_attribution_close(struct iwi_attributor *attribution);

#endif
