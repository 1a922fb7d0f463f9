/* Drifts with intervals.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/stats/drift_fit.h"

#include <math.h>

#include "support/support.h"

#include "core/base/base.h"
#include "core/base/rng.h"

static void assert_near(double actual, double expected, double tolerance)
{
    if (!(fabs(actual - expected) <= tolerance)) {
        fail_msg("%.12g instead of %.12g", actual, expected);
    }
}

static void an_exact_line_has_no_width(void **state)
{
    const double x[] = {0, 1, 2, 5}, y[] = {1, 3, 5, 11};
    const iw_estimate drift = iwi_fit_drift(x, y, NULL, 4);

    (void)state;
    assert_near(drift.value, 2.0, 1e-12);
    assert_near(drift.low, 2.0, 1e-12);
    assert_near(drift.high, 2.0, 1e-12);
}

/* By hand: increments 1 3 1 3, mean 2, residuals -1 1 -1 1, s^2 = 4/3, of the mean 4/3/4 = 1/3; t(0.975; 3)
 * is 3.182446. Successive residuals differ in sign, so nothing is widened. */
static void the_interval_is_students_of_the_increments(void **state)
{
    const double x[] = {1, 2, 3, 4, 5}, y[] = {0, 1, 4, 5, 8};
    const iw_estimate drift = iwi_fit_drift(x, y, NULL, 5);

    (void)state;
    assert_near(drift.value, 2.0, 1e-12);
    assert_near(drift.high - drift.value, 3.182446 * sqrt(1.0 / 3.0), 1e-5);
    assert_near(drift.value - drift.low, drift.high - drift.value, 1e-12);
}

/* By hand: 1 over 1, 8 over 4; drift 9/5; residuals -0.8 and (8 - 7.2)/2 = 0.4; s^2 = 0.8, of the drift
 * 0.8/5; t(0.975; 1) is 12.706205. */
static void longer_increments_vary_more(void **state)
{
    const double x[] = {0, 1, 5}, y[] = {0, 1, 9};
    const iw_estimate drift = iwi_fit_drift(x, y, NULL, 3);

    (void)state;
    assert_near(drift.value, 1.8, 1e-12);
    assert_near(drift.high - drift.value, 12.706205 * sqrt(0.8 / 5.0), 1e-5);
}

static void pieces_share_a_drift(void **state)
{
    const double x[] = {0, 1, 2, 3, 4, 5}, y[] = {0, 3, 6, 109, 112, 115};
    const uint32_t group[] = {0, 0, 0, 1, 1, 1};
    const iw_estimate drift = iwi_fit_drift(x, y, group, 6);

    (void)state;
    assert_near(drift.value, 3.0, 1e-12);
    assert_near(drift.high, 3.0, 1e-9);
}

static void too_few_points(void **state)
{
    const double x[] = {1, 2, 3}, y[] = {1, 5, 7};
    const uint32_t apart[] = {0, 1, 2};

    (void)state;
    assert_true(isnan(iwi_fit_drift(x, y, NULL, 0).value));
    assert_true(isnan(iwi_fit_drift(x, y, NULL, 1).value));
    assert_near(iwi_fit_drift(x, y, NULL, 2).value, 4.0, 1e-12);
    assert_true(isnan(iwi_fit_drift(x, y, NULL, 2).low));
    assert_true(isnan(iwi_fit_drift(x, y, apart, 3).value));
}

/* How many of 400 intervals hold the true drift, 0, of walks with increments e_i = r e_(i-1) + u_i, u
 * uniform. */
static unsigned count_covered(double r, size_t count)
{
    unsigned covered = 0;

    for (uint32_t run = 0; run < 400; run++) {
        const struct iwi_draw_id id = {7, 0, IWI_DRAW_TEST, 0, run};
        double x[40], y[40], increment = 0.0, at = 0.0;

        for (size_t i = 0; i < count; i++) {
            increment = r * increment + iwi_draw_unit(id, i) - 0.5;
            at += increment;
            x[i] = (double)i;
            y[i] = at;
        }
        const iw_estimate drift = iwi_fit_drift(x, y, NULL, count);

        covered += drift.low <= 0.0 && drift.high >= 0.0;
    }
    return covered;
}

static void intervals_cover_as_often_as_they_say(void **state)
{
    (void)state;
    assert_in_range(count_covered(0.0, 40), 368, 396); /* 92 to 99 %; of a line through the points 66 % */
    assert_in_range(count_covered(0.0, 6), 368, 396);
    assert_in_range(count_covered(0.5, 40), 360, 396); /* 90 %; without widening it would be 75 % */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exact_line_has_no_width),
        cmocka_unit_test(the_interval_is_students_of_the_increments),
        cmocka_unit_test(longer_increments_vary_more),
        cmocka_unit_test(pieces_share_a_drift),
        cmocka_unit_test(too_few_points),
        cmocka_unit_test(intervals_cover_as_often_as_they_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
