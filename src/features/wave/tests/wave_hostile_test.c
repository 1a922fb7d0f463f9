/* Timelines with which nothing can be done: sentences, no crashes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/timeline.h>
#include <idlewave/wave.h>

#include <stdio.h>

#include "support/made_halo.h"
#include "support/support.h"

#include "core/base/base.h"
#include "core/base/rng.h"

static iw_timeline *finish(iw_timeline *timeline)
{
    assert_ok(iw_timeline_finish(NULL, timeline));
    return timeline;
}

static iw_timeline *new_timeline(uint32_t ranks, const uint32_t *dims, bool is_periodic, uint64_t max_steps)
{
    iw_timeline_opts opts = IW_TIMELINE_OPTS_INIT;
    iw_timeline *timeline = NULL;

    opts.about.ranks = ranks;
    for (size_t i = 0; i < IW_TIMELINE_DIMS; i++) {
        opts.about.dims[i] = dims != NULL ? dims[i] : (i == 0 ? ranks : 0);
    }
    opts.about.is_periodic = is_periodic;
    opts.max_steps = max_steps;
    opts.expected_ps = IW_PS_PER_S;
    assert_ok(iw_timeline_new(NULL, &opts, &timeline));
    return timeline;
}

/* `steps` steps of every rank that take no time at all. */
static iw_timeline *zeros(uint32_t ranks, uint64_t steps)
{
    iw_timeline *timeline = new_timeline(ranks, NULL, true, 1000);
    const iw_step_sink sink = iw_timeline_sink(timeline);
    const iw_step step = {0};

    for (uint32_t rank = 0; rank < ranks; rank++) {
        for (uint64_t i = 0; i < steps; i++) {
            sink.step(sink.arg, rank, &step);
        }
    }
    return finish(timeline);
}

static void assert_refused(iw_timeline *timeline, const char *why)
{
    const iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_waves *waves = NULL;
    struct iwt_log log;

    iwt_log_init(&log);
    assert_status(iw_waves_find(&log.log, timeline, &opts, &waves), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&log, why);
    assert_null(waves);
    iw_timeline_free(timeline);
}

/* Returns how many waves there are. */
static size_t count_waves(iw_timeline *timeline)
{
    const iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_waves *waves = NULL;
    size_t count;

    assert_ok(iw_waves_find(NULL, timeline, &opts, &waves));
    count = waves->wave_count;
    for (size_t i = 0; i < count; i++) {
        assert_true(waves->waves[i].front_count > 0);
        assert_true(waves->waves[i].met < (int)count);
    }
    iw_waves_free(waves);
    iw_timeline_free(timeline);
    return count;
}

static void too_few_steps_are_refused(void **state)
{
    (void)state;
    assert_refused(zeros(4, 0), "no rank has more than 0 steps, too few");
    assert_refused(zeros(4, 1), "no rank has more than 1 step, too few");
    assert_refused(zeros(4, 2), "no rank has more than 2 steps, too few");
}

static void too_few_steps_of_a_trace_may_be_a_matter_of_the_gap(void **state)
{
    struct iwt_halo halo = IWT_HALO_INIT;

    (void)state;
    halo.steps = 2;
    halo.is_traced = true;
    assert_refused(iwt_made_halo(&halo, NULL),
                   "too few to distinguish a wave from ordinary waiting; a shorter gap");
}

static void partners_beyond_half_of_the_ranks_are_refused(void **state)
{
    struct iwt_halo halo = IWT_HALO_INIT;
    iw_timeline *timeline = iwt_made_halo(&halo, NULL);
    iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_waves *waves = NULL;
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    opts.distance = 10;
    assert_status(iw_waves_find(&log.log, timeline, &opts, &waves), IW_ERR_RANGE);
    iwt_assert_logged(&log, "a partner distance of 10 is too large");
    opts.distance = 9;
    opts.sigma = UINT32_MAX;
    assert_ok(iw_waves_find(&log.log, timeline, &opts, &waves));
    iw_waves_free(waves);
    iw_timeline_free(timeline);
}

/* Sums with it do not overflow: UBSan is told of it. */
static void a_threshold_of_all_time_leaves_no_wave(void **state)
{
    static const struct iwt_delay delay = {5, 2, 10 * IW_PS_PER_MS};
    struct iwt_halo halo = IWT_HALO_INIT;
    iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_timeline *timeline;
    iw_waves *waves = NULL;

    (void)state;
    halo.delays = &delay;
    halo.delay_count = 1;
    timeline = iwt_made_halo(&halo, NULL);
    opts.threshold_ps = INT64_MAX;
    assert_ok(iw_waves_find(NULL, timeline, &opts, &waves));
    assert_int_equal(waves->wave_count, 0);
    assert_true(waves->threshold_ps < INT64_MAX / 2);
    iw_waves_free(waves);
    iw_timeline_free(timeline);
}

static void a_raster_alone_is_refused(void **state)
{
    struct iwt_halo halo = IWT_HALO_INIT;
    iw_timeline_opts opts = IW_TIMELINE_OPTS_INIT;

    (void)state;
    opts.max_steps = 0;
    assert_refused(iwt_made_halo(&halo, &opts), "only a raster and no exact steps");
}

static void steps_that_take_no_time_have_no_waves(void **state)
{
    (void)state;
    assert_int_equal(count_waves(zeros(1, 5)), 0);
    assert_int_equal(count_waves(zeros(6, 3)), 0);
}

static void one_rank_has_no_neighbours(void **state)
{
    static const struct iwt_delay delay = {0, 2, 10 * IW_PS_PER_MS};
    struct iwt_halo halo = IWT_HALO_INIT;

    (void)state;
    halo.ranks = 1;
    halo.delays = &delay;
    halo.delay_count = 1;
    assert_int_equal(count_waves(iwt_made_halo(&halo, NULL)), 0);
    halo.is_periodic = true;
    assert_int_equal(count_waves(iwt_made_halo(&halo, NULL)), 0);
}

static void two_ranks_in_a_ring(void **state)
{
    static const struct iwt_delay delay = {0, 2, 10 * IW_PS_PER_MS};
    struct iwt_halo halo = IWT_HALO_INIT;

    (void)state;
    halo.ranks = 2;
    halo.is_periodic = halo.is_bidirectional = true;
    halo.delays = &delay;
    halo.delay_count = 1;
    assert_int_equal(count_waves(iwt_made_halo(&halo, NULL)), 2); /* the neighbour is above and below */
}

static void a_delay_in_every_step(void **state)
{
    struct iwt_delay delays[18 * 20];
    struct iwt_halo halo = IWT_HALO_INIT;

    (void)state;
    for (uint32_t i = 0; i < 18 * 20; i++) {
        delays[i] = (struct iwt_delay){i % 18, i / 18, 10 * IW_PS_PER_MS};
    }
    halo.delays = delays;
    halo.delay_count = 18 * 20;
    assert_int_equal(count_waves(iwt_made_halo(&halo, NULL)), 0);
}

/* Steps of random lengths, other numbers of them on each rank, on grids that fit and that do not. */
static void any_steps_end_well(void **state)
{
    static const uint32_t grids[][IW_TIMELINE_DIMS] = {{24, 0, 0}, {4, 6, 0},  {2, 3, 4},
                                                       {5, 5, 0},  {0, 24, 0}, {4000000000, 4000000000, 2}};

    (void)state;
    for (uint32_t run = 0; run < 120; run++) {
        iw_timeline *timeline = new_timeline(24, grids[run % 6], run % 2 == 0, run % 5 == 0 ? 60 : 100000);
        const iw_step_sink sink = iw_timeline_sink(timeline);

        for (uint32_t rank = 0; rank < 24; rank++) {
            const struct iwi_draw_id id = {run, 0, IWI_DRAW_TEST, 0, rank};
            const uint64_t count = 4 + iwi_draw_below(id, 0, 12);
            iw_step step = {.begin_ps = 0};

            for (uint64_t i = 0; i < count; i++) {
                for (uint64_t k = 0; k < IW_STATES; k++) {
                    const uint64_t draw = 10 * i + k + 1;

                    step.state_ps[k] = iwi_draw_below(id, 1000 + draw, 4) == 0
                                           ? (iw_time)iwi_draw_below(id, draw, UINT64_C(1) << (run % 50))
                                           : 0;
                }
                sink.step(sink.arg, rank, &step);
                step.begin_ps = iw_step_end(&step);
            }
        }
        (void)count_waves(finish(timeline));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_few_steps_are_refused),
        cmocka_unit_test(too_few_steps_of_a_trace_may_be_a_matter_of_the_gap),
        cmocka_unit_test(partners_beyond_half_of_the_ranks_are_refused),
        cmocka_unit_test(a_threshold_of_all_time_leaves_no_wave),
        cmocka_unit_test(a_raster_alone_is_refused),
        cmocka_unit_test(steps_that_take_no_time_have_no_waves),
        cmocka_unit_test(one_rank_has_no_neighbours),
        cmocka_unit_test(two_ranks_in_a_ring),
        cmocka_unit_test(a_delay_in_every_step),
        cmocka_unit_test(any_steps_end_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
