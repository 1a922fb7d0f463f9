/* The law of the loss of a phase that begins at any time of a recording, split by blocks of time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WINDOW_LAW_H
#define IWI_WINDOW_LAW_H

#include <stdbool.h>

#include <idlewave/model.h>
#include <idlewave/recording.h>

#include "core/stats/block_bootstrap.h"

/* The loss of a phase of work as a function of when it begins, piece by piece and without sampling.
 *
 * L(t) = finish(t, work) - t - work, finish() as in docs/explanation/semantics.md, rule 6; the recording
 * repeats after its length, as in simulations. While t runs through undisturbed time L is constant until a
 * detour enters or leaves the phase; while t runs through a detour L falls as t rises.
 */

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

/* Values descend. share[i]: of the time at which phases lose loss_ns[i]; the shares add up to 1. */
struct iwi_window_law {
    size_t count, capacity;
    double *loss_ns, *share;
    size_t block_count;
    double *block_share; /* [block][value], rows of `capacity`; a block's shares add up to its share of the
                            watched time */
};

/* All CPUs together. Values closer than 1/32 of an octave may be one: their mean. */
IW_NODISCARD iw_status iwi_window_law_new(const iw_log *log, const struct iwi_window_cpus *cpus,
                                          int64_t work_ns, const struct iwi_blocks *blocks,
                                          struct iwi_window_law *law_p);
void iwi_window_law_release(struct iwi_window_law *law);

/* The value that is exceeded for `share` of the time. */
double iwi_window_law_quantile_ns(const struct iwi_window_law *law, double share);

/* E[min(most_ns, largest of n)], n >= 1 (need not be whole), with share as the probabilities. */
double iwi_window_mean_max_ns(const struct iwi_window_law *law, const double *share, double n,
                              double most_ns);

/* Bootstrap: the law's shares as replicates of the recording would have them. */
struct iwi_window_replicates {
    struct iwi_resampling drawn;
    double *share; /* [replicate][value] */
};

IW_NODISCARD iw_status iwi_window_replicates_new(const iw_log *log, const struct iwi_window_law *law,
                                                 uint64_t seed, struct iwi_window_replicates *replicates_p);
void iwi_window_replicates_release(struct iwi_window_replicates *replicates);

/* E[largest of n] and its interval by the bootstrap. */
IW_NODISCARD iw_status iwi_window_observed(const iw_log *log, const struct iwi_window_law *law,
                                           const struct iwi_window_replicates *replicates, double n,
                                           iw_estimate *estimate_p);

#endif
