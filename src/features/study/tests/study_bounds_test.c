/* Cells of a study that are lower bounds, or from fitted laws, in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "features/study/study_report.h"
#include "support/support.h"

static void a_study_says_what_to_do_about_bounds(void **state)
{
    iw_cell_result cells[] = {{.recording = {.seconds = 10.0, .record_s = 2350.0}},
                              {.recording = {.seconds = 10.0, .record_s = NAN}}};
    const iw_study_results results = {.count = 2, .cells = cells};
    char text[IWI_PARAGRAPH_SIZE] = "";

    (void)state;
    iwi_append_bounds(text, &results);
    assert_string_equal(text, " 1 of 2 cells is a lower limit: the recording is too short for this many "
                              "ranks; record 40 min for estimates.");
    text[0] = '\0';
    cells[0].recording.record_s = 1e8;
    iwi_append_bounds(text, &results);
    assert_non_null(
        strstr(text, "; even two weeks would be too short: 'extrapolate: true' uses fitted laws."));
}

static void a_study_names_each_law_once(void **state)
{
    iw_cell_result cells[] = {{.recording.laws = NULL},
                              {.recording.laws = (char[]){"poisson:1Hz,exp:1us"}},
                              {.recording.laws = (char[]){"poisson:1Hz,exp:1us"}},
                              {.recording.laws = (char[]){"poisson:2Hz,exp:1us"}},
                              {.recording.laws = (char[]){"poisson:3Hz,exp:1us"}},
                              {.recording.laws = (char[]){"poisson:4Hz,exp:1us"}}};
    iw_study_results results = {.count = 1, .cells = cells};
    char text[IWI_PARAGRAPH_SIZE] = "";

    (void)state;
    iwi_append_extrapolated(text, &results);
    assert_string_equal(text, "");
    results.count = 3;
    iwi_append_extrapolated(text, &results);
    assert_string_equal(
        text, " 2 of 3 cells are extrapolated from laws fitted to the recording (poisson:1Hz,exp:1us).");
    text[0] = '\0';
    results.count = 6;
    iwi_append_extrapolated(text, &results);
    assert_string_equal(
        text, " 5 of 6 cells are extrapolated from laws fitted to the recording (poisson:1Hz,exp:1us; "
              "poisson:2Hz,exp:1us; poisson:3Hz,exp:1us; and others).");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_study_says_what_to_do_about_bounds),
        cmocka_unit_test(a_study_names_each_law_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
