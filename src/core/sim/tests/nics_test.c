/* NICs that ranks of a node share, and tapers (docs/explanation/semantics.md, rule 12).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/net/cost.h"
#include "core/net/net.h"
#include "random_program.h"
#include "support/support.h"

/* The example network around sockets of 4 ranks, nodes of 8 and racks of 32; all byte times are 1 ns. */
static iw_net machine(void)
{
    iw_net net = iwt_example_net();

    net.inner_count = 3;
    net.inner[0] = (iw_net_inner){.name = "socket", .ranks = 4, .costs = net.costs};
    net.inner[1] = (iw_net_inner){.name = "node", .ranks = 8, .costs = net.costs};
    net.inner[2] = (iw_net_inner){.name = "rack", .ranks = 32, .costs = net.costs};
    return net;
}

static void assert_shares(const iw_net *net, const int64_t expected[4])
{
    iw_net effective;

    assert_ok(iwi_net_effective(NULL, net, &effective));
    for (uint32_t level = 0; level < 3; level++) {
        assert_int_equal(effective.inner[level].costs.G, expected[level]);
    }
    assert_int_equal(effective.G, expected[3]);
}

/* Two NICs of 0.6 ns: 8 ranks have 2.4 ns each, 5 have 1.5; with rails the fuller rail of 5 has 3 ranks. */
static void active_ranks_share_the_nics_of_their_node(void **state)
{
    static const int64_t all[] = {1000000, 1000000, 2400000, 2400000};
    static const int64_t some[] = {1000000, 1000000, 1500000, 1500000};
    static const int64_t rails[] = {1000000, 1000000, 1800000, 1800000};
    static const int64_t one[] = {1000000, 1000000, 1000000, 1000000}; /* a rank is slower than the NICs */
    iw_net net = machine();

    (void)state;
    net.nics = (iw_net_nics){.count = 2, .node_level = 1, .G = 600000};
    assert_shares(&net, all);
    net.nics.active = 5;
    assert_shares(&net, some);
    net.nics.has_rails = true;
    assert_shares(&net, rails);
    net.nics.active = 1;
    assert_shares(&net, one);
}

/* Without NICs each taper makes G larger for all that leaves its groups; beyond NICs it counts from what they
 * leave to a rank: 2.4 ns, three times. */
static void tapers_multiply_on_the_way_out(void **state)
{
    static const int64_t without[] = {1000000, 2000000, 2000000, 6000000};
    static const int64_t beyond[] = {1000000, 2000000, 2400000, 7200000};
    iw_net net = machine();

    (void)state;
    net.inner[0].taper = 2.0;
    net.inner[2].taper = 3.0;
    assert_shares(&net, without);
    net.nics = (iw_net_nics){.count = 2, .node_level = 1, .G = 600000};
    assert_shares(&net, beyond);
}

static void sharing_again_changes_nothing(void **state)
{
    struct iwt_random random = {11, 0};

    (void)state;
    for (int n = 0; n < 2000; n++) {
        iw_net net = iwt_random_segmented_net(&random), once, twice;

        net.nics.sharing = n % 2 ? IW_NIC_MAX_RATE : IW_NIC_QUEUES;
        memset(&once, 0, sizeof once);
        memset(&twice, 0, sizeof twice);
        assert_ok(iwi_net_effective(NULL, &net, &once));
        assert_ok(iw_net_check(NULL, &once)); /* segments rise */
        assert_ok(iwi_net_effective(NULL, &once, &twice));
        for (uint32_t level = 0; level <= net.inner_count; level++) {
            for (uint64_t bytes = 0; bytes < 600; bytes += 7) {
                const struct iwi_cost a = iwi_cost_at(&once, level, bytes);
                const struct iwi_cost b = iwi_cost_at(&twice, level, bytes);
                const struct iwi_cost described = iwi_cost_at(&net, level, bytes);

                assert_int_equal(a.wire, b.wire);
                assert_int_equal(a.gap, b.gap);
                assert_true(a.wire >= described.wire && a.gap >= described.gap);
            }
        }
    }
}

/* ---- ends ---- */

static void assert_ends(const struct iwt_builder *b, const iw_net *net, const iw_time *expected_ns)
{
    iw_program *program = iwt_program(b);

    for (int engine = IW_ENGINE_AUTO; engine <= IW_ENGINE_FLOW; engine++) {
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        iw_sim_result *result;

        if (engine == IW_ENGINE_FLOW && net->nics.sharing == IW_NIC_QUEUES) {
            continue;
        }
        opts.engine = (iw_engine)engine;
        result = iwt_run(program, net, NULL, &opts);
        for (uint32_t rank = 0; rank < result->ranks; rank++) {
            assert_int_equal(result->end_ps[rank], expected_ns[rank] * IW_PS_PER_NS);
        }
        iw_sim_result_free(result);
    }
    iw_program_free(program);
}

/* Each rank of the first node sends 11 bytes to its counterpart `distance` ranks away. */
static void assert_pairs(const iw_net *net, uint32_t distance, iw_time end_ns)
{
    iw_time ends[64] = {0};
    struct iwt_builder b;

    iwt_builder_init(&b, distance + 8);
    for (uint32_t rank = 0; rank < 8; rank++) {
        iwt_send(&b, rank, rank + distance, 11, 0);
        iwt_recv(&b, rank + distance, rank, 11, 0);
        ends[rank] = 2;
        ends[rank + distance] = end_ns;
    }
    assert_ends(&b, net, ends);
    iwt_builder_release(&b);
}

/* The examples of rule 12: 2 + 10 + 10 G + 2. */
static void pairs_of_ranks_take_the_rate_that_is_left_to_them(void **state)
{
    iw_net net = machine();

    (void)state;
    net.nics = (iw_net_nics){.count = 1, .node_level = 1, .G = 1000000};
    assert_pairs(&net, 8, 94);
    net.inner[2].taper = 2.0;
    assert_pairs(&net, 8, 94);
    assert_pairs(&net, 32, 174);
    net.nics.count = 2;
    assert_pairs(&net, 8, 54);
    net.nics.active = 5;
    net.nics.has_rails = true;
    assert_pairs(&net, 8, 44);
}

/* ---- faults ---- */

static void faults_of_nics_and_tapers_are_refused(void **state)
{
    static const struct {
        iw_net_nics nics;
        double taper; /* of nodes */
        const char *message;
    } faults[] = {
        {{.count = 1, .node_level = 3}, 0.0, "no level for the node"},
        {{.count = 1025, .node_level = 1}, 0.0, "1025 NICs in a node are more than 1024"},
        {{.count = 1, .node_level = 1, .active = 9}, 0.0, "9 ranks of a node of 8 cannot be active"},
        {{.count = 1, .node_level = 1}, 2.0, "leaving a node uses its NICs:"},
        {{.count = 1, .node_level = 1, .G = -1}, 0.0, "G of its NICs is negative"},
        {{.count = 1, .node_level = 1, .G = 1000000000}, 0.0, "a byte takes more than 1 us"},
        {{.count = 0}, 0.5, "the taper of level 'node' is not in 1 ... 1000"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        iw_net net = machine(), effective;
        struct iwt_log l;

        net.nics = faults[i].nics;
        net.inner[1].taper = faults[i].taper;
        iwt_log_init(&l);
        assert_status(iwi_net_effective(&l.log, &net, &effective), IW_ERR_RANGE);
        iwt_assert_logged(&l, faults[i].message);
    }
}

/* 1 ns a byte out of a node, a thousand times. */
static void a_taper_to_just_1_us_a_byte_is_allowed(void **state)
{
    static const int64_t most[] = {1000000, 1000000000, 1000000000, 1000000000};
    iw_net net = machine();

    (void)state;
    net.inner[0].taper = 1000.0;
    assert_shares(&net, most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(active_ranks_share_the_nics_of_their_node),
        cmocka_unit_test(tapers_multiply_on_the_way_out),
        cmocka_unit_test(sharing_again_changes_nothing),
        cmocka_unit_test(pairs_of_ranks_take_the_rate_that_is_left_to_them),
        cmocka_unit_test(faults_of_nics_and_tapers_are_refused),
        cmocka_unit_test(a_taper_to_just_1_us_a_byte_is_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
