/* Finds changes of level by ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/stats/change_points.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"

struct value {
    double value;
    size_t at;
};

/* A level that lasts is told from what neighbours have in common up to here. */
static const double MOST_CORRELATION = 0.9;

enum { LEAST_BATCHES = 100 };

struct seeker {
    const double *values;
    double error_rate;
    struct value *sorted;
    double *ranks;
    struct iwi_level_change *changes;
    size_t count, most;
};

double iwi_kolmogorov_above(double x)
{
    double sum = 0.0, sign = 1.0;

    if (x < 0.2) { /* 1 - 1e-11 and closer to 1; the series converges slowly */
        return 1.0;
    }
    for (int k = 1; k <= 100; k++) {
        const double term = exp(-2.0 * k * k * x * x);

        sum += sign * term;
        sign = -sign;
        if (term < 1e-16) {
            break;
        }
    }
    return fmin(1.0, fmax(0.0, 2.0 * sum));
}

IWI_COMPARE(compare_values, struct value, IWI_RISING(value))

/* The ranks of `count` numbers, which may be those that they replace. Equal ones share the mean of their
 * ranks; the mean of all is 0. */
static void rank_values(const struct seeker *s, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        s->sorted[i] = (struct value){values[i], i};
    }
    iwi_sort(s->sorted, count, compare_values);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && s->sorted[end].value == s->sorted[i].value; end++) {
        }
        for (size_t k = i; k < end; k++) {
            s->ranks[s->sorted[k].at] = (double)(i + end - 1) / 2.0 - (double)(count - 1) / 2.0;
        }
    }
}

/* The mean distance of values that are so far apart in time. */
static double mean_distance(const double *ranks, size_t count, size_t lag)
{
    double sum = 0.0;

    for (size_t i = lag; i < count; i++) {
        sum += fabs(ranks[i] - ranks[i - lag]);
    }
    return sum / (double)(count - lag);
}

/* Takes from each what it has in common with the one before it. If that is a share rho, values two apart are
 * farther from each other than neighbours, by sqrt(1 + rho); changes of level hardly matter to either. The
 * share has an error of about 1 / sqrt(n), which is added once: what was missed is no change. */
static void part_neighbours(double *ranks, size_t count)
{
    const double near = mean_distance(ranks, count, 1), far = mean_distance(ranks, count, 2);
    double rho = near > 0.0 ? far / near * (far / near) - 1.0 : 0.0;

    rho = fmin(MOST_CORRELATION, fmax(0.0, rho + 1.0 / sqrt((double)count)));
    for (size_t i = count; i-- > 1;) {
        ranks[i] -= rho * ranks[i - 1];
    }
    ranks[0] *= sqrt(1.0 - rho * rho);
}

/* Means of neighbours in place of them, if there are many; returns how many. What lasts for some values
 * hardly makes means alike. */
static size_t make_batches(double *ranks, size_t count)
{
    const size_t size = (size_t)fmax(1.0, fmin(cbrt((double)count), (double)count / LEAST_BATCHES));
    const size_t batches = count / size;

    for (size_t b = 0; b < batches; b++) {
        double sum = 0.0;

        for (size_t i = b * size; i < (b + 1) * size; i++) {
            sum += ranks[i];
        }
        ranks[b] = sum / (double)size;
    }
    return batches;
}

/* Where |S| is largest, at least `least` values on both sides; 0: nowhere. */
static size_t farthest(const double *ranks, size_t count, size_t least, double *sum_p)
{
    double sum = 0.0;
    size_t at = 0;

    *sum_p = 0.0;
    for (size_t k = 1; k + least <= count; k++) {
        sum += ranks[k - 1];
        if (k >= least && fabs(sum) > fabs(*sum_p)) {
            *sum_p = sum;
            at = k;
        }
    }
    return at;
}

/* The chance that values without a change look so, and where it is. */
static double judge(const struct seeker *s, size_t first, size_t count, size_t *at_p)
{
    size_t batches;
    double sum, n;

    rank_values(s, &s->values[first], count);
    *at_p = farthest(s->ranks, count, IWI_LEAST_CHANGE, &sum);
    if (*at_p == 0) {
        return 1.0;
    }
    batches = make_batches(s->ranks, count);
    part_neighbours(s->ranks, batches);
    rank_values(s, s->ranks, batches);
    (void)farthest(s->ranks, batches, 1, &sum);
    n = (double)batches;
    return iwi_kolmogorov_above(fabs(sum) / sqrt(n * (n * n - 1.0) / 12.0));
}

static void seek(struct seeker *s, size_t first, size_t count)
{
    double chance;
    size_t at;

    if (count / 2 < IWI_LEAST_CHANGE || s->count == s->most) {
        return;
    }
    chance = judge(s, first, count, &at);
    if (chance >= s->error_rate) {
        return;
    }
    seek(s, first, at);
    if (s->count < s->most) {
        s->changes[s->count++] = (struct iwi_level_change){first + at, chance};
    }
    seek(s, first + at, count - at);
}

iw_status iwi_find_changes(const iw_log *log, const double *values, size_t count, double error_rate,
                           struct iwi_level_change *changes, size_t most, size_t *count_p)
{
    struct seeker s = {.values = values, .error_rate = error_rate, .changes = changes, .most = most};
    iw_status status;

    s.sorted = iwi_new_array(log, count, sizeof *s.sorted);
    s.ranks = iwi_new_array(log, count, sizeof *s.ranks);
    status = s.sorted != NULL && s.ranks != NULL ? IW_OK : IW_ERR_NOMEM;
    if (status == IW_OK) {
        seek(&s, 0, count);
        *count_p = s.count;
    }
    free(s.sorted);
    free(s.ranks);
    return status;
}
