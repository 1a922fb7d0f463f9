/* The tail of the loss of phases: clusters of large losses, the generalised Pareto law of their peaks, and
 * tests whether that law may be trusted.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Phases that overlap see the same detours, so losses above a threshold u come in clusters, and only their
 * peaks M are independent. Peaks follow a generalised Pareto law, P(M > u + y) = S(y) = (1 + xi y / sigma)^
 * (-1/xi). A lone detour of length M makes a phase of work w lose more than x at w + M - x of the begins: w
 * for those before it, the rest for those inside it. So losses exceed u + y for the share
 *     m(y) = rate * S(y) * (a + (sigma + xi y) / (1 - xi))
 * of the time: the last term is the mean of M - x where M > x, and a, about w, is measured. The time inside
 * detours makes the tail of the losses heavier than that of the detours: a fit to the losses themselves would
 * not see that where w is long against all detours but those of the tail.
 */
#ifndef IWI_TAIL_H
#define IWI_TAIL_H

#include <idlewave/model.h>

#include "features/model/window_law.h"

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

#endif
