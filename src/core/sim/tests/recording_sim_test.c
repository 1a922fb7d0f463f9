/* Simulations under recorded noise: both engines agree, and every source is named for what it took.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include <idlewave/recording.h>

#include "random_program.h"
#include "support/made_recording.h"
#include "support/support.h"

enum { RANKS = 24, CASES = 60 };

/* Up to 4 CPUs with detours of 5 to 40 ns every 100 ns or so, of up to 11 sources, some with parts. */
static iw_recording *random_recording(struct iwt_random *random)
{
    const size_t cpus = 1 + (size_t)iwt_below(random, 4);
    const int64_t length_ns = 3000 + (int64_t)iwt_below(random, 5000);
    iw_recording *recording = iwt_recording(cpus, length_ns);
    const uint64_t sources = 1 + iwt_below(random, 11);

    for (uint64_t i = 1; i < sources; i++) {
        const char name[2] = {(char)('a' + i), '\0'};

        (void)iwt_source(recording, IW_CLASS_SOFTIRQ, name);
    }
    for (size_t cpu = 0; cpu < cpus; cpu++) {
        for (int64_t at_ns = 0; at_ns < length_ns - 200; at_ns += 20 + (int64_t)iwt_below(random, 160)) {
            const int64_t duration_ns = 5 + (int64_t)iwt_below(random, 36);

            iwt_detour(recording, cpu, at_ns, duration_ns, (uint32_t)iwt_below(random, sources));
            if (iwt_below(random, 3) == 0) {
                iwt_part(recording, cpu, (uint32_t)iwt_below(random, sources), duration_ns / 2);
            }
            at_ns += duration_ns;
        }
    }
    return recording;
}

static iw_noise *random_recorded_noise(struct iwt_random *random)
{
    iw_recording *recording = random_recording(random);
    iw_noise *noise = NULL;
    iw_time skew_ps;
    iw_sync sync;

    assert_ok(iw_noise_new(NULL, &noise));
    if (iwt_below(random, 4) == 0) {
        assert_ok(iw_noise_add(NULL, noise, "poisson:5000kHz,fixed:30ns"));
    }
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    if (iwt_below(random, 4) == 0) {
        assert_ok(iw_noise_add(NULL, noise, "phase-exp:20%"));
    }
    sync = (iw_sync)iwt_below(random, 3);
    skew_ps = (iw_time)iwt_below(random, 2) * 30000;
    iw_noise_align(noise, sync, skew_ps, 1 + (uint32_t)iwt_below(random, 9));
    iw_recording_free(recording);
    return noise;
}

static void both_engines_and_all_lanes_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct iwt_random random = {seed, 0};
        iw_program *program = iwt_random_pattern(&random, RANKS);
        iw_noise *noise = random_recorded_noise(&random);
        const iw_net net = iwt_random_net(&random);
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        iw_sim_result *event, *flow;

        opts.trials = 5;
        opts.engine = IW_ENGINE_EVENT;
        event = iwt_run(program, &net, noise, &opts);
        opts.engine = IW_ENGINE_FLOW;
        opts.lanes = 1U << iwt_below(&random, 4);
        flow = iwt_run(program, &net, noise, &opts);
        assert_memory_equal(event->end_ps, flow->end_ps, 5 * RANKS * sizeof *event->end_ps);
        assert_true(event->makespan_ps[0] > event->noiseless_ps);
        iw_sim_result_free(event);
        iw_sim_result_free(flow);
        iw_noise_free(noise);
        iw_program_free(program);
    }
}

static iw_sim_result *explained(const iw_program *program, const iw_net *net, const iw_noise *noise,
                                iw_engine engine)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result;
    iw_time sum = 0;

    opts.engine = engine;
    opts.want_explain = true;
    result = iwt_run(program, net, noise, &opts);
    for (size_t part = 0; part < IW_PARTS; part++) {
        sum += result->explain->median.split.part_ps[part];
    }
    assert_int_equal(sum, result->makespan_ps[0]); /* the explained run ends when the plain one does */
    return result;
}

static void explanations_sum_up_on_both_engines(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct iwt_random random = {seed, 0};
        iw_program *program = iwt_random_pattern(&random, RANKS);
        iw_noise *noise = random_recorded_noise(&random);
        const iw_net net = iwt_random_net(&random);

        iw_sim_result_free(explained(program, &net, noise, IW_ENGINE_EVENT));
        iw_sim_result_free(explained(program, &net, noise, IW_ENGINE_FLOW));
        iw_noise_free(noise);
        iw_program_free(program);
    }
}

/* One rank computes for 10 lengths of the recording: each source takes 10 times what it took there. */
static void each_source_is_charged_what_it_took(void **state)
{
    iw_recording *recording = iwt_recording(2, 1000);
    const uint32_t timer = iwt_source(recording, IW_CLASS_IRQ, "timer"),
                   worker = iwt_source(recording, IW_CLASS_THREAD, "worker");
    const iw_net net = iwt_example_net();
    struct iwt_builder b;
    iw_program *program;
    iw_noise *noise = NULL;
    iw_sim_result *result;

    (void)state;
    iwt_detour(recording, 0, 100, 30, timer);
    iwt_part(recording, 0, worker, 10);
    iwt_detour(recording, 0, 500, 70, 0);
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    iwt_builder_init(&b, 1);
    iwt_calc(&b, 0, IWT_NS(9000));
    program = iwt_program(&b);
    result = explained(program, &net, noise, IW_ENGINE_FLOW);
    assert_int_equal(result->makespan_ps[0], IWT_NS(10000));
    assert_string_equal(iw_noise_source_name(noise, 0), "unknown");
    assert_int_equal(result->explain->median.split.part_ps[IW_PART_NOISE + 0], IWT_NS(700));
    assert_string_equal(iw_noise_source_name(noise, 1), "irq timer");
    assert_int_equal(result->explain->median.split.part_ps[IW_PART_NOISE + 1], IWT_NS(200));
    assert_string_equal(iw_noise_source_name(noise, 2), "thread worker");
    assert_int_equal(result->explain->median.split.part_ps[IW_PART_NOISE + 2], IWT_NS(100));
    iw_sim_result_free(result);
    iw_program_free(program);
    iwt_builder_release(&b);
    iw_noise_free(noise);
    iw_recording_free(recording);
}

static void the_rules_of_loggopsim_refuse_recordings_with_advice(void **state)
{
    struct iwt_random random = {1, 0};
    iw_noise *noise = random_recorded_noise(&random);
    iw_program *program = iwt_random_pattern(&random, RANKS);
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    opts.rules = IW_RULES_LOGGOPSIM;
    iw_noise_align(noise, IW_SYNC_NONE, 0, 1);
    assert_status(iw_simulate(&l.log, program, &net, noise, &opts, &result), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&l, "`rules` idlewave");
    iw_noise_free(noise);
    iw_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_engines_and_all_lanes_agree),
        cmocka_unit_test(explanations_sum_up_on_both_engines),
        cmocka_unit_test(each_source_is_charged_what_it_took),
        cmocka_unit_test(the_rules_of_loggopsim_refuse_recordings_with_advice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
