/* Quantiles as R's type 7, and a bootstrap that covers the truth as often as it says.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/stats.h>

#include <math.h>
#include <stdlib.h>

#include "support/support.h"

#include "base/rng.h"

#define assert_near(value, expected, tolerance) assert_true(fabs((value) - (expected)) <= (tolerance))

static void quantiles_interpolate_as_type_7(void **state)
{
    static const double sorted[] = {1.0, 2.0, 4.0, 8.0, 16.0, 32.0};

    (void)state;
    /* quantile(c(1,2,4,8,16,32), c(0,.1,.25,.5,.75,.9,1)) in R */
    assert_near(iw_quantile_sorted(sorted, 6, 0.0), 1.0, 0.0);
    assert_near(iw_quantile_sorted(sorted, 6, 0.1), 1.5, 1e-12);
    assert_near(iw_quantile_sorted(sorted, 6, 0.25), 2.5, 1e-12);
    assert_near(iw_quantile_sorted(sorted, 6, 0.5), 6.0, 1e-12);
    assert_near(iw_quantile_sorted(sorted, 6, 0.75), 14.0, 1e-12);
    assert_near(iw_quantile_sorted(sorted, 6, 0.9), 24.0, 1e-12);
    assert_near(iw_quantile_sorted(sorted, 6, 1.0), 32.0, 0.0);
}

static void summary_does_not_need_sorted_values_and_leaves_them(void **state)
{
    const double values[] = {4.0, 32.0, 1.0, 8.0, 2.0, 16.0};
    iw_summary s;

    (void)state;
    assert_ok(iw_summarize(NULL, values, 6, 1, &s));
    assert_int_equal(s.count, 6);
    assert_near(s.min, 1.0, 0.0);
    assert_near(s.q1, 2.5, 1e-12);
    assert_near(s.median, 6.0, 1e-12);
    assert_near(s.q3, 14.0, 1e-12);
    assert_near(s.max, 32.0, 0.0);
    assert_near(s.mean, 10.5, 1e-12);
    assert_near(values[0], 4.0, 0.0);
    assert_true(s.ci95_low >= s.min && s.ci95_low <= s.median);
    assert_true(s.ci95_high <= s.max && s.ci95_high >= s.median);
}

static void one_value_has_no_interval(void **state)
{
    const double value = 5.0;
    iw_summary s;

    (void)state;
    assert_ok(iw_summarize(NULL, &value, 1, 1, &s));
    assert_near(s.median, 5.0, 0.0);
    assert_near(s.q1, 5.0, 0.0);
    assert_true(isnan(s.ci95_low) && isnan(s.ci95_high));
}

static void equal_values_have_an_interval_of_width_zero(void **state)
{
    const double values[] = {3.0, 3.0, 3.0, 3.0};
    iw_summary s;

    (void)state;
    assert_ok(iw_summarize(NULL, values, 4, 1, &s));
    assert_near(s.ci95_low, 3.0, 0.0);
    assert_near(s.ci95_high, 3.0, 0.0);
}

static void interval_depends_on_the_seed_only(void **state)
{
    double values[31];
    iw_summary a, b, c;

    (void)state;
    for (size_t i = 0; i < 31; i++) {
        values[i] = (double)(i * i);
    }
    assert_ok(iw_summarize(NULL, values, 31, 1, &a));
    assert_ok(iw_summarize(NULL, values, 31, 1, &b));
    assert_ok(iw_summarize(NULL, values, 31, 2, &c));
    assert_true(a.ci95_low == b.ci95_low && a.ci95_high == b.ci95_high);
    assert_true(a.ci95_low <= c.median && c.ci95_low <= a.median);
}

/* Exponential samples, whose median is ln 2: 95 % of the intervals should cover it. With 100 experiments the
 * standard error is 2.2 %; the percentile bootstrap of a median is known to be good to a few percent. */
static void interval_covers_the_median_about_95_times_in_100(void **state)
{
    enum { EXPERIMENTS = 100, SAMPLES = 41 };
    unsigned covered = 0;

    (void)state;
    for (uint64_t e = 0; e < EXPERIMENTS; e++) {
        const struct iwi_draw_id id = {9, e, IWI_DRAW_TEST, 0, 0};
        double values[SAMPLES];
        iw_summary s;

        for (size_t i = 0; i < SAMPLES; i++) {
            values[i] = -log(iwi_draw_unit(id, i));
        }
        assert_ok(iw_summarize(NULL, values, SAMPLES, e, &s));
        covered += s.ci95_low <= M_LN2 && M_LN2 <= s.ci95_high;
    }
    assert_in_range(covered, 88, 99);
}

static void fill_with_shares(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = ((double)i + 0.5) / (double)count;
    }
}

/* The median of n uniform numbers deviates by 1/(2 sqrt(n)); 2,000 resamples know 1.96 deviations to about 5
 * %. */
static void interval_has_the_width_of_theory_for_small_and_large_samples(void **state)
{
    static const size_t counts[] = {501, 2048, 100000};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        double *values = malloc(counts[i] * sizeof *values);
        const double expected = 1.96 * 0.5 / sqrt((double)counts[i]);
        iw_summary s;

        assert_non_null(values);
        fill_with_shares(values, counts[i]);
        assert_ok(iw_summarize(NULL, values, counts[i], 3, &s));
        assert_near((0.5 - s.ci95_low) / expected, 1.0, 0.15);
        assert_near((s.ci95_high - 0.5) / expected, 1.0, 0.15);
        free(values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_interpolate_as_type_7),
        cmocka_unit_test(summary_does_not_need_sorted_values_and_leaves_them),
        cmocka_unit_test(one_value_has_no_interval),
        cmocka_unit_test(equal_values_have_an_interval_of_width_zero),
        cmocka_unit_test(interval_depends_on_the_seed_only),
        cmocka_unit_test(interval_covers_the_median_about_95_times_in_100),
        cmocka_unit_test(interval_has_the_width_of_theory_for_small_and_large_samples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
