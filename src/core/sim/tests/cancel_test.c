/* A caller can stop a simulation: whichever engine runs it, however it is split.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "builder.h"
#include "support/support.h"
#include "trace_fixture.h"

/* Stops as soon as the share is reached: 0, in the run without noise, at the first look; 1, at the end of the
 * trials. */
struct stopper {
    double at;
    size_t calls;
    bool is_stopped;
};

static bool step(void *arg, const iw_progress_now *now)
{
    struct stopper *stopper = arg;

    assert_true(now->share >= 0.0 && now->share <= 1.0 && now->done <= now->total);
    stopper->calls++;
    stopper->is_stopped |= now->share >= stopper->at;
    return !stopper->is_stopped;
}

static iw_program *pattern_of(const char *operations, uint32_t ranks, uint64_t repeat)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    pattern.ranks = ranks;
    pattern.repeat = repeat;
    pattern.compute_ps = IW_PS_PER_US;
    assert_ok(iw_program_from_pattern(NULL, operations, &pattern, &program));
    return program;
}

static iw_noise *some_noise(void)
{
    iw_noise *noise = NULL;

    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, "poisson:20kHz,exp:5us"));
    return noise;
}

/* Stopped in the reference and at the end of the trials, then not at all: what that gives is what a run
 * without anybody watching gives. */
static void check_stops(const iw_program *program, const iw_noise *noise, const iw_sim_opts *wanted)
{
    const iw_net net = iwt_example_net();
    iw_sim_result *unwatched = iwt_run(program, &net, noise, wanted), *watched = NULL;
    iw_sim_opts opts = *wanted;

    opts.want_end_times = true;
    for (int at = 0; at <= 2; at++) {
        struct stopper stopper = {.at = at};
        struct iwt_log l;

        iwt_log_init(&l);
        opts.progress = (iw_progress){step, &stopper};
        if (at < 2) {
            assert_status(iw_simulate(&l.log, program, &net, noise, &opts, &watched), IW_ERR_CANCELLED);
            assert_null(watched);
            assert_true(stopper.is_stopped);
            assert_int_equal(l.errors, 0);
        } else {
            assert_ok(iw_simulate(&l.log, program, &net, noise, &opts, &watched));
            assert_true(stopper.calls >= 2);
        }
    }
    assert_memory_equal(watched->end_ps, unwatched->end_ps,
                        (size_t)watched->trials * watched->ranks * sizeof *watched->end_ps);
    iw_sim_result_free(watched);
    iw_sim_result_free(unwatched);
}

static void check_pattern(iw_engine engine, iw_rules rules, iw_parallel parallel, uint32_t threads)
{
    iw_program *program = pattern_of("halo1d+allreduce:ring", 20, 4);
    iw_noise *noise = rules == IW_RULES_LOGGOPSIM ? NULL : some_noise(); /* those take files */
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    opts.engine = engine;
    opts.rules = rules;
    opts.parallel = parallel;
    opts.threads = threads;
    opts.trials = 4;
    check_stops(program, noise, &opts);
    iw_noise_free(noise);
    iw_program_free(program);
}

static void the_event_engine_stops(void **state)
{
    (void)state;
    check_pattern(IW_ENGINE_EVENT, IW_RULES_IDLEWAVE, IW_PARALLEL_AUTO, 1);
}

static void loggopsims_rules_stop(void **state)
{
    (void)state;
    check_pattern(IW_ENGINE_AUTO, IW_RULES_LOGGOPSIM, IW_PARALLEL_AUTO, 1);
}

static void the_flow_engine_stops_on_rounds(void **state)
{
    (void)state;
    check_pattern(IW_ENGINE_FLOW, IW_RULES_IDLEWAVE, IW_PARALLEL_AUTO, 1);
}

static void all_threads_stop_that_share_trials(void **state)
{
    (void)state;
    check_pattern(IW_ENGINE_FLOW, IW_RULES_IDLEWAVE, IW_PARALLEL_TRIALS, 3);
    check_pattern(IW_ENGINE_EVENT, IW_RULES_IDLEWAVE, IW_PARALLEL_TRIALS, 3);
}

static void all_threads_stop_that_share_ranks(void **state)
{
    (void)state;
    check_pattern(IW_ENGINE_FLOW, IW_RULES_IDLEWAVE, IW_PARALLEL_RANKS, 3);
}

static void the_flow_engine_stops_on_schedules(void **state)
{
    struct iwt_builder b;
    iw_program *program;
    iw_noise *noise = some_noise();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    (void)state;
    iwt_builder_init(&b, 2);
    for (uint32_t i = 0; i < 50; i++) {
        iwt_calc(&b, 0, IWT_NS(100));
        iwt_send(&b, 0, 1, 8, i);
        iwt_recv(&b, 1, 0, 8, i);
    }
    program = iwt_program(&b);
    opts.engine = IW_ENGINE_FLOW;
    opts.threads = 1;
    opts.trials = 2;
    check_stops(program, noise, &opts);
    iw_noise_free(noise);
    iw_program_free(program);
    iwt_builder_release(&b);
}

static void the_flow_engine_stops_on_traces(void **state)
{
    struct iwt_trace_fixture f;
    struct stopper stopper = {.at = 0.0};
    iw_sim_result *result = NULL;

    (void)state;
    iwt_trace_set_up(&f, 1);
    f.opts.progress = (iw_progress){step, &stopper};
    assert_status(iw_simulate(NULL, f.program, &f.net, f.noise, &f.opts, &result), IW_ERR_CANCELLED);
    assert_null(result);
    iwt_trace_tear_down(&f);
}

/* At the end of the trials nothing is explained yet. */
static void explaining_stops(void **state)
{
    iw_program *program = pattern_of("allreduce:dissemination", 500, 4);
    iw_noise *noise = some_noise();
    const iw_net net = iwt_example_net();
    struct stopper stopper = {.at = 1.0};
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;

    (void)state;
    opts.want_explain = true;
    opts.trials = 3;
    opts.progress = (iw_progress){step, &stopper};
    assert_status(iw_simulate(NULL, program, &net, noise, &opts, &result), IW_ERR_CANCELLED);
    assert_null(result);
    iw_noise_free(noise);
    iw_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_event_engine_stops),
        cmocka_unit_test(loggopsims_rules_stop),
        cmocka_unit_test(the_flow_engine_stops_on_rounds),
        cmocka_unit_test(all_threads_stop_that_share_trials),
        cmocka_unit_test(all_threads_stop_that_share_ranks),
        cmocka_unit_test(the_flow_engine_stops_on_schedules),
        cmocka_unit_test(the_flow_engine_stops_on_traces),
        cmocka_unit_test(explaining_stops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
