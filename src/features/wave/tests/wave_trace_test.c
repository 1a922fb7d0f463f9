/* Waves as traces of a busy machine have them: ranks are late and wait for other reasons, too.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/timeline.h>
#include <idlewave/wave.h>

#include <string.h>

#include "support/made_halo.h"
#include "support/support.h"

#include "core/base/base.h"
#include "core/base/rng.h"

enum { RUNS = 60, STRAYS = 40, RANKS = 8, STEPS = 30, ORIGIN = 2, ORIGIN_STEP = 8 };

#define DELAY_PS (60 * IW_PS_PER_MS)

/* As on 8 ranks of 20 ms on two shared CPUs: in every sixth phase or so a rank is late by 2 to 14 ms. */
static iw_waves *find(uint64_t seed)
{
    struct iwt_delay delays[1 + STRAYS] = {{ORIGIN, ORIGIN_STEP, DELAY_PS}};
    struct iwt_halo halo = IWT_HALO_INIT;

    for (uint32_t i = 1; i <= STRAYS; i++) {
        const struct iwi_draw_id id = {seed, 0, IWI_DRAW_TEST, i, 0};

        delays[i] = (struct iwt_delay){(uint32_t)iwi_draw_below(id, 0, RANKS), iwi_draw_below(id, 1, STEPS),
                                       2 * IW_PS_PER_MS + (iw_time)iwi_draw_below(id, 2, 12 * IW_PS_PER_MS)};
    }
    halo.ranks = RANKS;
    halo.steps = STEPS;
    halo.exec_ps = 20 * IW_PS_PER_MS;
    halo.is_bidirectional = halo.is_periodic = halo.is_traced = true;
    halo.delays = delays;
    halo.delay_count = 1 + STRAYS;
    return iwt_find_waves(&halo, NULL);
}

/* Fronts of the waves of the long delay; returns how many such waves there are. */
static size_t check_fronts(const iw_waves *waves)
{
    size_t count = 0;

    for (size_t i = 0; i < waves->wave_count; i++) {
        const iw_wave *wave = &waves->waves[i];

        if (wave->delay_ps < DELAY_PS * 3 / 4) { /* of strays that came together */
            continue;
        }
        count++;
        assert_int_equal(wave->origin_rank, ORIGIN);
        assert_int_equal(wave->origin_step, ORIGIN_STEP);
        assert_true(wave->front_count >= 3);
        for (size_t k = 0; k < wave->front_count; k++) {
            assert_int_equal(wave->fronts[k].distance, k + 1);
            assert_int_equal(wave->fronts[k].step, ORIGIN_STEP + k);
        }
    }
    return count;
}

static void stray_waits_do_not_capture_the_front(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        iw_waves *waves = find(seed);

        assert_int_equal(check_fronts(waves), 2);
        iw_waves_free(waves);
    }
}

/* What nobody has asked for is relative to the delay, what somebody has asked for is not. */
static void a_threshold_that_is_asked_for_counts(void **state)
{
    const struct iwt_delay delay = {ORIGIN, ORIGIN_STEP, DELAY_PS};
    struct iwt_halo halo = IWT_HALO_INIT;
    iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_waves *waves = NULL;
    iw_timeline *timeline;

    (void)state;
    halo.ranks = RANKS;
    halo.steps = STEPS;
    halo.exec_ps = 20 * IW_PS_PER_MS;
    halo.is_bidirectional = halo.is_traced = true;
    halo.delays = &delay;
    halo.delay_count = 1;
    timeline = iwt_made_halo(&halo, NULL);
    opts.threshold_ps = DELAY_PS + IW_PS_PER_MS;
    assert_ok(iw_waves_find(NULL, timeline, &opts, &waves));
    assert_int_equal(waves->delay_count, 1);
    assert_int_equal(waves->wave_count, 0);
    iw_waves_free(waves);
    iw_timeline_free(timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stray_waits_do_not_capture_the_front),
        cmocka_unit_test(a_threshold_that_is_asked_for_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
