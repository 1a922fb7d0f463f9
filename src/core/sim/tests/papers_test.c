/* The numbers of the 2010 paper (Hoefler, Schneider, Lumsdaine) with noise reconstructed from its statistics.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Medians over trials; tolerances are those of the project's contract. The sizes of 2^20 ranks run in release
 * builds only: sanitizers make them slow and add nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "builder.h"
#include "core/base/order.h"
#include "support/support.h"

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;

    return (a > b) - (a < b);
}

struct question {
    const char *operation, *net, *noise;
    uint32_t ranks;
    uint64_t bytes, trials;
    iw_sync sync;
};

/* Median of T/T0. */
static double median_ratio(const struct question *q)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_program *program = NULL;
    iw_noise *noise = NULL;
    iw_sim_result *result = NULL;
    double *ratio = calloc((size_t)q->trials, sizeof *ratio);
    double median;

    pattern.ranks = q->ranks;
    pattern.bytes = q->bytes;
    opts.trials = q->trials;
    assert_ok(iw_program_from_pattern(NULL, q->operation, &pattern, &program));
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, q->noise));
    iw_noise_align(noise, q->sync, 0, 1);
    assert_ok(iw_simulate(NULL, program, iw_net_builtin(q->net), noise, &opts, &result));
    for (uint64_t t = 0; t < q->trials; t++) {
        ratio[t] = (double)result->makespan_ps[t] / (double)result->noiseless_ps;
    }
    iwi_sort(ratio, (size_t)q->trials, compare);
    median = ratio[q->trials / 2];
    free(ratio);
    iw_sim_result_free(result);
    iw_noise_free(noise);
    iw_program_free(program);
    print_message("%s, %u ranks, %s, %s: median T/T0 = %.3f\n", q->operation, q->ranks, q->net, q->noise,
                  median);
    return median;
}

static void expect_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * expected)) {
        fail_msg("%.4f is not within %.0f %% of %.4f", value, 100 * tolerance, expected);
    }
}

static void fixed_frequency_noise_on_cnl_slows_as_reconstructed(void **state)
{
    static const struct {
        const char *noise;
        double ratio;
    } cases[] = {{"periodic:1000Hz,16us", 1.41},
                 {"periodic:1000Hz,50us", 2.74},
                 {"periodic:1000Hz,100us", 5.18},
                 {"periodic:1000Hz,200us", 10.95}};

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        const struct question q = {
            "barrier:dissemination", "cnl", cases[k].noise, 32768, 1, 60, IW_SYNC_NONE};

        expect_near(median_ratio(&q), cases[k].ratio, 0.03);
    }
}

static void large_messages_absorb_noise(void **state)
{
    const struct question q = {
        "allreduce:dissemination", "cnl", "periodic:1000Hz,100us", 4096, 1 << 20, 10, IW_SYNC_NONE};

    (void)state;
    assert_true(median_ratio(&q) < 1.05);
}

static void dissemination_at_a_million_ranks_slows_as_published(void **state)
{
    const struct question chic = {
        "barrier:dissemination", "chic", "periodic:0.375Hz,5.6ms", 1 << 20, 1, 24, 0};
    const struct question altix = {
        "barrier:dissemination", "altix", "periodic:0.5Hz,220us", 1 << 20, 1, 100, 0};
    const struct question xt4 = {"barrier:dissemination", "xt4", "periodic:0.03Hz,3.3ms", 1 << 20, 1, 24, 0};

    (void)state;
    expect_near(median_ratio(&chic) - 1, 146.8, 0.05);
    expect_near(median_ratio(&altix) - 1, 6.51, 0.05);
    expect_near(median_ratio(&xt4) - 1, 25.5, 0.05);
}

static void co_scheduling_brings_the_median_back(void **state)
{
    const struct question q = {
        "barrier:dissemination", "chic", "periodic:0.375Hz,5.6ms", 1 << 20, 1, 9, IW_SYNC_START};

    (void)state;
    expect_near(median_ratio(&q), 1.0, 0.01);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest small[] = {
        cmocka_unit_test(fixed_frequency_noise_on_cnl_slows_as_reconstructed),
        cmocka_unit_test(large_messages_absorb_noise),
    };
    const struct CMUnitTest large[] = {
        cmocka_unit_test(dissemination_at_a_million_ranks_slows_as_published),
        cmocka_unit_test(co_scheduling_brings_the_median_back),
    };

    if (argc > 1 && strcmp(argv[1], "large") == 0) {
        return cmocka_run_group_tests(large, NULL, NULL);
    }
    return cmocka_run_group_tests(small, NULL, NULL);
}
