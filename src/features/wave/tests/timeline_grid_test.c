/* Cells of timelines: from steps, from the raster, windows, what is preferred, and lines through fronts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include <idlewave/wave.h>

#include "features/wave/timeline_report.h"
#include "kit/figure/figure_parts.h"
#include "support/made_timeline.h"
#include "support/support.h"

static const iw_time PERIOD_PS = IWT_WORK_PS + IWT_MESSAGES_PS + IWT_WAIT_PS;

/* cmocka's own compares floats. */
static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.9g is not %.9g", value, expected);
    }
}

static struct iwi_grid grid_of(const iw_timeline *timeline, const iw_timeline_window *window, uint32_t rows,
                               uint32_t columns)
{
    struct iwi_grid grid;

    assert_ok(iwi_grid_new(NULL, timeline, window, rows, columns, &grid));
    return grid;
}

static double share(const uint16_t *shares, const struct iwi_grid *grid, uint32_t row, uint32_t column)
{
    return (double)shares[(size_t)row * grid->raster.columns + column] / IWI_SHARE_ONE;
}

static void a_cell_of_one_step_has_its_shares(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    iw_timeline *timeline = iwt_made_timeline(&run);
    /* the first step of all ranks, one column: nobody is late yet */
    const iw_timeline_window window = {.first_rank = 0, .rank_count = 18, .from_ps = 0, .to_ps = PERIOD_PS};
    struct iwi_grid grid = grid_of(timeline, &window, 18, 1);

    (void)state;
    assert_int_equal(grid.raster.rows, 18);
    assert_int_equal(grid.raster.columns, 1);
    for (uint32_t row = 0; row < 18; row++) {
        assert_near(share(grid.raster.mean[IW_STATE_COMPUTE], &grid, row, 0), 3.0 / 3.1, 1e-4);
        assert_near(share(grid.raster.mean[IW_STATE_COMM], &grid, row, 0), 0.02 / 3.1, 1e-4);
        assert_near(share(grid.raster.mean[IW_STATE_WAIT], &grid, row, 0), 0.08 / 3.1, 1e-4);
        assert_int_equal(grid.raster.mean[IW_STATE_DELAY][row], 0);
    }
    iwi_grid_free(&grid);
    iw_timeline_free(timeline);
}

static void the_late_rank_is_seen_among_others(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    iw_timeline *timeline = iwt_made_timeline(&run);
    /* the delay's own time */
    const iw_timeline_window window = {
        .first_rank = 0, .rank_count = 18, .from_ps = PERIOD_PS, .to_ps = PERIOD_PS + run.delay_ps};
    struct iwi_grid grid = grid_of(timeline, &window, 2, 1);

    (void)state;
    assert_int_equal(grid.raster.ranks_per_row, 9);
    assert_near(share(grid.raster.max[IW_STATE_DELAY], &grid, 0, 0), 1.0, 1e-4);
    assert_near(share(grid.raster.mean[IW_STATE_DELAY], &grid, 0, 0), 1.0 / 9.0, 1e-4);
    assert_int_equal(grid.raster.max[IW_STATE_DELAY][1], 0);
    iwi_grid_free(&grid);
    iw_timeline_free(timeline);
}

/* The same run, exact and as a raster: the same cells, but for what a coarser raster cannot know. */
static void the_raster_gives_the_same_cells(void **state)
{
    struct iwt_run run = IWT_RUN_INIT;
    iw_timeline *exact = iwt_made_timeline(&run), *raster;
    struct iwi_grid a, b;

    (void)state;
    run.max_steps = 0;
    raster = iwt_made_timeline(&run);
    assert_int_equal(iw_timeline_exact_ranks(raster), 0);
    a = grid_of(exact, NULL, 6, 16);
    b = grid_of(raster, NULL, 6, 16);
    assert_int_equal(a.raster.rows, b.raster.rows);
    assert_int_equal(a.raster.columns, b.raster.columns);
    for (int s = 0; s < IW_STATES; s++) {
        for (uint32_t row = 0; row < a.raster.rows; row++) {
            for (uint32_t column = 0; column < a.raster.columns; column++) {
                assert_near(share(a.raster.mean[s], &a, row, column),
                            share(b.raster.mean[s], &b, row, column), 0.01);
                assert_true(share(b.raster.max[s], &b, row, column) >=
                            share(a.raster.max[s], &a, row, column) - 0.01);
            }
        }
    }
    iwi_grid_free(&a);
    iwi_grid_free(&b);
    iw_timeline_free(exact);
    iw_timeline_free(raster);
}

/* Rows of known ranks are exact, others come from the raster; none is empty. */
static void a_window_is_exact_within_its_ranks(void **state)
{
    struct iwt_run run = IWT_RUN_INIT;
    iw_timeline *timeline;
    struct iwi_grid grid;

    (void)state;
    run.first_rank = 4;
    run.rank_count = 3;
    timeline = iwt_made_timeline(&run);
    assert_false(iw_timeline_is_whole(timeline));
    grid = grid_of(timeline, NULL, 18, 24);
    for (uint32_t row = 0; row < 18; row++) {
        assert_true(share(grid.raster.mean[IW_STATE_COMPUTE], &grid, row, 0) > 0.9);
    }
    assert_true(share(grid.raster.max[IW_STATE_DELAY], &grid, 5, 2) > 0.99);
    assert_int_equal(iwi_timeline_count_steps(timeline, &grid.window), 3 * 20);
    iwi_grid_free(&grid);
    iw_timeline_free(timeline);
}

/* Finer than the raster: the others of a row are not in the way, a delay is still seen. */
static void a_few_of_many_ranks_have_the_mean(void **state)
{
    struct iwt_run run = IWT_RUN_INIT;
    const iw_timeline_window window = {.first_rank = 0, .rank_count = 4};
    iw_timeline *timeline;
    struct iwi_grid grid;

    (void)state;
    run.ranks = 1600;
    run.rows = 16;
    run.max_steps = 0;
    timeline = iwt_made_timeline(&run);
    grid = grid_of(timeline, &window, 4, 10);
    assert_memory_equal(grid.raster.max[IW_STATE_WAIT], grid.raster.mean[IW_STATE_WAIT],
                        4 * 10 * sizeof(uint16_t));
    assert_true(share(grid.raster.max[IW_STATE_DELAY], &grid, 0, 1) > 0.9);
    iwi_grid_free(&grid);
    iw_timeline_free(timeline);
}

static void windows_outside_are_refused(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    iw_timeline *timeline = iwt_made_timeline(&run);
    const iw_timeline_window no_rank = {.first_rank = 18}, too_late = {.from_ps = INT64_MAX / 2};
    const iw_timeline_window too_many = {.first_rank = 16, .rank_count = 100};
    iw_timeline_window clipped;
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    assert_status(iwi_timeline_clip(&log.log, timeline, &no_rank, &clipped), IW_ERR_RANGE);
    iwt_assert_logged(&log, "no rank 18: the timeline has 18 ranks");
    assert_status(iwi_timeline_clip(&log.log, timeline, &too_late, &clipped), IW_ERR_RANGE);
    assert_ok(iwi_timeline_clip(&log.log, timeline, &too_many, &clipped));
    assert_int_equal(clipped.rank_count, 2);
    assert_int_equal(clipped.to_ps, iw_timeline_end(timeline));
    iw_timeline_free(timeline);
}

static void the_most_disturbed_rank_is_shown_unless_all_are(void **state)
{
    struct iwt_run run = IWT_RUN_INIT;
    iw_timeline *quiet = iwt_made_timeline(&run), *noisy;
    struct iwi_grid grid = grid_of(quiet, NULL, 18, 200);

    (void)state;
    run.delay_ps = 0;
    run.ranks = 500;
    run.most_noise_ps = IWT_WORK_PS;
    noisy = iwt_made_timeline(&run);
    iwi_grid_free(&grid);
    run.most_noise_ps = 0;
    iw_timeline_free(quiet);
    quiet = iwt_made_timeline(&run);
    grid = grid_of(quiet, NULL, 4, 200);
    assert_true(iwi_raster_prefers_max(&grid.raster));
    iwi_grid_free(&grid);
    grid = grid_of(noisy, NULL, 4, 200);
    assert_false(iwi_raster_prefers_max(&grid.raster));
    iwi_grid_free(&grid);
    iw_timeline_free(quiet);
    iw_timeline_free(noisy);
}

static void colours_are_those_of_the_paper(void **state)
{
    static const uint16_t none[1] = {0}, all[1] = {IWI_SHARE_ONE}, little[1] = {1};
    struct iwi_mark cells = {.kind = IWI_MARK_CELLS,
                             .ink = IWI_INK_COMPUTE,
                             .layer_count = 2,
                             .layers = {{.ink = IWI_INK_WAIT, .shares = none},
                                        {.ink = IWI_INK_DELAY, .shares = none, .is_sought = true}}};

    (void)state;
    assert_int_equal(iwi_cell_rgb(&cells, 0), 0xffffff); /* work is white */
    cells.layers[0].shares = all;
    assert_int_equal(iwi_cell_rgb(&cells, 0), iwi_ink_rgb(IWI_INK_WAIT));
    cells.layers[0].shares = none;
    cells.layers[1].shares = little;
    assert_true((iwi_cell_rgb(&cells, 0) & 0xff) > (iwi_cell_rgb(&cells, 0) >> 16));
}

static void a_fit_passes_through_its_fronts(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    iw_waves *waves = iwt_made_waves(&run);
    iw_wave *up = &waves->waves[0];
    const struct iwi_fit lead = iwi_wave_fit(up, IWI_EDGE_LEAD), trail = iwi_wave_fit(up, IWI_EDGE_TRAIL);
    struct iwi_fit fit;

    (void)state;
    for (size_t i = 0; i < up->front_count; i++) {
        assert_near(iwi_fit_ps(&lead, up->fronts[i].distance), (double)up->fronts[i].lead_ps, 1e4);
        assert_near(iwi_fit_ps(&trail, up->fronts[i].distance), (double)up->fronts[i].trail_ps, 1e4);
    }
    up->fronts[2].lead_ps += INT64_C(1000000000000); /* strays do not move it */
    fit = iwi_wave_fit(up, IWI_EDGE_LEAD);
    assert_near(fit.begin_ps, lead.begin_ps, 1e4);
    up->speed.value = NAN;
    fit = iwi_wave_fit(up, IWI_EDGE_LEAD);
    assert_true(isnan(iwi_fit_ps(&fit, 1)));
    up->front_count = 1;
    fit = iwi_wave_fit(up, IWI_EDGE_TRAIL);
    assert_true(isnan(iwi_fit_ps(&fit, 1)));
    iwt_free_waves(waves);
}

static void a_wave_around_the_end_is_known(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    iw_timeline *timeline = iwt_made_timeline(&run);
    const iw_front last = {.rank = 17}, first = {.rank = 0}, next = {.rank = 16};

    (void)state;
    assert_true(iwi_wave_wraps(timeline, &last, &first));
    assert_false(iwi_wave_wraps(timeline, &next, &last));
    iw_timeline_free(timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_of_one_step_has_its_shares),
        cmocka_unit_test(the_late_rank_is_seen_among_others),
        cmocka_unit_test(the_raster_gives_the_same_cells),
        cmocka_unit_test(a_window_is_exact_within_its_ranks),
        cmocka_unit_test(a_few_of_many_ranks_have_the_mean),
        cmocka_unit_test(windows_outside_are_refused),
        cmocka_unit_test(the_most_disturbed_rank_is_shown_unless_all_are),
        cmocka_unit_test(colours_are_those_of_the_paper),
        cmocka_unit_test(a_fit_passes_through_its_fronts),
        cmocka_unit_test(a_wave_around_the_end_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
