/* The eight flavours of the paper and their relatives: directions, speeds, ends.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/timeline.h>
#include <idlewave/wave.h>

#include <math.h>
#include <stdio.h>

#include "support/made_halo.h"
#include "support/support.h"

#include "core/base/base.h"

/* Delay of 4.5 phases on rank 5 in the first step. */
static const struct iwt_delay delay = {5, 0, 27 * IW_PS_PER_MS / 2};

/* Nothing is to be said meanwhile. */
static iw_waves *find(const struct iwt_halo *halo)
{
    struct iwt_log log;
    iw_waves *waves = iwt_find_waves(halo, &log);

    assert_string_equal(log.text, "");
    return waves;
}

static struct iwt_halo flavour(bool is_rendezvous, bool is_bidirectional, bool is_periodic)
{
    struct iwt_halo halo = IWT_HALO_INIT;

    halo.is_rendezvous = is_rendezvous;
    halo.is_bidirectional = is_bidirectional;
    halo.is_periodic = is_periodic;
    halo.is_split = true;
    halo.delays = &delay;
    halo.delay_count = 1;
    return halo;
}

static void assert_near(double actual, double expected, double share, const char *what)
{
    if (!(fabs(actual - expected) <= share * fabs(expected))) {
        fail_msg("%s is %.9g instead of %.9g", what, actual, expected);
    }
}

/* Of the line: a point a step, without the ranks at the border, which have fewer partners. */
static size_t count_points(const struct iwt_halo *halo, const iw_wave *wave)
{
    const size_t a_step = (size_t)iwt_halo_sigma(halo) * halo->distance;
    const size_t used = wave->front_count - (wave->end == IW_WAVE_BORDER ? halo->distance : 0);

    return (used + a_step - 1) / a_step;
}

/* What every wave of a quiet run has in common. */
static void assert_wave(const struct iwt_halo *halo, const iw_waves *waves, size_t index, int direction,
                        iw_wave_end end, uint32_t end_rank)
{
    const double period_s = (double)iwt_halo_period(halo) * 1e-12;
    const double speed = iwt_halo_sigma(halo) * halo->distance / period_s;
    const iw_wave *wave = &waves->waves[index];
    const uint32_t last = direction > 0 ? (end_rank + halo->ranks - 5) % halo->ranks
                                        : (5 + halo->ranks - end_rank) % halo->ranks;

    assert_int_equal(wave->direction, direction);
    assert_int_equal(wave->origin_rank, 5);
    assert_int_equal(wave->origin_step, 0);
    assert_int_equal(wave->delay_ps, delay.ps);
    assert_int_equal(wave->end, end);
    assert_int_equal(wave->end_rank, end_rank);
    assert_int_equal(wave->front_count, last);
    for (size_t i = 0; i < wave->front_count; i++) {
        assert_int_equal(wave->fronts[i].distance, i + 1);
        assert_int_equal(wave->fronts[i].idle_ps, delay.ps);
    }
    assert_near(waves->expected_speed, speed, 1e-9, "the expected speed");
    assert_near(wave->speed.value, speed, 1e-9, "the speed");
    assert_near(wave->trail_speed.value, speed, 1e-9, "the speed of the trailing edge");
    assert_near(wave->ranks_per_step.value, iwt_halo_sigma(halo) * halo->distance, 1e-9, "ranks per step");
    assert_true(fabs(wave->decay_s.value) < 1e-12);
    if (count_points(halo, wave) < 3) { /* a line through two points, without doubt */
        assert_true(isnan(wave->speed.low) && isnan(wave->speed.high));
        return;
    }
    assert_near(wave->speed.low, speed, 1e-6, "the interval's low end");
    assert_near(wave->speed.high, speed, 1e-6, "the interval's high end");
}

static void assert_ordinary(const struct iwt_halo *halo, const iw_waves *waves)
{
    assert_int_equal(waves->exec_ps, halo->exec_ps);
    assert_int_equal(waves->period_ps, iwt_halo_period(halo));
    assert_int_equal(waves->comm_ps, waves->period_ps - waves->exec_ps);
}

static void eager_one_way_open(void **state)
{
    const struct iwt_halo halo = flavour(false, false, false);
    iw_waves *waves = find(&halo);

    (void)state;
    assert_ordinary(&halo, waves);
    assert_int_equal(waves->wave_count, 1);
    assert_wave(&halo, waves, 0, 1, IW_WAVE_BORDER, 17);
    iw_waves_free(waves);
}

static void eager_one_way_periodic(void **state)
{
    const struct iwt_halo halo = flavour(false, false, true);
    iw_waves *waves = find(&halo);

    (void)state;
    assert_ordinary(&halo, waves);
    assert_int_equal(waves->wave_count, 1);
    assert_wave(&halo, waves, 0, 1, IW_WAVE_ORIGIN, 4);
    iw_waves_free(waves);
}

/* All others go both ways. */
static void assert_both_ways(const struct iwt_halo *halo)
{
    iw_waves *waves = find(halo);

    assert_ordinary(halo, waves);
    assert_int_equal(waves->wave_count, 2);
    if (halo->is_periodic) {
        assert_wave(halo, waves, 0, 1, IW_WAVE_MET, 14);
        assert_wave(halo, waves, 1, -1, IW_WAVE_MET, 14);
        assert_int_equal(waves->waves[0].met, 1);
        assert_int_equal(waves->waves[1].met, 0);
    } else {
        assert_wave(halo, waves, 0, 1, IW_WAVE_BORDER, 17);
        assert_wave(halo, waves, 1, -1, IW_WAVE_BORDER, 0);
    }
    iw_waves_free(waves);
}

static void all_others_go_both_ways(void **state)
{
    (void)state;
    for (int periodic = 0; periodic < 2; periodic++) {
        for (int split = 0; split < 2; split++) {
            struct iwt_halo halo = flavour(false, true, periodic != 0);

            halo.is_split = split != 0;
            assert_both_ways(&halo); /* eager, both ways */
            halo.is_rendezvous = true;
            assert_both_ways(&halo); /* rendezvous, both ways: twice as fast if split */
            halo.is_bidirectional = false;
            assert_both_ways(&halo); /* rendezvous, one way */
        }
    }
}

static void partners_two_away_double_the_speed(void **state)
{
    (void)state;
    for (int rendezvous = 0; rendezvous < 2; rendezvous++) {
        for (int periodic = 0; periodic < 2; periodic++) {
            struct iwt_halo halo = flavour(rendezvous != 0, true, periodic != 0);

            halo.distance = 2;
            assert_both_ways(&halo);
            halo.is_split = false;
            assert_both_ways(&halo);
        }
    }
}

static void other_times_and_shorter_delays(void **state)
{
    static const iw_time execs_ps[] = {IW_PS_PER_MS / 2, IW_PS_PER_MS, 10 * IW_PS_PER_MS};

    (void)state;
    for (size_t i = 0; i < sizeof execs_ps / sizeof execs_ps[0]; i++) {
        struct iwt_halo halo = flavour(i % 2 == 0, true, true);

        halo.exec_ps = execs_ps[i];
        halo.latency_ps = execs_ps[i] / 3;
        assert_both_ways(&halo);
        halo.is_periodic = false;
        assert_both_ways(&halo);
    }
}

/* An even number of ranks between: rank 5 of 17, so 13 and 14 are equally far. */
static void waves_that_meet_between_two_ranks_stop_on_both_sides(void **state)
{
    (void)state;
    for (int rendezvous = 0; rendezvous < 2; rendezvous++) {
        struct iwt_halo halo = flavour(rendezvous != 0, true, true);
        iw_waves *waves;

        halo.ranks = 17;
        waves = find(&halo);
        assert_int_equal(waves->wave_count, 2);
        assert_wave(&halo, waves, 0, 1, IW_WAVE_MET, 13);
        assert_wave(&halo, waves, 1, -1, IW_WAVE_MET, 14);
        iw_waves_free(waves);
    }
}

static void a_run_that_ends_first(void **state)
{
    struct iwt_halo halo = flavour(false, true, false);
    iw_waves *waves;

    (void)state;
    halo.steps = 6; /* of the first six ranks that it could reach upwards; downwards five do it */
    waves = find(&halo);
    assert_int_equal(waves->wave_count, 2);
    assert_wave(&halo, waves, 0, 1, IW_WAVE_RUNS, 11);
    assert_wave(&halo, waves, 1, -1, IW_WAVE_BORDER, 0);
    iw_waves_free(waves);
}

static void a_window_of_ranks(void **state)
{
    struct iwt_halo halo = flavour(false, true, false);
    iw_timeline_opts window = IW_TIMELINE_OPTS_INIT;
    const iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_waves *waves = NULL;
    iw_timeline *timeline;

    (void)state;
    window.first_rank = 2;
    window.rank_count = 10;
    timeline = iwt_made_halo(&halo, &window);
    assert_ok(iw_waves_find(NULL, timeline, &opts, &waves));
    assert_int_equal(waves->wave_count, 2);
    assert_wave(&halo, waves, 0, 1, IW_WAVE_WINDOW, 11);
    assert_wave(&halo, waves, 1, -1, IW_WAVE_WINDOW, 2);
    iw_waves_free(waves);
    iw_timeline_free(timeline);
}

/* Steps that begin in the first 80 ms of 305 ms: that the wave was not seen any further is the window's
 * doing; with a window of ranks and six steps only, the run's. */
static void a_window_of_time(void **state)
{
    struct iwt_halo halo = flavour(false, true, false);
    iw_timeline_opts window = IW_TIMELINE_OPTS_INIT;
    const iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_waves *waves = NULL;
    iw_timeline *timeline;

    (void)state;
    halo.ranks = 100;
    halo.steps = 100;
    window.to_ps = 80 * IW_PS_PER_MS;
    timeline = iwt_made_halo(&halo, &window);
    assert_ok(iw_waves_find(NULL, timeline, &opts, &waves));
    assert_int_equal(waves->wave_count, 2);
    assert_int_equal(waves->waves[0].end, IW_WAVE_WINDOW);
    iw_waves_free(waves);
    iw_timeline_free(timeline);
    window.to_ps = 0;
    window.rank_count = 90;
    halo.steps = 6;
    timeline = iwt_made_halo(&halo, &window);
    assert_ok(iw_waves_find(NULL, timeline, &opts, &waves));
    assert_int_equal(waves->waves[0].end, IW_WAVE_RUNS);
    iw_waves_free(waves);
    iw_timeline_free(timeline);
}

/* Every 6 steps all wait for all: of the wave that began in step 0 nothing is left after step 5. */
static void a_collective_ends_waves(void **state)
{
    struct iwt_halo halo = flavour(false, true, false);
    iw_waves *waves;

    (void)state;
    halo.sync_steps = 6;
    halo.ranks = 40;
    halo.steps = 40;
    waves = find(&halo);
    assert_int_equal(waves->wave_count, 2);
    assert_int_equal(waves->waves[0].end, IW_WAVE_SYNCED);
    assert_int_equal(waves->waves[0].end_rank, 11);
    iw_waves_free(waves);
}

/* All begin at once; behind the delay the wave's ranks are 13.5 ms later than the rest. */
static void desynchronisation(void **state)
{
    const struct iwt_halo halo = flavour(false, true, false);
    iw_waves *waves = find(&halo);

    (void)state;
    assert_int_equal(waves->desync_count, 20);
    assert_int_equal(waves->desync[0].spread_ps, 0);
    assert_int_equal(waves->desync[0].deviation_ps, 0);
    assert_near(waves->desync[0].order, 1.0, 1e-12, "the order parameter");
    assert_int_equal(waves->desync[1].spread_ps, delay.ps);
    assert_true(waves->desync[1].order < 0.99 && waves->desync[1].order > 0.3);
    assert_int_equal(waves->desync[19].spread_ps, 0);
    /* step 1: three of 18 ranks are late: sqrt(p (1 - p)) of the delay */
    assert_near((double)waves->desync[1].deviation_ps, 13.5e9 * sqrt(1.0 / 6.0 * 5.0 / 6.0), 1e-6,
                "deviation");
    iw_waves_free(waves);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eager_one_way_open),
        cmocka_unit_test(eager_one_way_periodic),
        cmocka_unit_test(all_others_go_both_ways),
        cmocka_unit_test(partners_two_away_double_the_speed),
        cmocka_unit_test(other_times_and_shorter_delays),
        cmocka_unit_test(waves_that_meet_between_two_ranks_stop_on_both_sides),
        cmocka_unit_test(a_run_that_ends_first),
        cmocka_unit_test(a_window_of_ranks),
        cmocka_unit_test(a_window_of_time),
        cmocka_unit_test(a_collective_ends_waves),
        cmocka_unit_test(desynchronisation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
