/* The steady state of repetitions, and what the start of a run adds.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>
#include <idlewave/noise_set.h>

#include <math.h>

#include "support/made_recording.h"
#include "support/support.h"

enum { RANKS = 256, TRIALS = 60 };

static iw_noise_set *set_of(const char *spec)
{
    iw_noise_set *set = NULL;

    assert_ok(iw_noise_set_new(NULL, &set));
    assert_ok(iw_noise_set_add(NULL, set, spec));
    return set;
}

static iw_program *program_of(uint64_t repeat)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    pattern.ranks = RANKS;
    pattern.repeat = repeat;
    pattern.compute_ps = IW_PS_PER_MS;
    assert_ok(iw_program_from_pattern(NULL, "barrier:dissemination", &pattern, &program));
    return program;
}

/* Of 1 ms and a barrier; tells how slow the run from its start is, too. */
static iw_steady steady_of(const iw_noise_set *set, uint64_t repeat, double *from_start_p)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_program *program = program_of(repeat);
    iw_sim_result *result = NULL;
    iw_noise *noise = NULL;
    iw_summary makespan_ns;
    iw_steady steady;

    opts.trials = TRIALS;
    assert_ok(iw_noise_set_make(NULL, set, NULL, opts.seed, 0, &noise));
    assert_ok(iw_simulate(NULL, program, iw_net_builtin("chic"), noise, &opts, &result));
    assert_ok(iw_steady_find(
        NULL,
        &(iw_certainty_question){
            .set = set, .program = program, .net = iw_net_builtin("chic"), .opts = &opts, .result = result},
        &steady));
    assert_ok(iw_summarize_trials(NULL, result, &makespan_ns));
    *from_start_p = makespan_ns.mean * 1e3 / (double)result->noiseless_ps - 1.0;
    iw_sim_result_free(result);
    iw_noise_free(noise);
    iw_program_free(program);
    return steady;
}

/* Whatever the number of repetitions, those behind the start cost the same; runs from the start do not. */
static void few_repetitions_tell_what_many_cost(void **state)
{
    iw_noise_set *set = set_of("poisson:20Hz,exp:300us");
    double from_few, from_many;
    const iw_steady few = steady_of(set, 4, &from_few), many = steady_of(set, 80, &from_many);

    (void)state;
    assert_int_equal(few.repetitions, 2);
    assert_int_equal(many.repetitions, 40);
    assert_true(from_few > from_many * 1.05);
    assert_true(few.slowdown.low < many.slowdown.value && many.slowdown.value < few.slowdown.high);
    assert_true(fabs(many.slowdown.value - from_many) < 0.02 * from_many);
    assert_true(few.start_ns.low > 0.0);
    /* the run is its start and as many steady repetitions */
    assert_true(fabs(from_few - few.slowdown.value - few.start_ns.value / (4 * 1.05e6)) < 0.02);
    iw_noise_set_free(set);
}

static void without_repetitions_or_noise_nothing_is_asked(void **state)
{
    iw_noise_set *set = set_of("poisson:20Hz,exp:300us"), *quiet = set_of("none");
    iw_program *once = program_of(1), *twice = program_of(2);

    (void)state;
    assert_false(iw_steady_is_asked(set, once, TRIALS));
    assert_false(iw_steady_is_asked(quiet, twice, TRIALS));
    assert_true(iw_steady_is_asked(set, twice, TRIALS));
    iw_program_free(once);
    iw_program_free(twice);
    iw_noise_set_free(quiet);
    iw_noise_set_free(set);
}

/* ---- the headline of recordings ---- */

/* Three CPUs whose ticks of 20 us do not coincide. */
static iw_recording *ticking(void)
{
    iw_recording *recording = iwt_recording(3, INT64_C(50000000000));
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "tick");

    for (size_t cpu = 0; cpu < 3; cpu++) {
        for (int64_t i = 0; i < 2500; i++) {
            iwt_detour(recording, cpu, i * 20000000 + (int64_t)cpu * 123457, 20000, tick);
        }
    }
    return recording;
}

/* As `simulate --noise FILE --pattern OPERATION --ranks 1024 --repeat 100 --trials 16` asks for it. */
static iw_estimate simulated(const char *operation, uint64_t bytes)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    const iw_net *net = iw_net_builtin("hdr-fat-tree");
    iw_noise_set *set = NULL;
    iw_program *program = NULL;
    iw_noise *noise = NULL;
    iw_sim_result *result = NULL;
    iw_steady steady;

    pattern.ranks = 1024;
    pattern.repeat = 100;
    pattern.bytes = bytes;
    pattern.nodes = iw_net_nodes(net);
    opts.trials = 16;
    assert_ok(iw_noise_set_new(NULL, &set));
    assert_ok(iw_noise_set_add_recording(NULL, set, "recording", ticking()));
    assert_ok(iw_noise_set_make(NULL, set, NULL, opts.seed, 0, &noise));
    assert_ok(iw_program_from_pattern(NULL, operation, &pattern, &program));
    assert_ok(iw_simulate(NULL, program, net, noise, &opts, &result));
    assert_ok(iw_steady_find(NULL, &(iw_certainty_question){set, program, net, &opts, result}, &steady));
    iw_sim_result_free(result);
    iw_program_free(program);
    iw_noise_free(noise);
    iw_noise_set_free(set);
    return steady.slowdown;
}

static void the_headline_of_a_recording_is_the_steady_state(void **state)
{
    iw_recording *recording = ticking();
    const iw_estimate barrier = simulated("barrier", 1), allreduce = simulated("allreduce", 8);
    iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;
    iw_noise_report report;

    (void)state;
    opts.has_cost = true;
    assert_ok(iw_noise_report_init(NULL, recording, &opts, &report));
    assert_true(report.cost.barrier_slowdown.value == barrier.value);
    assert_true(report.cost.barrier_slowdown.low == barrier.low);
    assert_true(report.cost.barrier_slowdown.high == barrier.high);
    assert_true(report.cost.allreduce_slowdown.value == allreduce.value);
    assert_true(allreduce.value != barrier.value);
    iw_noise_report_release(&report);
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_repetitions_tell_what_many_cost),
        cmocka_unit_test(without_repetitions_or_noise_nothing_is_asked),
        cmocka_unit_test(the_headline_of_a_recording_is_the_steady_state),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
