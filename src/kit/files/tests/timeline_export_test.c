/* Exports of timelines: what Perfetto and the tools of OTF2 get are the steps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/timeline/tests/timeline_testing.h"

enum { RANKS = 6, STEPS = 12 };

static iw_timeline *small_timeline(void)
{
    iw_timeline_opts opts = made_opts(RANKS);

    strcpy(opts.about.title, "a \"made\" \\ run");
    return made(&opts, STEPS, 0);
}

struct sums {
    double us[IW_STATES];
    size_t counts[IW_STATES], ranks, slices;
};

/* What the window's steps add up to. */
static struct sums expected_sums(const iw_timeline *timeline, const iw_timeline_window *window)
{
    struct sums sums = {.ranks = 0};

    for (uint32_t index = 0; index < RANKS; index++) {
        uint64_t first;
        size_t count;
        const iw_step *steps = iw_timeline_steps(timeline, index, &count, &first);

        if (index < window->first_rank ||
            (window->rank_count != 0 && index >= window->first_rank + window->rank_count)) {
            continue;
        }
        sums.ranks++;
        for (size_t i = 0; i < count; i++) {
            if (iw_step_end(&steps[i]) <= window->from_ps ||
                (window->to_ps != 0 && steps[i].begin_ps >= window->to_ps)) {
                continue;
            }
            for (int s = 0; s < IW_STATES; s++) {
                sums.us[s] += (double)steps[i].state_ps[s] / 1e6;
                sums.counts[s] += steps[i].state_ps[s] > 0;
                sums.slices += steps[i].state_ps[s] > 0;
            }
        }
    }
    return sums;
}

static void add_event(const json_t *event, struct sums *sums)
{
    const char *kind = json_string_value(json_object_get(event, "ph")),
               *name = json_string_value(json_object_get(event, "name"));

    sums->ranks += strcmp(name, "thread_name") == 0;
    if (strcmp(kind, "X") != 0) {
        return;
    }
    for (int s = 0; s < IW_STATES; s++) {
        if (strcmp(name, iw_state_name((iw_state)s)) == 0) {
            sums->us[s] += json_real_value(json_object_get(event, "dur"));
            sums->counts[s]++;
            sums->slices++;
        }
    }
}

static json_t *export_perfetto(const iw_timeline *timeline, const iw_timeline_window *window)
{
    FILE *file = tmpfile();
    json_error_t error;
    json_t *root;

    assert_non_null(file);
    assert_ok(iw_timeline_write_perfetto(NULL, timeline, window, file));
    rewind(file);
    root = json_loadf(file, 0, &error);
    fclose(file);
    if (root == NULL) {
        fail_msg("line %d: %s", error.line, error.text);
    }
    return root;
}

static void assert_perfetto(const iw_timeline *timeline, const iw_timeline_window *window)
{
    const struct sums expected = expected_sums(timeline, window);
    json_t *root = export_perfetto(timeline, window), *event;
    struct sums sums = {.ranks = 0};
    size_t i;

    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        add_event(event, &sums);
    }
    assert_int_equal(sums.ranks, expected.ranks);
    assert_true(expected.slices > 0);
    for (int s = 0; s < IW_STATES; s++) {
        assert_int_equal(sums.counts[s], expected.counts[s]);
        assert_true(fabs(sums.us[s] - expected.us[s]) < 1e-6);
    }
    json_decref(root);
}

static void perfetto_gets_every_state_of_every_step(void **state)
{
    iw_timeline *timeline = small_timeline();
    const iw_timeline_window all = {.first_rank = 0};

    (void)state;
    assert_perfetto(timeline, &all);
    iw_timeline_free(timeline);
}

static void perfetto_gets_a_window(void **state)
{
    iw_timeline *timeline = small_timeline();
    const iw_timeline_window part = {.first_rank = 2, .rank_count = 3, .from_ps = 9000000, .to_ps = 20000000};

    (void)state;
    assert_perfetto(timeline, &part);
    iw_timeline_free(timeline);
}

static void slices_carry_time_rank_and_step(void **state)
{
    iw_timeline_opts opts = made_opts(3);
    const iw_step first = {0, {0, 1000001, 0, 0, 0}}, second = {1000001, {0, 0, 0, 0, 2}};
    const iw_timeline_window late = {.first_rank = 2, .rank_count = 1, .from_ps = 1000001};
    iw_timeline *timeline;
    iw_step_sink sink;
    json_t *root, *event;

    (void)state;
    assert_ok(iw_timeline_new(NULL, &opts, &timeline));
    sink = iw_timeline_sink(timeline);
    sink.step(sink.arg, 2, &first);
    sink.step(sink.arg, 2, &second);
    assert_ok(iw_timeline_finish(NULL, timeline));
    root = export_perfetto(timeline, &late);
    event = json_array_get(json_object_get(root, "traceEvents"), 3);
    assert_int_equal(json_integer_value(json_object_get(event, "tid")), 2);
    assert_string_equal(json_string_value(json_object_get(event, "name")), "wait");
    assert_true(fabs(json_real_value(json_object_get(event, "ts")) - 1.000001) < 1e-12);
    assert_true(fabs(json_real_value(json_object_get(event, "dur")) - 0.000002) < 1e-12);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(event, "args"), "step")), 2);
    assert_int_equal(json_array_size(json_object_get(root, "traceEvents")), 4);
    json_decref(root);
    iw_timeline_free(timeline);
}

static void ranks_outside_the_exact_window_are_refused(void **state)
{
    iw_timeline_opts opts = made_opts(RANKS);
    const iw_timeline_window wanted = {.first_rank = 1, .rank_count = 3};
    struct iwt_log log;
    iw_timeline *timeline;

    (void)state;
    opts.first_rank = 4;
    opts.rank_count = 4; /* 4, 5, 0, 1 */
    timeline = made(&opts, STEPS, 0);
    iwt_log_init(&log);
    assert_status(iw_timeline_write_perfetto(&log.log, timeline, &wanted, stderr), IW_ERR_RANGE);
    iwt_assert_logged(&log,
                      "ranks 1 to 3 are not all known exactly: the window has 4 of 6 ranks, from rank 4");
    iw_timeline_free(timeline);
    opts.max_steps = 0;
    timeline = made(&opts, STEPS, 0);
    assert_status(iw_timeline_write_perfetto(&log.log, timeline, NULL, stderr), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&log, "only a raster");
    iw_timeline_free(timeline);
}

/* All ranks are known: a window may go around their end. */
static void perfetto_gets_ranks_around_the_end(void **state)
{
    iw_timeline *timeline = small_timeline();
    const iw_timeline_window around = {.first_rank = 4, .rank_count = 4};
    json_t *root = export_perfetto(timeline, &around), *event;
    bool is_there[RANKS] = {false};
    size_t i;

    (void)state;
    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        if (strcmp(json_string_value(json_object_get(event, "ph")), "X") == 0) {
            is_there[json_integer_value(json_object_get(event, "tid"))] = true;
        }
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        assert_int_equal(is_there[rank], rank >= 4 || rank < 2);
    }
    json_decref(root);
    iw_timeline_free(timeline);
}

/* A window of all ranks that begins in their middle is exported from rank 0 on. */
static void all_ranks_come_in_their_order(void **state)
{
    iw_timeline_opts opts = made_opts(RANKS);
    uint32_t next = 0;
    iw_timeline *timeline;
    json_t *root, *event;
    size_t i;

    (void)state;
    opts.first_rank = 4;
    timeline = made(&opts, STEPS, 0);
    root = export_perfetto(timeline, NULL);
    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        if (strcmp(json_string_value(json_object_get(event, "name")), "thread_name") == 0) {
            assert_int_equal(json_integer_value(json_object_get(event, "tid")), next++);
        }
    }
    assert_int_equal(next, RANKS);
    json_decref(root);
    iw_timeline_free(timeline);
}

/* Nothing in the window is refused, not written as a file without slices. */
static void windows_without_steps_are_refused(void **state)
{
    iw_timeline *timeline = small_timeline();
    const iw_timeline_window late = {.from_ps = IW_PS_PER_MS * 1000}, beyond = {RANKS, 1, 0, 0};
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    assert_status(iw_timeline_write_perfetto(&log.log, timeline, &late, stderr), IW_ERR_RANGE);
    iwt_assert_logged(&log, "no step of these ranks in this time");
    assert_status(iw_timeline_write_perfetto(&log.log, timeline, &beyond, stderr), IW_ERR_RANGE);
    iwt_assert_logged(&log, "no rank 6: the timeline has 6 ranks");
#if IW_HAVE_OTF2
    assert_status(iw_timeline_write_otf2(&log.log, timeline, &late, "/tmp/iw_none/archive"), IW_ERR_RANGE);
#endif
    iw_timeline_free(timeline);
}

/* ---- OTF2 ---- */

#if IW_HAVE_OTF2
static size_t lines_with(const char *folder, const char *what, const char *word, const char *region)
{
    char command[256], line[512];
    size_t lines = 0;
    FILE *pipe;

    snprintf(command, sizeof command, "otf2-print %s %s/traces.otf2 2>&1", what, folder);
    pipe = popen(command, "r"); /* NOLINT(cert-env33-c): a fixed command */
    assert_non_null(pipe);
    while (fgets(line, sizeof line, pipe) != NULL) {
        lines += strncmp(line, word, strlen(word)) == 0 && strstr(line, region) != NULL;
    }
    assert_int_equal(pclose(pipe), 0);
    return lines;
}

static void assert_otf2(const iw_timeline *timeline, const iw_timeline_window *window)
{
    const struct sums expected = expected_sums(timeline, window);
    char folder[] = "/tmp/iw_otf2_XXXXXX", path[64], command[96], region[32];
    struct iwt_log log;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/archive", folder);
    assert_ok(iw_timeline_write_otf2(NULL, timeline, window, path));
    for (int s = 0; s < IW_STATES; s++) {
        snprintf(region, sizeof region, "\"%s\"", iw_state_name((iw_state)s));
        assert_int_equal(lines_with(path, "", "ENTER", region), expected.counts[s]);
        assert_int_equal(lines_with(path, "", "LEAVE", region), expected.counts[s]);
    }
    /* states are of no file */
    assert_int_equal(lines_with(path, "-G", "REGION", "File: \"\" <0>, Begin: 0, End: 0"), IW_STATES);
    iwt_log_init(&log);
    assert_status(iw_timeline_write_otf2(&log.log, timeline, window, path), IW_ERR_IO); /* is there already */
    assert_int_equal(log.errors, 1);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a fixed command */
}

static void otf2_print_reads_every_state(void **state)
{
    iw_timeline *timeline = small_timeline();
    const iw_timeline_window all = {.first_rank = 0},
                             part = {.first_rank = 2, .rank_count = 3, .from_ps = 9000000, .to_ps = 20000000};

    (void)state;
    if (system("command -v otf2-print > /dev/null") != 0) { /* NOLINT(cert-env33-c): a fixed command */
        iw_timeline_free(timeline);
        skip();
    }
    assert_otf2(timeline, &all);
    assert_otf2(timeline, &part);
    iw_timeline_free(timeline);
}
#else
static void otf2_print_reads_every_state(void **state)
{
    iw_timeline *timeline = small_timeline();
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    assert_status(iw_timeline_write_otf2(&log.log, timeline, NULL, "/tmp/none"), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&log, "built without OTF2");
    iw_timeline_free(timeline);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perfetto_gets_every_state_of_every_step),
        cmocka_unit_test(perfetto_gets_a_window),
        cmocka_unit_test(slices_carry_time_rank_and_step),
        cmocka_unit_test(ranks_outside_the_exact_window_are_refused),
        cmocka_unit_test(perfetto_gets_ranks_around_the_end),
        cmocka_unit_test(all_ranks_come_in_their_order),
        cmocka_unit_test(windows_without_steps_are_refused),
        cmocka_unit_test(otf2_print_reads_every_state),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
