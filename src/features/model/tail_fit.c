/* Fits generalised Pareto laws by Bayes' rule on a grid: intervals stay honest with few values, and nothing
 * is drawn.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With tau = xi / sigma and Q(tau) = sum of log(1 + tau y) / tau (at 0: sum of y) the log-likelihood of k
 * excesses is
 *     -k log(sigma) - (1 / sigma + tau) Q(tau),
 * smooth through tau = 0, and the values enter once for each tau, not for each point of the grid.
 */
#include <math.h>

#include "core/base/base.h"
#include "features/model/tail.h"

/* Prior of xi: tails of system noise are between bounded and Pareto with exponent 2; log(sigma) is free. */
static const double PRIOR_XI = 0.0, PRIOR_XI_SD = 0.25;

struct fit {
    const double *excess;
    size_t count, hidden;
    double weight, unit; /* the median excess, in which the grid is laid */
};

struct axis {
    double middle, half;
};

double iwi_gpd_above(const struct iwi_gpd *gpd, double y)
{
    const double tau = gpd->xi / gpd->sigma;

    if (fabs(tau * y) < 1e-6) {
        return exp(-y / gpd->sigma * (1.0 - 0.5 * tau * y));
    }
    return tau * y > -1.0 ? exp(-log1p(tau * y) / gpd->xi) : 0.0;
}

/* log(1 + tau y) / tau */
static double scaled_log(double tau, double y)
{
    const double x = tau * y;

    return fabs(x) < 1e-6 ? y * (1.0 - 0.5 * x) : log1p(x) / tau;
}

/* Sums over the seen and over the hidden; false: some value is impossible. */
static bool sums_of(const struct fit *fit, double tau, double *seen, double *hidden)
{
    const double limit = fit->excess[fit->hidden] / fit->unit;

    *seen = *hidden = 0.0;
    if (tau * limit <= -1.0) {
        return false;
    }
    for (size_t i = fit->hidden; i < fit->count; i++) {
        *seen += scaled_log(tau, fit->excess[i] / fit->unit);
    }
    *hidden = (double)fit->hidden * scaled_log(tau, limit);
    return true;
}

static double log_prior(double xi)
{
    const double z = (xi - PRIOR_XI) / PRIOR_XI_SD;

    return -0.5 * z * z;
}

/* Logarithms of likelihood x prior, up to a constant; the most likely point. */
static double fill_logs(const struct fit *fit, struct iwi_gpd_posterior *p)
{
    const double seen_count = (double)(fit->count - fit->hidden);
    double largest = -INFINITY, likeliest = -INFINITY;

    for (size_t i = 0; i < IWI_GPD_GRID; i++) {
        double seen, hidden;
        const bool is_possible = sums_of(fit, p->tau[i], &seen, &hidden);

        for (size_t j = 0; j < IWI_GPD_GRID; j++) {
            const double sigma = exp(p->log_sigma[j]);
            const double likelihood = is_possible ? -seen_count * p->log_sigma[j] -
                                                        (1.0 / sigma + p->tau[i]) * seen - hidden / sigma
                                                  : -INFINITY;

            /* the grid's measure is d tau = d xi / sigma */
            p->mass[i][j] = fit->weight * likelihood + log_prior(p->tau[i] * sigma) + p->log_sigma[j];
            largest = fmax(largest, p->mass[i][j]);
            if (likelihood > likeliest) {
                likeliest = likelihood;
                p->mode = (struct iwi_gpd){p->tau[i] * sigma, sigma};
            }
        }
    }
    return largest;
}

static void fill(const struct fit *fit, struct iwi_gpd_posterior *p)
{
    const double largest = fill_logs(fit, p);
    double sum = 0.0;

    for (size_t i = 0; i < IWI_GPD_GRID; i++) {
        for (size_t j = 0; j < IWI_GPD_GRID; j++) {
            p->mass[i][j] = exp(p->mass[i][j] - largest);
            sum += p->mass[i][j];
        }
    }
    for (size_t i = 0; i < IWI_GPD_GRID; i++) {
        for (size_t j = 0; j < IWI_GPD_GRID; j++) {
            p->mass[i][j] /= sum;
        }
    }
}

static void lay_axis(const struct axis *axis, double points[IWI_GPD_GRID])
{
    for (size_t i = 0; i < IWI_GPD_GRID; i++) {
        points[i] = axis->middle + axis->half * (2.0 * (double)i / (IWI_GPD_GRID - 1) - 1.0);
    }
}

/* Where the mass lies: middle and five standard deviations, no less than two points of the old grid. */
static struct axis narrowed(const double points[IWI_GPD_GRID], const double mass[IWI_GPD_GRID])
{
    double mean = 0.0, square = 0.0;

    for (size_t i = 0; i < IWI_GPD_GRID; i++) {
        mean += mass[i] * points[i];
    }
    for (size_t i = 0; i < IWI_GPD_GRID; i++) {
        square += mass[i] * (points[i] - mean) * (points[i] - mean);
    }
    return (struct axis){mean, fmax(5.0 * sqrt(square), 2.0 * (points[1] - points[0]))};
}

static void narrow(const struct iwi_gpd_posterior *p, struct axis *tau, struct axis *log_sigma)
{
    double by_tau[IWI_GPD_GRID] = {0}, by_sigma[IWI_GPD_GRID] = {0};

    for (size_t i = 0; i < IWI_GPD_GRID; i++) {
        for (size_t j = 0; j < IWI_GPD_GRID; j++) {
            by_tau[i] += p->mass[i][j];
            by_sigma[j] += p->mass[i][j];
        }
    }
    *tau = narrowed(p->tau, by_tau);
    *log_sigma = narrowed(p->log_sigma, by_sigma);
}

/* The posterior was found in units of the median excess. */
static void scale(struct iwi_gpd_posterior *p, double unit)
{
    for (size_t i = 0; i < IWI_GPD_GRID; i++) {
        p->tau[i] /= unit;
        p->log_sigma[i] += log(unit);
    }
    p->mode.sigma *= unit;
}

void iwi_gpd_fit(const double *excess, size_t count, size_t hidden, double weight,
                 struct iwi_gpd_posterior *posterior)
{
    enum { PASSES = 3 };
    const double median = excess[hidden + (count - hidden) / 2];
    const struct fit fit = {excess, count, hidden, weight, median > 0.0 ? median : 1.0};
    struct axis tau = {1.0, 2.5}, log_sigma = {0.3, 1.5};

    for (int pass = 0; pass < PASSES; pass++) {
        lay_axis(&tau, posterior->tau);
        lay_axis(&log_sigma, posterior->log_sigma);
        fill(&fit, posterior);
        if (pass + 1 < PASSES) {
            narrow(posterior, &tau, &log_sigma);
        }
    }
    scale(posterior, fit.unit);
}

double iwi_gpd_xi_above(const struct iwi_gpd_posterior *posterior, double limit)
{
    double sum = 0.0;

    for (size_t i = 0; i < IWI_GPD_GRID; i++) {
        for (size_t j = 0; j < IWI_GPD_GRID; j++) {
            sum += posterior->tau[i] * exp(posterior->log_sigma[j]) > limit ? posterior->mass[i][j] : 0.0;
        }
    }
    return sum;
}
