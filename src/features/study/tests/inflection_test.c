/* Where noise takes over: the rule of docs/explanation/inflection.md, point by point.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "features/study/study_report.h"
#include "support/support.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void assert_close(double value, double expected)
{
    if (fabs(value - expected) > 1e-9 * expected) {
        fail_msg("%.12g instead of %.12g", value, expected);
    }
}

static void lies_between_the_last_below_and_the_first_above(void **state)
{
    /* log2(1 + s) goes from 0 to 4 over two doublings of ranks; the threshold 1 is at 1: 100 x 2^(1/2) */
    static const struct iwi_curve_point points[] = {{50, 0.0}, {100, 0.0}, {400, 15.0}};

    (void)state;
    assert_close(iwi_inflection(points, COUNT(points), 1.0), 100.0 * sqrt(2.0));
}

static void is_a_point_that_meets_the_threshold(void **state)
{
    static const struct iwi_curve_point points[] = {{2, 0.0}, {4, 1.0}, {8, 3.0}};

    (void)state;
    assert_close(iwi_inflection(points, COUNT(points), 1.0), 4.0);
}

static void is_none_if_the_last_point_is_below(void **state)
{
    static const struct iwi_curve_point points[] = {{2, 5.0}, {4, 7.0}, {8, 0.999}};

    (void)state;
    assert_true(iwi_inflection(points, COUNT(points), 1.0) == 0.0);
}

static void counts_from_the_last_crossing(void **state)
{
    static const struct iwi_curve_point points[] = {{2, 9.0}, {4, 0.0}, {8, 9.0}, {16, 0.0}, {32, 3.0}};

    (void)state;
    /* from 16 to 32 log2(1 + s) goes from 0 to 2 */
    assert_close(iwi_inflection(points, COUNT(points), 1.0), 16.0 * sqrt(2.0));
}

static void is_the_first_point_if_all_are_above(void **state)
{
    static const struct iwi_curve_point points[] = {{3, 1.5}, {9, 2.0}};

    (void)state;
    assert_close(iwi_inflection(points, COUNT(points), 1.0), 3.0);
}

static void threshold_zero_is_met_by_no_slowdown(void **state)
{
    static const struct iwi_curve_point points[] = {{2, 0.0}, {4, 0.0}};

    (void)state;
    assert_close(iwi_inflection(points, COUNT(points), 0.0), 2.0);
}

static void what_is_no_number_counts_as_below(void **state)
{
    static const struct iwi_curve_point first[] = {{2, NAN}, {4, 3.0}}, last[] = {{2, 3.0}, {4, NAN}};

    (void)state;
    assert_close(iwi_inflection(first, COUNT(first), 1.0), 4.0);
    assert_true(iwi_inflection(last, COUNT(last), 1.0) == 0.0);
}

static void nothing_has_none(void **state)
{
    static const struct iwi_curve_point points[] = {{2, 3.0}};

    (void)state;
    assert_true(iwi_inflection(points, 0, 1.0) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lies_between_the_last_below_and_the_first_above),
        cmocka_unit_test(is_a_point_that_meets_the_threshold),
        cmocka_unit_test(is_none_if_the_last_point_is_below),
        cmocka_unit_test(counts_from_the_last_crossing),
        cmocka_unit_test(is_the_first_point_if_all_are_above),
        cmocka_unit_test(threshold_zero_is_met_by_no_slowdown),
        cmocka_unit_test(what_is_no_number_counts_as_below),
        cmocka_unit_test(nothing_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
