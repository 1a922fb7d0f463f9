/* HTML pages: escaping, ticks, what a study's page says, and what goes wrong.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/result.h>
#include <idlewave/study.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/figure/figure_parts.h"
#include "kit/html/html.h"
#include "study_sample.h"
#include "support/support.h"

static char *escaped(const char *text, void (*write)(FILE *, const char *))
{
    char *made = NULL;
    size_t size;
    FILE *memory = open_memstream(&made, &size);

    assert_non_null(memory);
    write(memory, text);
    assert_int_equal(fclose(memory), 0);
    return made;
}

static void assert_written(const char *text, void (*write)(FILE *, const char *), const char *expected)
{
    char *made = escaped(text, write);

    assert_string_equal(made, expected);
    free(made);
}

static char *page_of(const iw_study_results *results)
{
    char *page = NULL;
    size_t size;
    FILE *memory = open_memstream(&page, &size);

    assert_non_null(memory);
    assert_ok(iw_doc_write(NULL, iw_study_doc(results), IW_DOC_HTML, NULL, memory));
    assert_int_equal(fclose(memory), 0);
    return page;
}

static void assert_says(const struct study_sample *sample, const char *part)
{
    iw_study_results *results = study_sample_new(sample);
    char *page = page_of(results);

    if (strstr(page, part) == NULL) {
        fail_msg("not in the page: %s", part);
    }
    free(page);
    iw_study_results_free(results);
}

static void test_markup_is_escaped(void **state)
{
    (void)state;
    assert_written("<a href=\"x\">'&'</a>", iwi_html_text,
                   "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
}

static void test_utf8_passes_and_other_bytes_are_replaced(void **state)
{
    (void)state;
    assert_written("\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80", iwi_html_text,
                   "\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80");
    assert_written("\xff", iwi_html_text, "\xef\xbf\xbd");
    assert_written("\xc3", iwi_html_text, "\xef\xbf\xbd");                                 /* cut off */
    assert_written("\xc0\x80", iwi_html_text, "\xef\xbf\xbd\xef\xbf\xbd");                 /* overlong */
    assert_written("\xed\xa0\x80", iwi_html_text, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* surrogate */
    assert_written("a\x1b[1mb\tc\n", iwi_html_text, "a\xef\xbf\xbd[1mb\tc\n");
}

static void test_sentences_keep_numbers_and_percent_together(void **state)
{
    (void)state;
    assert_written("2.61 % slower", iwi_html_prose, "2.61&nbsp;% slower");
    assert_written("2.61 % slower", iwi_html_text, "2.61 % slower");
}

static void test_ticks_of_a_long_axis_are_decades(void **state)
{
    const struct iwi_figure_axis axis = {.is_log = true};
    const struct iwi_scale scale = {.axis = &axis, .low = 0.9, .high = 2e6};
    double ticks[IWI_MOST_TICKS];

    (void)state;
    assert_int_equal(iwi_scale_ticks(&scale, 7, ticks), 7);
    assert_float_equal(ticks[0], 1.0, 1e-9);
    assert_float_equal(ticks[6], 1e6, 1e-3);
}

static void test_ticks_of_a_short_axis_are_even(void **state)
{
    const struct iwi_figure_axis axis = {.is_log = true};
    const struct iwi_scale scale = {.axis = &axis, .low = 1.0, .high = 1.5};
    double ticks[IWI_MOST_TICKS];

    (void)state;
    assert_int_equal(iwi_scale_ticks(&scale, 5, ticks), 6); /* 1.0, 1.1, ..., 1.5 */
    assert_float_equal(ticks[1], 1.1, 1e-9);
}

static void test_values_lie_on_the_axis(void **state)
{
    const struct iwi_figure_axis axis = {.is_log = true};
    const struct iwi_scale scale = {.axis = &axis, .low = 1.0, .high = 100.0, .from = 0.0, .to = 200.0};

    (void)state;
    assert_float_equal(iwi_scale_at(&scale, 10.0), 100.0, 1e-9);
    assert_true(isnan(iwi_scale_at(&scale, 0.0)));
    assert_true(isnan(iwi_scale_at(&scale, NAN)));
}

static void test_the_verdict_says_where_noise_takes_over(void **state)
{
    const struct study_sample sample = STUDY_SAMPLE_INIT;

    (void)state;
    assert_says(&sample, "Noise takes over in 6 of 8 cases, first from 5");
    assert_says(&sample, "<li>zeptoos: not up to 1,048,576 ranks");
}

static void test_one_trial_claims_no_certainty(void **state)
{
    struct study_sample sample = STUDY_SAMPLE_INIT;

    (void)state;
    sample.trials = 1;
    assert_says(&sample, "Too few trials for confidence intervals.");
    assert_says(&sample, "%</td><td>-</td></tr>"); /* a median, and no interval */
}

static void test_what_varies_is_shown_side_by_side(void **state)
{
    struct study_sample sample = STUDY_SAMPLE_INIT;

    (void)state;
    sample.points = 3;
    sample.syncs = 2;
    sample.nets = 2;
    assert_says(&sample, "Systems side by side");
    assert_says(&sample, "Kinds of work side by side");
    assert_says(&sample, "Ways to synchronise the noise side by side");
    assert_says(&sample, "network 10 times faster");
}

static void test_an_unfinished_study_says_so(void **state)
{
    const struct study_sample sample = STUDY_SAMPLE_INIT;
    iw_study_results *results = study_sample_new(&sample);
    char *page;

    (void)state;
    results->expected = 200;
    page = page_of(results);
    assert_non_null(strstr(page, "not finished: 40 of 200 cells are missing"));
    free(page);
    iw_study_results_free(results);
}

static void test_a_study_without_cells_has_a_page(void **state)
{
    const struct study_sample sample = {
        .systems = 1, .works = 1, .sizes = 1, .syncs = 1, .nets = 1, .points = 0, .trials = 1};
    iw_study_results *results = study_sample_new(&sample);
    char *page;

    (void)state;
    results->expected = 12;
    page = page_of(results);
    assert_non_null(strstr(page, "No results yet: 0 of 12 cells finished."));
    free(page);
    iw_study_results_free(results);
}

static void test_a_full_disk_is_an_error(void **state)
{
    const struct study_sample sample = STUDY_SAMPLE_INIT;
    iw_study_results *results = study_sample_new(&sample);
    FILE *full = fopen("/dev/full", "we");
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    assert_non_null(full);
    assert_status(iw_doc_write(&log.log, iw_study_doc(results), IW_DOC_HTML, NULL, full), IW_ERR_IO);
    iwt_assert_logged(&log, "cannot write the page: No space left on device");
    (void)fclose(full);
    iw_study_results_free(results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_markup_is_escaped),
        cmocka_unit_test(test_utf8_passes_and_other_bytes_are_replaced),
        cmocka_unit_test(test_sentences_keep_numbers_and_percent_together),
        cmocka_unit_test(test_ticks_of_a_long_axis_are_decades),
        cmocka_unit_test(test_ticks_of_a_short_axis_are_even),
        cmocka_unit_test(test_values_lie_on_the_axis),
        cmocka_unit_test(test_the_verdict_says_where_noise_takes_over),
        cmocka_unit_test(test_one_trial_claims_no_certainty),
        cmocka_unit_test(test_what_varies_is_shown_side_by_side),
        cmocka_unit_test(test_an_unfinished_study_says_so),
        cmocka_unit_test(test_a_study_without_cells_has_a_page),
        cmocka_unit_test(test_a_full_disk_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
