/* How often the printed intervals of mean and median hold the truth: the tables of
 * docs/validation/coverage.md.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     stats_tests coverage_test [SAMPLES]      prints them, from so many samples of each law and size
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include <idlewave/result.h>

#include "core/base/rng.h"
#include "support/support.h"

enum { SIZES = 6, LARGEST = 1000, FEW_SAMPLES = 300 };

static const size_t sizes[SIZES] = {6, 10, 20, 50, 100, LARGEST};

static uint64_t samples_each = FEW_SAMPLES; /* an argument changes it */

/* ---- laws ---- */

static double uniform(double u)
{
    return u;
}

static double normal(double u)
{
    return gsl_cdf_ugaussian_Pinv(u);
}

/* The largest of very many. */
static double gumbel(double u)
{
    return -log(-log(u));
}

static double exponential(double u)
{
    return -log(u);
}

static double mirrored(double u)
{
    return log(u);
}

static double lognormal_1(double u)
{
    return exp(gsl_cdf_ugaussian_Pinv(u));
}

static double lognormal_15(double u)
{
    return exp(1.5 * gsl_cdf_ugaussian_Pinv(u));
}

static double pareto_25(double u)
{
    return pow(u, -1.0 / 2.5);
}

static double pareto_15(double u)
{
    return pow(u, -1.0 / 1.5);
}

static double hit_in_3(double u)
{
    return u < 1.0 / 3.0;
}

static double hit_in_10(double u)
{
    return u < 0.1;
}

static double hit_in_100(double u)
{
    return u < 0.01;
}

static const struct law {
    const char *name;
    double (*inverse)(double u);
    double mean, median;
    bool is_stepped; /* its median's interval covers more often than its level */
    double lowest;   /* share of the means that are covered at least, from 20 trials on */
} laws[] = {
    {"uniform", uniform, 0.5, 0.5, false, 0.94},
    {"normal", normal, 0.0, 0.0, false, 0.94},
    {"largest of many (Gumbel)", gumbel, 0.57721566490153286, 0.36651292058166433, false, 0.935},
    {"exponential", exponential, 1.0, M_LN2, false, 0.94},
    {"exponential, mirrored", mirrored, -1.0, -M_LN2, false, 0.94},
    {"lognormal, sigma 1", lognormal_1, 1.6487212707001282, 1.0, false, 0.925},
    {"lognormal, sigma 1.5", lognormal_15, 3.0802168489180306, 1.0, false, 0.91},
    {"Pareto, exponent 2.5", pareto_25, 2.5 / 1.5, 1.3195079107728942, false, 0.915},
    {"Pareto, exponent 1.5", pareto_15, 3.0, 1.5874010519681994, false, 0.84},
    {"1 trial in 3 is hit", hit_in_3, 1.0 / 3.0, 0.0, true, 0.94},
    {"1 trial in 10 is hit", hit_in_10, 0.1, 0.0, true, 0.86},
    {"1 trial in 100 is hit", hit_in_100, 0.01, 0.0, true, 0.0},
};

enum { LAWS = sizeof laws / sizeof laws[0] };

/* ---- how often ---- */

/* Shares of the samples. */
struct coverage {
    double mean, median; /* whose interval holds the truth */
    double fooled; /* whose interval of the mean does not, and that `simulate` does not warn of; of stepped
                      laws */
};

/* The warnings of src/features/simulate/simulate_words.c: all trials alike, or one that makes up half of the
 * cost. For stepped laws, whose time without noise is 0. */
static bool is_warned_of(const iw_summary *s)
{
    return s->min == s->max || s->max / (double)s->count > 0.499 * s->mean;
}

static struct coverage coverage_of(const struct law *law, size_t size)
{
    uint64_t means = 0, medians = 0, fooled = 0;
    double values[LARGEST];
    iw_summary s;

    for (uint64_t sample = 0; sample < samples_each; sample++) {
        const struct iwi_draw_id id = {(uint64_t)(law - laws), sample, IWI_DRAW_TEST, (uint32_t)size, 0};
        bool is_covered;

        for (size_t i = 0; i < size; i++) {
            values[i] = law->inverse(iwi_draw_unit(id, i));
        }
        assert_ok(iw_summarize(NULL, values, size, &s));
        is_covered = s.mean_low <= law->mean && law->mean <= s.mean_high;
        means += is_covered;
        fooled += !is_covered && !is_warned_of(&s);
        medians += s.median_low <= law->median && law->median <= s.median_high;
    }
    return (struct coverage){(double)means / (double)samples_each, (double)medians / (double)samples_each,
                             (double)fooled / (double)samples_each};
}

/* ---- tables ---- */

static struct coverage found[LAWS][SIZES];

static void print_head(const char *title)
{
    print_message("\n| %s |", title);
    for (size_t i = 0; i < SIZES; i++) {
        print_message(" %zu |", sizes[i]);
    }
    print_message("\n|---|");
    for (size_t i = 0; i < SIZES; i++) {
        print_message("---|");
    }
    print_message("\n");
}

static void print_medians(void)
{
    print_head("median; trials");
    print_message("| level |");
    for (size_t i = 0; i < SIZES; i++) {
        print_message(" %.1f |", 100.0 * iw_median_level(sizes[i]));
    }
    print_message("\n");
    for (size_t l = 0; l < LAWS; l++) {
        print_message("| %s |", laws[l].name);
        for (size_t i = 0; i < SIZES; i++) {
            print_message(" %.1f |", 100.0 * found[l][i].median);
        }
        print_message("\n");
    }
}

static void print_means(void)
{
    print_head("mean; trials");
    for (size_t l = 0; l < LAWS; l++) {
        print_message("| %s |", laws[l].name);
        for (size_t i = 0; i < SIZES; i++) {
            print_message(" %.1f |", 100.0 * found[l][i].mean);
        }
        print_message("\n");
    }
    print_head("mean missed without a warning; trials");
    for (size_t l = 0; l < LAWS; l++) {
        if (laws[l].is_stepped) {
            print_message("| %s |", laws[l].name);
            for (size_t i = 0; i < SIZES; i++) {
                print_message(" %.1f |", 100.0 * found[l][i].fooled);
            }
            print_message("\n");
        }
    }
}

/* ---- tests ---- */

/* Four standard errors of a share near 95 %. */
static double chance(void)
{
    return 4.0 * sqrt(0.05 * 0.95 / (double)samples_each);
}

static void medians_are_covered_as_often_as_stated(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAWS; l++) {
        for (size_t i = 0; i < SIZES; i++) {
            const double level = iw_median_level(sizes[i]), share = found[l][i].median;

            if (share < level - chance() || (!laws[l].is_stepped && share > level + chance())) {
                fail_msg("%s, %zu trials: %.2f %%, stated %.2f %%", laws[l].name, sizes[i], 100.0 * share,
                         100.0 * level);
            }
        }
    }
}

static void means_are_covered_as_often_as_documented(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAWS; l++) {
        for (size_t i = 0; i < SIZES; i++) {
            if (sizes[i] >= 20 && found[l][i].mean < laws[l].lowest - chance()) {
                fail_msg("%s, %zu trials: %.2f %%, documented %.2f %%", laws[l].name, sizes[i],
                         100.0 * found[l][i].mean, 100.0 * laws[l].lowest);
            }
        }
    }
}

static void rare_hits_fool_nobody_more_often_than_stated(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAWS; l++) {
        for (size_t i = 0; i < SIZES; i++) {
            if (laws[l].is_stepped && found[l][i].fooled > 0.06 + chance()) {
                fail_msg("%s, %zu trials: %.2f %% missed without a warning", laws[l].name, sizes[i],
                         100.0 * found[l][i].fooled);
            }
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_are_covered_as_often_as_stated),
        cmocka_unit_test(means_are_covered_as_often_as_documented),
        cmocka_unit_test(rare_hits_fool_nobody_more_often_than_stated),
    };

    if (argc > 1) {
        samples_each = strtoull(argv[1], NULL, 10);
    }
    for (size_t l = 0; l < LAWS; l++) {
        for (size_t i = 0; i < SIZES; i++) {
            found[l][i] = coverage_of(&laws[l], sizes[i]);
        }
    }
    print_medians();
    print_means();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
