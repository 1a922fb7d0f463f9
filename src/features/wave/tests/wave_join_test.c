/* Waves in the timeline of a simulated trace, which has a step for each gap between two calls.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/timeline.h>
#include <idlewave/wave.h>

#include <math.h>

#include "support/made_halo.h"
#include "support/support.h"

#include "core/base/base.h"

enum { PIECES = 5 };

/* A step as a trace has it: the work, then four calls with 1, 2, 3 and 4 us of computation before them; it
 * waits in the last. What these take is taken from the work. */
static void feed_pieces(iw_step_sink sink, uint32_t rank, const iw_step *step)
{
    iw_step pieces[PIECES] = {{.begin_ps = step->begin_ps}};

    for (int i = 1; i < PIECES; i++) {
        pieces[i].state_ps[IW_STATE_COMPUTE] = i * IW_PS_PER_US;
    }
    pieces[0].state_ps[IW_STATE_DELAY] = step->state_ps[IW_STATE_DELAY];
    pieces[0].state_ps[IW_STATE_COMPUTE] = step->state_ps[IW_STATE_COMPUTE] - 10 * IW_PS_PER_US;
    pieces[1].state_ps[IW_STATE_COMM] = step->state_ps[IW_STATE_COMM];
    pieces[PIECES - 1].state_ps[IW_STATE_WAIT] = step->state_ps[IW_STATE_WAIT];
    for (int i = 0; i < PIECES; i++) {
        pieces[i].begin_ps = i > 0 ? iw_step_end(&pieces[i - 1]) : step->begin_ps;
        sink.step(sink.arg, rank, &pieces[i]);
    }
}

/* A ring of 8, or a window of time of it, whose neighbours are not known; rank 3 is late by 30 ms in step 10.
 */
static iw_timeline *make_pieces(iw_time from_ps)
{
    const struct iwt_delay delay = {3, 10, 30 * IW_PS_PER_MS};
    struct iwt_halo halo = IWT_HALO_INIT;
    iw_timeline_opts opts = IW_TIMELINE_OPTS_INIT;
    iw_timeline *whole, *timeline = NULL;

    halo.ranks = 8;
    halo.steps = 30;
    halo.is_bidirectional = halo.is_periodic = true;
    halo.delays = &delay;
    halo.delay_count = 1;
    whole = iwt_made_halo(&halo, NULL);
    opts.about.ranks = opts.about.dims[0] = halo.ranks;
    opts.rows = opts.columns = 64;
    opts.from_ps = from_ps;
    assert_ok(iw_timeline_new(NULL, &opts, &timeline));
    for (uint32_t rank = 0; rank < halo.ranks; rank++) {
        uint64_t first;
        size_t count;
        const iw_step *steps = iw_timeline_steps(whole, rank, &count, &first);

        for (size_t i = 0; i < count; i++) {
            feed_pieces(iw_timeline_sink(timeline), rank, &steps[i]);
        }
    }
    assert_ok(iw_timeline_finish(NULL, timeline));
    iw_timeline_free(whole);
    return timeline;
}

static void small_steps_are_part_of_the_one_before(void **state)
{
    iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_timeline *timeline = make_pieces(0);
    iw_waves *waves = NULL;

    (void)state;
    opts.is_periodic = true;
    assert_ok(iw_waves_find(NULL, timeline, &opts, &waves));
    assert_int_equal(waves->joined_below_ps, 2990 * IW_PS_PER_US);
    assert_int_equal(waves->wave_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const iw_wave *wave = &waves->waves[i];

        assert_int_equal(wave->origin_rank, 3);
        assert_int_equal(wave->origin_step, 10);
        assert_int_equal(wave->front_count, 4);
        for (size_t k = 0; k < 4; k++) {
            assert_int_equal(wave->fronts[k].step, 10 + k);
            assert_int_equal(wave->fronts[k].idle_ps, 30 * IW_PS_PER_MS);
        }
        assert_int_equal(wave->end, IW_WAVE_MET);
        assert_int_equal(wave->end_rank, 7);
        assert_true(fabs(wave->ranks_per_step.value - 1.0) < 1e-6);
    }
    iw_waves_free(waves);
    iw_timeline_free(timeline);
}

/* Ranks may then begin with different pieces: numbers would not agree. */
static void without_the_beginning_steps_stay_as_they_are(void **state)
{
    const iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_timeline *timeline = make_pieces(20 * IW_PS_PER_MS);
    iw_waves *waves = NULL;

    (void)state;
    assert_ok(iw_waves_find(NULL, timeline, &opts, &waves));
    assert_int_equal(waves->joined_below_ps, 0);
    iw_waves_free(waves);
    iw_timeline_free(timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_steps_are_part_of_the_one_before),
        cmocka_unit_test(without_the_beginning_steps_stay_as_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
