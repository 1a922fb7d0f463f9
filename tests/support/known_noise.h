/* Noise whose law is known: recordings drawn from it, and the mean of the largest loss by computation.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Undisturbed stretches are exponential, durations independent. So a phase of work w that begins in
 * undisturbed time loses a compound Poisson sum with mean count rate x w, exactly; one that begins in a
 * detour loses its rest too, and the share of begins in detours is rate m / (1 + rate m), m the mean
 * duration.
 */
#ifndef IWT_KNOWN_NOISE_H
#define IWT_KNOWN_NOISE_H

#include <idlewave/recording.h>

enum known_kind { KNOWN_EXP, KNOWN_PARETO, KNOWN_SHIFTED_EXP, KNOWN_LOGNORMAL, KNOWN_TRAP };

struct known_noise {
    const char *name;
    enum known_kind kind;
    double rate_hz; /* in undisturbed time */
    double a, b;    /* exp: mean ns; pareto: exponent, least ns; shifted: fixed ns, mean ns of the rest;
                       lognormal: median ns, sigma; trap: mean ns of exponential ones, share of those
                       that take KNOWN_TRAP_NS */
};

#define KNOWN_TRAP_NS 5e6

/* P(duration > x), and a duration for a number in (0, 1). */
double known_above(const struct known_noise *noise, double x_ns);
double known_duration_ns(const struct known_noise *noise, double unit);

/* Appends detours to the CPU until the end of its length. `stream` tells apart what is drawn independently.
 */
void known_put(const struct known_noise *noise, iw_recording *recording, size_t cpu, uint32_t source,
               uint64_t seed, uint32_t stream);

/* E[largest loss of n phases] for `count` values of n. */
void known_mean_max_ns(const struct known_noise *noise, double work_ns, const double *n, size_t count,
                       double *means_ns);

#endif
