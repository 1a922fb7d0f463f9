/* What is said of a machine is what simulations make of it: messages between two ranks at each level.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/machine.h>

#include "core/sim/tests/random_program.h"
#include "support/support.h"

/* How long a message takes between two ranks that meet at that level: a list puts them there. */
static iw_time simulated(const iw_net *net, uint32_t level, uint64_t bytes)
{
    uint32_t groups[2] = {0, level == 0 ? 0 : net->inner[level - 1].ranks / net->inner[0].ranks};
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_net placed = *net;
    struct iwt_builder b;
    iw_program *program;
    iw_sim_result *result;
    iw_time end;

    placed.placement = IW_PLACEMENT_LIST;
    placed.list = (iw_node_list){2, 0, groups};
    iwt_builder_init(&b, 2);
    iwt_send(&b, 0, 1, bytes, 0);
    iwt_recv(&b, 1, 0, bytes, 0);
    program = iwt_program(&b);
    result = iwt_run(program, &placed, NULL, &opts);
    end = result->end_ps[1];
    iw_sim_result_free(result);
    iw_program_free(program);
    iwt_builder_release(&b);
    return end;
}

static void assert_machine_is_simulated(const iw_net *net)
{
    iw_net alone = *net;
    iw_net_machine machine;

    assert_ok(iw_net_machine_describe(NULL, net, &machine));
    assert_int_equal(machine.level_count, net->inner_count + 1);
    alone.nics.active = 1;
    for (uint32_t i = 0; i < net->inner_count; i++) {
        alone.inner[i].taper = 0.0;
    }
    for (uint32_t i = 0; i <= net->inner_count; i++) {
        const iw_net_machine_level *level = &machine.levels[i];

        assert_string_equal(level->name, iw_net_level_name(net, i));
        assert_int_equal(level->small_ps, simulated(&alone, i, 8));
        assert_int_equal(level->large_ps, simulated(&alone, i, UINT64_C(1) << 20));
        assert_int_equal(level->shared_ps, simulated(net, i, UINT64_C(1) << 20));
    }
}

static void machines_that_are_built_in_take_what_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; iw_net_builtin_name(i) != NULL; i++) {
        assert_machine_is_simulated(iw_net_builtin(iw_net_builtin_name(i)));
    }
}

static void random_machines_take_what_is_said(void **state)
{
    struct iwt_random random = {6, 0};

    (void)state;
    for (int n = 0; n < 300 / IWT_FEWER; n++) {
        iw_net net = iwt_random_segmented_net(&random);

        net.noise.point_count = 0;
        assert_machine_is_simulated(&net);
    }
}

static void parts_and_nodes_are_counted(void **state)
{
    uint32_t nodes[] = {7, 7, 2, 7, 0, 2};
    iw_net net = *iw_net_builtin("slingshot-dragonfly");
    iw_net_machine machine;

    (void)state;
    net.placement = IW_PLACEMENT_LIST;
    net.list = (iw_node_list){6, 1, nodes};
    assert_ok(iw_net_machine_describe(NULL, &net, &machine));
    assert_int_equal(machine.placed_ranks, 6);
    assert_int_equal(machine.placed_nodes, 3);
    assert_int_equal(machine.active, 128);
    assert_int_equal(machine.levels[1].parts, 2);
    assert_int_equal(machine.levels[2].parts, 128);
    assert_int_equal(machine.levels[3].ranks, 0);
    assert_true(machine.levels[1].is_node);
    net.nics.sharing = IW_NIC_QUEUES;
    assert_ok(iw_net_machine_describe(NULL, &net, &machine));
    assert_int_equal(machine.active, 0);
    net.list.nodes = NULL;
    assert_status(iw_net_machine_describe(NULL, &net, &machine), IW_ERR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_that_are_built_in_take_what_is_said),
        cmocka_unit_test(random_machines_take_what_is_said),
        cmocka_unit_test(parts_and_nodes_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
