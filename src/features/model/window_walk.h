/* The loss of a phase of work as a function of when it begins, piece by piece and without sampling.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * L(t) = finish(t, work) - t - work, finish() as in docs/explanation/semantics.md, rule 6; the recording
 * repeats after its length, as in simulations. While t runs through undisturbed time L is constant until a
 * detour enters or leaves the phase; while t runs through a detour L falls as t rises.
 */
#ifndef IWI_WINDOW_WALK_H
#define IWI_WINDOW_WALK_H

#include <stdbool.h>

#include <idlewave/recording.h>

/* The detours of one CPU, or of one source on it: ascending, not overlapping. */
struct iwi_window_cpu {
    size_t count;
    const int64_t *start_ns, *duration_ns;
    int64_t length_ns; /* at least up to the end of the last detour */
};

struct iwi_window_cpus {
    size_t count;
    struct iwi_window_cpu *cpus;
    int64_t length_ns; /* of the longest */
    double watched_ns; /* summed */
};

/* L(t) for t in [start, start + length): from loss_ns falling to loss_ns - length_ns if it is a ramp, else
 * constant. length_ns > 0. */
struct iwi_window_piece {
    int64_t start_ns, length_ns, loss_ns;
    bool is_ramp;
};

typedef void (*iwi_window_piece_fn)(void *arg, const struct iwi_window_piece *piece);

/* Is there as much undisturbed time as one phase takes? */
bool iwi_window_fits(const struct iwi_window_cpu *cpu, int64_t work_ns);

/* Visits all pieces in the order of time; work_ns > 0 must fit. */
void iwi_window_walk(const struct iwi_window_cpu *cpu, int64_t work_ns, iwi_window_piece_fn visit, void *arg);

#endif
