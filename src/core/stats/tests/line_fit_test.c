/* Slopes with intervals.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/stats/line_fit.h"

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
    const iw_estimate slope = iwi_fit_slope(x, y, NULL, 4);

    (void)state;
    assert_near(slope.value, 2.0, 1e-12);
    assert_near(slope.low, 2.0, 1e-12);
    assert_near(slope.high, 2.0, 1e-12);
}

/* By hand: Sxx 17.5, Sxy 34.6, residuals 0.0429 -0.1343 0.1886 -0.1886 0.1343 -0.0429, their squares sum to
 * 0.110857, t(0.975; 4) is 2.776445. Successive residuals differ in sign, so nothing is widened. */
static void the_interval_is_students(void **state)
{
    const double x[] = {1, 2, 3, 4, 5, 6}, y[] = {2.1, 3.9, 6.2, 7.8, 10.1, 11.9};
    const iw_estimate slope = iwi_fit_slope(x, y, NULL, 6);

    (void)state;
    assert_near(slope.value, 34.6 / 17.5, 1e-12);
    assert_near(slope.high - slope.value, 2.776445 * sqrt(0.11085714 / 4 / 17.5), 1e-5);
    assert_near(slope.value - slope.low, slope.high - slope.value, 1e-12);
}

static void pieces_share_a_slope(void **state)
{
    const double x[] = {0, 1, 2, 3, 4, 5}, y[] = {0, 3, 6, 109, 112, 115};
    const uint32_t group[] = {0, 0, 0, 1, 1, 1};
    const iw_estimate slope = iwi_fit_slope(x, y, group, 6);

    (void)state;
    assert_near(slope.value, 3.0, 1e-12);
    assert_near(slope.high, 3.0, 1e-9);
}

static void too_few_points(void **state)
{
    const double x[] = {1, 2, 2}, y[] = {1, 5, 7};

    (void)state;
    assert_true(isnan(iwi_fit_slope(x, y, NULL, 0).value));
    assert_true(isnan(iwi_fit_slope(x, y, NULL, 1).value));
    assert_near(iwi_fit_slope(x, y, NULL, 2).value, 4.0, 1e-12);
    assert_true(isnan(iwi_fit_slope(x, y, NULL, 2).low));
    assert_true(isnan(iwi_fit_slope(&x[1], &y[1], NULL, 2).value));
}

/* How many of 400 intervals hold the true slope, 0, of points with errors e_i = r e_(i-1) + u_i, u uniform.
 */
static unsigned count_covered(double r)
{
    unsigned covered = 0;

    for (uint32_t run = 0; run < 400; run++) {
        const struct iwi_draw_id id = {7, 0, IWI_DRAW_TEST, 0, run};
        double x[40], y[40], error = 0.0;

        for (size_t i = 0; i < 40; i++) {
            error = r * error + iwi_draw_unit(id, i) - 0.5;
            x[i] = (double)i;
            y[i] = error;
        }
        const iw_estimate slope = iwi_fit_slope(x, y, NULL, 40);

        covered += slope.low <= 0.0 && slope.high >= 0.0;
    }
    return covered;
}

static void intervals_cover_as_often_as_they_say(void **state)
{
    (void)state;
    assert_in_range(count_covered(0.0), 368, 400); /* 92 % */
    assert_in_range(count_covered(0.6), 360, 400); /* 90 %; without widening it would be 66 % */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exact_line_has_no_width),
        cmocka_unit_test(the_interval_is_students),
        cmocka_unit_test(pieces_share_a_slope),
        cmocka_unit_test(too_few_points),
        cmocka_unit_test(intervals_cover_as_often_as_they_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
