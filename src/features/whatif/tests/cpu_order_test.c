/* A recording of a quiet CPU and a noisy one: the answer does not depend on which of them comes first, nor on
 * whether simulate or whatif is asked.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include <idlewave/recording.h>

#include "made_question.h"

#include "support/support.h"

enum { ORDERS = 2, TRIALS = 60 };

static iw_recording *synth(const char *spec, uint64_t seed)
{
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_recording *recording = NULL;
    iw_edit edit;

    opts.specs = &spec;
    opts.spec_count = 1;
    opts.duration_ns = INT64_C(60000000000);
    opts.seed = seed;
    assert_ok(iw_recording_synth(NULL, &opts, &recording, &edit));
    return recording;
}

/* CPU 0 quiet and CPU 1 noisy, or the other way round. */
static iw_recording *two_cpus(bool is_noisy_first)
{
    iw_recording *quiet = synth("poisson:1Hz,fixed:5us", 1), *noisy = synth("poisson:50Hz,exp:300us", 2);
    const iw_merge_input inputs[2] = {{"first", is_noisy_first ? noisy : quiet},
                                      {"second", is_noisy_first ? quiet : noisy}};
    iw_recording *both = NULL;
    iw_edit edit;

    assert_ok(iw_recording_merge(NULL, inputs, 2, &both, &edit));
    iw_recording_free(quiet);
    iw_recording_free(noisy);
    return both;
}

static iw_whatif_opts options(struct iwt_question *question)
{
    iw_whatif_opts opts = iwt_options(question);

    question->ranks = 256;
    opts.sim.trials = TRIALS;
    opts.redraws = 0;
    return opts;
}

/* Mean slowdown; *error_p: its standard deviation. */
static double simulated(iw_recording *recording, uint32_t ranks_per_node, double *error_p)
{
    struct iwt_question question;
    const iw_whatif_opts opts = options(&question);
    double sum = 0, squares = 0;
    iw_noise *noise = NULL;
    iw_program *program;
    iw_sim_result *result;

    assert_ok(opts.program.make(opts.program.arg, 0, 1.0, &program));
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    iw_noise_align(noise, IW_SYNC_NONE, 0, ranks_per_node);
    assert_ok(iw_simulate(NULL, program, opts.net, noise, &opts.sim, &result));
    for (uint64_t i = 0; i < TRIALS; i++) {
        const double slowdown = (double)result->makespan_ps[i] / (double)result->noiseless_ps - 1;

        sum += slowdown;
        squares += slowdown * slowdown;
    }
    iw_sim_result_free(result);
    iw_program_free(program);
    iw_noise_free(noise);
    *error_p = sqrt((squares / TRIALS - pow(sum / TRIALS, 2)) / TRIALS);
    return sum / TRIALS;
}

static double asked(iw_recording *recording)
{
    struct iwt_question question;
    const iw_whatif_opts opts = options(&question);
    iw_noise_set *set = iwt_set(recording, NULL);
    iw_whatif *whatif = iwt_ask(set, &opts);
    const double now = whatif->now.value;

    assert_int_equal(iw_noise_set_ranks_per_node(set), 2);
    assert_int_equal(iw_noise_set_recorded_cpus(set), 2);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
    return now;
}

static void the_order_of_cpus_changes_nothing(void **state)
{
    double mean[ORDERS], error[ORDERS], now[ORDERS];

    (void)state;
    for (int order = 0; order < ORDERS; order++) {
        iw_recording *recording = two_cpus(order == 1);

        mean[order] = simulated(recording, 0, &error[order]);
        now[order] = asked(recording); /* takes it over */
    }
    assert_true(mean[0] > 0.5);
    assert_true(fabs(mean[0] - mean[1]) < 4 * hypot(error[0], error[1]));
    for (int order = 0; order < ORDERS; order++) {
        assert_true(fabs(now[order] - mean[order]) < 1e-9);
    }
}

/* What it was without a word: every rank on the first CPU. */
static void one_rank_a_node_meets_the_first_cpu_only(void **state)
{
    iw_recording *quiet_first = two_cpus(false), *noisy_first = two_cpus(true);
    double error;

    (void)state;
    assert_true(simulated(quiet_first, 1, &error) < 0.02);
    assert_true(simulated(noisy_first, 1, &error) > 0.5);
    iw_recording_free(quiet_first);
    iw_recording_free(noisy_first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_cpus_changes_nothing),
        cmocka_unit_test(one_rank_a_node_meets_the_first_cpu_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
