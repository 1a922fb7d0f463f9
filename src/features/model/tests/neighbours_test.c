/* Phases without a barrier: the formula, and its constants against the recursion that they stand for.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

#include <math.h>
#include <stdlib.h>

#include "core/base/rng.h"
#include "support/support.h"

enum { RANKS = 512, WARM_UP_STEPS = 1000, STEPS = 4000 };

static const iw_model_question question = {.work_ns = 3e6, .latency_ns = 2e3, .barrier = IW_MODEL_TREE};

static bool chains_of(const char *spec, iw_model_chain chains[2])
{
    iw_law *law = NULL;
    bool has_some;

    assert_ok(iw_law_new(NULL, spec, question.work_ns, &law));
    has_some = iw_model_chains(law, &question, chains);
    iw_law_free(law);
    return has_some;
}

/* 10 % of 3 ms are 300 us: 3.002 + 2 * 0.3 ms, 3.002 + 2.384 * 0.3 ms; 1 and 1.384 times 300 us are lost. */
static void exponential_noise_has_a_formula(void **state)
{
    iw_model_chain chains[2];

    (void)state;
    assert_true(chains_of("phase-exp:10%", chains));
    assert_true(fabs(chains[0].phase_ns - 3.602e6) < 1e-3);
    assert_true(fabs(chains[1].phase_ns - 3.7172e6) < 1e-3);
    assert_true(fabs(chains[0].decay_ns_per_rank - 300e3) < 1e-3);
    assert_true(fabs(chains[1].decay_ns_per_rank - 415.2e3) < 1e-3);
    assert_true(chains_of("exp:10%", chains)); /* a tenth of all time: a ninth of the work */
    assert_true(fabs(chains[0].decay_ns_per_rank - 3e6 / 9.0) < 1e-3);
}

static void other_noise_has_none(void **state)
{
    iw_model_chain chains[2];

    (void)state;
    assert_false(chains_of("pareto:1%,3", chains));
    assert_false(chains_of("bernoulli:1%,3ms", chains));
    assert_false(chains_of("periodic:100Hz,10us", chains));
}

static double largest(double a, double b)
{
    return a > b ? a : b;
}

/* P_i(n+1) = max(P_j(n)) + noise of mean 1, on a ring: how much a step takes in the mean. */
static double growth_of(bool is_both_ways)
{
    double *now = calloc(RANKS, sizeof *now), *next = calloc(RANKS, sizeof *next), sum = 0.0;

    assert_true(now != NULL && next != NULL);
    for (uint64_t step = 0; step < WARM_UP_STEPS + STEPS; step++) {
        double *swapped = next;

        for (uint32_t i = 0; i < RANKS; i++) {
            const struct iwi_draw_id id = {7, 0, IWI_DRAW_TEST, i, 0};
            double latest = largest(now[i], now[(i + RANKS - 1) % RANKS]);

            latest = is_both_ways ? largest(latest, now[(i + 1) % RANKS]) : latest;
            next[i] = latest - log(iwi_draw_unit(id, step));
            sum += step >= WARM_UP_STEPS ? next[i] - now[i] : 0.0;
        }
        next = now;
        now = swapped;
    }
    free(now);
    free(next);
    return sum / RANKS / STEPS;
}

static void the_constants_are_those_of_the_recursion(void **state)
{
    const double one_way = growth_of(false), both_ways = growth_of(true);

    (void)state;
    print_message("growth %.4f one way, %.4f both ways\n", one_way, both_ways);
    assert_true(fabs(one_way / IW_GROWTH_ONE_WAY - 1.0) < 0.005);
    assert_true(fabs(both_ways / IW_GROWTH_BOTH_WAYS - 1.0) < 0.005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_noise_has_a_formula),
        cmocka_unit_test(other_noise_has_none),
        cmocka_unit_test(the_constants_are_those_of_the_recursion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
