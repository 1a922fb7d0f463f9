/* The law of the loss of a phase that begins at any time of a recording, split by blocks of time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WINDOW_LAW_H
#define IWI_WINDOW_LAW_H

#include <idlewave/model.h>
#include <idlewave/recording.h>

#include <math.h>
#include <stdbool.h>

#include "core/numeric/numeric.h"
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

/* ---- quantiles of the gamma law: what so many Poisson events say of their rate ---- */

/* Of the gamma law with this shape and mean 1 (Wilson and Hilferty 1931): 1e-3 for shapes above 20, too small
 * for low quantiles of shape 1. */
static inline double iwi_gamma_quantile(double shape, double probability)
{
    const double z = iwi_normal_quantile(probability), s = 1.0 / (9.0 * shape);
    const double root = fmax(1.0 - s + z * sqrt(s), 0.0);

    return root * root * root;
}

/* ---- the tail of the loss of phases ---- */

/* Phases that overlap see the same detours, so losses above a threshold u come in clusters, and only their
 * peaks M are independent. Peaks follow a generalised Pareto law, P(M > u + y) = S(y) = (1 + xi y / sigma)^
 * (-1/xi). A lone detour of length M makes a phase of work w lose more than x at w + M - x of the begins: w
 * for those before it, the rest for those inside it. So losses exceed u + y for the share
 *     m(y) = rate * S(y) * (a + (sigma + xi y) / (1 - xi))
 * of the time: the last term is the mean of M - x where M > x, and a, about w, is measured. The time inside
 * detours makes the tail of the losses heavier than that of the detours: a fit to the losses themselves would
 * not see that where w is long against all detours but those of the tail.
 */

/* A stretch of begins with large losses; low = high: constant, else falling evenly. */
struct iwi_large_piece {
    double high_ns, low_ns, length_ns;
};

struct iwi_peaks {
    size_t count;
    double *loss_ns; /* descending */
    uint32_t *block; /* of time, in which the cluster begins */
    size_t piece_count;
    struct iwi_large_piece *pieces;
};

/* The peaks of at least `wanted` clusters if there are so many in the largest tenth of the losses. */
IW_NODISCARD iw_status iwi_peaks_new(const iw_log *log, const struct iwi_window_cpus *cpus, int64_t work_ns,
                                     const struct iwi_window_law *law, const struct iwi_blocks *blocks,
                                     size_t wanted, struct iwi_peaks *peaks_p);
void iwi_peaks_release(struct iwi_peaks *peaks);

/* For how long do losses exceed this value? It must be at least the smallest peak. */
double iwi_peaks_time_above_ns(const struct iwi_peaks *peaks, double loss_ns);

/* A generalised Pareto law: tau = xi / sigma, so that the exponential law is an ordinary point. */
struct iwi_gpd {
    double xi, sigma;
};

/* P(Y > y). */
double iwi_gpd_above(const struct iwi_gpd *gpd, double y);

enum { IWI_GPD_GRID = 41 };

/* What excesses say of the law, as a posterior on a grid of tau and log(sigma). */
struct iwi_gpd_posterior {
    double tau[IWI_GPD_GRID], log_sigma[IWI_GPD_GRID];
    double mass[IWI_GPD_GRID][IWI_GPD_GRID]; /* [tau][sigma], adds up to 1 */
    struct iwi_gpd mode;                     /* of the likelihood */
};

/* `count` > 1 excesses, descending; the first `hidden` of them count only as larger than the next. Each
 * counts for `weight` observations. */
void iwi_gpd_fit(const double *excess, size_t count, size_t hidden, double weight,
                 struct iwi_gpd_posterior *posterior);

/* P(xi > limit). */
double iwi_gpd_xi_above(const struct iwi_gpd_posterior *posterior, double limit);

/* For a law that was fitted to them: about the probability of
 * a distance so large if the law is right, between 0.005 and 0.25. */
double iwi_gpd_goodness(const struct iwi_gpd *gpd, const double *excess, size_t count);

/* Do the largest excesses lie apart, further than the law of the rest explains? How many of them; 0: no. */
size_t iwi_gpd_outliers(const double *excess, size_t count, double weight);

enum { IWI_TAIL_DRAWS = 400 };

/* A fitted tail, as draws from its posterior. */
struct iwi_tail {
    double most_ns; /* no loss is longer than this */
    struct iwi_tail_draw {
        double from_ns, extra_ns; /* u, a */
        double rate;              /* clusters per ns */
        struct iwi_gpd gpd;
    } mode, draws[IWI_TAIL_DRAWS]; /* mode: of the lowest threshold */
};

/* How a tail was chosen, or why there is none. */
struct iwi_tail_choice {
    iw_refusal refusal;
    double times_longer;  /* refused: a recording so many times as long would do; 0: none would */
    struct iwi_tail tail; /* if not refused */
};

/* Wanted of iwi_peaks_new(). */
enum { IWI_TAIL_PEAKS = 401 };

/* With 400, 200, 100 and 50 peaks above the threshold, as far as the fit is good. */
void iwi_tail_choose(const struct iwi_peaks *peaks, double watched_ns, size_t block_count,
                     struct iwi_tail_choice *choice_p);

/* E[largest of n], by the law below the threshold and the tail above it; of the mode, and of each draw. */
double iwi_tail_mean_max_ns(const struct iwi_tail *tail, const struct iwi_window_law *law, double n);
void iwi_tail_draw_means_ns(const struct iwi_tail *tail, const struct iwi_window_law *law, double n,
                            double means_ns[IWI_TAIL_DRAWS]);

/* ---- parts of the model of a recording ---- */

/* What one source alone does. */
struct iwi_source_law {
    uint64_t events; /* detours in which it takes part */
    struct iwi_window_law law;
    bool has_tail;
    struct iwi_tail tail;
};

struct iw_window_model {
    iw_window_horizon horizon;
    struct iwi_window_law law;
    struct iwi_window_replicates replicates;
    bool has_tail; /* fitted, though perhaps not to be used behind what was seen */
    struct iwi_tail tail;
    size_t source_count; /* 0: there is only one, which is the whole */
    struct iwi_source_law *sources;
};

/* E[largest of n] under that source alone; behind what was seen by the most likely tail, if it has one. */
double iwi_source_mean_max_ns(const struct iwi_source_law *source, double n, double observed_ranks);

#endif
