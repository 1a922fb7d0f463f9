/* Nodes of different speed: the slowest decides, and which they are follows from the seed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/node_speed.h"

#include <math.h>
#include <stdlib.h>

#include "support/support.h"

enum { RANKS = 64, PER_NODE = 4, NODES = RANKS / PER_NODE, STEPS = 5 };

static int64_t *factors_of(const char *spec, uint32_t ranks, uint64_t seed, uint32_t replaced)
{
    iw_node_speeds *speeds = NULL;
    int64_t *factors = NULL;

    assert_ok(iw_node_speeds_new(NULL, spec, PER_NODE, &speeds));
    assert_ok(iwi_node_factors(NULL, speeds, ranks, seed, 0, replaced, &factors));
    iw_node_speeds_free(speeds);
    return factors;
}

/* Steps of 1 ms that end with a barrier, whose messages cost nothing: each waits for the slowest node. */
static void a_synchronised_program_takes_as_long_as_its_slowest_node(void **state)
{
    static const char *const specs[] = {"normal:3%", "slow:1,1.25", "slow:3,2", "slow:0,5"};
    const iw_net free_net = {.name = "free", .S_bytes = UINT64_MAX};
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    (void)state;
    pattern.ranks = RANKS;
    pattern.compute_ps = IW_PS_PER_MS;
    pattern.repeat = STEPS;
    assert_ok(iw_program_from_pattern(NULL, "barrier:dissemination", &pattern, &program));
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        int64_t *factors = factors_of(specs[i], RANKS, 7, 0), slowest = 0;
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        iw_node_speeds *speeds = NULL;

        for (size_t node = 0; node < NODES; node++) {
            slowest = factors[node] > slowest ? factors[node] : slowest;
        }
        assert_ok(iw_node_speeds_new(NULL, specs[i], PER_NODE, &speeds));
        opts.seed = 7;
        opts.node_speeds = speeds;
        for (int engine = IW_ENGINE_EVENT; engine <= IW_ENGINE_FLOW; engine++) {
            iw_sim_result *result = NULL;

            opts.engine = (iw_engine)engine;
            assert_ok(iw_simulate(NULL, program, &free_net, NULL, &opts, &result));
            assert_int_equal(result->noiseless_ps, STEPS * IW_PS_PER_MS);
            assert_int_equal(result->makespan_ps[0], STEPS * slowest); /* a billionth of 1 ms is 1 ps */
            assert_true(fabs(result->slowest_node - (double)slowest / IWI_FACTOR_UNIT) < 1e-12);
            iw_sim_result_free(result);
        }
        iw_node_speeds_free(speeds);
        free(factors);
    }
    iw_program_free(program);
}

static void as_many_nodes_are_slow_as_were_asked_for(void **state)
{
    uint32_t firsts = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        int64_t *factors = factors_of("slow:4,1.5", RANKS, seed, 0),
                *repaired = factors_of("slow:4,1.5", RANKS, seed, 3);
        uint32_t slow = 0, left = 0;

        for (size_t node = 0; node < NODES; node++) {
            assert_true(factors[node] == IWI_FACTOR_UNIT || factors[node] == IWI_FACTOR_UNIT / 2 * 3);
            slow += factors[node] != IWI_FACTOR_UNIT;
            left += repaired[node] != IWI_FACTOR_UNIT;
        }
        assert_int_equal(slow, 4);
        assert_int_equal(left, 1);
        firsts += factors[0] != IWI_FACTOR_UNIT;
        free(factors);
        free(repaired);
    }
    assert_in_range(firsts, 20, 80); /* 4 in 16 of 200: 50, five standard deviations are 31 */
}

static void more_slow_nodes_than_there_are_are_refused(void **state)
{
    iw_node_speeds *speeds = NULL;
    int64_t *factors = NULL;

    (void)state;
    assert_ok(iw_node_speeds_new(NULL, "slow:5,1.5", PER_NODE, &speeds));
    assert_status(iwi_node_factors(NULL, speeds, 4 * PER_NODE, 1, 0, 0, &factors), IW_ERR_RANGE);
    assert_ok(iwi_node_factors(NULL, speeds, 4 * PER_NODE + 1, 1, 0, 0, &factors));
    free(factors);
    iw_node_speeds_free(speeds);
}

/* A fourth of 1 ps is none, half of one is one; the largest work has no overflow. */
static void work_is_rounded_to_the_nearest_picosecond(void **state)
{
    (void)state;
    assert_int_equal(iwi_scaled_work(5, IWI_FACTOR_UNIT / 4 * 5), 6);      /* 6.25 */
    assert_int_equal(iwi_scaled_work(2, IWI_FACTOR_UNIT / 4 * 5), 3);      /* 2.5 */
    assert_int_equal(iwi_scaled_work(0, IWI_FACTOR_UNIT * INT64_C(7)), 0); /* no work stays none */
    assert_int_equal(iwi_scaled_work(INT64_MAX / 4, IWI_FACTOR_UNIT * INT64_C(100)), INT64_MAX / 2);
}

static void bad_speeds_are_refused(void **state)
{
    static const struct {
        const char *spec;
        iw_status status;
    } bad[] = {{"slow:3", IW_ERR_FORMAT},    {"slow:3,0", IW_ERR_FORMAT}, {"slow:x,2", IW_ERR_FORMAT},
               {"normal:50%", IW_ERR_RANGE}, {"normal:", IW_ERR_FORMAT},  {"no/such/file", IW_ERR_IO}};
    iw_node_speeds *speeds = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_status(iw_node_speeds_new(NULL, bad[i].spec, 1, &speeds), bad[i].status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_synchronised_program_takes_as_long_as_its_slowest_node),
        cmocka_unit_test(as_many_nodes_are_slow_as_were_asked_for),
        cmocka_unit_test(more_slow_nodes_than_there_are_are_refused),
        cmocka_unit_test(work_is_rounded_to_the_nearest_picosecond),
        cmocka_unit_test(bad_speeds_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
