/* Simulated work and a binary-tree barrier against the bounds of theorem 1, and the shapes that the papers
 * name.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: simulated_bounds_test [--large]: up to 2^13 - 1 ranks, or up to 2^20 - 1.
 */
#include <idlewave/model.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <idlewave/sim.h>

#include "support/support.h"

enum { SMALL_LEVELS = 13, LARGE_LEVELS = 20 };

static const iw_time work_ps = IW_PS_PER_MS, latency_ps = 2 * IW_PS_PER_US;
static const iw_model_question question = {1e6, 2e3, IW_MODEL_TREE};
static const double bernoulli_ns = 3e6;
static int levels = SMALL_LEVELS;

struct measured {
    double mean_ns, error_ns; /* of the mean */
};

/* A reduction up a complete binary tree and a broadcast down it; messages cost nothing but latency. */
static struct measured simulate(const char *spec, uint32_t ranks, uint64_t trials)
{
    const iw_net net = {.name = "latency", .L_ps = latency_ps, .is_device_progress = true, .S_bytes = 65536};
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct measured m = {0, 0};
    iw_program *program;
    iw_sim_result *result;
    iw_noise *noise;

    pattern.ranks = ranks;
    pattern.compute_ps = work_ps;
    opts.trials = trials;
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, spec));
    assert_ok(iw_program_from_pattern(NULL, "reduce:binary+bcast:binary", &pattern, &program));
    assert_ok(iw_simulate(NULL, program, &net, noise, &opts, &result));
    for (uint64_t i = 0; i < trials; i++) {
        m.mean_ns += (double)result->makespan_ps[i] / 1e3 / (double)trials;
    }
    for (uint64_t i = 0; i < trials; i++) {
        const double away = (double)result->makespan_ps[i] / 1e3 - m.mean_ns;

        m.error_ns += away * away / (double)trials / (double)(trials - 1);
    }
    m.error_ns = sqrt(m.error_ns);
    iw_sim_result_free(result);
    iw_program_free(program);
    iw_noise_free(noise);
    return m;
}

static uint64_t trials_of(int k)
{
    const double wanted = (levels == LARGE_LEVELS ? 0x1p22 : 0x1p18) / exp2(k);

    return (uint64_t)fmin(fmax(wanted, 20), 2000);
}

/* Where nearly all trials of all-or-nothing noise are alike their variance says too little. */
static double least_error(const char *spec, const iw_model_row *row, uint64_t trials)
{
    const double hit = row->slowest_ns.value / bernoulli_ns;

    return strncmp(spec, "bernoulli", 9) == 0 ? bernoulli_ns * sqrt(hit * (1 - hit) / (double)trials) : 0.0;
}

/* Every N = 2^k - 1 within the bounds, up to four standard deviations; means go to `means`, by k. */
static void assert_within_bounds(const char *spec, double *means)
{
    iw_law *law;

    assert_ok(iw_law_new(NULL, spec, question.work_ns, &law));
    for (int k = 2; k <= levels; k++) {
        const uint32_t ranks = (UINT32_C(1) << k) - 1;
        const struct measured m = simulate(spec, ranks, trials_of(k));
        iw_model_row row;
        double error;

        assert_ok(iw_model_answer(NULL, law, &question, ranks, &row));
        error = fmax(m.error_ns, least_error(spec, &row, trials_of(k)));
        if (m.mean_ns < row.low_ns.value - 4 * error || m.mean_ns > row.high_ns.value + 4 * error) {
            fail_msg("%s, %u ranks: %g +- %g ns is not within %g and %g ns", spec, ranks, m.mean_ns,
                     m.error_ns, row.low_ns.value, row.high_ns.value);
        }
        means[k] = m.mean_ns - row.noiseless_ns;
    }
    iw_law_free(law);
}

/* Each doubling adds mean * ln 2 to what noise adds. */
static void exponential_noise_grows_with_the_logarithm(void **state)
{
    double added[LARGE_LEVELS + 1], step;

    (void)state;
    assert_within_bounds("phase-exp:10%", added);
    step = (added[levels] - added[levels - 8]) / 8;
    assert_true(fabs(step / (1e5 * log(2)) - 1) < 0.1);
}

/* Each doubling multiplies it by 2^(1/A). Noise of A = 3 has a variance, so means are good ones. */
static void pareto_noise_grows_with_a_power_of_the_ranks(void **state)
{
    double added[LARGE_LEVELS + 1], factor;

    (void)state;
    assert_within_bounds("phase-pareto:10%,3", added);
    factor = pow(added[levels] / added[levels - 6], 1.0 / 6);
    assert_true(fabs(log2(factor) * 3 - 1) < 0.15);
}

/* p T N while p N is small, T when it is large. */
static void bernoulli_noise_grows_linearly_and_saturates(void **state)
{
    double added[LARGE_LEVELS + 1];

    (void)state;
    assert_within_bounds("bernoulli:0.2%,3ms", added);
    assert_true(added[5] > 1.5 * added[4] && added[4] > 1.4 * added[3]);
    assert_true(fabs(added[5] / (0.002 * bernoulli_ns * 31) - 1) < 0.35);
    for (int k = 12; k <= levels; k++) {
        assert_true(fabs(added[k] / bernoulli_ns - 1) < 0.01);
    }
}

/* Trees that are not full obey the same bounds. */
static void bounds_hold_between_the_full_trees(void **state)
{
    iw_law *law;

    (void)state;
    assert_ok(iw_law_new(NULL, "phase-exp:10%", question.work_ns, &law));
    for (uint32_t ranks = 1; ranks <= 40; ranks++) {
        const struct measured m = simulate("phase-exp:10%", ranks, 400);
        iw_model_row row;

        assert_ok(iw_model_answer(NULL, law, &question, ranks, &row));
        assert_true(m.mean_ns >= row.low_ns.value - 4 * m.error_ns);
        assert_true(m.mean_ns <= row.high_ns.value + 4 * m.error_ns);
    }
    iw_law_free(law);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_noise_grows_with_the_logarithm),
        cmocka_unit_test(pareto_noise_grows_with_a_power_of_the_ranks),
        cmocka_unit_test(bernoulli_noise_grows_linearly_and_saturates),
        cmocka_unit_test(bounds_hold_between_the_full_trees),
    };

    if (argc > 1 && strcmp(argv[1], "--large") == 0) {
        levels = LARGE_LEVELS;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
