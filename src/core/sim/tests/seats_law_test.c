/* More ranks on a node than recorded CPUs cost what the law of the noise costs on as many CPUs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include <idlewave/recording.h>

#include "builder.h"
#include "random_program.h"
#include "support/made_recording.h"
#include "support/support.h"

enum { RANKS = 256, TRIALS = 100, RECORDED = 2 };

struct moments {
    double mean, error; /* of the mean */
};

static iw_recording *recording_of(size_t cpu_count, iw_sync sync, uint64_t seed)
{
    const char *spec = "thread/a=poisson:20Hz,exp:300us";
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_recording *recording = NULL;
    iw_edit edit;

    opts.specs = &spec;
    opts.spec_count = 1;
    opts.duration_ns = INT64_C(300000000000);
    opts.cpu_count = cpu_count;
    opts.sync = sync;
    opts.seed = seed;
    assert_ok(iw_recording_synth(NULL, &opts, &recording, &edit));
    return recording;
}

static struct moments slowdown(iw_recording *recording, uint32_t ranks_per_node, uint64_t seed)
{
    const iw_net net = iwt_example_net();
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    double sum = 0.0, squares = 0.0;
    iw_program *program = NULL;
    iw_sim_result *result;
    iw_noise *noise = NULL;

    pattern.ranks = RANKS;
    pattern.bytes = 8;
    pattern.compute_ps = IW_PS_PER_MS;
    pattern.repeat = 5;
    assert_ok(iw_program_from_pattern(NULL, "allreduce:dissemination", &pattern, &program));
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    iw_noise_align(noise, IW_SYNC_NONE, 0, ranks_per_node);
    opts.trials = TRIALS;
    opts.seed = seed;
    result = iwt_run(program, &net, noise, &opts);
    for (uint64_t i = 0; i < TRIALS; i++) {
        const double x = (double)result->makespan_ps[i] / (double)result->noiseless_ps - 1.0;

        sum += x;
        squares += x * x;
    }
    iw_sim_result_free(result);
    iw_noise_free(noise);
    iw_program_free(program);
    iw_recording_free(recording);
    return (struct moments){sum / TRIALS, sqrt((squares / TRIALS - sum / TRIALS * (sum / TRIALS)) / TRIALS)};
}

/* Recordings of 300 s on 2 CPUs have 12,000 detours: what they differ by is small beside the trials. */
static void assert_law(iw_sync sync)
{
    static const uint32_t per_node[] = {2, 4, 16, 64};

    for (size_t i = 0; i < sizeof per_node / sizeof per_node[0]; i++) {
        const struct moments law = slowdown(recording_of(per_node[i], sync, 7), per_node[i], 8);
        const struct moments few = slowdown(recording_of(RECORDED, sync, 9), per_node[i], 10);
        const double error = hypot(law.error, few.error);

        print_message("%u ranks a node: %.3f +- %.3f, on as many CPUs %.3f +- %.3f\n", per_node[i], few.mean,
                      few.error, law.mean, law.error);
        if (fabs(law.mean - few.mean) > 3.0 * error) {
            fail_msg("%u ranks a node: a mean of %.4f, %.4f expected, standard error %.4f", per_node[i],
                     few.mean, law.mean, error);
        }
    }
}

static void independent_cpus_cost_as_many_as_there_are_ranks(void **state)
{
    (void)state;
    assert_law(IW_SYNC_NONE);
}

static void cpus_that_are_hit_together_cost_as_one(void **state)
{
    (void)state;
    assert_law(IW_SYNC_START);
}

/* A tick that hits CPUs together and a daemon that does not: seats walk two timelines. */
static iw_noise *mixed_noise(struct iwt_random *random)
{
    iw_recording *recording = iwt_recording(2, 4000000);
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "tick");
    const uint32_t daemon = iwt_source(recording, IW_CLASS_THREAD, "daemon");
    iw_noise *noise = NULL;

    for (size_t cpu = 0; cpu < 2; cpu++) {
        for (int64_t at_ns = 0; at_ns < 3900000; at_ns += 400000) {
            int64_t last_ns = at_ns + 20000;

            iwt_detour(recording, cpu, at_ns, 5000, tick);
            for (int i = 0; i < 6; i++) {
                last_ns += 100 + (int64_t)iwt_below(random, 40000);
                iwt_detour(recording, cpu, last_ns, 2000, daemon);
                last_ns += 2000;
            }
        }
    }
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    iw_noise_align(noise, IW_SYNC_NONE, 0, 5);
    iw_recording_free(recording);
    return noise;
}

static void engines_agree_on_node_wide_sources(void **state)
{
    static const iw_engine engines[] = {IW_ENGINE_EVENT, IW_ENGINE_FLOW};
    const iw_net net = iwt_example_net();
    iw_pattern pattern = IW_PATTERN_INIT;
    struct iwt_random random = {.seed = 4};
    iw_noise *noise = mixed_noise(&random);
    iw_program *program = NULL;
    iw_sim_result *results[2];

    (void)state;
    pattern.ranks = 23;
    pattern.bytes = 8;
    pattern.compute_ps = 50 * IW_PS_PER_US;
    pattern.repeat = 20;
    assert_ok(iw_program_from_pattern(NULL, "allreduce:dissemination", &pattern, &program));
    for (size_t e = 0; e < 2; e++) {
        iw_sim_opts opts = IW_SIM_OPTS_INIT;

        opts.trials = 20;
        opts.engine = engines[e];
        opts.want_explain = e == 1;
        results[e] = iwt_run(program, &net, noise, &opts);
    }
    assert_memory_equal(results[0]->end_ps, results[1]->end_ps, 20 * 23 * sizeof(iw_time));
    assert_true(results[0]->makespan_ps[0] > results[0]->noiseless_ps);
    iw_sim_result_free(results[0]);
    iw_sim_result_free(results[1]);
    iw_noise_free(noise);
    iw_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_cpus_cost_as_many_as_there_are_ranks),
        cmocka_unit_test(cpus_that_are_hit_together_cost_as_one),
        cmocka_unit_test(engines_agree_on_node_wide_sources),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
