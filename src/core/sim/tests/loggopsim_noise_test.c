/* Noise as LogGOPSim counts it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include "core/sim/engine.h"
#include "core/sim/loggopsim/loggopsim.h"
#include "dag.h"

enum { DETOURS = 5, LENGTH = 500 };

static const iw_time start_ps[DETOURS] = {3, 40, 90, 200, 311}; /* T = 311 */
static const iw_time duration_ps[DETOURS] = {5, 30, 1, 60, 20};
static const struct iwi_stream_id stream = {.seed = 1, .trial = 0, .rank = 0};

static iw_noise *recorded_noise(void)
{
    iw_noise *noise;

    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add_trace(NULL, noise, "test", start_ps, duration_ps, DETOURS, LENGTH));
    return noise;
}

/* The definition word by word, for work shorter than T. */
static iw_time lost_by_definition(iw_time t, iw_time offset, iw_time work)
{
    const iw_time q = (t + offset) % (start_ps[DETOURS - 1] - work);
    iw_time lost = 0;
    int i = 0;

    if (q > start_ps[0]) {
        while (i + 1 < DETOURS && start_ps[i + 1] <= q) {
            i++;
        }
        lost += start_ps[i] + duration_ps[i] > q ? start_ps[i] + duration_ps[i] - q : 0;
    }
    for (int j = i + 1; j < DETOURS; j++) {
        lost += start_ps[j] < q + work ? duration_ps[j] : 0;
    }
    return lost;
}

static void work_shorter_than_the_trace_meets_the_detours_of_its_window(void **state)
{
    iw_noise *noise = recorded_noise();
    struct iwi_lgs_noise lgs;
    iw_time offset;

    (void)state;
    assert_ok(iwi_lgs_noise_init(NULL, &lgs, noise, stream, 3));
    offset = iwi_noise_trace_offset(noise, (struct iwi_stream_id){.seed = 1, .trial = 0, .rank = 2});
    for (iw_time t = 0; t < 700; t++) {
        for (iw_time work = 0; work < start_ps[DETOURS - 1]; work += 3) {
            assert_int_equal(iwi_lgs_noise_lost(&lgs, 2, t, work), lost_by_definition(t, offset, work));
        }
    }
    iwi_lgs_noise_release(&lgs);
    iw_noise_free(noise);
}

static void work_of_one_round_or_more_meets_every_detour_of_the_round(void **state)
{
    const iw_time period = start_ps[DETOURS - 1], per_round = 5 + 30 + 1 + 60;
    iw_noise *noise = recorded_noise();
    struct iwi_lgs_noise lgs;

    (void)state;
    assert_ok(iwi_lgs_noise_init(NULL, &lgs, noise, stream, 1));
    lgs.offset_ps[0] = 100;                                              /* between detours */
    assert_int_equal(iwi_lgs_noise_lost(&lgs, 0, 0, period), per_round); /* LogGOPSim divides by zero here */
    assert_int_equal(iwi_lgs_noise_lost(&lgs, 0, 0, 3 * period), 3 * per_round);
    assert_int_equal(iwi_lgs_noise_lost(&lgs, 0, 0, period + 101), per_round + 60);
    assert_int_equal(iwi_lgs_noise_lost(&lgs, 0, 0, period + 211 + 50), per_round + 60 + 5 + 30);
    iwi_lgs_noise_release(&lgs);
    iw_noise_free(noise);
}

static void without_noise_nothing_is_lost(void **state)
{
    struct iwi_lgs_noise lgs;

    (void)state;
    assert_ok(iwi_lgs_noise_init(NULL, &lgs, NULL, stream, 1));
    assert_int_equal(iwi_lgs_noise_lost(&lgs, 0, 0, 1000), 0);
    iwi_lgs_noise_release(&lgs);
}

static void noise_that_is_not_one_trace_is_refused(void **state)
{
    struct iwi_lgs_noise lgs;
    struct iwt_log l;
    iw_noise *noise;

    (void)state;
    iwt_log_init(&l);
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, "periodic:1kHz,1us"));
    assert_status(iwi_lgs_noise_init(&l.log, &lgs, noise, stream, 1), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&l, "make it with 'idlewave noise synth SPEC -o FILE'");
    iwt_assert_logged(&l, "or use `rules` idlewave");
    iwi_lgs_noise_release(&lgs);
    iw_noise_free(noise);
}

static void a_trace_without_a_period_is_refused(void **state)
{
    const iw_time start = 0, duration = 5;
    struct iwi_lgs_noise lgs;
    struct iwt_log l;
    iw_noise *noise;

    (void)state;
    iwt_log_init(&l);
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add_trace(NULL, noise, "test", &start, &duration, 1, 100));
    assert_status(iwi_lgs_noise_init(&l.log, &lgs, noise, stream, 1), IW_ERR_RANGE);
    iwt_assert_logged(&l, "last detour");
    iwi_lgs_noise_release(&lgs);
    iw_noise_free(noise);
}

/* A detour that lasts nearly for ever: wherever the ranks stand in the trace, their sends meet it. */
static void noise_on_a_send_does_not_delay_its_message(void **state)
{
    const iw_net net = {.L_ps = 10, .o_send_ps = 2, .o_recv_ps = 0, .g_ps = 5, .S_bytes = 100};
    const iw_time starts[] = {0, 1000000000000}, durations[] = {999999999999, 1};
    struct iwt_dag d = {.ranks = 0};
    iw_time end_ps[2];
    iw_noise *noise;
    struct iwi_job job = {
        .program = &d.program, .schedule = &d.schedule, .net = &net, .seed = 1, .lanes = 1, .end_ps = end_ps};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_send(&d, 1, 1, 0);
    iwt_dag_rank(&d);
    iwt_dag_recv(&d, 0, 1, 0);
    iwt_dag_end(&d);
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add_trace(NULL, noise, "test", starts, durations, 2, 1000000000002));
    job.noise = noise;
    assert_ok(iwi_loggopsim_run(NULL, &job));
    assert_int_equal(end_ps[0], 2 + durations[0] - iwi_noise_trace_offset(noise, stream));
    assert_int_equal(end_ps[1],
                     12 + durations[0] - 12 - iwi_noise_trace_offset(noise, (struct iwi_stream_id){1, 0, 1}));
    iw_noise_free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_shorter_than_the_trace_meets_the_detours_of_its_window),
        cmocka_unit_test(work_of_one_round_or_more_meets_every_detour_of_the_round),
        cmocka_unit_test(without_noise_nothing_is_lost),
        cmocka_unit_test(noise_that_is_not_one_trace_is_refused),
        cmocka_unit_test(a_trace_without_a_period_is_refused),
        cmocka_unit_test(noise_on_a_send_does_not_delay_its_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
