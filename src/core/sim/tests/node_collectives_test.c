/* Collectives that use nodes on a network with levels: how long they take without noise.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A hop of n bytes takes o + L + (n - 1) G + o. On 2^a nodes of 2^b ranks data takes b hops to the leader, as
 * many back, and a among the leaders; every combination adds the reduction. What else ranks send waits for no
 * longer than these hops.
 */
#include <string.h>

#include "builder.h"
#include "support/support.h"

enum { A = 3, B = 2, RANKS = 1 << (A + B), BYTES = 100, REDUCE_PS = 200 * BYTES };

static iw_net two_levels(void)
{
    iw_net net = {.name = "two", .S_bytes = UINT64_MAX, .inner_count = 1};

    net.costs = (iw_net_costs){.L_ps = 7000, .o_send_ps = 500, .o_recv_ps = 500, .g_ps = 900, .G = 40000};
    net.inner[0] = (iw_net_inner){.name = "node", .ranks = 1 << B};
    net.inner[0].costs =
        (iw_net_costs){.L_ps = 300, .o_send_ps = 100, .o_recv_ps = 100, .g_ps = 50, .G = 5000};
    return net;
}

static iw_time hop(const iw_net_costs *costs, uint64_t bytes)
{
    return costs->o_send_ps + costs->L_ps + (iw_time)(bytes - 1) * costs->G / 1000 + costs->o_recv_ps;
}

static void expect(const char *operation, iw_placement placement, iw_time expected_ps)
{
    const iw_engine engines[] = {IW_ENGINE_EVENT, IW_ENGINE_FLOW};
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;
    iw_net net = two_levels();

    net.placement = placement;
    pattern.ranks = RANKS;
    pattern.bytes = BYTES;
    pattern.reduce = 200 * 1000;
    pattern.nodes = iw_net_nodes(&net);
    assert_ok(iw_program_from_pattern(NULL, operation, &pattern, &program));
    for (size_t i = 0; i < 2; i++) {
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        iw_sim_result *result;

        opts.engine = engines[i];
        result = iwt_run(program, &net, NULL, &opts);
        assert_int_equal(result->noiseless_ps, expected_ps);
        iw_sim_result_free(result);
    }
    iw_program_free(program);
}

static void two_levels_take_the_hops_of_both(void **state)
{
    const iw_net net = two_levels();
    const iw_time in = hop(&net.inner[0].costs, BYTES), out = hop(&net.costs, BYTES);

    (void)state;
    for (int p = 0; p < 2; p++) {
        const iw_placement placement = p == 0 ? IW_PLACEMENT_BLOCK : IW_PLACEMENT_ROUND_ROBIN;

        expect("barrier:two-level", placement, 2 * B * hop(&net.inner[0].costs, 1) + A * hop(&net.costs, 1));
        expect("bcast:two-level", placement, A * out + B * in);
        expect("reduce:two-level", placement, B * (in + REDUCE_PS) + A * (out + REDUCE_PS));
        expect("allreduce:two-level", placement, 2 * B * in + A * out + (A + B) * REDUCE_PS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_levels_take_the_hops_of_both),
    };

    return cmocka_run_group_tests_name("node_collectives", tests, NULL, NULL);
}
