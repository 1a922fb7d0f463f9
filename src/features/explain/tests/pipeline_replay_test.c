/* Replays of jobs whose step times are known: closed forms of pipelines, and small ones by hand.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "pipeline_testing.h"

#define FORWARD (10 * IW_PS_PER_MS)
#define BACKWARD (20 * IW_PS_PER_MS)

static iw_time computing(const struct iwi_pipe_event *event)
{
    return event->op == IWI_PIPE_FORWARD ? FORWARD : (event->op == IWI_PIPE_BACKWARD ? BACKWARD : 0);
}

static iw_time plain(const struct iwi_pipe_event *event, uint32_t stage)
{
    (void)stage;
    return computing(event);
}

static iw_time slow_last_of_three(const struct iwi_pipe_event *event, uint32_t stage)
{
    return stage == 2 ? 3 * computing(event) : computing(event);
}

static iw_time hops(const struct iwi_pipe_event *event, uint32_t stage)
{
    (void)stage;
    return event->op >= IWI_PIPE_FORWARD_SEND && event->op <= IWI_PIPE_BACKWARD_RECV ? IW_PS_PER_MS
                                                                                     : computing(event);
}

static iw_time first_step(const struct iwt_pipe_shape *shape)
{
    struct iwt_log l;
    struct iw_straggler_job *job;
    iw_time step_ps[4] = {0};

    iwt_log_init(&l);
    job = iwt_pipe(&l.log, shape);
    assert_ok(iwi_pipe_finish(job));
    assert_ok(iwi_pipe_replay(job, job->lengths_ps, step_ps));
    iw_straggler_job_free(job);
    return step_ps[0];
}

static void equal_stages_take_the_closed_form(void **state)
{
    (void)state;
    for (uint32_t p = 1; p <= 6; p++) {
        for (uint32_t m = 1; m <= 9; m++) {
            const struct iwt_pipe_shape shape = {1, 2, p, m, plain};

            assert_int_equal(first_step(&shape), (m + p - 1) * (FORWARD + BACKWARD));
        }
    }
}

static void a_slow_last_stage_takes_the_closed_form(void **state)
{
    (void)state;
    for (uint32_t m = 1; m <= 9; m++) {
        const struct iwt_pipe_shape shape = {1, 1, 3, m, slow_last_of_three};

        assert_int_equal(first_step(&shape), (2 + 3 * m) * (FORWARD + BACKWARD));
    }
}

/* (m+p-1)(F+B) + x [2(p-1)(1+q) + 2 max(0, r-1)], q = (m-1)/p, r = (m-1) mod p */
static void messages_take_the_closed_form_of_1f1b(void **state)
{
    (void)state;
    for (uint32_t p = 2; p <= 5; p++) {
        for (uint32_t m = 1; m <= 9; m++) {
            const struct iwt_pipe_shape shape = {1, 1, p, m, hops};
            const uint32_t q = (m - 1) / p, r = (m - 1) % p;
            const uint32_t messages = 2 * (p - 1) * (1 + q) + 2 * (r > 1 ? r - 1 : 0);

            assert_int_equal(first_step(&shape),
                             (m + p - 1) * (FORWARD + BACKWARD) + messages * IW_PS_PER_MS);
        }
    }
}

/* Two replicas of two stages, one micro-batch: forward 10 + 10, backward 20 + 20 = 60 ms on stage 0. */
static iw_time with_tail(const struct iwi_pipe_event *event, uint32_t stage)
{
    switch (event->op) {
    case IWI_PIPE_GATHER: /* both stages have their parameters after 5 ms: all is 5 ms later */
        return 5 * IW_PS_PER_MS;
    case IWI_PIPE_COLLECT: /* stage 1 of replica 1 goes on at 45 + 30 ms: behind stage 0 (65) */
        return stage == 1 && event->replica == 1 ? 30 * IW_PS_PER_MS : 0;
    case IWI_PIPE_LAYERNORM: return IW_PS_PER_MS;
    case IWI_PIPE_EMBEDDING: /* together, from 76 ms (replica 0: 66) */ return 2 * IW_PS_PER_MS;
    case IWI_PIPE_SCATTER: /* of a stage, from 78 ms; 4 ms on stage 1 */
        return (stage == 1 ? 4 : 1) * IW_PS_PER_MS;
    case IWI_PIPE_CLIP: /* all, from 82 ms */ return (event->replica == 0 ? 3 : 1) * IW_PS_PER_MS;
    case IWI_PIPE_OPTIMIZER: /* 82 + 3 + 6, or 82 + 1 + 7 */
        return (event->replica == 0 ? 6 : 7) * IW_PS_PER_MS;
    default: return computing(event);
    }
}

static void the_end_of_a_step_waits_for_whom_it_must(void **state)
{
    const struct iwt_pipe_shape shape = {1, 2, 2, 1, with_tail};

    (void)state;
    assert_int_equal(first_step(&shape), 91 * IW_PS_PER_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stages_take_the_closed_form),
        cmocka_unit_test(a_slow_last_stage_takes_the_closed_form),
        cmocka_unit_test(messages_take_the_closed_form_of_1f1b),
        cmocka_unit_test(the_end_of_a_step_waits_for_whom_it_must),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
