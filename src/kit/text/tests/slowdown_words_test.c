/* One notation for how much slower: percentages below twice the time, factors from there on.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "kit/text/words.h"
#include "support/support.h"

static void assert_text(double slowdown, const char *expected)
{
    char text[IWI_NUMBER_SIZE];

    assert_string_equal(iwi_slowdown_text(slowdown, text), expected);
}

static void below_twice_the_time_it_is_a_percentage(void **state)
{
    (void)state;
    assert_text(0.0582, "5.82 %");
    assert_text(0.41, "41.0 %");
    assert_text(0.999, "99.9 %");
    assert_text(-0.03, "-3.00 %");
}

static void from_twice_the_time_on_it_is_how_many_times_as_long(void **state)
{
    (void)state;
    assert_text(1.0, "2.000x");
    assert_text(1.431, "2.431x");
    assert_text(146.8, "147.8x");
    assert_text(12344.0, "12345x");
}

static void what_rounds_to_nothing_has_no_sign_and_what_is_none_is_a_dash(void **state)
{
    char text[IWI_NUMBER_SIZE];

    (void)state;
    assert_text(0.0, "0.00 %");
    assert_text(-1e-9, "0.00 %");
    assert_text(NAN, "-");
    assert_string_equal(iwi_percent_text(-4e-5, text), "0.00 %");
    assert_string_equal(iwi_percent_text(-6e-5, text), "-0.01 %");
}

static void ranges_have_the_unit_of_the_larger_end(void **state)
{
    char text[IWI_RANGE_SIZE];

    (void)state;
    assert_string_equal(iwi_slowdown_range_text(0.041, 0.062, 0.05, text), "4.10 to 6.20 %");
    assert_string_equal(iwi_slowdown_range_text(0.875, 1.3, 1.1, text), "1.875 to 2.300x");
    assert_string_equal(iwi_slowdown_range_text(0.875, 1.3, 0.9, text), "87.5 to 130.0 %");
    assert_string_equal(iwi_slowdown_range_text(1.713, 2.142, 2.0, text), "2.713 to 3.142x");
}

static void spans_have_their_unit_once(void **state)
{
    char text[IWI_RANGE_SIZE];

    (void)state;
    assert_string_equal(iwi_slowdown_span_text(0.041, 0.062, text), "4.10-6.20 %");
    assert_string_equal(iwi_slowdown_span_text(0.875, 1.3, text), "1.875-2.300x");
    assert_string_equal(iwi_slowdown_span_text(1.713, 2.142, text), "2.713-3.142x");
    assert_string_equal(iwi_slowdown_span_text(1.0, NAN, text), "-");
}

static void sentences_say_the_same_in_words(void **state)
{
    char text[IWI_PHRASE_SIZE];

    (void)state;
    assert_string_equal(iwi_slower_text(0.0582, text), "is 5.82 % slower than");
    assert_string_equal(iwi_slower_text(-0.03, text), "is 3.00 % faster than");
    assert_string_equal(iwi_slower_text(1e-9, text), "is not slower than");
    assert_string_equal(iwi_slower_text(1.431, text), "takes 2.431x as long as");
}

static void a_column_has_one_notation(void **state)
{
    char text[IWI_NUMBER_SIZE];

    (void)state;
    assert_string_equal(iwi_slowdown_column_text(0.736, 1.504, text), "1.736x");
    assert_string_equal(iwi_slowdown_column_text(0.0, 1.504, text), "1.000x");
    assert_string_equal(iwi_slowdown_column_text(0.736, 0.99, text), "73.6 %");
    assert_string_equal(iwi_slowdown_column_text((double)NAN, 1.504, text), "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_has_one_notation),
        cmocka_unit_test(below_twice_the_time_it_is_a_percentage),
        cmocka_unit_test(from_twice_the_time_on_it_is_how_many_times_as_long),
        cmocka_unit_test(what_rounds_to_nothing_has_no_sign_and_what_is_none_is_a_dash),
        cmocka_unit_test(ranges_have_the_unit_of_the_larger_end),
        cmocka_unit_test(spans_have_their_unit_once),
        cmocka_unit_test(sentences_say_the_same_in_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
