/* Built-in networks, scaling, checking.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <math.h>
#include <string.h>

#include <idlewave/files.h>
#include <idlewave/net.h>

static void the_first_networks_are_those_of_table_3(void **state)
{
    static const struct {
        const char *name;
        iw_time L, o, g;
        iw_fs_per_byte G;
    } table[] = {
        {"chic", 5330000, 770000, 1560000, 1250000}, {"altix", 1640000, 990000, 900000, 1230000},
        {"cnl", 4770000, 2870000, 2040000, 2670000}, {"zeptoos", 8670000, 3420000, 2810000, 2690000},
        {"xt4", 9900000, 1750000, 3400000, 580000},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const iw_net *net = iw_net_builtin(table[i].name);

        assert_string_equal(iw_net_builtin_name(i), table[i].name);
        assert_non_null(net);
        assert_string_equal(net->name, table[i].name);
        assert_int_equal(net->L_ps, table[i].L);
        assert_int_equal(net->o_send_ps, table[i].o);
        assert_int_equal(net->o_recv_ps, table[i].o);
        assert_int_equal(net->g_ps, table[i].g);
        assert_int_equal(net->G, table[i].G);
        assert_int_equal(net->O, 0);
        assert_int_equal(net->S_bytes, 66560);
        assert_ok(iw_net_check(NULL, net));
    }
}

/* Inside, a message never takes longer; a rank alone gets no more of a NIC than the NIC has. */
static void machines_are_faster_inside(void **state)
{
    static const char *const names[] = {"hdr-fat-tree", "ndr-fat-tree", "slingshot-dragonfly",
                                        "gpu-node-nvlink"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const iw_net *net = iw_net_builtin(names[i]);

        assert_string_equal(iw_net_builtin_name(5 + i), names[i]);
        assert_ok(iw_net_check(NULL, net));
        assert_in_range(net->inner_count, 1, 3);
        for (uint32_t k = 0; k < net->inner_count; k++) {
            const iw_net_costs *outside = k + 1 < net->inner_count ? &net->inner[k + 1].costs : &net->costs;

            assert_true(net->inner[k].costs.L_ps < outside->L_ps);
            assert_true(net->inner[k].costs.o_send_ps <= outside->o_send_ps);
        }
        assert_true(net->nics.G <= net->G);
    }
    assert_null(iw_net_builtin_name(5 + sizeof names / sizeof names[0]));
}

static void an_unknown_name_gives_null(void **state)
{
    (void)state;
    assert_null(iw_net_builtin("CHiC"));
    assert_null(iw_net_builtin(""));
}

static void scaling_divides_L_g_and_G_only(void **state)
{
    iw_net net = *iw_net_builtin("chic");

    (void)state;
    net.O = 77;
    assert_ok(iw_net_scale(NULL, &net, 10));
    assert_int_equal(net.L_ps, 533000);
    assert_int_equal(net.g_ps, 156000);
    assert_int_equal(net.G, 125000);
    assert_int_equal(net.o_send_ps, 770000);
    assert_int_equal(net.o_recv_ps, 770000);
    assert_int_equal(net.O, 77);
    assert_int_equal(net.S_bytes, 66560);
}

static void scaling_rounds_to_nearest(void **state)
{
    iw_net net = {.name = "n", .L_ps = 5, .g_ps = 4, .G = 1};

    (void)state;
    assert_ok(iw_net_scale(NULL, &net, 3));
    assert_int_equal(net.L_ps, 2);
    assert_int_equal(net.g_ps, 1);
    assert_int_equal(net.G, 0);
}

static void factors_that_make_no_sense_are_refused(void **state)
{
    const double factors[] = {0, -1, NAN, INFINITY, 1e-300};
    iw_net net = *iw_net_builtin("chic");

    (void)state;
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        struct iwt_log l;

        iwt_log_init(&l);
        assert_status(iw_net_scale(&l.log, &net, factors[i]), IW_ERR_RANGE);
        assert_int_equal(l.errors, 1);
        assert_int_equal(net.L_ps, 5330000);
    }
}

static void negative_and_absurd_values_are_named(void **state)
{
    const iw_net good = *iw_net_builtin("chic");
    iw_net nets[] = {good, good, good, good, good, good, good};
    static const char *const messages[] = {
        "network 'chic': L is negative",     "network 'chic': o_s is negative",
        "network 'chic': o_r is negative",   "network 'chic': g is negative",
        "network 'chic': G is negative",     "network 'chic': O is negative",
        "network 'chic': L is more than 1 h"};

    (void)state;
    nets[0].L_ps = -1;
    nets[1].o_send_ps = -1;
    nets[2].o_recv_ps = -1;
    nets[3].g_ps = -1;
    nets[4].G = -1;
    nets[5].O = -1;
    nets[6].L_ps = INT64_MAX;
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
        struct iwt_log l;

        iwt_log_init(&l);
        assert_status(iw_net_check(&l.log, &nets[i]), IW_ERR_RANGE);
        iwt_assert_logged(&l, messages[i]);
    }
}

/* ---- segments ---- */

/* At 100 bytes the head costs 1000 + 99 * 4 = 1396 on the way, its gap is 500 + 99 = 599; all in ps and fs.
 */
static iw_net with_segment(void)
{
    return (iw_net){.name = "n",
                    .L_ps = 600,
                    .o_send_ps = 200,
                    .o_recv_ps = 200,
                    .g_ps = 500,
                    .G = 1000,
                    .O = 1500,
                    .S_bytes = 100,
                    .segment_count = 1,
                    .segments = {{.from_bytes = 101,
                                  .L_ps = 1300,
                                  .o_send_ps = 50,
                                  .o_recv_ps = 60,
                                  .g_ps = 650,
                                  .G = 2000,
                                  .O = 0}}};
}

static void segments_out_of_order_or_absurd_are_named(void **state)
{
    iw_net nets[5];
    static const char *const messages[] = {
        "network 'n': segments must begin at ascending sizes of at least 2 bytes, but number 1 begins at 1",
        "but number 2 begins at 101",
        "network 'n': L is negative",
        "network 'n': a message of 101 bytes, where segment 1 begins, must not take less time",
        "network 'n': 25 segments are more than 24",
    };

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        nets[i] = with_segment();
    }
    assert_ok(iw_net_check(NULL, &nets[0]));
    nets[0].segments[0].from_bytes = 1;
    nets[1].segments[1] = nets[1].segments[0];
    nets[1].segment_count = 2;
    nets[2].segments[0].L_ps = -5;
    nets[3].segments[0].L_ps = 1000; /* 50 + 1000 + 60 < 1396 */
    nets[4].segment_count = 25;
    for (size_t i = 0; i < 5; i++) {
        struct iwt_log l;

        iwt_log_init(&l);
        assert_status(iw_net_check(&l.log, &nets[i]), IW_ERR_RANGE);
        iwt_assert_logged(&l, messages[i]);
        assert_int_equal(l.errors, 1);
    }
}

static void a_gap_that_falls_between_segments_is_refused(void **state)
{
    iw_net net = with_segment();

    (void)state;
    net.segments[0].g_ps = 598; /* one less than at 100 bytes */
    assert_status(iw_net_check(NULL, &net), IW_ERR_RANGE);
    net.segments[0].g_ps = 599;
    assert_ok(iw_net_check(NULL, &net));
}

/* Ten times faster, 100 bytes take 60 + 9.9 -> 10 of G, and 2 * (200 + 148.5 -> 149) of CPU: 768. 101 bytes
 * would take 130 + 110 = 240, so L is raised by 528. The gap of 100 bytes is 60; 65 is above it. */
static void scaling_keeps_times_rising_with_the_size(void **state)
{
    iw_net net = with_segment();

    (void)state;
    assert_ok(iw_net_scale(NULL, &net, 10));
    assert_int_equal(net.L_ps, 60);
    assert_int_equal(net.segments[0].L_ps, 658);
    assert_int_equal(net.segments[0].g_ps, 65);
    assert_int_equal(net.segments[0].G, 200);
    assert_int_equal(net.segments[0].o_send_ps, 50);
    assert_ok(iw_net_check(NULL, &net));
}

/* ---- nodes of another size ---- */

static void nodes_of_another_size_keep_their_parts(void **state)
{
    iw_net net = *iw_net_builtin("slingshot-dragonfly"); /* 64, 128, 16384 */

    (void)state;
    net.memory = (iw_memory){.ranks = 32, .core_bytes_per_s = 1, .domain_bytes_per_s = 2};
    net.nics.active = 100;
    assert_ok(iw_net_resize_nodes(NULL, &net, 8));
    assert_int_equal(net.inner_count, 3);
    assert_int_equal(net.inner[0].ranks, 4);
    assert_int_equal(net.inner[1].ranks, 8);
    assert_int_equal(net.inner[2].ranks, 1024);
    assert_int_equal(net.memory.ranks, 2);
    assert_int_equal(net.nics.active, 8);
    assert_int_equal(iw_net_nodes(&net).ranks, 8);
}

static void parts_of_one_rank_are_left_out(void **state)
{
    iw_net net = *iw_net_builtin("slingshot-dragonfly");

    (void)state;
    assert_ok(iw_net_resize_nodes(NULL, &net, 2));
    assert_int_equal(net.inner_count, 2);
    assert_string_equal(net.inner[0].name, "node");
    assert_int_equal(net.nics.node_level, 0);
    assert_int_equal(net.inner[1].ranks, 256);
    net = *iw_net_builtin("slingshot-dragonfly");
    assert_ok(iw_net_resize_nodes(NULL, &net, 1));
    assert_int_equal(net.inner_count, 2);
    assert_int_equal(net.inner[0].ranks, 1);
    assert_int_equal(iw_net_nodes(&net).ranks, 1);
}

static void parts_that_would_differ_are_left_out(void **state)
{
    iw_net net = *iw_net_builtin("slingshot-dragonfly");

    (void)state;
    assert_ok(iw_net_resize_nodes(NULL, &net, 3)); /* sockets of 1.5 */
    assert_int_equal(net.inner_count, 2);
    assert_string_equal(net.inner[0].name, "node");
    assert_int_equal(net.inner[0].ranks, 3);
    assert_int_equal(net.inner[1].ranks, 384);
    assert_int_equal(net.nics.node_level, 0);
}

static void parts_of_a_rank_are_refused(void **state)
{
    iw_net net = *iw_net_builtin("hdr-fat-tree");
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    net.memory = (iw_memory){.ranks = 32, .core_bytes_per_s = 1, .domain_bytes_per_s = 2};
    assert_status(iw_net_resize_nodes(&l.log, &net, 5), IW_ERR_RANGE);
    iwt_assert_logged(&l, "cannot have 5 ranks per node: a memory domain has 32 of its 128");
    assert_int_equal(net.inner[1].ranks, 128);
    assert_status(iw_net_resize_nodes(&l.log, &net, 0), IW_ERR_RANGE);
    net = *iw_net_builtin("chic");
    assert_ok(iw_net_resize_nodes(NULL, &net, 3));
}

static void a_new_network_costs_nothing(void **state)
{
    iw_net *net;

    (void)state;
    assert_ok(iw_net_new(NULL, &net));
    assert_ok(iw_net_check(NULL, net));
    assert_int_equal(net->L_ps + net->o_send_ps + net->g_ps + net->G, 0);
    iw_net_free(net);
    iw_net_free(NULL);
}

static void a_copy_has_lists_of_its_own(void **state)
{
    static const iw_time delays_ps[] = {3, 1, 2};
    static uint32_t nodes[] = {1, 0};
    iw_net *net, *copy;

    (void)state;
    assert_ok(iw_net_copy(NULL, iw_net_builtin("hdr-fat-tree"), &net));
    assert_ok(iw_net_set_series(NULL, net, delays_ps, 3, IW_PS_PER_US));
    net->list = (iw_node_list){.count = 2, .level = 1, .nodes = nodes};
    assert_ok(iw_net_copy(NULL, net, &copy));
    net->list = (iw_node_list){.count = 0};
    iw_net_free(net);
    nodes[0] = 7;
    assert_string_equal(copy->name, "hdr-fat-tree");
    assert_int_equal(copy->list.nodes[0], 1);
    assert_int_equal(copy->list.nodes[1], 0);
    assert_int_equal(copy->noise.series.delays_ps[2], 2);
    assert_int_equal(copy->noise.series.longest_ps, 3);
    iw_net_free(copy);
}

static void networks_open_by_name(void **state)
{
    iw_net *net;

    (void)state;
    assert_ok(iw_net_open(NULL, "hdr-fat-tree", NULL, &net));
    assert_int_equal(net->inner_count, iw_net_builtin("hdr-fat-tree")->inner_count);
    iw_net_free(net);
    assert_ok(iw_net_open(NULL, "none", NULL, &net));
    assert_int_equal(net->L_ps, 0);
    assert_true(net->S_bytes == UINT64_MAX);
    iw_net_free(net);
}

static void a_level_opens_as_a_network(void **state)
{
    const iw_net *whole = iw_net_builtin("hdr-fat-tree");
    struct iwt_log l;
    iw_net *net;

    (void)state;
    assert_ok(iw_net_open(NULL, "hdr-fat-tree", whole->inner[1].name, &net));
    assert_int_equal(net->L_ps, whole->inner[1].costs.L_ps);
    assert_int_equal(net->inner_count + net->nics.count, 0);
    iw_net_free(net);
    assert_ok(iw_net_open(NULL, "hdr-fat-tree", iw_net_level_name(whole, whole->inner_count), &net));
    assert_int_equal(net->L_ps, whole->L_ps);
    iw_net_free(net);
    iwt_log_init(&l);
    assert_status(iw_net_open(&l.log, "hdr-fat-tree", "rack", &net), IW_ERR_USAGE);
    iwt_assert_logged(&l, "'hdr-fat-tree' has no level 'rack'");
    iwt_log_init(&l);
    assert_status(iw_net_open(&l.log, "chic", "node", &net), IW_ERR_USAGE);
    iwt_assert_logged(&l, "'chic' has no levels");
}

static void unknown_networks_are_answered_with_what_there_is(void **state)
{
    struct iwt_log l;
    iw_net *net;

    (void)state;
    iwt_log_init(&l);
    assert_status(iw_net_open(&l.log, "infiniband", NULL, &net), IW_ERR_USAGE);
    iwt_assert_logged(&l, "'infiniband' is neither a file nor one of chic, altix, ");
    iwt_assert_logged(&l, ", gpu-node-nvlink, none, nor a name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_network_costs_nothing),
        cmocka_unit_test(a_copy_has_lists_of_its_own),
        cmocka_unit_test(networks_open_by_name),
        cmocka_unit_test(a_level_opens_as_a_network),
        cmocka_unit_test(unknown_networks_are_answered_with_what_there_is),
        cmocka_unit_test(nodes_of_another_size_keep_their_parts),
        cmocka_unit_test(parts_of_one_rank_are_left_out),
        cmocka_unit_test(parts_that_would_differ_are_left_out),
        cmocka_unit_test(parts_of_a_rank_are_refused),
        cmocka_unit_test(the_first_networks_are_those_of_table_3),
        cmocka_unit_test(machines_are_faster_inside),
        cmocka_unit_test(an_unknown_name_gives_null),
        cmocka_unit_test(scaling_divides_L_g_and_G_only),
        cmocka_unit_test(scaling_rounds_to_nearest),
        cmocka_unit_test(factors_that_make_no_sense_are_refused),
        cmocka_unit_test(negative_and_absurd_values_are_named),
        cmocka_unit_test(segments_out_of_order_or_absurd_are_named),
        cmocka_unit_test(a_gap_that_falls_between_segments_is_refused),
        cmocka_unit_test(scaling_keeps_times_rising_with_the_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
