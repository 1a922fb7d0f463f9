/* What a recording can show of a job, in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "features/simulate/simulate.h"
#include "support/support.h"

static const iw_reach bound = {.recorded_s = 10.0,
                               .cpus = 2,
                               .watched_s = 20.0,
                               .longest_ns = 1500000,
                               .unseen = 0.7,
                               .is_bound = true,
                               .record_s = 2350.0};

static void lengths_have_two_digits(void **state)
{
    char buf[IWI_NUMBER_SIZE];

    (void)state;
    assert_string_equal(iwi_length_text(10.0, buf), "10 s");
    assert_string_equal(iwi_length_text(90.0, buf), "90 s");
    assert_string_equal(iwi_length_text(2400.0, buf), "40 min");
    assert_string_equal(iwi_length_text(10000.0, buf), "2.8 h");
    assert_string_equal(iwi_length_text(200000.0, buf), "2.3 days");
}

static void a_bound_says_why_and_what_to_do(void **state)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    (void)state;
    iwi_append_reach(text, &bound, 10000, 24e6);
    assert_string_equal(text, "a recording of 10 s on 2 CPUs is too short for 10,000 ranks running 24 ms; "
                              "record 40 min for an estimate");
}

static void no_recording_of_months_is_advised(void **state)
{
    iw_reach reach = bound;
    char text[IWI_PARAGRAPH_SIZE] = "";

    (void)state;
    reach.cpus = 1;
    reach.record_s = 1e8;
    iwi_append_reach(text, &reach, 1, 1e6);
    assert_non_null(strstr(text, "10 s on 1 CPU is too short for 1 rank running 1 ms; even two weeks"));
    assert_non_null(strstr(text, "extrapolated"));
}

static void bounds_are_told_as_such(void **state)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    (void)state;
    iwi_append_bound(text, (iw_estimate){1.5, 1.3, NAN}, "noise");
    assert_string_equal(text, " takes at least 2.300x as long as without noise: ");
    text[0] = '\0';
    iwi_append_bound(text, (iw_estimate){0.5, 0.034, NAN}, "noise and delays");
    assert_string_equal(text, " is at least 3.40 % slower than without noise and delays: ");
    text[0] = '\0';
    iwi_append_bound(text, (iw_estimate){0.5, 0.0, NAN}, "noise");
    assert_string_equal(text, " is not known to be slower than without noise: ");
    text[0] = '\0';
    iwi_append_bound(text, (iw_estimate){1.5, NAN, NAN}, "noise"); /* of a few trials */
    assert_string_equal(text, " takes 2.500x as long as without noise, counting recorded events only: ");
}

static void laws_are_named(void **state)
{
    static const char *const laws[] = {"poisson:1Hz,exp:1us", "poisson:2Hz,exp:1us", "poisson:3Hz,exp:1us",
                                       "poisson:4Hz,exp:1us"};
    const iw_reach reach = {.is_extrapolated = true, .laws = laws, .law_count = 4};
    char text[IWI_PARAGRAPH_SIZE] = "";

    (void)state;
    iwi_append_laws(text, &reach);
    assert_string_equal(
        text, "extrapolated from laws fitted to the recording (poisson:1Hz,exp:1us + poisson:2Hz,exp:1us + "
              "poisson:3Hz,exp:1us and 1 other)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_have_two_digits),
        cmocka_unit_test(a_bound_says_why_and_what_to_do),
        cmocka_unit_test(no_recording_of_months_is_advised),
        cmocka_unit_test(bounds_are_told_as_such),
        cmocka_unit_test(laws_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
