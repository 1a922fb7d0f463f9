/* Recordings drawn from a law, for tests of statistics.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_SYNTHETIC_H
#define IWT_SYNTHETIC_H

#include <idlewave/recording.h>

/* Detours of one CPU, before they are put in order. */
struct synthetic {
    uint64_t seed;
    double length_ns;
    size_t count;
    struct synthetic_detour {
        int64_t start_ns, duration_ns;
        uint32_t source;
    } * detours;
};

/* Poisson arrivals of that rate with exponential durations. */
void synthetic_poisson(struct synthetic *s, double rate_hz, double mean_ns, uint32_t source);

/* Beats of that period; each with a normal jitter (share of the period), missing with that probability. */
void synthetic_beats(struct synthetic *s, double period_ns, double duration_ns, double jitter, double missing,
                     uint32_t source);

/* Appends them in order to CPU number `cpu` (what would overlap is left out), and empties `s`. */
void synthetic_put(struct synthetic *s, iw_recording *recording, size_t cpu);

/* The same as quanta: FWQ with its samples, FTQ with the work done (1000 in an undisturbed quantum). */
iw_recording *synthetic_quanta(const iw_recording *detours, iw_probe probe, int64_t quantum_ns);

#endif
