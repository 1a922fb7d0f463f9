/* Quantiles as R's type 7, and intervals of median and mean against numbers worked out by hand; how often
 * they cover is coverage_test.c.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/result.h>
#include <idlewave/sim.h>

#include <math.h>
#include <stdlib.h>

#include "support/support.h"

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
    assert_ok(iw_summarize(NULL, values, 6, &s));
    assert_int_equal(s.count, 6);
    assert_near(s.min, 1.0, 0.0);
    assert_near(s.q1, 2.5, 1e-12);
    assert_near(s.median, 6.0, 1e-12);
    assert_near(s.q3, 14.0, 1e-12);
    assert_near(s.max, 32.0, 0.0);
    assert_near(s.mean, 10.5, 1e-12);
    assert_near(values[0], 4.0, 0.0);
}

static void fewer_than_six_trials_have_no_interval(void **state)
{
    const double values[] = {1.0, 2.0, 3.0, 4.0, 5.0};
    iw_summary s;

    (void)state;
    for (size_t count = 1; count < IW_LEAST_TRIALS; count++) {
        assert_ok(iw_summarize(NULL, values, count, &s));
        assert_near(s.mean, 0.5 * (1.0 + (double)count), 1e-12);
        assert_near(s.median, s.mean, 1e-12);
        assert_true(isnan(s.median_low) && isnan(s.median_high) && isnan(s.mean_low) && isnan(s.mean_high));
        assert_true(isnan(iw_median_level(count)));
    }
}

static void equal_values_have_intervals_of_width_zero(void **state)
{
    double values[7];
    iw_summary s;

    (void)state;
    for (size_t i = 0; i < 7; i++) {
        values[i] = 130200.123; /* sevenths of it do not add up to it */
    }
    assert_ok(iw_summarize(NULL, values, 7, &s));
    assert_true(s.mean == values[0] && s.mean_low == values[0] && s.mean_high == values[0]);
    assert_true(s.median_low == values[0] && s.median_high == values[0]);
}

/* ---- the median ---- */

static void assert_places(size_t count, size_t place, double level)
{
    double *values = malloc(count * sizeof *values);
    iw_summary s;

    assert_non_null(values);
    for (size_t i = 0; i < count; i++) {
        values[i] = (double)(count - i); /* the k-th lowest is k */
    }
    assert_ok(iw_summarize(NULL, values, count, &s));
    assert_true(s.median_low == (double)place && s.median_high == (double)(count + 1 - place));
    assert_near(iw_median_level(count), level, 5e-5);
    free(values);
}

/* 1 - 2 sum_{i < k} C(n, i) / 2^n: 1 - 2/64; 1 - 2/512 (1 + 9); and by R, 1 - 2 * pbinom(k - 1, n, 0.5). */
static void the_median_lies_between_order_statistics(void **state)
{
    (void)state;
    assert_places(6, 1, 0.96875);
    assert_places(8, 1, 0.9921875);
    assert_places(9, 2, 0.9609375);
    assert_places(20, 6, 0.9586105);
    assert_places(100, 40, 0.9647998);
}

/* 1.96 deviations of sqrt(n)/2 about the middle; the laws that stand in for each other meet at 10^6. */
static void large_samples_have_the_normal_law_s_places(void **state)
{
    (void)state;
    for (size_t count = 999998; count <= 1000003; count++) {
        assert_near(iw_median_level(count), 0.95, 0.002);
        assert_true(iw_median_level(count) >= 0.95);
    }
    assert_near(iw_median_level(SIZE_MAX), 0.95, 1e-6);
    assert_places(1000001, 499021, 0.9500);
}

/* ---- the mean ---- */

/* mean 3.5, deviation sqrt(3.5), no skewness; t(97.5 %, 5) = 2.5705818: 2.5705818 sqrt(3.5/6) = 1.9633143 */
static void without_skewness_the_mean_has_students_interval(void **state)
{
    const double values[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
    iw_summary s;

    (void)state;
    assert_ok(iw_summarize(NULL, values, 6, &s));
    assert_near(s.mean_low, 3.5 - 1.9633143, 1e-6);
    assert_near(s.mean_high, 3.5 + 1.9633143, 1e-6);
}

/* Student's would be 10.5 +- 12.45; by the equations at the head of mean_interval.c, with deviation 11.8617
 * and c = 2.19044: */
static void skewness_moves_the_interval_to_the_long_side(void **state)
{
    double values[] = {1.0, 2.0, 4.0, 8.0, 16.0, 32.0};
    iw_summary s;

    (void)state;
    assert_ok(iw_summarize(NULL, values, 6, &s));
    assert_near(s.mean_low, 2.89234, 1e-3);
    assert_near(s.mean_high, 45.05689, 1e-3);
    for (size_t i = 0; i < 6; i++) {
        values[i] = -values[i];
    }
    assert_ok(iw_summarize(NULL, values, 6, &s));
    assert_near(s.mean_low, -45.05689, 1e-3);
    assert_near(s.mean_high, -2.89234, 1e-3);
}

/* One trial of ten is hit: mean 0.1, deviation 0.316228, c = 1.6 * 0.8/0.3; the lower bound would be -0.023.
 */
static void the_mean_is_not_below_all_trials(void **state)
{
    const double values[10] = {0.0, 0.0, 0.0, 1.0};
    iw_summary s;

    (void)state;
    assert_ok(iw_summarize(NULL, values, 10, &s));
    assert_true(s.mean_low == 0.0);
    assert_near(s.mean_high, 0.61819, 1e-4);
    assert_true(s.median_low == 0.0 && s.median_high == 0.0);
}

static void what_is_no_number_has_no_interval(void **state)
{
    const double values[6] = {NAN, NAN, NAN, NAN, NAN, NAN};
    iw_summary s;

    (void)state;
    assert_ok(iw_summarize(NULL, values, 6, &s));
    assert_true(isnan(s.mean) && isnan(s.mean_low) && isnan(s.mean_high));
}

static void trials_are_summed_up_in_nanoseconds(void **state)
{
    iw_time makespan_ps[] = {1000, 3500, 1000};
    const iw_sim_result result = {.trials = 3, .makespan_ps = makespan_ps};
    iw_summary s;

    (void)state;
    assert_ok(iw_summarize_trials(NULL, &result, &s));
    assert_int_equal(s.count, 3);
    assert_near(s.median, 1.0, 0.0);
    assert_near(s.mean, 5.5 / 3.0, 1e-12);
    assert_near(s.max, 3.5, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_interpolate_as_type_7),
        cmocka_unit_test(summary_does_not_need_sorted_values_and_leaves_them),
        cmocka_unit_test(fewer_than_six_trials_have_no_interval),
        cmocka_unit_test(equal_values_have_intervals_of_width_zero),
        cmocka_unit_test(the_median_lies_between_order_statistics),
        cmocka_unit_test(large_samples_have_the_normal_law_s_places),
        cmocka_unit_test(without_skewness_the_mean_has_students_interval),
        cmocka_unit_test(skewness_moves_the_interval_to_the_long_side),
        cmocka_unit_test(the_mean_is_not_below_all_trials),
        cmocka_unit_test(what_is_no_number_has_no_interval),
        cmocka_unit_test(trials_are_summed_up_in_nanoseconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
