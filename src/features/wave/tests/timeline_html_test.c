/* The page of a timeline: escaping, what it says, what is in its data, its size.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/estimate.h>
#include <idlewave/wave.h>

#include "features/wave/timeline_report.h"
#include "support/made_timeline.h"
#include "support/support.h"

static char *page_of(const struct iwt_run *run, const iw_waves *waves, const char *name)
{
    iw_timeline *timeline = iwt_made_timeline(run);
    char *page = NULL;
    size_t size;
    FILE *out = open_memstream(&page, &size);

    assert_non_null(out);
    assert_ok(iw_traced_run_write_html(NULL, &(iw_traced_run){NULL, waves}, timeline, name, out));
    assert_int_equal(fclose(out), 0);
    iw_timeline_free(timeline);
    return page;
}

static json_t *data_of(const struct iwt_run *run, const iw_waves *waves)
{
    iw_timeline *timeline = iwt_made_timeline(run);
    const struct iwi_timeline_page page = {.timeline = timeline, .run = {.waves = waves}, .name = "x"};
    json_t *data = NULL;

    assert_ok(iwi_timeline_data(NULL, &page, &data));
    iw_timeline_free(timeline);
    return data;
}

static void assert_in(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("not in the page: %s", part);
    }
}

static json_int_t number_in(const json_t *object, const char *key)
{
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static void names_and_titles_stay_text(void **state)
{
    struct iwt_run run = IWT_RUN_INIT;
    char *page;

    (void)state;
    run.title = "</title><script>throw 1</script> & \"it's\" \xff";
    page = page_of(&run, NULL, "<b>run</b>.h5");
    assert_null(strstr(page, "<script>throw"));
    assert_in(page, "<title>Timeline of &lt;b&gt;run&lt;/b&gt;.h5</title>");
    assert_in(page, "&lt;script&gt;throw 1&lt;/script&gt; &amp; &quot;it&#39;s&quot; ?");
    free(page);
}

static void waves_are_told_and_listed(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    iw_waves *waves = iwt_made_waves(&run);
    char *page;

    (void)state;
    waves->waves[1].decay_s = (iw_estimate){NAN, NAN, NAN};
    page = page_of(&run, waves, "run.h5");
    assert_in(page, "at 322.6 ranks/s");
    assert_in(page, ">322.6&nbsp;+-&nbsp;3.2");
    assert_in(page, ">2.50&nbsp;+-&nbsp;0.03");
    assert_in(page, ">us lost per rank<");
    assert_in(page, ">border<");
    assert_null(strstr(page, "nan"));
    assert_in(page, "every step of every rank");
    free(page);
    iwt_free_waves(waves);
}

static void a_page_without_waves_says_so(void **state)
{
    struct iwt_run run = IWT_RUN_INIT;
    iw_waves none = {.wave_count = 0};
    char *page = page_of(&run, &none, "run.h5");

    (void)state;
    assert_in(page, "No idle wave");
    free(page);
    run.max_steps = 0;
    page = page_of(&run, NULL, "run.h5");
    assert_in(page, "Waves not searched");
    free(page);
}

static void small_runs_are_there_to_the_last_step(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    iw_waves *waves = iwt_made_waves(&run);
    json_t *data = data_of(&run, waves), *ranks = json_object_get(json_object_get(data, "exact"), "ranks");
    const json_t *front =
        json_array_get(json_object_get(json_array_get(json_object_get(data, "waves"), 0), "fronts"), 0);

    (void)state;
    assert_int_equal(number_in(data, "ranks"), 18);
    assert_int_equal(number_in(data, "end"), INT64_C(75500000000));
    assert_int_equal(json_array_size(ranks), 18);
    assert_int_equal(json_integer_value(json_array_get(json_array_get(ranks, 5), 0)), 5);  /* rank */
    assert_int_equal(json_integer_value(json_array_get(json_array_get(ranks, 5), 2)), 20); /* steps */
    assert_true(json_string_length(json_array_get(json_array_get(ranks, 5), 4)) >= 20);    /* a sign each */
    assert_int_equal(json_integer_value(json_array_get(front, 0)), 6);
    assert_int_equal(json_integer_value(json_array_get(front, 2)), INT64_C(6120000000));
    assert_int_equal(json_integer_value(json_array_get(front, 4)), INT64_C(6120000000));
    json_decref(data);
    iwt_free_waves(waves);
}

/* 4096 ranks: cells of all of them, finer ones around the waves, and the steps of some. */
static void large_runs_have_cells_and_the_steps_around_waves(void **state)
{
    struct iwt_run run = IWT_RUN_INIT;
    iw_waves *waves;
    json_t *data, *rasters, *ranks;
    json_int_t first, last;

    (void)state;
    run.ranks = 4096;
    run.steps = 100;
    run.late_rank = 1000;
    run.most_noise_ps = IWT_WORK_PS / 10;
    waves = iwt_made_waves(&run);
    data = data_of(&run, waves);
    rasters = json_object_get(data, "rasters");
    assert_int_equal(json_array_size(rasters), 2);
    assert_true(number_in(json_array_get(rasters, 0), "rows") *
                    number_in(json_array_get(rasters, 0), "ranksPerRow") >=
                4096);
    assert_int_equal(number_in(json_array_get(rasters, 1), "ranksPerRow"), 1);
    ranks = json_object_get(json_object_get(data, "exact"), "ranks");
    first = json_integer_value(json_array_get(json_array_get(ranks, 0), 0));
    last = json_integer_value(json_array_get(json_array_get(ranks, json_array_size(ranks) - 1), 0));
    assert_true(json_array_size(ranks) < 4096 && first < 1000 && last > 1000);
    json_decref(data);
    iwt_free_waves(waves);
}

static void pages_stay_below_four_megabytes(void **state)
{
    struct iwt_run run = IWT_RUN_INIT;
    iw_waves *waves;
    char *page;

    (void)state;
    run.ranks = 2500; /* more steps than a page holds */
    run.late_rank = 1200;
    run.steps = 100;
    run.most_noise_ps = IWT_WORK_PS / 3; /* noise cannot be written short */
    waves = iwt_made_waves(&run);
    page = page_of(&run, waves, "run.h5");
    assert_true(strlen(page) < 4000000);
    assert_true(strlen(page) > 1000000);
    free(page);
    iwt_free_waves(waves);
}

/* The window of exact ranks goes around the end: both of its parts are there. */
static void windows_around_the_end_are_whole(void **state)
{
    struct iwt_run run = IWT_RUN_INIT;
    json_t *data, *ranks;

    (void)state;
    run.ranks = 5000;
    run.first_rank = 4990;
    run.rank_count = 20;
    run.delay_ps = 0;
    data = data_of(&run, NULL);
    ranks = json_object_get(json_object_get(data, "exact"), "ranks");
    assert_int_equal(json_array_size(ranks), 20);
    assert_int_equal(json_integer_value(json_array_get(json_array_get(ranks, 0), 0)), 4990);
    assert_int_equal(json_integer_value(json_array_get(json_array_get(ranks, 10), 0)), 0);
    assert_int_equal(json_array_size(json_object_get(data, "rasters")), 3);
    json_decref(data);
}

static void a_full_disk_is_told(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    iw_timeline *timeline = iwt_made_timeline(&run);
    FILE *full = fopen("/dev/full", "w");
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    assert_non_null(full);
    assert_status(iw_traced_run_write_html(&log.log, &(iw_traced_run){NULL, NULL}, timeline, "x", full),
                  IW_ERR_IO);
    iwt_assert_logged(&log, "cannot write the page");
    (void)fclose(full);
    iw_timeline_free(timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_titles_stay_text),
        cmocka_unit_test(waves_are_told_and_listed),
        cmocka_unit_test(a_page_without_waves_says_so),
        cmocka_unit_test(small_runs_are_there_to_the_last_step),
        cmocka_unit_test(large_runs_have_cells_and_the_steps_around_waves),
        cmocka_unit_test(pages_stay_below_four_megabytes),
        cmocka_unit_test(windows_around_the_end_are_whole),
        cmocka_unit_test(a_full_disk_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
