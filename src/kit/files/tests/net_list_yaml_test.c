/* Networks whose ranks are placed by a list, in YAML.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/net/net.h"
#include "kit/files/net/net_yaml.h"
#include "support/support.h"

#define COSTS "L: 1us, o: 1us, g: 1us, G: 1ns"
#define LEVELS                                                                          \
    "levels: [{name: socket, ranks: 2, " COSTS "}, {name: node, ranks: 4, " COSTS "}, " \
    "{name: rack, ranks: 16, " COSTS "}, {name: system, " COSTS "}]\n"
#define NICS "nics: {count: 1, bandwidth: 10GB/s, node: node}\n"

static iw_status read_net(struct iwt_log *l, const char *text, const char *level, iw_net *net)
{
    iwt_log_init(l);
    return iwi_net_read_memory(&l->log, "dir/my.yaml", text, strlen(text), level, net);
}

static void a_list_says_the_node_of_each_rank(void **state)
{
    static const uint32_t nodes[] = {7, 7, 0, 3, 3, 3, 0};
    struct iwt_log l;
    iw_net net;

    (void)state;
    assert_ok(read_net(&l, "placement: [7*2, 0, 3 * 3, 0]\n" LEVELS NICS, NULL, &net));
    assert_int_equal(net.placement, IW_PLACEMENT_LIST);
    assert_int_equal(net.list.count, 7);
    assert_int_equal(net.list.level, 1); /* those with NICs */
    assert_memory_equal(net.list.nodes, nodes, sizeof nodes);
    assert_int_equal(iw_net_nodes(&net).ranks, 4);
    assert_int_equal(iw_net_nodes(&net).list.count, 7);
    assert_string_equal(iw_net_level_name(&net, 0), "socket");
    assert_string_equal(iw_net_level_name(&net, 3), "system");
    iwi_net_release(&net);
    assert_null(net.list.nodes);
}

static void without_nics_the_last_level_with_ranks_is_the_node(void **state)
{
    struct iwt_log l;
    iw_net net;

    (void)state;
    assert_ok(read_net(&l, "placement: [0*16, 5]\n" LEVELS, NULL, &net));
    assert_int_equal(net.list.level, 2);
    iwi_net_release(&net);
}

static void one_level_alone_has_no_list(void **state)
{
    struct iwt_log l;
    iw_net net;

    (void)state;
    assert_ok(read_net(&l, "placement: [0, 1]\n" LEVELS, "node", &net));
    assert_null(net.list.nodes);
    assert_int_equal(net.placement, IW_PLACEMENT_BLOCK);
}

static void faults_are_told_with_file_and_line(void **state)
{
    static const struct {
        const char *text;
        iw_status status;
        const char *message;
    } faults[] = {
        {"placement: []\n" LEVELS, IW_ERR_FORMAT, "'dir/my.yaml:1': key 'placement': the list is empty"},
        {"name: x\nplacement: [0, x]\n" LEVELS, IW_ERR_FORMAT,
         "'dir/my.yaml:2': key 'placement': 'x' is not a number of a node"},
        {"placement: [0, 1*x]\n" LEVELS, IW_ERR_FORMAT, "'1*x' is not a number of a node"},
        {"placement: [16777216]\n" LEVELS, IW_ERR_RANGE, "nodes have numbers from 0 to 16777215"},
        {"placement: [0*67108865]\n" LEVELS, IW_ERR_RANGE, "at most 2^26 ranks"},
        {"placement: [0*17]\n" LEVELS, IW_ERR_RANGE,
         "'dir/my.yaml:1': network 'my': the list places more than 16 ranks on rack 0, rank 16 is one too "
         "many"},
        {"placement: [0*5]\n" LEVELS NICS, IW_ERR_RANGE, "more than 4 ranks on node 0"},
        {"placement: [[0], 1]\n" LEVELS, IW_ERR_FORMAT, "key 'placement' needs a single value"},
        {"placement: {a: 0}\n" LEVELS, IW_ERR_FORMAT, "key 'placement' needs a single value"},
        {"placement: cyclic\n" LEVELS, IW_ERR_FORMAT,
         "neither 'block' nor 'round-robin' nor a list of nodes"},
        {"placement: [0]\nlevels: [{name: node, " COSTS "}]\n", IW_ERR_FORMAT,
         "a list of nodes needs a level for the node"},
        {"placement: [0]\nL: 1us\no: 1us\ng: 1us\nG: 1ns\n", IW_ERR_FORMAT,
         "key 'placement' belongs to a network with levels"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct iwt_log l;
        iw_net net;

        assert_status(read_net(&l, faults[i].text, NULL, &net), faults[i].status);
        iwt_assert_logged(&l, faults[i].message);
        assert_int_equal(l.errors, 1);
    }
}

static void a_file_cut_at_any_byte_is_survived(void **state)
{
    static const char text[] =
        LEVELS NICS "memory: ranks=2,domain=40GB/s,core=20GB/s\nplacement: [0, 1*3, 2]\n";

    (void)state;
    for (size_t size = 0; size < sizeof text; size++) {
        struct iwt_log l;
        iw_status status;
        iw_net net;

        iwt_log_init(&l);
        status = iwi_net_read_memory(&l.log, "t.yaml", text, size, NULL, &net);
        assert_int_equal(l.errors, status == IW_OK ? 0 : 1);
        if (status == IW_OK) {
            iwi_net_release(&net);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_says_the_node_of_each_rank),
        cmocka_unit_test(without_nics_the_last_level_with_ranks_is_the_node),
        cmocka_unit_test(one_level_alone_has_no_list),
        cmocka_unit_test(faults_are_told_with_file_and_line),
        cmocka_unit_test(a_file_cut_at_any_byte_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
