/* The raster of timelines against sums of the steps themselves.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "timeline_testing.h"

/* Time that a state from `begin` to `end` has in a cell's column. */
static double overlap(iw_time begin_ps, iw_time end_ps, iw_time low_ps, iw_time high_ps)
{
    const iw_time from_ps = begin_ps > low_ps ? begin_ps : low_ps,
                  to_ps = end_ps < high_ps ? end_ps : high_ps;

    return to_ps > from_ps ? (double)(to_ps - from_ps) : 0;
}

/* Exact shares of one column of one rank, from the steps that the timeline kept. */
static void rank_shares(const iw_timeline *timeline, uint32_t rank, uint32_t column, iw_time bin_ps,
                        double shares[IW_STATES])
{
    uint64_t first;
    size_t count;
    const iw_step *steps = iw_timeline_steps(timeline, rank, &count, &first);

    memset(shares, 0, IW_STATES * sizeof *shares);
    for (size_t i = 0; i < count; i++) {
        iw_time at_ps = steps[i].begin_ps;

        for (int s = 0; s < IW_STATES; s++) {
            const iw_time next_ps = at_ps + steps[i].state_ps[s];

            shares[s] += overlap(at_ps, next_ps, column * bin_ps, (column + 1) * bin_ps) / (double)bin_ps;
            at_ps = next_ps;
        }
    }
}

/* Each boundary between states is rounded to 1/65536 of a column. */
static void assert_near(double actual, double expected, double slack)
{
    if (actual < expected - slack || actual > expected + slack) {
        fail_msg("%.1f instead of %.1f", actual, expected);
    }
}

/* Joined columns may tell too large a maximum, but no smaller one than there was, nor than the mean. */
static void assert_max(const iw_raster *raster, int state, size_t cell, double expected, double slack,
                       bool is_joined)
{
    const double actual = raster->max[state][cell];

    assert_near(actual, expected, is_joined && actual > expected ? UINT16_MAX : slack);
    assert_true(actual + slack >= raster->mean[state][cell]);
}

static void assert_exact(const iw_timeline *timeline, double slack, double max_slack, bool is_joined)
{
    const iw_raster raster = iw_timeline_level(timeline, 0);
    const uint32_t ranks = iw_timeline_describe(timeline)->ranks;

    assert_true(iw_timeline_is_whole(timeline));
    for (uint32_t row = 0; row < raster.rows; row++) {
        for (uint32_t column = 0; column < raster.columns; column++) {
            const size_t cell = (size_t)row * raster.columns + column;
            double mean[IW_STATES] = {0}, max[IW_STATES] = {0};
            uint32_t count = 0;

            for (uint32_t rank = row * raster.ranks_per_row;
                 rank < ranks && rank < (row + 1) * raster.ranks_per_row; rank++, count++) {
                double shares[IW_STATES];

                rank_shares(timeline, rank, column, raster.bin_ps, shares);
                for (int s = 0; s < IW_STATES; s++) {
                    mean[s] += shares[s];
                    max[s] = shares[s] > max[s] ? shares[s] : max[s];
                }
            }
            for (int s = 0; s < IW_STATES; s++) {
                assert_near(raster.mean[s][cell], mean[s] / count * UINT16_MAX, slack);
                assert_max(&raster, s, cell, max[s] * UINT16_MAX, max_slack, is_joined);
            }
        }
    }
}

static void cells_are_what_the_steps_add_up_to(void **state)
{
    iw_timeline_opts opts = made_opts(50);
    iw_timeline *timeline;

    (void)state;
    opts.rows = 16; /* 13 rows of 4 ranks, the last of 2 */
    opts.columns = 100;
    opts.expected_ps = 30 * INT64_C(4000000);
    timeline = made(&opts, 30, 0);
    assert_int_equal(iw_timeline_level(timeline, 0).rows, 13);
    assert_int_equal(iw_timeline_level(timeline, 0).ranks_per_row, 4);
    assert_in_range(iw_timeline_level(timeline, 0).columns, 60, 100);
    assert_exact(timeline, 3, 4, false);
    iw_timeline_free(timeline);
}

static void a_rank_has_its_own_row_where_there_are_few(void **state)
{
    iw_timeline_opts opts = made_opts(5);
    iw_timeline *timeline;

    (void)state;
    opts.expected_ps = 400 * INT64_C(4000000);
    opts.columns = 16; /* 25 steps a column and more */
    timeline = made(&opts, 400, 1);
    assert_int_equal(iw_timeline_level(timeline, 0).rows, 5);
    assert_exact(timeline, 16, 16, false);
    iw_timeline_free(timeline);
}

static void longer_runs_widen_the_columns(void **state)
{
    iw_timeline_opts opts = made_opts(40);
    iw_timeline *timeline;

    (void)state;
    opts.rows = 16;
    opts.columns = 33;
    for (iw_time expected_ps = 0; expected_ps < 4; expected_ps += 3) { /* unknown, and far too short */
        opts.expected_ps = expected_ps;
        timeline = made(&opts, 30, 0);
        assert_in_range(iw_timeline_level(timeline, 0).columns, 17, 33);
        assert_exact(timeline, 3, 6, true);
        iw_timeline_free(timeline);
    }
}

/* A rank is always in the same state: that takes all of every column but the last. */
static void joined_columns_keep_what_a_rank_did_all_the_time(void **state)
{
    iw_timeline_opts opts = made_opts(1);
    iw_timeline *timeline;
    iw_step_sink sink;
    iw_raster raster;

    (void)state;
    opts.columns = 16;
    opts.expected_ps = 14208; /* 1000 a column */
    assert_ok(iw_timeline_new(NULL, &opts, &timeline));
    sink = iw_timeline_sink(timeline);
    for (iw_time begin_ps = 0; begin_ps < 64000; begin_ps += 500) { /* joined with the rank in column 15 */
        const iw_step step = {begin_ps, {0, 0, 0, 0, 500}};

        sink.step(sink.arg, 0, &step);
    }
    assert_ok(iw_timeline_finish(NULL, timeline));
    raster = iw_timeline_level(timeline, 0);
    for (uint32_t column = 0; column + 1 < raster.columns; column++) {
        assert_in_range(raster.max[IW_STATE_WAIT][column], UINT16_MAX - 8, UINT16_MAX);
    }
    iw_timeline_free(timeline);
}

/* Whatever is expected, a run may take as long as a timeline can be. */
static void no_expectation_is_too_long(void **state)
{
    const iw_time expected_ps[] = {0, INT64_MAX, INT64_MAX / 9 * 8 + 9, INT64_MAX / 64};
    const iw_step last = {INT64_MAX / 64 - 5, {1, 1, 1, 1, 1}};

    (void)state;
    for (size_t i = 0; i < 8; i++) {
        iw_timeline_opts opts = made_opts(2);
        iw_timeline *timeline;
        iw_step_sink sink;

        opts.columns = i < 4 ? 2048 : 32767;
        opts.expected_ps = expected_ps[i % 4];
        assert_ok(iw_timeline_new(NULL, &opts, &timeline));
        sink = iw_timeline_sink(timeline);
        sink.step(sink.arg, 1, &last);
        assert_ok(iw_timeline_finish(NULL, timeline));
        iw_timeline_free(timeline);
    }
}

/* The last of as many columns as there can be. */
static void a_raster_may_have_32767_columns(void **state)
{
    iw_timeline_opts opts = made_opts(1);
    const iw_step step = {0, {0, 32766400, 0, 0, 0}};
    iw_timeline *timeline;
    iw_step_sink sink;
    iw_raster raster;

    (void)state;
    opts.columns = 32768;
    assert_status(iw_timeline_new(NULL, &opts, &timeline), IW_ERR_RANGE);
    opts.columns = 32767;
    opts.expected_ps = INT64_C(29126000); /* an eighth more: 1000 a column */
    assert_ok(iw_timeline_new(NULL, &opts, &timeline));
    sink = iw_timeline_sink(timeline);
    sink.step(sink.arg, 0, &step);
    assert_ok(iw_timeline_finish(NULL, timeline));
    raster = iw_timeline_level(timeline, 0);
    assert_int_equal(raster.columns, 32767);
    assert_near(raster.mean[IW_STATE_COMPUTE][32765], UINT16_MAX, 2);
    assert_near(raster.mean[IW_STATE_COMPUTE][32766], 0.4 * UINT16_MAX, 40);
    iw_timeline_free(timeline);
}

static void assert_same_level(const iw_timeline *one, const iw_timeline *other, size_t level, uint32_t slack,
                              bool has_max)
{
    const iw_raster a = iw_timeline_level(one, level), b = iw_timeline_level(other, level);
    const size_t cells = (size_t)a.rows * a.columns;

    assert_int_equal(a.rows, b.rows);
    assert_int_equal(a.columns, b.columns);
    assert_int_equal(a.bin_ps, b.bin_ps);
    for (int s = 0; s < IW_STATES; s++) {
        for (size_t i = 0; i < cells; i++) {
            assert_in_range(a.mean[s][i] + slack, b.mean[s][i], b.mean[s][i] + 2 * slack);
        }
        if (has_max) {
            assert_memory_equal(a.max[s], b.max[s], cells * sizeof *a.max[s]);
        }
    }
}

static void the_order_of_ranks_does_not_matter(void **state)
{
    iw_timeline_opts opts = made_opts(100);
    iw_timeline *one, *other;

    (void)state;
    opts.rows = 32;
    opts.expected_ps = 50 * INT64_C(4000000);
    one = made(&opts, 50, 0);
    other = made(&opts, 50, 1);
    assert_int_equal(iw_timeline_level_count(one), iw_timeline_level_count(other));
    for (size_t level = 0; level < iw_timeline_level_count(one); level++) {
        assert_same_level(one, other, level, 0, true);
    }
    iw_timeline_free(one);
    iw_timeline_free(other);
}

static void the_order_of_ranks_hardly_matters_where_columns_widen(void **state)
{
    iw_timeline_opts opts = made_opts(100);
    iw_timeline *one, *other;

    (void)state;
    opts.rows = 32;
    opts.expected_ps = 10 * INT64_C(4000000);
    one = made(&opts, 50, 0);
    other = made(&opts, 50, 1);
    assert_same_level(one, other, 0, 2, false);
    assert_exact(one, 4, 8, true);
    assert_exact(other, 4, 8, true);
    iw_timeline_free(one);
    iw_timeline_free(other);
}

/* Ranks that come to life later, or stop for a while, as traced ones may. */
static void gaps_belong_to_no_state(void **state)
{
    iw_timeline_opts opts = made_opts(1);
    const iw_step early = {0, {0, 1500, 0, 0, 500}}, late = {16000, {0, 0, 0, 0, 1000}};
    iw_timeline *timeline;
    iw_step_sink sink;
    iw_raster raster;

    (void)state;
    opts.columns = 16;
    opts.expected_ps = 14208; /* an eighth more is 15984: 1000 a column */
    assert_ok(iw_timeline_new(NULL, &opts, &timeline));
    sink = iw_timeline_sink(timeline);
    sink.step(sink.arg, 0, &early);
    sink.step(sink.arg, 0, &late); /* the columns are 2000 now */
    assert_ok(iw_timeline_finish(NULL, timeline));
    raster = iw_timeline_level(timeline, 0);
    assert_int_equal(raster.bin_ps, 2000);
    assert_int_equal(raster.columns, 9);
    assert_near(raster.mean[IW_STATE_COMPUTE][0], 0.75 * UINT16_MAX, 2);
    assert_near(raster.mean[IW_STATE_WAIT][0], 0.25 * UINT16_MAX, 2);
    assert_near(raster.max[IW_STATE_WAIT][0], 0.25 * UINT16_MAX, 2);
    for (uint32_t column = 1; column < 8; column++) {
        assert_int_equal(raster.mean[IW_STATE_WAIT][column] + raster.max[IW_STATE_WAIT][column] +
                             raster.mean[IW_STATE_COMPUTE][column],
                         0);
    }
    assert_near(raster.mean[IW_STATE_WAIT][8], 0.5 * UINT16_MAX, 2); /* nobody does anything after the end */
    assert_near(raster.max[IW_STATE_WAIT][8], 0.5 * UINT16_MAX, 2);
    iw_timeline_free(timeline);
}

/* ---- levels ---- */

/* Time in each state of the whole run, in units of a rank and column of level 0. */
static double total(const iw_timeline *timeline, size_t level, int state)
{
    const iw_raster raster = iw_timeline_level(timeline, level);
    const uint32_t ranks = iw_timeline_describe(timeline)->ranks;
    double sum = 0;

    for (uint32_t row = 0; row < raster.rows; row++) {
        const uint32_t begin = row * raster.ranks_per_row,
                       count = ranks - begin < raster.ranks_per_row ? ranks - begin : raster.ranks_per_row;

        for (uint32_t column = 0; column < raster.columns; column++) {
            sum += (double)raster.mean[state][(size_t)row * raster.columns + column] / UINT16_MAX * count;
        }
    }
    return sum * (double)raster.bin_ps / (double)iw_timeline_level(timeline, 0).bin_ps;
}

static void levels_halve_and_keep_the_time(void **state)
{
    iw_timeline_opts opts = made_opts(333);
    iw_timeline *timeline;
    size_t levels;

    (void)state;
    opts.rows = 200; /* 167 rows of 2, the last of 1 */
    opts.columns = 300;
    opts.expected_ps = 40 * INT64_C(4000000);
    timeline = made(&opts, 40, 0);
    levels = iw_timeline_level_count(timeline);
    for (size_t i = 1; i < levels; i++) {
        const iw_raster fine = iw_timeline_level(timeline, i - 1), coarse = iw_timeline_level(timeline, i);

        assert_int_equal(coarse.rows, (fine.rows + 1) / 2);
        assert_int_equal(coarse.columns, (fine.columns + 1) / 2);
        assert_int_equal(coarse.bin_ps, 2 * fine.bin_ps);
        assert_int_equal(coarse.ranks_per_row, 2 * fine.ranks_per_row);
        assert_true(fine.rows > 32 || fine.columns > 32);
        for (int s = 0; s < IW_STATES; s++) {
            const double whole = total(timeline, 0, s);

            assert_near(total(timeline, i, s) / whole, 1, 0.002);
        }
    }
    assert_true(iw_timeline_level(timeline, levels - 1).rows <= 32);
    assert_true(iw_timeline_level(timeline, levels - 1).columns <= 32);
    iw_timeline_free(timeline);
}

/* ---- many ranks ---- */

/* A million ranks work in step; one is delayed for a millisecond. */
static void one_late_rank_of_a_million_stays_visible(void **state)
{
    enum { RANKS = 1000000, LATE = 777777 };
    iw_timeline_opts opts = made_opts(RANKS);
    iw_timeline *timeline;
    iw_step_sink sink;

    (void)state;
    opts.rows = opts.columns = 64;
    opts.expected_ps = 8 * IW_PS_PER_MS;
    opts.max_steps = 0;
    assert_ok(iw_timeline_new(NULL, &opts, &timeline));
    sink = iw_timeline_sink(timeline);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const iw_time delay_ps = rank == LATE ? IW_PS_PER_MS : 0;
        const iw_step step = {0, {delay_ps, 7 * IW_PS_PER_MS, 0, 0, IW_PS_PER_MS - delay_ps}};

        sink.step(sink.arg, rank, &step);
    }
    assert_ok(iw_timeline_finish(NULL, timeline));
    for (size_t level = 0; level < iw_timeline_level_count(timeline); level++) {
        const iw_raster raster = iw_timeline_level(timeline, level);
        const uint32_t late_row = LATE / raster.ranks_per_row;

        for (uint32_t row = 0; row < raster.rows; row++) {
            assert_int_equal(raster.max[IW_STATE_DELAY][(size_t)row * raster.columns],
                             row == late_row ? UINT16_MAX : 0);
        }
        assert_in_range(raster.mean[IW_STATE_DELAY][(size_t)late_row * raster.columns], 1, 5);
    }
    iw_timeline_free(timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_what_the_steps_add_up_to),
        cmocka_unit_test(a_rank_has_its_own_row_where_there_are_few),
        cmocka_unit_test(longer_runs_widen_the_columns),
        cmocka_unit_test(joined_columns_keep_what_a_rank_did_all_the_time),
        cmocka_unit_test(no_expectation_is_too_long),
        cmocka_unit_test(a_raster_may_have_32767_columns),
        cmocka_unit_test(the_order_of_ranks_does_not_matter),
        cmocka_unit_test(the_order_of_ranks_hardly_matters_where_columns_widen),
        cmocka_unit_test(gaps_belong_to_no_state),
        cmocka_unit_test(levels_halve_and_keep_the_time),
        cmocka_unit_test(one_late_rank_of_a_million_stays_visible),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
