/* How far one distribution of durations is from another: Kullback and Leibler's divergence of Parzen
 * densities.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Durations range over decades, so densities are over x = ln d. With Gaussian kernels of bandwidth h,
 *     p(x) = 1/n sum_i phi((x - x_i) / h) / h,   h = 0.9 min(s, IQR / 1.34) n^(-1/5)   (Silverman, of a),
 *     KL(a, b) = integral p_a(x) ln(p_a(x) / p_b(x)) dx.
 * Both densities have the bandwidth of a, the trace, so that equal durations have KL 0 whatever it is. h is
 * at least LEAST_BANDWIDTH: equal durations have no spread. Where b has nothing p_b would be 0 and KL
 * infinite, so both densities are mixed with FLAT_SHARE of a flat one. Where b lies aside of a, KL is near
 * ln(GRID / FLAT_SHARE) less the entropy of p_a on the grid: so the KL of a naive injector, and its ratio to
 * that of a compensated one, are larger the smaller FLAT_SHARE is. docs/validation/emulation.md has numbers.
 * The paper tells neither bandwidth nor axis nor what it did of this: no number of its can be compared.
 */
#include <math.h>
#include <stdlib.h>

#include <idlewave/estimate.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/replay/fidelity/fidelity.h"

enum { GRID = 2048 };

static const double LEAST_BANDWIDTH = 0.01; /* 1 % of a duration */
static const double FLAT_SHARE = 1e-6;
static const double KERNEL_REACH = 6.0; /* bandwidths */

struct grid {
    double first, step, bandwidth;
};

static double bandwidth_of(const double *sorted, size_t count)
{
    const double iqr = iw_quantile_sorted(sorted, count, 0.75) - iw_quantile_sorted(sorted, count, 0.25);
    double mean = 0.0, square = 0.0, spread;

    for (size_t i = 0; i < count; i++) {
        mean += sorted[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        square += (sorted[i] - mean) * (sorted[i] - mean) / (double)count;
    }
    spread = iqr > 0.0 ? fmin(sqrt(square), iqr / 1.34) : sqrt(square);
    return fmax(0.9 * spread * pow((double)count, -0.2), LEAST_BANDWIDTH);
}

/* Durations go to the two grid points beside them, then the kernel is laid over the counts. */
static void estimate(const struct grid *grid, const double *x, size_t count, double *counts, double *density)
{
    const int reach = (int)fmin(ceil(KERNEL_REACH * grid->bandwidth / grid->step), GRID - 1);
    double sum = 0.0;

    for (size_t i = 0; i < count; i++) {
        const double at = (x[i] - grid->first) / grid->step;
        const size_t point = (size_t)fmin(fmax(at, 0.0), GRID - 2);

        counts[point] += 1.0 - (at - (double)point);
        counts[point + 1] += at - (double)point;
    }
    for (int i = 0; i < GRID; i++) {
        for (int k = -reach; k <= reach && counts[i] > 0.0; k++) {
            const double z = k * grid->step / grid->bandwidth;

            if (i + k >= 0 && i + k < GRID) {
                density[i + k] += counts[i] * exp(-0.5 * z * z);
            }
        }
    }
    for (size_t i = 0; i < GRID; i++) {
        sum += density[i];
    }
    for (size_t i = 0; i < GRID; i++) { /* shares of the grid's points: the step cancels */
        density[i] = (1.0 - FLAT_SHARE) * density[i] / sum + FLAT_SHARE / GRID;
    }
}

static void take_logarithms(const double *ns, size_t count, double *sorted)
{
    for (size_t i = 0; i < count; i++) {
        sorted[i] = log(fmax(ns[i], 1.0));
    }
    iwi_sort_doubles(sorted, count);
}

/* `room` has a_count + b_count + 4 GRID zeros. */
static double divergence(const double *a_ns, size_t a_count, const double *b_ns, size_t b_count, double *room)
{
    double *a = room, *b = a + a_count, *p = b + b_count, *q = p + GRID;
    double *counts_a = q + GRID, *counts_b = counts_a + GRID;
    double kl = 0.0, last;
    struct grid grid;

    take_logarithms(a_ns, a_count, a);
    take_logarithms(b_ns, b_count, b);
    grid.bandwidth = bandwidth_of(a, a_count);
    grid.first = fmin(a[0], b[0]) - KERNEL_REACH * grid.bandwidth;
    last = fmax(a[a_count - 1], b[b_count - 1]) + KERNEL_REACH * grid.bandwidth;
    grid.step = (last - grid.first) / (GRID - 1);
    estimate(&grid, a, a_count, counts_a, p);
    estimate(&grid, b, b_count, counts_b, q);
    for (size_t i = 0; i < GRID; i++) {
        kl += p[i] * log(p[i] / q[i]);
    }
    return fmax(kl, 0.0);
}

iw_status iwi_kl_divergence(const iw_log *log, const double *a_ns, size_t a_count, const double *b_ns,
                            size_t b_count, double *kl_p)
{
    double *room;

    if (a_count == 0 || b_count == 0) {
        *kl_p = NAN;
        return IW_OK;
    }
    room = iwi_new_array(log, a_count + b_count + 4 * (size_t)GRID, sizeof *room);
    if (room == NULL) {
        return IW_ERR_NOMEM;
    }
    *kl_p = divergence(a_ns, a_count, b_ns, b_count, room);
    free(room);
    return IW_OK;
}
