/* The pictures of a study at a terminal: boxes where their numbers are.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/study.h>

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

#include "study_sample.h"
#include "study_written.h"

static void a_row_shows_its_box_and_numbers(void **state)
{
    /* 25 columns are three decades, 1 us to 1 ms: 8 columns each */
    static const char row[] =
        "        2 ·  ─────┊▒▒▒▒▒▒▒█▒▒▒──  ·  10.0 us   10.00x      10.00-10.00x   10.00x\n";
    iw_study_results *results = study_one_series(2);
    char *text;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        /* columns 0, 3, 8, 16, 19, 21, 24; the noiseless time on the lower end of the box covers it */
        study_set_times(&results->cells[i], 1e4, 1e3, 2.1544e3, 1e4, 1e5, 2.1544e5, 4.6416e5, 1e6);
    }
    text = study_text(results, false);
    if (strstr(text, row) == NULL) {
        fail_msg("no row\n%s in:\n%s", row, text);
    }
    assert_non_null(strstr(text, "          1us     10us    100us   1ms\n"));
    free(text);
    iw_study_results_free(results);
}

static void the_inflection_stands_between_its_rows(void **state)
{
    iw_study_results *results = study_one_series(4);

    (void)state;
    for (size_t i = 0; i < results->count; i++) {
        const double ns = i < 3 ? 1e4 : 4e4;

        study_set_times(&results->cells[i], 1e4, 1e4, 1e4, 1e4, ns, ns, ns, ns);
    }
    study_assert_says(results, " 1.000x 11 - - noise takes over - - 16 ");
    iw_study_results_free(results);
}

static void many_numbers_of_ranks_are_thinned_out(void **state)
{
    iw_study_results *results = study_one_series(30);

    (void)state;
    study_assert_says(results, "(20 of 30 rows)");
    study_assert_says(results, " 2 \xe2\x96\x88"); /* the first */
    study_assert_says(results, " 1,073,741,824 "); /* the last */
    iw_study_results_free(results);
}

static void systems_with_one_number_of_ranks_share_a_picture(void **state)
{
    const struct study_sample sample = {
        .systems = 3, .works = 1, .sizes = 1, .syncs = 1, .nets = 1, .points = 1, .trials = 10};
    iw_study_results *results = study_sample_new(&sample);
    char *text = study_text(results, false);
    const char *head, *plot = strstr(text, "   system ");

    (void)state;
    assert_non_null(plot);
    assert_non_null(strstr(plot, "\n     chic "));
    assert_non_null(strstr(plot, "\n    altix "));
    head = strstr(plot, "no noise");
    assert_non_null(head);
    assert_null(strstr(head + 1, "no noise")); /* one axis for all */
    free(text);
    iw_study_results_free(results);
}

static void one_trial_has_no_interval(void **state)
{
    struct study_sample sample = STUDY_SAMPLE_INIT;
    iw_study_results *results;

    (void)state;
    sample.trials = 1;
    results = study_sample_new(&sample);
    study_assert_says(results, "160 cells of 1 trial.");
    study_assert_silent(results, "nan");
    iw_study_results_free(results);
}

static void work_that_takes_no_time_is_shown(void **state)
{
    iw_study_results *results = study_one_series(2);

    (void)state;
    for (size_t i = 0; i < results->count; i++) {
        study_set_times(&results->cells[i], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    }
    study_assert_says(results, "Noise does not take over up to 4 ranks.");
    study_assert_says(results, " 0 ns - all equal - ");
    iw_study_results_free(results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_shows_its_box_and_numbers),
        cmocka_unit_test(the_inflection_stands_between_its_rows),
        cmocka_unit_test(many_numbers_of_ranks_are_thinned_out),
        cmocka_unit_test(systems_with_one_number_of_ranks_share_a_picture),
        cmocka_unit_test(one_trial_has_no_interval),
        cmocka_unit_test(work_that_takes_no_time_is_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
