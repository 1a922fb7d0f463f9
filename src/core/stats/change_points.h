/* Where a series changes its level.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * By ranks of the values, so that no law is assumed: of n values with ranks R the sums
 *
 *     S(k) = sum over i < k of (R(i) - (n + 1) / 2)
 *
 * of independent values stay within a Brownian bridge: the largest |S(k)| / sqrt(n (n^2 - 1) / 12) has
 * Kolmogorov's law, or, of few values, is smaller. Neighbours in time are not independent: of more than 200
 * values, means of neighbours are taken (100 or more of them), and what one has in common with the one before
 * it is taken from it. A change splits the series, and both parts are asked again.
 * src/core/stats/tests/change_points_test.c shows how often it errs: as stated where values are independent,
 * up to three times as often where neighbours correlate by 0.6.
 */
#ifndef IWI_CHANGE_POINTS_H
#define IWI_CHANGE_POINTS_H

#include <stddef.h>

#include <idlewave/log.h>

struct iwi_level_change {
    size_t at;     /* the first value of the new level */
    double chance; /* that a series without a change has one as clear */
};

enum { IWI_LEAST_CHANGE = 10 }; /* values on either side */

/* Changes in their order, at most `most`, so many that a series without any has one with probability
 * `error_rate`. *count_p: how many. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_find_changes(const iw_log *log, const double *values, size_t count,
                                        double error_rate, struct iwi_level_change *changes, size_t most,
                                        size_t *count_p);

/* 1 - the Kolmogorov distribution: that the largest distance of a Brownian bridge from 0 exceeds x. */
double iwi_kolmogorov_above(double x);

#endif
