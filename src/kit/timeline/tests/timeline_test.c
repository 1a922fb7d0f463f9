/* Timelines: the exact window, whatever the order in which steps come.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "timeline_testing.h"

enum { RANKS = 11, STEPS = 40 };

static void assert_steps(const iw_timeline *timeline, uint32_t index, uint32_t rank, uint32_t first,
                         size_t expected)
{
    uint64_t first_step;
    size_t count;
    const iw_step *steps = iw_timeline_steps(timeline, index, &count, &first_step);
    iw_time at_ps = 0;

    assert_int_equal(iw_timeline_exact_rank(timeline, index), rank);
    assert_int_equal(count, expected);
    assert_int_equal(first_step, first);
    for (uint32_t i = 0; i < first + expected; i++) {
        const iw_step step = made_step(rank, i, at_ps);

        at_ps = iw_step_end(&step);
        if (i >= first) {
            assert_memory_equal(&steps[i - first], &step, sizeof step);
        }
    }
}

static void a_small_run_is_kept_as_a_whole(void **state)
{
    const iw_timeline_opts opts = made_opts(RANKS);
    iw_timeline *timeline = made(&opts, STEPS, 0);
    iw_time end_ps = 0;

    (void)state;
    assert_int_equal(iw_timeline_exact_ranks(timeline), RANKS);
    assert_true(iw_timeline_is_whole(timeline));
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        uint64_t first;
        size_t count;
        const iw_step *steps = iw_timeline_steps(timeline, rank, &count, &first);

        assert_steps(timeline, rank, rank, 0, STEPS);
        end_ps = iw_step_end(&steps[count - 1]) > end_ps ? iw_step_end(&steps[count - 1]) : end_ps;
    }
    assert_int_equal(iw_timeline_end(timeline), end_ps);
    assert_int_equal(iw_timeline_describe(timeline)->ranks, RANKS);
    iw_timeline_free(timeline);
}

static void a_window_goes_around_the_end(void **state)
{
    iw_timeline_opts opts = made_opts(RANKS);
    iw_timeline *timeline;

    (void)state;
    opts.first_rank = 9;
    opts.rank_count = 4;
    timeline = made(&opts, STEPS, 1);
    assert_int_equal(iw_timeline_exact_ranks(timeline), 4);
    assert_false(iw_timeline_is_whole(timeline));
    assert_steps(timeline, 1, 10, 0, STEPS);
    assert_steps(timeline, 2, 0, 0, STEPS);
    assert_steps(timeline, 3, 1, 0, STEPS);
    iw_timeline_free(timeline);
}

static void a_window_of_time_counts_the_steps_before_it(void **state)
{
    iw_timeline_opts opts = made_opts(RANKS);
    iw_time at_ps = 0, seventh_ps = 0;
    iw_timeline *timeline;

    (void)state;
    for (uint32_t i = 0; i < 20; i++) {
        const iw_step step = made_step(3, i, at_ps);

        seventh_ps = i == 7 ? at_ps : seventh_ps;
        at_ps = iw_step_end(&step);
    }
    opts.first_rank = 3;
    opts.rank_count = 1;
    opts.from_ps = seventh_ps; /* a step that begins there is in, one that begins at the end is not */
    opts.to_ps = at_ps;
    timeline = made(&opts, STEPS, 0);
    assert_steps(timeline, 0, 3, 7, 13);
    iw_timeline_free(timeline);
}

static void a_rank_is_found_in_a_window_around_the_end(void **state)
{
    iw_timeline_opts opts = made_opts(RANKS);
    iw_timeline *timeline;
    uint32_t index;

    (void)state;
    opts.first_rank = RANKS - 2;
    opts.rank_count = 4;
    timeline = made(&opts, STEPS, 0);
    for (uint32_t i = 0; i < opts.rank_count; i++) {
        assert_true(iw_timeline_exact_index(timeline, iw_timeline_exact_rank(timeline, i), &index));
        assert_int_equal(index, i);
    }
    assert_false(iw_timeline_exact_index(timeline, 2, &index));
    assert_false(iw_timeline_exact_index(timeline, RANKS - 3, &index));
    assert_false(iw_timeline_exact_index(timeline, RANKS, &index)); /* there is no such rank */
    iw_timeline_free(timeline);
}

static void a_grid_that_does_not_hold_just_the_ranks_is_a_line(void **state)
{
    static const uint32_t wrong[][IW_TIMELINE_DIMS] = {
        {0, 0, 0}, {3, 4, 0}, {0, RANKS, 0}, {RANKS, 0, 1}, {UINT32_MAX, UINT32_MAX, UINT32_MAX}};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        iw_timeline_opts opts = made_opts(RANKS);
        iw_timeline *timeline;

        memcpy(opts.about.dims, wrong[i], sizeof opts.about.dims);
        timeline = made(&opts, 1, 0);
        assert_int_equal(iw_timeline_describe(timeline)->dims[0], RANKS);
        assert_int_equal(iw_timeline_describe(timeline)->dims[1], 0);
        assert_int_equal(iw_timeline_describe(timeline)->dims[2], 0);
        iw_timeline_free(timeline);
    }
}

/* 4 ranks of 40 steps fit 163, 5 do not. */
static void steps_that_do_not_fit_leave_out_the_last_ranks_in_any_order(void **state)
{
    iw_timeline_opts opts = made_opts(RANKS);

    (void)state;
    opts.max_steps = 163;
    opts.first_rank = 8;
    for (int is_backwards = 0; is_backwards < 2; is_backwards++) {
        struct iwt_log log;
        iw_timeline *timeline;

        iwt_log_init(&log);
        assert_ok(iw_timeline_new(&log.log, &opts, &timeline));
        feed(timeline, RANKS, STEPS, is_backwards);
        assert_ok(iw_timeline_finish(&log.log, timeline));
        assert_int_equal(log.warnings, 1);
        iwt_assert_logged(&log, "at most 163 exact steps: the last 7 of 11 ranks are only in its raster");
        assert_int_equal(iw_timeline_exact_ranks(timeline), 4);
        assert_false(iw_timeline_is_whole(timeline));
        assert_steps(timeline, 0, 8, 0, STEPS);
        assert_steps(timeline, 3, 0, 0, STEPS);
        iw_timeline_free(timeline);
    }
}

static void nothing_exact_on_request(void **state)
{
    iw_timeline_opts opts = made_opts(RANKS);
    iw_timeline *timeline;

    (void)state;
    opts.max_steps = 0;
    timeline = made(&opts, STEPS, 0);
    assert_int_equal(iw_timeline_exact_ranks(timeline), 0);
    assert_false(iw_timeline_is_whole(timeline));
    assert_int_equal(iw_timeline_level(timeline, 0).rows, RANKS);
    iw_timeline_free(timeline);
}

static void a_run_without_steps_has_an_empty_raster(void **state)
{
    const iw_timeline_opts opts = made_opts(RANKS);
    iw_timeline *timeline = made(&opts, 0, 0);

    (void)state;
    assert_int_equal(iw_timeline_end(timeline), 0);
    assert_int_equal(iw_timeline_level(timeline, 0).columns, 1);
    assert_int_equal(iw_timeline_level(timeline, 0).mean[IW_STATE_COMPUTE][0], 0);
    iw_timeline_free(timeline);
}

static void expect_refused(iw_timeline_opts opts)
{
    struct iwt_log log;
    iw_timeline *timeline;

    iwt_log_init(&log);
    assert_status(iw_timeline_new(&log.log, &opts, &timeline), IW_ERR_RANGE);
    assert_int_equal(log.errors, 1);
}

static void impossible_options_are_refused(void **state)
{
    iw_timeline_opts opts = made_opts(0);

    (void)state;
    expect_refused(opts);
    opts = made_opts(RANKS);
    opts.rows = 15;
    expect_refused(opts);
    opts = made_opts(RANKS);
    opts.columns = 1U << 16;
    expect_refused(opts);
    opts = made_opts(RANKS);
    opts.first_rank = RANKS;
    expect_refused(opts);
    opts = made_opts(RANKS);
    opts.rank_count = RANKS + 1;
    expect_refused(opts);
    opts = made_opts(RANKS);
    opts.from_ps = opts.to_ps = 5;
    expect_refused(opts);
    opts = made_opts(UINT32_MAX);
    opts.rows = 16;
    expect_refused(opts);
}

static void expect_bad_step(uint32_t rank, iw_step step)
{
    const iw_timeline_opts opts = made_opts(RANKS);
    struct iwt_log log;
    iw_timeline *timeline;
    iw_step_sink sink;

    iwt_log_init(&log);
    assert_ok(iw_timeline_new(&log.log, &opts, &timeline));
    sink = iw_timeline_sink(timeline);
    sink.step(sink.arg, rank, &step);
    assert_status(iw_timeline_finish(&log.log, timeline), IW_ERR_RANGE);
    assert_int_equal(log.errors, 1);
    iw_timeline_free(timeline);
}

static void steps_that_cannot_be_are_told_at_the_end(void **state)
{
    (void)state;
    expect_bad_step(RANKS, (iw_step){0, {0, 1, 0, 0, 0}});
    expect_bad_step(0, (iw_step){-1, {0, 1, 0, 0, 0}});
    expect_bad_step(0, (iw_step){5, {0, 1, -1, 0, 0}});
    expect_bad_step(0, (iw_step){INT64_MAX, {0, 1, 0, 0, 0}});
    expect_bad_step(0, (iw_step){INT64_MAX / 64, {0, 1, 0, 0, 0}}); /* beyond 40 hours */
    expect_bad_step(0, (iw_step){INT64_MAX, {INT64_MAX, INT64_MAX, INT64_MAX, 0, 0}});
}

static void states_have_names(void **state)
{
    (void)state;
    assert_string_equal(iw_state_name(IW_STATE_DELAY), "delay");
    assert_string_equal(iw_state_name(IW_STATE_WAIT), "wait");
    assert_string_equal(iw_state_name(IW_STATES), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_run_is_kept_as_a_whole),
        cmocka_unit_test(a_window_goes_around_the_end),
        cmocka_unit_test(a_window_of_time_counts_the_steps_before_it),
        cmocka_unit_test(a_rank_is_found_in_a_window_around_the_end),
        cmocka_unit_test(a_grid_that_does_not_hold_just_the_ranks_is_a_line),
        cmocka_unit_test(steps_that_do_not_fit_leave_out_the_last_ranks_in_any_order),
        cmocka_unit_test(nothing_exact_on_request),
        cmocka_unit_test(a_run_without_steps_has_an_empty_raster),
        cmocka_unit_test(impossible_options_are_refused),
        cmocka_unit_test(steps_that_cannot_be_are_told_at_the_end),
        cmocka_unit_test(states_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
