/* Ranks placed by a list (docs/explanation/semantics.md, rule 11): lists that spell another placement are
 * that placement, engines agree on random ones, and lists that cannot be meant are refused.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/net/net.h"
#include "random_program.h"
#include "support/support.h"

/* ---- lists that spell another placement ---- */

/* A network with levels, which often has NICs. */
static iw_net random_levels(struct iwt_random *random, iw_placement placement)
{
    iw_net net = iwt_random_net(random);

    while (net.inner_count == 0) {
        net = iwt_random_net(random);
    }
    net.placement = placement;
    return net;
}

/* The same network with its placement written down. */
static iw_net spelled(const iw_net *net, uint32_t ranks)
{
    const uint32_t level = net->nics.count > 0 ? net->nics.node_level : net->inner_count - 1;
    const uint32_t of_node = net->inner[level].ranks, nodes = (ranks + of_node - 1) / of_node;
    iw_net list = *net;

    list.placement = IW_PLACEMENT_LIST;
    list.list = (iw_node_list){ranks, level, calloc(ranks, sizeof *list.list.nodes)};
    assert_non_null(list.list.nodes);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        list.list.nodes[rank] = net->placement == IW_PLACEMENT_BLOCK ? rank / of_node : rank % nodes;
    }
    return list;
}

static iw_program *make(const char *name, const iw_net *net, uint32_t ranks, uint64_t bytes)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    pattern.ranks = ranks;
    pattern.bytes = bytes;
    pattern.repeat = 2;
    pattern.compute_ps = 5000;
    pattern.nodes = iw_net_nodes(net);
    return iw_program_from_pattern(NULL, name, &pattern, &program) == IW_OK ? program : NULL;
}

static void assert_equal(const iw_sim_result *a, const iw_sim_result *b, const char *what)
{
    if (memcmp(a->end_ps, b->end_ps, a->trials * a->ranks * sizeof *a->end_ps) != 0 ||
        a->noiseless_ps != b->noiseless_ps) {
        fail_msg("%s on %u ranks differs", what, a->ranks);
    }
}

static void compare(const char *name, const iw_net *net, uint32_t ranks, struct iwt_random *random)
{
    const uint64_t bytes = iwt_below(random, 500);
    iw_net list = spelled(net, ranks);
    iw_program *one = make(name, net, ranks, bytes), *other = make(name, &list, ranks, bytes);
    iw_noise *noise = iwt_random_noise(random);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    opts.trials = 2;
    opts.rendezvous = iwt_below(random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
    for (int engine = 0; engine < 2 && one != NULL && other != NULL; engine++) {
        iw_sim_result *by_rule, *by_list;

        opts.engine = engine == 0 ? IW_ENGINE_EVENT : IW_ENGINE_FLOW;
        by_rule = iwt_run(one, net, noise, &opts);
        by_list = iwt_run(other, &list, noise, &opts);
        assert_equal(by_rule, by_list, name);
        iw_sim_result_free(by_rule);
        iw_sim_result_free(by_list);
    }
    assert_true((one == NULL) == (other == NULL));
    iw_program_free(one);
    iw_program_free(other);
    iw_noise_free(noise);
    iwi_net_release(&list);
}

static void a_list_that_spells_a_placement_is_that_placement(void **state)
{
    struct iwt_random random = {3, 0};
    const char *op, *algorithm, *summary;

    (void)state;
    for (size_t index = 0; iw_algorithm_info(index, &op, &algorithm, &summary); index++) {
        for (int k = 0; k < 4; k += (!IWT_IS_SLOW ? 1 : 2)) {
            const iw_net net = random_levels(&random, k % 2 ? IW_PLACEMENT_BLOCK : IW_PLACEMENT_ROUND_ROBIN);
            const uint32_t ranks =
                k < 2 ? UINT32_C(1) << iwt_below(&random, 8) : 2 * (1 + (uint32_t)iwt_below(&random, 40));
            char name[64];

            snprintf(name, sizeof name, "%s:%s", op, algorithm);
            compare(name, &net, ranks, &random);
        }
    }
}

/* NICs with queues and memory that is shared: the event engine alone. */
static void queues_and_memory_go_by_the_list(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200 / IWT_FEWER; seed++) {
        struct iwt_random random = {seed, 0};
        iw_net net = random_levels(&random, seed % 2 ? IW_PLACEMENT_BLOCK : IW_PLACEMENT_ROUND_ROBIN), list;
        const uint32_t ranks = 2 + (uint32_t)iwt_below(&random, 60);
        iw_program *program = make("halo2d+allreduce", &net, ranks, 50);
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        iw_sim_result *by_rule, *by_list;

        net.nics.sharing = IW_NIC_QUEUES;
        net.memory = (iw_memory){.ranks = net.inner[0].ranks,
                                 .core_bytes_per_s = UINT64_C(2000000000),
                                 .domain_bytes_per_s = UINT64_C(3000000000)};
        list = spelled(&net, ranks);
        program->compute_bytes = 100;
        opts.engine = IW_ENGINE_EVENT;
        by_rule = iwt_run(program, &net, NULL, &opts);
        by_list = iwt_run(program, &list, NULL, &opts);
        assert_equal(by_rule, by_list, "halo2d+allreduce");
        iw_sim_result_free(by_rule);
        iw_sim_result_free(by_list);
        iw_program_free(program);
        iwi_net_release(&list);
    }
}

/* ---- random lists ---- */

static void engines_agree_on_random_lists(void **state)
{
    struct iwt_random random = {4, 0};
    const char *op, *algorithm, *summary;

    (void)state;
    for (size_t index = 0; iw_algorithm_info(index, &op, &algorithm, &summary); index++) {
        for (int k = 0; k < 4; k += (!IWT_IS_SLOW ? 1 : 2)) {
            iw_net net = random_levels(&random, IW_PLACEMENT_BLOCK);
            const uint32_t ranks =
                k < 2 ? UINT32_C(1) << iwt_below(&random, 8) : 2 + (uint32_t)iwt_below(&random, 80);
            iw_sim_opts opts = IW_SIM_OPTS_INIT;
            iw_noise *noise = iwt_random_noise(&random);
            iw_program *program;
            char name[64];

            snprintf(name, sizeof name, "%s:%s", op, algorithm);
            iwt_place_randomly(&random, ranks, &net);
            program = make(name, &net, ranks, iwt_below(&random, 500));
            opts.trials = 3;
            opts.lanes = 2;
            if (program != NULL) {
                iw_sim_result *event, *flow;

                opts.engine = IW_ENGINE_EVENT;
                event = iwt_run(program, &net, noise, &opts);
                opts.engine = IW_ENGINE_FLOW;
                flow = iwt_run(program, &net, noise, &opts);
                assert_equal(event, flow, name);
                iw_sim_result_free(event);
                iw_sim_result_free(flow);
            }
            iw_program_free(program);
            iw_noise_free(noise);
            iwi_net_release(&net);
        }
    }
}

/* A program may have fewer ranks than the list: those behind it change nothing. */
static void the_rest_of_a_list_is_not_looked_at(void **state)
{
    struct iwt_random random = {5, 0};

    (void)state;
    for (int n = 0; n < 100 / IWT_FEWER; n++) {
        const uint32_t ranks = 1 + (uint32_t)iwt_below(&random, 40);
        iw_net all = random_levels(&random, IW_PLACEMENT_BLOCK), first;
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        iw_sim_result *of_all, *of_first;
        iw_program *one, *other;

        iwt_place_randomly(&random, ranks + 30, &all);
        first = all;
        first.list.count = ranks;
        one = make("allreduce:two-level", &all, ranks, 77);
        other = make("allreduce:two-level", &first, ranks, 77);
        of_all = iwt_run(one, &all, NULL, &opts);
        of_first = iwt_run(other, &first, NULL, &opts);
        assert_equal(of_all, of_first, "allreduce:two-level");
        iw_sim_result_free(of_all);
        iw_sim_result_free(of_first);
        iw_program_free(one);
        iw_program_free(other);
        iwi_net_release(&all);
    }
}

/* ---- lists that cannot be meant ---- */

static void assert_refused(const iw_net *net, uint32_t ranks, const char *message)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    iw_program *program = NULL;
    iw_pattern pattern = IW_PATTERN_INIT;
    struct iwt_log l;

    pattern.ranks = ranks;
    assert_ok(iw_program_from_pattern(NULL, "barrier", &pattern, &program));
    iwt_log_init(&l);
    assert_status(iw_simulate(&l.log, program, net, NULL, &opts, &result), IW_ERR_RANGE);
    iwt_assert_logged(&l, message);
    assert_int_equal(l.errors, 1);
    iw_program_free(program);
}

static void impossible_lists_are_refused(void **state)
{
    uint32_t nodes[] = {0, 1, 1, 0, 0};
    iw_net net = iwt_example_net();

    (void)state;
    net.inner_count = 1;
    net.inner[0] = (iw_net_inner){.name = "node", .ranks = 2, .costs = net.costs};
    net.placement = IW_PLACEMENT_LIST;
    assert_refused(&net, 2, "needs a list of placements");
    net.list = (iw_node_list){5, 1, nodes};
    assert_refused(&net, 2, "needs a list of placements");
    net.list.level = 0;
    assert_refused(&net, 6, "the list places 5 ranks of 6");
    assert_refused(&net, 5, "the list places more than 2 ranks on node 0, rank 4 is one too many");
    nodes[4] = IW_NODES_MAX;
    assert_refused(&net, 4, "the list places rank 4 on node 16777216, but numbers are 0 to 16777215");
    nodes[4] = 1000;
    net.inner[0].ranks = UINT32_C(1) << 30;
    assert_refused(&net, 4, "the list places rank 4 on node 1000, but numbers are 0 to 2");
}

static void programs_refuse_impossible_lists_too(void **state)
{
    uint32_t nodes[] = {0, 1, 1, 1};
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    pattern.nodes = (iw_nodes){2, IW_PLACEMENT_LIST, {4, 0, nodes}};
    pattern.ranks = 5;
    assert_status(iw_program_from_pattern(&l.log, "barrier:two-level", &pattern, &program), IW_ERR_RANGE);
    iwt_assert_logged(&l, "places 4 ranks of 5");
    pattern.ranks = 4;
    assert_status(iw_program_from_pattern(&l.log, "barrier:two-level", &pattern, &program), IW_ERR_RANGE);
    iwt_assert_logged(&l, "more than 2 ranks on node 1");
    pattern.nodes.list.nodes = NULL;
    assert_status(iw_program_from_pattern(&l.log, "barrier:two-level", &pattern, &program), IW_ERR_RANGE);
    iwt_assert_logged(&l, "places 0 ranks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_that_spells_a_placement_is_that_placement),
        cmocka_unit_test(queues_and_memory_go_by_the_list),
        cmocka_unit_test(engines_agree_on_random_lists),
        cmocka_unit_test(the_rest_of_a_list_is_not_looked_at),
        cmocka_unit_test(impossible_lists_are_refused),
        cmocka_unit_test(programs_refuse_impossible_lists_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
