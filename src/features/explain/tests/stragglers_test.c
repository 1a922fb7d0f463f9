/* Jobs with known stragglers: S, the shares of causes, and files that make no sense.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "pipeline_testing.h"

static void assert_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fmax(1, fabs(expected)))) {
        fail_msg("%.15g is not %.15g", value, expected);
    }
}

static iw_time computing(const struct iwi_pipe_event *event)
{
    return event->op == IWI_PIPE_FORWARD ? 10 * IW_PS_PER_MS
                                         : (event->op == IWI_PIPE_BACKWARD ? 20 * IW_PS_PER_MS : 0);
}

static iw_time plain(const struct iwi_pipe_event *event, uint32_t stage)
{
    (void)stage;
    return computing(event);
}

/* Replica 1, the last of four stages: twice as slow. */
static iw_time slow_worker(const struct iwi_pipe_event *event, uint32_t stage)
{
    return computing(event) * (stage == 3 && event->replica == 1 ? 2 : 1);
}

static iw_time slow_stage(const struct iwi_pipe_event *event, uint32_t stage)
{
    return computing(event) * (stage == 3 ? 2 : 1);
}

/* In each step another replica has one micro-batch of nine times the length. */
static iw_time long_microbatch(const struct iwi_pipe_event *event, uint32_t stage)
{
    (void)stage;
    return computing(event) * (event->replica == event->step % 2 && event->sequence == 4 ? 9 : 1);
}

/* Gradients of replica 0 take 30 ms in the second of three steps, else 10. */
static iw_time slow_transfer(const struct iwi_pipe_event *event, uint32_t stage)
{
    (void)stage;
    return event->op == IWI_PIPE_SCATTER ? (event->step == 1 && event->replica == 0 ? 30 : 10) * IW_PS_PER_MS
                                         : computing(event);
}

static iw_stragglers *run(struct iwt_log *l, const struct iwt_pipe_shape *shape)
{
    struct iw_straggler_job *job;
    iw_stragglers *result = NULL;

    iwt_log_init(l);
    job = iwt_pipe(&l->log, shape);
    assert_ok(iwi_pipe_finish(job));
    assert_ok(iw_straggler_run(&l->log, job, &result));
    iw_straggler_job_free(job);
    return result;
}

static double share_of(const iw_stragglers *result, const char *cause)
{
    for (uint32_t i = 0; i < result->cause_count; i++) {
        if (strcmp(result->causes[i].name, cause) == 0) {
            return result->causes[i].share;
        }
    }
    fail();
    return 0;
}

static void a_slow_worker_is_named(void **state)
{
    struct iwt_log l;
    iw_stragglers *result = run(&l, &(struct iwt_pipe_shape){2, 4, 4, 8, slow_worker});

    (void)state;
    /* 3 * 30 + 8 * 60 ms; with means of 17/16: 11 * 30 * 17/16 ms */
    assert_close(result->replayed_ns, 570e6, 1e-12);
    assert_close(result->ideal_ns, 350.625e6, 1e-12);
    assert_close(result->factor, 570.0 / 350.625, 1e-12);
    assert_int_equal(result->workers[0].rank, 13);
    assert_int_equal(result->workers[0].stage, 3);
    assert_int_equal(result->workers[0].replica, 1);
    assert_int_equal(result->slow_workers, 1); /* 3 % of 16 */
    assert_true(result->slow_workers_share > 0.95 && result->slow_workers_share < 1.1);
    /* as fast as the others: 330 ms, less than with means */
    assert_string_equal(result->causes[0].name, "workers");
    assert_close(result->causes[0].without_ns, 330e6, 1e-12);
    assert_close(share_of(result, "stages"), 0, 1e-12);
    iw_stragglers_free(result);
}

static void a_slow_stage_is_no_slow_worker(void **state)
{
    struct iwt_log l;
    iw_stragglers *result = run(&l, &(struct iwt_pipe_shape){2, 4, 4, 8, slow_stage});

    (void)state;
    assert_close(result->factor, 570.0 / 412.5, 1e-12); /* means of 5/4 */
    assert_string_equal(result->causes[0].name, "stages");
    assert_close(result->causes[0].share, 1, 1e-12);
    assert_close(share_of(result, "workers"), 0, 1e-12);
    assert_true(result->by_stage[3].factor > 1.1 && result->by_stage[0].factor < 1);
    iw_stragglers_free(result);
}

static void long_microbatches_are_told(void **state)
{
    struct iwt_log l;
    iw_stragglers *result = run(&l, &(struct iwt_pipe_shape){2, 2, 1, 8, long_microbatch});

    (void)state;
    assert_close(result->factor, 480.0 / 360.0, 1e-12); /* 7 + 9 against 8 * 1.5 */
    assert_string_equal(result->causes[0].name, "micro-batches");
    assert_close(result->causes[0].share, 1, 1e-12);
    iw_stragglers_free(result);
}

static void slow_transfers_are_told(void **state)
{
    struct iwt_log l;
    iw_stragglers *result = run(&l, &(struct iwt_pipe_shape){3, 2, 2, 4, slow_transfer});

    (void)state;
    /* steps of 150 + 10 ms, one of 180: the median is 10 */
    assert_close(result->ideal_ns, 160e6, 1e-12);
    assert_close(result->replayed_ns, 500e6 / 3, 1e-12);
    assert_string_equal(result->causes[0].name, "communication");
    assert_close(result->causes[0].share, 1, 1e-12);
    assert_string_equal(result->kinds[0].name, "grads-reduce-scatter");
    assert_close(result->kinds[0].factor, 500.0 / 480, 1e-12);
    assert_int_equal(result->steps[1].number, 1);
    assert_close(result->steps[1].replayed_ns, 180e6, 1e-12);
    iw_stragglers_free(result);
}

static void without_stragglers_no_share_is_invented(void **state)
{
    struct iwt_log l;
    iw_stragglers *result = run(&l, &(struct iwt_pipe_shape){1, 2, 2, 2, plain});

    (void)state;
    assert_close(result->factor, 1, 0);
    assert_true(isnan(result->causes[0].share) && isnan(result->slow_workers_share));
    iw_stragglers_free(result);
}

/* ---- what makes no sense ---- */

static void steps_left_out_are_not_looked_at(void **state)
{
    const struct iwt_pipe_shape shape = {3, 2, 2, 4, slow_transfer};
    static const char *const bad[] = {"", ",", "1,", "2-1", "-1", "a", "1 ", "99999999999"};
    struct iw_straggler_job *job;
    struct iwt_log l;
    iw_time step_ps[4];

    (void)state;
    iwt_log_init(&l);
    job = iwi_pipe_new(&l.log, "job");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(iwi_pipe_leave_out(job, bad[i]), IW_ERR_USAGE);
    }
    assert_ok(iwi_pipe_leave_out(job, "0-1"));
    for (uint32_t i = 0; i < 3 * 2 * 2; i++) {
        iwt_pipe_worker(job, &shape, i / 4, i / 2 % 2, i % 2);
    }
    assert_ok(iwi_pipe_finish(job));
    assert_int_equal(job->step_count, 1);
    assert_ok(iwi_pipe_replay(job, job->lengths_ps, step_ps));
    assert_int_equal(step_ps[0], 160 * IW_PS_PER_MS);
    iw_straggler_job_free(job);
}

static void assert_refused(const struct iwt_pipe_shape *shape, const struct iwi_pipe_event *event,
                           const char *left_out, iw_status status, const char *why)
{
    struct iw_straggler_job *job;
    struct iwt_log l;

    iwt_log_init(&l);
    job = iwt_pipe(&l.log, shape);
    if (left_out != NULL) {
        assert_ok(iwi_pipe_leave_out(job, left_out));
    }
    if (event != NULL) {
        assert_ok(iwi_pipe_add(job, event));
    }
    assert_int_equal(iwi_pipe_finish(job), status);
    assert_int_equal(l.errors, 1);
    iwt_assert_logged(&l, why);
    iw_straggler_job_free(job);
}

static void jobs_that_cannot_be_are_refused(void **state)
{
    const struct iwt_pipe_shape shape = {1, 2, 2, 2, plain};
    struct iwi_pipe_event event = {.op = IWI_PIPE_FORWARD, .length_ps = 1};

    (void)state;
    assert_refused(&shape, &event, NULL, IW_ERR_FORMAT, "occurs twice");
    event.sequence = 2;
    assert_refused(&shape, &event, NULL, IW_ERR_FORMAT, "lacks some of its forward-compute");
    event.sequence = 70000;
    assert_refused(&shape, &event, NULL, IW_ERR_FORMAT, "most are missing");
    event = (struct iwi_pipe_event){.op = IWI_PIPE_BACKWARD, .sequence = 5};
    assert_refused(&shape, &event, NULL, IW_ERR_FORMAT, "backward-compute number 5, but there are 2");
    event = (struct iwi_pipe_event){.op = IWI_PIPE_OPTIMIZER, .sequence = 1};
    assert_refused(&shape, &event, NULL, IW_ERR_FORMAT, "optimizer number 1, but there are 1");
    event = (struct iwi_pipe_event){.op = IWI_PIPE_GATHER, .rank = 9};
    assert_refused(&shape, &event, NULL, IW_ERR_FORMAT, "different numbers of stages");
    event = (struct iwi_pipe_event){.op = IWI_PIPE_GATHER, .step = 7};
    assert_refused(&shape, &event, NULL, IW_ERR_FORMAT, "lacks some of its forward-compute");
    assert_refused(&shape, NULL, "7", IW_ERR_USAGE, "no step 7");
    assert_refused(&(struct iwt_pipe_shape){0}, NULL, NULL, IW_ERR_FORMAT, "no training events");
}

static iw_time too_long(const struct iwi_pipe_event *event, uint32_t stage)
{
    (void)stage;
    return event->op == IWI_PIPE_FORWARD ? IW_TIME_INPUT_MAX : 0;
}

static void lengths_that_cannot_be_are_refused(void **state)
{
    struct iwi_pipe_event event = {.op = IWI_PIPE_CLIP, .length_ps = -11 * IW_PS_PER_MS};
    struct iw_straggler_job *job;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    job = iwi_pipe_new(&l.log, "job");
    assert_int_equal(iwi_pipe_add(job, &event), IW_ERR_RANGE);
    event.length_ps = IW_TIME_INPUT_MAX + 1;
    assert_int_equal(iwi_pipe_add(job, &event), IW_ERR_RANGE);
    iw_straggler_job_free(job);
    assert_refused(&(struct iwt_pipe_shape){1, 2, 2, 2, too_long}, NULL, NULL, IW_ERR_RANGE, "26 days");
}

/* Stage 0 computes its first backward before its last forward, which stage 1 needs for that: no pipeline. */
static void stages_that_wait_for_each_other_are_refused(void **state)
{
    struct iw_straggler_job *job;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    job = iwt_pipe(&l.log, &(struct iwt_pipe_shape){1, 1, 2, 1, plain});
    for (size_t i = 0; i < job->event_count; i++) {
        if (job->events[i].op == IWI_PIPE_BACKWARD && job->events[i].rank == 0) {
            job->events[i].begin_ps = -1;
        }
    }
    assert_int_equal(iwi_pipe_finish(job), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "wait for each other");
    iw_straggler_job_free(job);
}

static void numbers_out_of_order_are_refused(void **state)
{
    struct iw_straggler_job *job;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    job = iwt_pipe(&l.log, &(struct iwt_pipe_shape){1, 1, 2, 3, plain});
    for (size_t i = 0; i < job->event_count; i++) {
        if (job->events[i].op == IWI_PIPE_FORWARD && job->events[i].sequence == 2) {
            job->events[i].begin_ps = -1;
        }
    }
    assert_int_equal(iwi_pipe_finish(job), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "not numbered in the order");
    iw_straggler_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_worker_is_named),
        cmocka_unit_test(a_slow_stage_is_no_slow_worker),
        cmocka_unit_test(long_microbatches_are_told),
        cmocka_unit_test(slow_transfers_are_told),
        cmocka_unit_test(without_stragglers_no_share_is_invented),
        cmocka_unit_test(steps_left_out_are_not_looked_at),
        cmocka_unit_test(jobs_that_cannot_be_are_refused),
        cmocka_unit_test(lengths_that_cannot_be_are_refused),
        cmocka_unit_test(stages_that_wait_for_each_other_are_refused),
        cmocka_unit_test(numbers_out_of_order_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
