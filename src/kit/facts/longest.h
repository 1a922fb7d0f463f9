/* The longest detours of recordings, how much longer the next may be, and what that may cost.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *   W    CPU time that was watched
 *   D    mean length of detours longer than the longest seen: longest / (1 - xi), xi by Hill's estimate
 *   E    places (CPUs) that meet noise independently of each other
 *   T0   time of the job without noise, R its phases (length_bins.h)
 *
 * What was never seen in W comes less often than 3/W (rule of three, 95 %). A phase of T0/R meets it with
 * probability 1 - exp(-3 E T0 / (R W)) at most, and then loses D in place of the longest that it meets
 * anyway:
 *
 *   unseen = R/T0 (1 - exp(-3 E T0 / (R W))) (D - longest(T0/R))
 *
 * A slowdown is an estimate as long as what is unseen is a fifth of it, or 0.1 % of the job's time; else it
 * is a lower bound.
 */
#ifndef IWI_LONGEST_H
#define IWI_LONGEST_H

#include <stddef.h>
#include <stdint.h>

/* The `room` longest of `seen` lengths, descending. */
struct iwi_longest {
    int64_t *ns;
    size_t room, count;
    uint64_t seen;
};

/* For all that is asked here. */
enum { IWI_LONGEST_ROOM = 20 };

void iwi_longest_add(struct iwi_longest *longest, int64_t ns);

/* xi: lengths beyond x fall off as x^(-1/xi); 0: all are the same. */
double iwi_tail_index(const struct iwi_longest *longest);

/* D; 0 if nothing was seen. */
double iwi_next_longest_ns(const struct iwi_longest *longest);

/* A job, as unseen detours meet it. */
struct iwi_met_job {
    double quiet_s, phases, phase_longest_s; /* T0, R, longest(T0/R) */
};

/* What unseen detours add to its slowdown at most; `rate_hz` is E/W. */
double iwi_unseen_slowdown(const struct iwi_longest *longest, double rate_hz, const struct iwi_met_job *job);

/* The same if each of them counted in full, 3 E D / W: what it falls from as W grows. */
double iwi_most_unseen(const struct iwi_longest *longest, double rate_hz);

/* How much of it leaves a slowdown, or a saving, an estimate. */
double iwi_unseen_allowed(double slowdown);

#endif
