/* The tail of losses beyond what was recorded: the law that fits peaks over a threshold, how it is checked,
 * the largest of many.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/model/window_law.h"

static double extra_ns(const struct iwi_peaks *peaks);

/* Fits generalised Pareto laws by Bayes' rule on a grid: intervals stay honest with few values, and nothing
 * is drawn.
 *
 * With tau = xi / sigma and Q(tau) = sum of log(1 + tau y) / tau (at 0: sum of y) the log-likelihood of k
 * excesses is
 *     -k log(sigma) - (1 / sigma + tau) Q(tau),
 * smooth through tau = 0, and the values enter once for each tau, not for each point of the grid.
 */

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

/* Clusters of large losses: phases that overlap see the same detours and count once. */

/* More than this share of the time is no tail. */
static const double LARGEST_SHARE = 0.1;

/* How much larger a share is looked at if clusters were too few; at first as much more than they would take
 * if each lasted as long as the work. */
static const double STEP = 1.6;

struct cluster {
    double peak_ns;
    uint32_t block;
};

struct gatherer {
    const iw_log *log;
    const struct iwi_blocks *blocks;
    int64_t work_ns;
    double floor_ns;
    int64_t end_ns; /* of the last large piece of this CPU; -1: none yet */
    struct cluster *clusters;
    size_t cluster_count, cluster_capacity;
    struct iwi_large_piece *pieces;
    size_t piece_count, piece_capacity;
    iw_status status;
};

static void note_piece(struct gatherer *g, const struct iwi_window_piece *piece)
{
    const double high_ns = (double)piece->loss_ns;

    g->status =
        iwi_grow(g->log, (void **)&g->pieces, &g->piece_capacity, g->piece_count + 1, sizeof *g->pieces);
    if (g->status == IW_OK) {
        g->pieces[g->piece_count++] = (struct iwi_large_piece){
            high_ns, piece->is_ramp ? high_ns - (double)piece->length_ns : high_ns, (double)piece->length_ns};
    }
}

static void gather(void *arg, const struct iwi_window_piece *piece)
{
    struct gatherer *g = arg;
    const double peak_ns = (double)piece->loss_ns;

    if (peak_ns <= g->floor_ns || g->status != IW_OK) {
        return;
    }
    note_piece(g, piece);
    if (g->status == IW_OK && (g->end_ns < 0 || piece->start_ns >= g->end_ns + g->work_ns)) {
        g->status = iwi_grow(g->log, (void **)&g->clusters, &g->cluster_capacity, g->cluster_count + 1,
                             sizeof *g->clusters);
        if (g->status == IW_OK) {
            g->clusters[g->cluster_count++] =
                (struct cluster){peak_ns, (uint32_t)iwi_block_of(g->blocks, piece->start_ns)};
        }
    } else if (g->status == IW_OK && peak_ns > g->clusters[g->cluster_count - 1].peak_ns) {
        g->clusters[g->cluster_count - 1].peak_ns = peak_ns;
    }
    g->end_ns = piece->start_ns + piece->length_ns;
}

IWI_COMPARE(by_peak, struct cluster, IWI_FALLING(peak_ns))

static iw_status take_peaks(struct gatherer *g, struct iwi_peaks *peaks_p)
{
    struct iwi_peaks peaks = {
        g->cluster_count, iwi_new_array(g->log, g->cluster_count, sizeof *peaks.loss_ns),
        iwi_new_array(g->log, g->cluster_count, sizeof *peaks.block), g->piece_count, g->pieces};

    if (peaks.loss_ns == NULL || peaks.block == NULL) {
        free(peaks.loss_ns);
        free(peaks.block);
        return IW_ERR_NOMEM;
    }
    iwi_sort(g->clusters, g->cluster_count, by_peak);
    for (size_t i = 0; i < g->cluster_count; i++) {
        peaks.loss_ns[i] = g->clusters[i].peak_ns;
        peaks.block[i] = g->clusters[i].block;
    }
    g->pieces = NULL;
    *peaks_p = peaks;
    return IW_OK;
}

static void gather_all(struct gatherer *g, const struct iwi_window_cpus *cpus)
{
    g->cluster_count = g->piece_count = 0;
    for (size_t i = 0; i < cpus->count; i++) {
        g->end_ns = -1;
        iwi_window_walk(&cpus->cpus[i], g->work_ns, gather, g);
    }
}

iw_status iwi_peaks_new(const iw_log *log, const struct iwi_window_cpus *cpus, int64_t work_ns,
                        const struct iwi_window_law *law, const struct iwi_blocks *blocks, size_t wanted,
                        struct iwi_peaks *peaks_p)
{
    struct gatherer g = {.log = log, .blocks = blocks, .work_ns = work_ns};
    double share = (double)wanted * (double)work_ns / cpus->watched_ns;
    iw_status status;

    do {
        share = fmin(share * STEP, LARGEST_SHARE);
        g.floor_ns = iwi_window_law_quantile_ns(law, share);
        gather_all(&g, cpus);
    } while (g.status == IW_OK && g.cluster_count < wanted && share < LARGEST_SHARE && g.floor_ns > 0.0);
    status = g.status == IW_OK ? take_peaks(&g, peaks_p) : g.status;
    free(g.clusters);
    free(g.pieces);
    return status;
}

void iwi_peaks_release(struct iwi_peaks *peaks)
{
    free(peaks->loss_ns);
    free(peaks->block);
    free(peaks->pieces);
    *peaks = (struct iwi_peaks){0};
}

double iwi_peaks_time_above_ns(const struct iwi_peaks *peaks, double loss_ns)
{
    double sum = 0.0;

    for (size_t i = 0; i < peaks->piece_count; i++) {
        const struct iwi_large_piece *piece = &peaks->pieces[i];

        if (piece->low_ns >= loss_ns && piece->high_ns > loss_ns) {
            sum += piece->length_ns;
        } else if (piece->high_ns > loss_ns) {
            sum += piece->high_ns - loss_ns;
        }
    }
    return sum;
}

/* The mean of the largest of n losses where the tail rules it.
 *
 * With S = exp(-t) an excess is y = sigma (exp(xi t) - 1) / xi, and
 *     E[max_n] = E[min(max_n, u)] + integral over t >= 0 of (1 - (1 - m(t))^n) sigma exp(xi t) dt,
 *     m(t) = rate exp(-t) (a + sigma exp(xi t) / (1 - xi)).
 * The integrand is exp(xi t) where n m is large, and n m exp(xi t) where it is small: both have closed forms,
 * and only the stretch between is summed. That holds for any n.
 */

/* Integral of exp(k t) from a to b. */
static double exp_integral(double k, double a, double b)
{
    return fabs(k * (b - a)) < 1e-9 ? exp(k * a) * (b - a) : exp(k * a) * expm1(k * (b - a)) / k;
}

struct excess_law {
    const struct iwi_gpd *gpd;
    double rate, extra_ns, inside_ns; /* inside: sigma / (1 - xi) */
    double n;
};

static double expected_above(const struct excess_law *law, double t)
{
    return law->n * law->rate * exp(-t) * (law->extra_ns + law->inside_ns * exp(law->gpd->xi * t));
}

/* 1 - (1 - m)^n, times exp(xi t) */
static double integrand(const struct excess_law *law, double t)
{
    const double share = fmin(expected_above(law, t) / law->n, 1.0 - 1e-15);

    return -expm1(law->n * log1p(-share)) * exp(law->gpd->xi * t);
}

/* Where one of n is expected above. */
static double balance(const struct excess_law *law)
{
    enum { STEPS = 12 };
    double t = 0.0;

    for (int i = 0; i < STEPS; i++) {
        t = fmax(t + log(expected_above(law, t)), 0.0);
    }
    return t;
}

static double simpson(const struct excess_law *law, double from, double to)
{
    enum { INTERVALS = 40 };
    const double step = (to - from) / INTERVALS;
    double sum = integrand(law, from) + integrand(law, to);

    for (int i = 1; i < INTERVALS; i++) {
        sum += (i % 2 == 1 ? 4.0 : 2.0) * integrand(law, from + step * i);
    }
    return sum * step / 3.0;
}

static double mean_excess_ns(const struct excess_law *law, double most_ns)
{
    static const double SURE = 4.0, RARE = 8.0; /* n m = e^4: certain; e^-8: proportional to n m */
    const double xi = law->gpd->xi, sigma = law->gpd->sigma, reach = xi * most_ns / sigma;
    const double end = fabs(xi) < 1e-9 ? most_ns / sigma : reach > -1.0 ? log1p(reach) / xi : INFINITY;
    const double middle = balance(law);
    const double from = fmin(fmax(middle - SURE, 0.0), end), to = fmin(middle + RARE, end);
    const double rare = law->n * law->rate *
                        (law->extra_ns * exp_integral(xi - 1.0, to, fmin(end, to + 1e3)) +
                         law->inside_ns * exp_integral(2.0 * xi - 1.0, to, fmin(end, to + 1e3)));

    return sigma * (exp_integral(xi, 0.0, from) + (to > from ? simpson(law, from, to) : 0.0) +
                    (end > to ? rare : 0.0));
}

static double mean_ns(const struct iwi_tail *tail, const struct iwi_tail_draw *draw, double below_ns,
                      double n)
{
    static const double LEAST = 0.05; /* of 1 - xi: heavier tails are refused */
    const struct excess_law law = {&draw->gpd, draw->rate, draw->extra_ns,
                                   draw->gpd.sigma / fmax(1.0 - draw->gpd.xi, LEAST), n};

    return below_ns + mean_excess_ns(&law, tail->most_ns - draw->from_ns);
}

double iwi_tail_mean_max_ns(const struct iwi_tail *tail, const struct iwi_window_law *law, double n)
{
    return mean_ns(tail, &tail->mode, iwi_window_mean_max_ns(law, law->share, n, tail->mode.from_ns), n);
}

void iwi_tail_draw_means_ns(const struct iwi_tail *tail, const struct iwi_window_law *law, double n,
                            double means_ns[IWI_TAIL_DRAWS])
{
    double below_ns = 0.0, from_ns = -1.0;

    for (size_t i = 0; i < IWI_TAIL_DRAWS; i++) {
        if (tail->draws[i].from_ns != from_ns) { /* some hundred draws have the same threshold */
            from_ns = tail->draws[i].from_ns;
            below_ns = iwi_window_mean_max_ns(law, law->share, n, from_ns);
        }
        means_ns[i] = mean_ns(tail, &tail->draws[i], below_ns, n);
    }
}

/* Tests whether excesses are of one generalised Pareto law. */

/* The distance that is exceeded with these probabilities if xi and sigma were fitted, by xi. Found by
 * simulation: 8,000 samples of 200 values each, fitted by iwi_gpd_fit(); src/features/model/tests/tail_test.c
 * checks them. */
enum { LEVELS = 5, SHAPES = 7 };
static const double LEVEL[LEVELS] = {0.25, 0.1, 0.05, 0.01, 0.005};
static const double SHAPE[SHAPES] = {-0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8};
static const double DISTANCE[SHAPES][LEVELS] = {
    {0.635, 0.904, 1.129, 1.686, 1.881}, {0.602, 0.857, 1.041, 1.541, 1.797},
    {0.567, 0.797, 0.976, 1.435, 1.625}, {0.539, 0.746, 0.897, 1.290, 1.464},
    {0.515, 0.703, 0.869, 1.248, 1.403}, {0.497, 0.682, 0.814, 1.165, 1.316},
    {0.485, 0.659, 0.804, 1.128, 1.269},
};

/* A^2 = -n - sum (2 i - 1) (log z_i + log(1 - z_(n+1-i))) / n, values ascending, z their probabilities. */
static double gpd_distance(const struct iwi_gpd *gpd, const double *excess, size_t count)
{
    const double n = (double)count;
    double sum = 0.0;

    for (size_t i = 0; i < count; i++) {
        const double small = iwi_gpd_above(gpd, excess[count - 1 - i]);
        const double large = iwi_gpd_above(gpd, excess[i]);

        sum += (2.0 * (double)i + 1.0) * (log(fmax(1.0 - small, 1e-300)) + log(fmax(large, 1e-300)));
    }
    return -n - sum / n;
}

/* The table's distance for a level, between the shapes it has. */
static double distance_at(double xi, size_t level)
{
    size_t i = 0;
    double part;

    while (i + 2 < SHAPES && SHAPE[i + 1] < xi) {
        i++;
    }
    part = fmin(fmax((xi - SHAPE[i]) / (SHAPE[i + 1] - SHAPE[i]), 0.0), 1.0);
    return DISTANCE[i][level] + part * (DISTANCE[i + 1][level] - DISTANCE[i][level]);
}

double iwi_gpd_goodness(const struct iwi_gpd *gpd, const double *excess, size_t count)
{
    const double distance = gpd_distance(gpd, excess, count);
    double before = distance_at(gpd->xi, 0);

    if (distance <= before) {
        return LEVEL[0];
    }
    for (size_t level = 1; level < LEVELS; level++) {
        const double here = distance_at(gpd->xi, level);

        if (distance < here) {
            const double part = (distance - before) / (here - before);

            return LEVEL[level - 1] * pow(LEVEL[level] / LEVEL[level - 1], part);
        }
        before = here;
    }
    return LEVEL[LEVELS - 1];
}

enum { MOST_OUTLIERS = 40 };

/* For all numbers of outliers together. */
static const double OUTLIER_LEVEL = 0.005;

/* P(`apart` values above y all exceed y + gap), if the law is that of the values up to y. */
static double chance_of_gap(const double *excess, size_t count, size_t apart, double weight)
{
    const double y = excess[apart], gap = excess[apart - 1] - y;
    struct iwi_gpd_posterior p;
    double chance = 0.0;

    iwi_gpd_fit(excess, count, apart, weight, &p);
    for (size_t i = 0; i < IWI_GPD_GRID; i++) {
        for (size_t j = 0; j < IWI_GPD_GRID; j++) {
            const double sigma = exp(p.log_sigma[j]), xi = p.tau[i] * sigma, sigma_at = sigma + xi * y;

            if (p.mass[i][j] > 1e-9 && sigma_at > 0.0) {
                chance +=
                    p.mass[i][j] * pow(iwi_gpd_above(&(struct iwi_gpd){xi, sigma_at}, gap), (double)apart);
            }
        }
    }
    return chance;
}

/* Gaps after the j largest values, times j, are alike for an exponential tail, those of logarithms for a
 * Pareto tail: the number after which the gap stands out. */
static size_t widest_gap(const double *excess, size_t most, bool is_logarithmic)
{
    double widest = -1.0;
    size_t after = 0;

    for (size_t j = 1; j <= most; j++) {
        const double high = excess[j - 1], low = excess[j];
        const double gap = (double)j * (is_logarithmic ? log(high / fmax(low, 1e-9 * high)) : high - low);

        if (gap > widest) {
            widest = gap;
            after = j;
        }
    }
    return after;
}

size_t iwi_gpd_outliers(const double *excess, size_t count, double weight)
{
    const size_t most = count / 2 < MOST_OUTLIERS ? count / 2 : MOST_OUTLIERS;

    if (most == 0 || excess[0] <= 0.0) {
        return 0;
    }
    for (int kind = 0; kind < 2; kind++) {
        const size_t after = widest_gap(excess, most, kind == 1);

        if (chance_of_gap(excess, count, after, weight) < OUTLIER_LEVEL / MOST_OUTLIERS) {
            return after;
        }
    }
    return 0;
}

/* Chooses the thresholds of a tail, and tests what was fitted above them.
 *
 * A low threshold has many peaks above it and small errors, but perhaps not yet the law of the tail; a high
 * one the other way round, and no rule finds the best. So all thresholds whose fit is good speak, with the
 * same weight: what they disagree on widens the interval.
 */

enum { LEAST_PEAKS = 50, MOST_PEAKS = 400, CANDIDATES = 4 };

static const double GOOD_FIT = 0.1, BAD_FIT = 0.01; /* probabilities of so large a distance */
static const double HEAVY_CHANCE = 0.025;           /* of xi > 1: the interval has no upper end */

/* Losses so many times as long as the longest seen are left out of means. A law with xi near 1/2 has most of
 * its mean there, where nothing is known; one with xi = 1/3 loses a few percent. */
static const double MOST_LONGER = 100.0;

struct candidate {
    size_t count;
    double from_ns, weight, goodness;
    double excess[MOST_PEAKS];
    struct iwi_gpd_posterior posterior;
};

/* Variance over mean of the number of peaks in a block of time: above 1 where clusters come in bursts, and so
 * many peaks say as much as one. */
static double burstiness(const struct iwi_peaks *peaks, size_t count, size_t block_count)
{
    double squares = 0.0;
    const double mean = (double)count / (double)block_count;

    if (block_count < 2) {
        return 1.0;
    }
    for (size_t block = 0; block < block_count; block++) {
        double in_block = 0.0;

        for (size_t i = 0; i < count; i++) {
            in_block += peaks->block[i] == block ? 1.0 : 0.0;
        }
        squares += (in_block - mean) * (in_block - mean);
    }
    return fmax(squares / (double)(block_count - 1) / mean, 1.0);
}

static void fit_candidate(const struct iwi_peaks *peaks, size_t count, size_t block_count,
                          struct candidate *c)
{
    c->count = count;
    c->from_ns = peaks->loss_ns[count];
    c->weight = 1.0 / burstiness(peaks, count, block_count);
    for (size_t i = 0; i < count; i++) {
        c->excess[i] = peaks->loss_ns[i] - c->from_ns;
    }
    iwi_gpd_fit(c->excess, count, 0, c->weight, &c->posterior);
    c->goodness = iwi_gpd_goodness(&c->posterior.mode, c->excess, count);
}

/* Those with a good fit, the lowest threshold first; if none is good the highest one, unless it is bad.
 * Returns how many. */
static size_t find_candidates(const struct iwi_peaks *peaks, size_t block_count,
                              struct candidate found[CANDIDATES])
{
    size_t good = 0;

    for (size_t count = MOST_PEAKS; count >= LEAST_PEAKS; count /= 2) {
        if (count < peaks->count) {
            const bool is_last = count / 2 < LEAST_PEAKS;
            struct candidate *c = &found[good];

            fit_candidate(peaks, count, block_count, c);
            good += (is_last ? good == 0 && c->goodness > BAD_FIT : c->goodness >= GOOD_FIT) ? 1 : 0;
        }
    }
    return good;
}

static double fraction(double x)
{
    return x - floor(x);
}

/* a of tail.h, from the top of the peaks: further down clusters merge. Few, but enough for a mean. */
static double extra_ns(const struct iwi_peaks *peaks)
{
    const size_t top = LEAST_PEAKS / 2;
    const double from_ns = peaks->loss_ns[top];
    double excess_ns = 0.0;

    for (size_t i = 0; i < top; i++) {
        excess_ns += peaks->loss_ns[i] - from_ns;
    }
    return fmax((iwi_peaks_time_above_ns(peaks, from_ns) - excess_ns) / (double)top, 0.0);
}

/* Evenly spread over the posterior: points of the grid by their mass, places around a point and rates by
 * sequences of low discrepancy. Rates are gamma distributed, as after count x weight Poisson events. */
static void draw_all(const struct candidate *c, struct iwi_tail_draw common, struct iwi_tail_draw *draws,
                     size_t draw_count)
{
    const struct iwi_gpd_posterior *p = &c->posterior;
    const double tau_step = p->tau[1] - p->tau[0], sigma_step = p->log_sigma[1] - p->log_sigma[0];
    double passed = p->mass[0][0];
    size_t cell = 0;

    for (size_t k = 0; k < draw_count; k++) {
        const double place = ((double)k + 0.5) / (double)draw_count, turn = (double)k + 0.5;
        double tau, sigma;

        while (passed < place && cell + 1 < (size_t)IWI_GPD_GRID * IWI_GPD_GRID) {
            cell++;
            passed += p->mass[cell / IWI_GPD_GRID][cell % IWI_GPD_GRID];
        }
        tau = p->tau[cell / IWI_GPD_GRID] + tau_step * (fraction(turn * 0.7548776662466927) - 0.5);
        sigma =
            exp(p->log_sigma[cell % IWI_GPD_GRID] + sigma_step * (fraction(turn * 0.5698402909980532) - 0.5));
        draws[k] = common;
        draws[k].gpd = (struct iwi_gpd){tau * sigma, sigma};
        draws[k].rate *=
            iwi_gamma_quantile((double)c->count * c->weight, fraction(turn * 0.6180339887498949));
    }
}

static void make_tail(const struct iwi_peaks *peaks, const struct candidate *found, size_t good,
                      double watched_ns, struct iwi_tail *tail)
{
    tail->most_ns = MOST_LONGER * peaks->loss_ns[0];
    for (size_t i = 0; i < good; i++) {
        const struct candidate *c = &found[i];
        const struct iwi_tail_draw common = {c->from_ns, extra_ns(peaks), (double)c->count / watched_ns,
                                             c->posterior.mode};
        const size_t first = IWI_TAIL_DRAWS * i / good, end = IWI_TAIL_DRAWS * (i + 1) / good;

        draw_all(c, common, &tail->draws[first], end - first);
        if (i == 0) {
            tail->mode = common;
        }
    }
}

/* How many times as many peaks bring the standard error of xi, (1 + xi) / sqrt(count), so far down that xi
 * stays below 1. */
static double longer_for_xi(const struct candidate *c)
{
    const double xi = c->posterior.mode.xi;
    const double wanted = (1.0 - xi) / 2.5, now = (1.0 + xi) / sqrt((double)c->count * c->weight);

    return xi < 0.95 ? fmax(now * now / (wanted * wanted), 1.5) : 0.0;
}

static double chance_of_heavy(const struct candidate *found, size_t good)
{
    double sum = 0.0;

    for (size_t i = 0; i < good; i++) {
        sum += iwi_gpd_xi_above(&found[i].posterior, 1.0);
    }
    return sum / (double)good;
}

static void refuse(struct iwi_tail_choice *choice, iw_refusal why, double times_longer)
{
    choice->refusal = why;
    choice->times_longer = times_longer;
}

void iwi_tail_choose(const struct iwi_peaks *peaks, double watched_ns, size_t block_count,
                     struct iwi_tail_choice *choice_p)
{
    struct candidate found[CANDIDATES];
    size_t good, outliers;

    *choice_p = (struct iwi_tail_choice){.refusal = IW_REFUSAL_NONE};
    if (peaks->count <= LEAST_PEAKS) {
        refuse(choice_p, IW_REFUSAL_FEW, 1.5 * LEAST_PEAKS / fmax((double)peaks->count, 1.0));
        return;
    }
    good = find_candidates(peaks, block_count, found);
    outliers = iwi_gpd_outliers(found[0].excess, found[0].count, found[0].weight);
    if (outliers > 0) {
        refuse(choice_p, IW_REFUSAL_MIXTURE, fmax(1.5 * LEAST_PEAKS / (double)outliers, 2.0));
    } else if (good == 0) {
        refuse(choice_p, IW_REFUSAL_MIXTURE, 4.0);
    } else if (chance_of_heavy(found, good) > HEAVY_CHANCE) {
        refuse(choice_p, IW_REFUSAL_HEAVY, longer_for_xi(&found[0]));
    } else {
        make_tail(peaks, found, good, watched_ns, &choice_p->tail);
    }
}
