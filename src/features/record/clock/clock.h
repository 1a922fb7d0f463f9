/* Clocks to measure with: what reads fastest on this machine and counts alike on all its CPUs.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A clock is one file with one ops struct and one line in clock.c.
 */
#ifndef IWI_CLOCK_H
#define IWI_CLOCK_H

#include <idlewave/log.h>

#include <stdbool.h>

#include "features/record/probe/loops.h"

struct iwi_clock_ops {
    const char *name;
    bool (*is_usable)(const char *root); /* /proc and /sys are below root */
    double (*hz)(void);                  /* NULL: found by comparing with CLOCK_MONOTONIC_RAW */
    /* Instances of the loops of loops.h. */
    uint64_t (*read)(void *state);
    uint64_t (*least_read)(void *state, uint64_t iterations);
    struct iwi_least (*least)(void *state, const _Atomic uint64_t *end);
    void (*selfish)(void *state, const struct iwi_probe_window *window, uint64_t threshold,
                    struct iwi_marks *marks);
    void (*fwq)(void *state, const struct iwi_probe_window *window, uint64_t work, struct iwi_marks *marks);
    void (*ftq)(void *state, const struct iwi_probe_window *window, uint64_t work, uint64_t quantum,
                struct iwi_marks *marks);
};

extern const struct iwi_clock_ops iwi_clock_monotonic_raw;
#if defined(__x86_64__)
extern const struct iwi_clock_ops iwi_clock_tsc;
#elif defined(__aarch64__)
extern const struct iwi_clock_ops iwi_clock_cntvct;
#endif

/* One instant on two clocks. */
struct iwi_tie {
    uint64_t ticks, width_ticks; /* the instant is within +-width/2 of ticks */
    int64_t raw_ns;
};

struct iwi_clock {
    const struct iwi_clock_ops *ops;
    void *state;          /* of scripted clocks */
    double hz, error_ppm; /* error_ppm: bound on how wrong hz is; 0 where it is known */
    struct iwi_tie first;
};

/* The best usable clock, calibrated over a few milliseconds where it must be. */
void iwi_clock_open(const char *root, struct iwi_clock *clock);

/* Now, on the clock and on CLOCK_MONOTONIC_RAW: the tightest of several attempts. */
struct iwi_tie iwi_clock_tie(const struct iwi_clock *clock);

/* Calibrates again, over the time since iwi_clock_open(): the longer, the better. */
void iwi_clock_refine(struct iwi_clock *clock);

uint64_t iwi_clock_now(const struct iwi_clock *clock);
double iwi_clock_ns(const struct iwi_clock *clock, double ticks);
int64_t iwi_clock_whole_ns(const struct iwi_clock *clock, uint64_t ticks); /* rounded to nearest */
uint64_t iwi_clock_ticks(const struct iwi_clock *clock, int64_t ns);

/* ---- instants of CLOCK_MONOTONIC_RAW in ticks of the clock ---- */

/* The rate between them is constant but known only so well: ties are taken again and again, and instants
 * between two ties are interpolated, so that the error stays that of a tie (some ten ns).
 */

struct iwi_clock_bridge {
    const struct iwi_clock *clock;
    struct iwi_tie earlier, later;
};

void iwi_clock_bridge_begin(struct iwi_clock_bridge *bridge, const struct iwi_clock *clock);

/* Ties again; call before instants up to now are asked for. */
void iwi_clock_bridge_renew(struct iwi_clock_bridge *bridge);

/* Instants before the earlier tie or after the later one are extrapolated. */
uint64_t iwi_clock_bridge_ticks(const struct iwi_clock_bridge *bridge, int64_t raw_ns);

#endif
