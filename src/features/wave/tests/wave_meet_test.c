/* Waves that meet: equal ones cancel, of unequal ones the larger goes on with the difference.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/timeline.h>
#include <idlewave/wave.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/made_halo.h"
#include "support/support.h"

#include "core/base/base.h"

enum { SOCKETS = 10, SOCKET_RANKS = 10, LOCAL_RANK = 5, HALF = 5 };

/* 100 ranks in ten sockets of ten, a delay on the sixth rank of each in the first step. */
static struct iwt_halo sockets(struct iwt_delay delays[SOCKETS], const int lengths_ms[SOCKETS])
{
    struct iwt_halo halo = IWT_HALO_INIT;

    for (uint32_t i = 0; i < SOCKETS; i++) {
        delays[i] = (struct iwt_delay){i * SOCKET_RANKS + LOCAL_RANK, 0, lengths_ms[i] * IW_PS_PER_MS};
    }
    halo.ranks = SOCKETS * SOCKET_RANKS;
    halo.steps = 60;
    halo.is_bidirectional = true;
    halo.is_periodic = true;
    halo.delays = delays;
    halo.delay_count = SOCKETS;
    return halo;
}

static void assert_end(const iw_wave *wave, iw_wave_end end, uint32_t rank, int met)
{
    assert_int_equal(wave->end, end);
    assert_int_equal(wave->end_rank, rank);
    assert_int_equal(wave->met, met);
}

/* Waves are sorted by rank, upwards first: that of socket i. */
static const iw_wave *up(const iw_waves *waves, uint32_t socket)
{
    return &waves->waves[2 * (socket % SOCKETS)];
}

static const iw_wave *down(const iw_waves *waves, uint32_t socket)
{
    return &waves->waves[2 * (socket % SOCKETS) + 1];
}

static void equal_waves_cancel(void **state)
{
    static const int equal[SOCKETS] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15};
    struct iwt_delay delays[SOCKETS];
    const struct iwt_halo halo = sockets(delays, equal);
    iw_waves *waves = iwt_find_waves(&halo, NULL);

    (void)state;
    assert_int_equal(waves->wave_count, 2 * SOCKETS);
    for (uint32_t i = 0; i < SOCKETS; i++) {
        const uint32_t next = (i + 1) % SOCKETS, between = next * SOCKET_RANKS;

        assert_end(up(waves, i), IW_WAVE_MET, between, (int)(2 * next + 1));
        assert_end(down(waves, next), IW_WAVE_MET, between, (int)(2 * i));
        assert_int_equal(up(waves, i)->fronts[HALF - 1].idle_ps, 15 * IW_PS_PER_MS);
    }
    iw_waves_free(waves);
}

static void assert_no_decay(const iw_wave *wave)
{
    assert_true(fabs(wave->decay_s.value) < 1e-12);
}

/* The rank halfway waits for the longer one: it is not the weaker one's. Those of even sockets eat the
 * others' halfway, run on with half of the idle time and meet each other where the others began. */
static void half_as_long_ones_are_eaten(void **state)
{
    static const int halves[SOCKETS] = {30, 15, 30, 15, 30, 15, 30, 15, 30, 15};
    struct iwt_delay delays[SOCKETS];
    const struct iwt_halo halo = sockets(delays, halves);
    iw_waves *waves = iwt_find_waves(&halo, NULL);

    (void)state;
    assert_int_equal(waves->wave_count, 2 * SOCKETS);
    for (uint32_t i = 0; i < SOCKETS; i += 2) {
        const iw_wave *strong = up(waves, i), *weak = down(waves, i + 1);

        assert_end(weak, IW_WAVE_MET, (i + 1) * SOCKET_RANKS + 1, (int)(2 * i));
        assert_end(strong, IW_WAVE_MET, (i + 1) * SOCKET_RANKS + LOCAL_RANK,
                   (int)(2 * ((i + 2) % SOCKETS) + 1));
        assert_int_equal(strong->front_count, SOCKET_RANKS);
        for (size_t k = 0; k < SOCKET_RANKS; k++) {
            assert_int_equal(strong->fronts[k].idle_ps, (k < HALF ? 30 : 15) * IW_PS_PER_MS);
        }
        assert_no_decay(strong); /* what others have eaten is none */
        assert_true(fabs(strong->ranks_per_step.value - 1.0) < 1e-6);
        assert_true(fabs(strong->ranks_per_step.high - 1.0) < 1e-6);
    }
    iw_waves_free(waves);
}

static int shortest(int a, int b)
{
    return a < b ? a : b;
}

static int longest(int a, int b)
{
    return a > b ? a : b;
}

static void of_random_ones_the_longer_goes_on(void **state)
{
    static const int random[SOCKETS] = {17, 4, 29, 11, 8, 23, 2, 14, 26, 20};
    struct iwt_delay delays[SOCKETS];
    const struct iwt_halo halo = sockets(delays, random);
    iw_waves *waves = iwt_find_waves(&halo, NULL);

    (void)state;
    assert_int_equal(waves->wave_count, 2 * SOCKETS);
    for (uint32_t i = 0; i < SOCKETS; i++) {
        const uint32_t next = (i + 1) % SOCKETS;
        const bool is_up_longer = random[i] > random[next];
        const iw_wave *longer = is_up_longer ? up(waves, i) : down(waves, next);
        const iw_wave *shorter = is_up_longer ? down(waves, next) : up(waves, i);

        /* halfway ranks wait for the longer one; if the other is nearly as long, for both */
        const bool is_near = 4 * shortest(random[i], random[next]) >= 3 * longest(random[i], random[next]);
        const uint32_t halfway = next * SOCKET_RANKS;
        const uint32_t before = (halfway + (is_up_longer ? 1 : halo.ranks - 1)) % halo.ranks;

        assert_end(shorter, IW_WAVE_MET, is_near ? halfway : before, (int)(longer - waves->waves));
        assert_int_equal(shorter->front_count, is_near ? HALF : HALF - 1);
        assert_true(longer->front_count > HALF);
        assert_int_equal(longer->fronts[HALF].idle_ps,
                         (longest(random[i], random[next]) - shortest(random[i], random[next])) *
                             IW_PS_PER_MS);
        assert_no_decay(longer);
    }
    iw_waves_free(waves);
}

/* Two ranks per direction in each step: still halfway, and the same idle times. */
static void twice_as_fast_they_meet_at_the_same_ranks(void **state)
{
    static const int halves[SOCKETS] = {30, 15, 30, 15, 30, 15, 30, 15, 30, 15};
    struct iwt_delay delays[SOCKETS];
    struct iwt_halo halo = sockets(delays, halves);
    iw_waves *waves;

    (void)state;
    halo.is_rendezvous = halo.is_split = true;
    waves = iwt_find_waves(&halo, NULL);
    assert_int_equal(waves->wave_count, 2 * SOCKETS);
    for (uint32_t i = 0; i < SOCKETS; i += 2) {
        assert_end(down(waves, i + 1), IW_WAVE_MET, (i + 1) * SOCKET_RANKS + 1, (int)(2 * i));
        assert_end(up(waves, i), IW_WAVE_MET, (i + 1) * SOCKET_RANKS + LOCAL_RANK,
                   (int)(2 * ((i + 2) % SOCKETS) + 1));
        assert_true(fabs(up(waves, i)->ranks_per_step.value - 2.0) < 1e-6);
        assert_no_decay(up(waves, i));
    }
    iw_waves_free(waves);
}

/* Eager, one way: the wave of rank 5 comes to rank 15, which is as late by itself. */
static void a_wave_that_runs_into_a_delay_ends_there(void **state)
{
    static const struct iwt_delay delays[] = {{5, 0, 15 * IW_PS_PER_MS}, {15, 0, 15 * IW_PS_PER_MS}};
    struct iwt_halo halo = IWT_HALO_INIT;
    iw_waves *waves;

    (void)state;
    halo.ranks = 30;
    halo.steps = 40;
    halo.delays = delays;
    halo.delay_count = 2;
    waves = iwt_find_waves(&halo, NULL);
    assert_int_equal(waves->wave_count, 2);
    assert_end(&waves->waves[0], IW_WAVE_MET, 14, 1);
    assert_end(&waves->waves[1], IW_WAVE_BORDER, 29, -1);
    iw_waves_free(waves);
}

/* Nobody below rank 15 waits for it, so that it is still late 20 steps later. */
static void a_rank_stays_late_if_nobody_waits_for_it(void **state)
{
    static const struct iwt_delay delays[] = {{15, 0, 15 * IW_PS_PER_MS}, {5, 20, 15 * IW_PS_PER_MS}};
    struct iwt_halo halo = IWT_HALO_INIT;
    iw_waves *waves;

    (void)state;
    halo.ranks = 30;
    halo.steps = 60;
    halo.delays = delays;
    halo.delay_count = 2;
    waves = iwt_find_waves(&halo, NULL);
    assert_int_equal(waves->wave_count, 2);
    assert_end(&waves->waves[1], IW_WAVE_MET, 14, 0);
    iw_waves_free(waves);
}

/* Both ways: 39 steps later all are as late as rank 10, and a wave ends before it with the run. */
static void a_delay_of_long_ago_meets_nobody(void **state)
{
    static const struct iwt_delay delays[] = {{10, 0, 27 * IW_PS_PER_MS / 2}, {5, 39, 27 * IW_PS_PER_MS / 2}};
    struct iwt_halo halo = IWT_HALO_INIT;
    iw_waves *waves;

    (void)state;
    halo.steps = 43;
    halo.is_bidirectional = true;
    halo.delays = delays;
    halo.delay_count = 2;
    waves = iwt_find_waves(&halo, NULL);
    assert_int_equal(waves->wave_count, 4);
    assert_end(&waves->waves[2], IW_WAVE_RUNS, 9, -1);
    iw_waves_free(waves);
}

/* The neighbour of a rank that is far later is late for nobody but as part of the longer delay's wave. */
static void a_wave_is_told_once_and_is_the_longer_delay_s(void **state)
{
    static const struct iwt_delay delays[] = {{20, 22, 13 * IW_PS_PER_MS}, {21, 22, IW_PS_PER_MS}};
    struct iwt_halo halo = IWT_HALO_INIT;
    iw_waves *waves;

    (void)state;
    halo.ranks = 40;
    halo.steps = 60;
    halo.is_bidirectional = true;
    halo.delays = delays;
    halo.delay_count = 2;
    waves = iwt_find_waves(&halo, NULL);
    assert_int_equal(waves->wave_count, 2);
    assert_int_equal(waves->delay_count, 2);
    assert_int_equal(waves->quiet_count, 1);
    assert_int_equal(waves->waves[0].origin_rank, 20);
    assert_int_equal(waves->waves[1].origin_rank, 20);
    iw_waves_free(waves);
}

/* Each sends one wave, away from the other. */
static void neighbours_that_are_equally_late_share_the_waves(void **state)
{
    static const struct iwt_delay delays[] = {{20, 2, 13 * IW_PS_PER_MS}, {21, 2, 13 * IW_PS_PER_MS}};
    struct iwt_halo halo = IWT_HALO_INIT;
    iw_waves *waves;

    (void)state;
    halo.ranks = 40;
    halo.steps = 60;
    halo.is_bidirectional = true;
    halo.delays = delays;
    halo.delay_count = 2;
    waves = iwt_find_waves(&halo, NULL);
    assert_int_equal(waves->wave_count, 2);
    assert_int_equal(waves->quiet_count, 0);
    assert_int_equal(waves->waves[0].origin_rank, 20);
    assert_int_equal(waves->waves[0].direction, -1);
    assert_end(&waves->waves[0], IW_WAVE_BORDER, 0, -1);
    assert_int_equal(waves->waves[1].origin_rank, 21);
    assert_int_equal(waves->waves[1].direction, 1);
    assert_end(&waves->waves[1], IW_WAVE_BORDER, 39, -1);
    iw_waves_free(waves);
}

static void delays_of_successive_steps_are_one(void **state)
{
    static const struct iwt_delay delays[] = {
        {5, 0, 15 * IW_PS_PER_MS}, {5, 1, 6 * IW_PS_PER_MS}, {5, 0, 3 * IW_PS_PER_MS}};
    struct iwt_halo halo = IWT_HALO_INIT;
    iw_waves *waves;

    (void)state;
    halo.delays = delays;
    halo.delay_count = 3;
    waves = iwt_find_waves(&halo, NULL);
    assert_int_equal(waves->wave_count, 1);
    assert_int_equal(waves->delay_count, 1);
    assert_int_equal(waves->waves[0].delay_ps, 24 * IW_PS_PER_MS);
    assert_int_equal(waves->waves[0].fronts[3].idle_ps, 24 * IW_PS_PER_MS);
    assert_end(&waves->waves[0], IW_WAVE_BORDER, 17, -1);
    iw_waves_free(waves);
}

static void of_more_waves_than_wanted_those_of_the_longest_delays_are_kept(void **state)
{
    static const int random[SOCKETS] = {17, 4, 29, 11, 8, 23, 2, 14, 26, 20};
    struct iwt_delay delays[SOCKETS];
    const struct iwt_halo halo = sockets(delays, random);
    iw_timeline *timeline = iwt_made_halo(&halo, NULL);
    iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_waves *waves = NULL;
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    opts.max_waves = 3;
    assert_ok(iw_waves_find(&log.log, timeline, &opts, &waves));
    iwt_assert_logged(&log, "followed only the waves of the 2 longest of 10 delays");
    assert_int_equal(waves->wave_count, 3);
    assert_int_equal(waves->waves[0].origin_rank, 25);
    assert_int_equal(waves->waves[2].origin_rank, 85);
    iw_waves_free(waves);
    iw_timeline_free(timeline);
}

/* Returns how many warnings there are. */
static unsigned find_one(bool is_bidirectional, struct iwt_log *log)
{
    static const struct iwt_delay delay = {5, 0, 15 * IW_PS_PER_MS};
    struct iwt_halo halo = IWT_HALO_INIT;
    iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_timeline *timeline;
    iw_waves *waves = NULL;

    halo.is_bidirectional = is_bidirectional;
    halo.delays = &delay;
    halo.delay_count = 1;
    timeline = iwt_made_halo(&halo, NULL);
    iwt_log_init(log);
    opts.max_waves = 1;
    assert_ok(iw_waves_find(&log->log, timeline, &opts, &waves));
    assert_int_equal(waves->wave_count, 1);
    iw_waves_free(waves);
    iw_timeline_free(timeline);
    return log->warnings;
}

static void the_last_delay_s_other_wave_is_missed_aloud(void **state)
{
    struct iwt_log log;

    (void)state;
    assert_int_equal(find_one(true, &log), 1);
    iwt_assert_logged(&log, "followed 1 waves only");
    assert_int_equal(find_one(false, &log), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_waves_cancel),
        cmocka_unit_test(half_as_long_ones_are_eaten),
        cmocka_unit_test(of_random_ones_the_longer_goes_on),
        cmocka_unit_test(twice_as_fast_they_meet_at_the_same_ranks),
        cmocka_unit_test(a_wave_that_runs_into_a_delay_ends_there),
        cmocka_unit_test(a_rank_stays_late_if_nobody_waits_for_it),
        cmocka_unit_test(a_delay_of_long_ago_meets_nobody),
        cmocka_unit_test(a_wave_is_told_once_and_is_the_longer_delay_s),
        cmocka_unit_test(the_last_delay_s_other_wave_is_missed_aloud),
        cmocka_unit_test(neighbours_that_are_equally_late_share_the_waves),
        cmocka_unit_test(delays_of_successive_steps_are_one),
        cmocka_unit_test(of_more_waves_than_wanted_those_of_the_longest_delays_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
