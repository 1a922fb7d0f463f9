/* Numbers rounded for people.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/short_number.h"

#include <math.h>

#include "support/support.h"

static void digits_are_kept_and_no_exponent_is_written(void **state)
{
    (void)state;
    assert_string_equal(iwi_short(99.94, 2).text, "100");
    assert_string_equal(iwi_short(99.4, 2).text, "99");
    assert_string_equal(iwi_short(3600.0, 3).text, "3600");
    assert_string_equal(iwi_short(12345.0, 3).text, "12300");
    assert_string_equal(iwi_short(0.0431, 2).text, "0.043");
    assert_string_equal(iwi_short(0.00005, 2).text, "0.00005");
    assert_string_equal(iwi_short(-0.15, 2).text, "-0.15");
}

static void zeros_behind_are_left_out(void **state)
{
    (void)state;
    assert_string_equal(iwi_short(0.0, 3).text, "0");
    assert_string_equal(iwi_short(2.0, 3).text, "2");
    assert_string_equal(iwi_short(0.9999, 3).text, "1");
    assert_string_equal(iwi_short(10.0, 3).text, "10");
    assert_string_equal(iwi_short_percent(0.1, 2).text, "10");
}

static void what_is_no_number_or_beyond_measure_has_a_text_too(void **state)
{
    (void)state;
    assert_string_equal(iwi_short(INFINITY, 3).text, "inf");
    assert_string_equal(iwi_short(NAN, 3).text, "nan");
    assert_string_equal(iwi_short(1e300, 3).text, "1.00e+300");
    assert_string_equal(iwi_short(1e-300, 3).text, "1.00e-300");
    assert_string_equal(iwi_short(-1.23456e20, 6).text, "-123456000000000000000");
    assert_string_equal(iwi_short(-1.23456e-20, 6).text, "-0.0000000000000000000123456");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_are_kept_and_no_exponent_is_written),
        cmocka_unit_test(zeros_behind_are_left_out),
        cmocka_unit_test(what_is_no_number_or_beyond_measure_has_a_text_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
