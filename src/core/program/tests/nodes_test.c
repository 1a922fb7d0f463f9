/* Collectives that use nodes: every shape of nodes, and how much goes between them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "dataflow_run.h"
#include "node_models.h"
#include "rounds_support.h"

#include <inttypes.h>
#include <string.h>

#include "core/program/collectives/node_rings.h"
#include "core/sim/tests/random_program.h"

enum { MOST_RANKS = 70, MOST_OF_A_NODE = 9 };

/* ---- results ---- */

static const struct iwt_model *model_of(const struct iwt_model *models, const char *name)
{
    const struct iwt_model *model = models;

    while (model->name != NULL && strcmp(model->name, name) != 0) {
        model++;
    }
    assert_non_null(model->name);
    return model;
}

/* Two roots for each shape, so that all seats are roots of some. */
static void prove_placed(const struct iwt_model *model, uint32_t ranks, uint32_t node_ranks,
                         iw_placement placement, uint64_t bytes)
{
    iw_pattern pattern = IW_PATTERN_INIT;

    pattern.ranks = ranks;
    pattern.bytes = bytes;
    pattern.nodes = (iw_nodes){.ranks = node_ranks, .placement = placement};
    iwt_prove(model, &pattern);
    if (strncmp(model->name, "bcast", 5) == 0 || strncmp(model->name, "reduce:", 7) == 0) {
        pattern.root = (5 * node_ranks + 3 * ranks) % ranks;
        iwt_prove(model, &pattern);
        pattern.root = ranks - 1;
        iwt_prove(model, &pattern);
    }
}

/* All numbers of ranks in the release build, every third with sanitizers. */
static void prove_all_shapes(const struct iwt_model *model, uint32_t most_ranks, uint64_t bytes)
{
    for (uint32_t ranks = 1; ranks <= most_ranks; ranks += IWT_IS_SLOW ? 3 : 1) {
        for (uint32_t node_ranks = 1; node_ranks <= MOST_OF_A_NODE; node_ranks++) {
            prove_placed(model, ranks, node_ranks, IW_PLACEMENT_BLOCK, bytes);
            prove_placed(model, ranks, node_ranks, IW_PLACEMENT_ROUND_ROBIN, bytes);
        }
    }
}

/* Ranks on nodes of 1 to node_ranks ranks, here and there. */
static void prove_listed(const struct iwt_model *model, uint32_t ranks, uint32_t node_ranks, uint64_t bytes,
                         uint64_t seed)
{
    struct iwt_random random = {seed, 0};
    uint32_t nodes[MOST_RANKS], taken[MOST_RANKS + 3] = {0};
    iw_pattern pattern = IW_PATTERN_INIT;

    for (uint32_t rank = 0; rank < ranks; rank++) {
        do {
            nodes[rank] = (uint32_t)iwt_below(&random, ranks / node_ranks + 3);
        } while (taken[nodes[rank]] == node_ranks);
        taken[nodes[rank]]++;
    }
    pattern.ranks = ranks;
    pattern.bytes = bytes;
    pattern.root = (uint32_t)iwt_below(&random, ranks);
    pattern.nodes = (iw_nodes){node_ranks, IW_PLACEMENT_LIST, {ranks, 0, nodes}};
    if (strcmp(model->name, "allreduce:nvls") == 0) { /* parts have an odd number of bytes */
        const struct iwi_operation *op;
        iw_program *program = iwt_make(model->name, &pattern, &op);

        pattern.bytes = UINT64_C(101) * iwt_smallest_node(op);
        iw_program_free(program);
    }
    iwt_prove(model, &pattern);
}

static void nodes_of_a_list_may_have_any_ranks(void **state)
{
    static const char *const names[] = {"barrier:two-level",
                                        "bcast:two-level",
                                        "reduce:two-level",
                                        "allreduce:two-level",
                                        "bcast:han",
                                        "reduce:han",
                                        "allreduce:han",
                                        "allgather:two-level",
                                        "alltoall:two-level",
                                        "allreduce:node-rings",
                                        "allreduce:node-double-tree",
                                        "allreduce:nvls"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const bool is_slow = strstr(names[i], "all") == names[i] && strstr(names[i], "allreduce:two") == NULL;

        for (uint64_t seed = 0; seed < 60; seed++) {
            const uint32_t ranks = 1 + (uint32_t)(seed * 7 % (is_slow ? 14 : MOST_RANKS));

            prove_listed(model_of(iwt_models, names[i]), ranks, 1 + (uint32_t)(seed % MOST_OF_A_NODE),
                         strncmp(names[i], "allg", 4) == 0 || strncmp(names[i], "allt", 4) == 0 ? 7 : 1021,
                         seed);
        }
    }
}

static void leaders_bring_every_contribution_to_every_rank(void **state)
{
    static const char *const names[] = {"barrier:two-level",   "bcast:two-level", "reduce:two-level",
                                        "allreduce:two-level", "bcast:han",       "reduce:han",
                                        "allreduce:han"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        prove_all_shapes(model_of(iwt_models, names[i]), MOST_RANKS, 1021);
    }
}

static void long_data_is_cut_among_the_leaders(void **state)
{
    (void)state;
    prove_all_shapes(model_of(iwt_long_models, "allreduce:two-level"), MOST_RANKS, 4099);
    prove_all_shapes(model_of(iwt_long_models, "reduce:two-level"), MOST_RANKS, 4099);
    for (uint32_t nodes = 8; nodes <= 19; nodes++) {
        for (uint32_t node_ranks = 1; node_ranks <= 3; node_ranks++) {
            const struct iwt_model *model = model_of(iwt_long_models, "bcast:two-level");

            prove_placed(model, nodes * node_ranks, node_ranks, IW_PLACEMENT_BLOCK, 12 * 1024 + 11);
            prove_placed(model, nodes * node_ranks, node_ranks, IW_PLACEMENT_ROUND_ROBIN, 12 * 1024 + 11);
        }
    }
}

static void blocks_of_a_node_travel_together(void **state)
{
    (void)state;
    prove_all_shapes(model_of(iwt_models, "allgather:two-level"), 40, 7);     /* Bruck over the leaders */
    prove_all_shapes(model_of(iwt_models, "allgather:two-level"), 20, 81920); /* a ring */
    prove_all_shapes(model_of(iwt_models, "alltoall:two-level"), 12, 7);
}

static void rings_and_trees_of_accelerators_reach_everyone(void **state)
{
    (void)state;
    prove_all_shapes(model_of(iwt_models, "allreduce:node-double-tree"), MOST_RANKS, 1021);
    prove_all_shapes(model_of(iwt_models, "allreduce:node-rings"), 14, 1021);
}

/* All parts have an odd number of bytes, so that their halves are told apart. */
static void switches_bring_every_part_to_every_rank(void **state)
{
    const struct iwt_model *model = model_of(iwt_models, "allreduce:nvls");

    (void)state;
    for (uint32_t ranks = 1; ranks <= 40; ranks++) {
        for (uint32_t node_ranks = 1; node_ranks <= MOST_OF_A_NODE; node_ranks++) {
            const uint32_t nodes = (ranks + node_ranks - 1) / node_ranks;

            prove_placed(model, ranks, node_ranks, IW_PLACEMENT_BLOCK,
                         UINT64_C(101) * (ranks - (nodes - 1) * node_ranks));
            prove_placed(model, ranks, node_ranks, IW_PLACEMENT_ROUND_ROBIN, UINT64_C(101) * (ranks / nodes));
        }
    }
}

/* ---- what crosses between nodes ---- */

struct traffic {
    const struct iwi_operation *op;
    uint64_t between, inside; /* messages */
};

static void count_message(void *arg, uint64_t index, uint32_t from, uint32_t to, uint64_t bytes,
                          bool is_reduced)
{
    struct traffic *traffic = arg;

    (void)index;
    (void)bytes;
    (void)is_reduced;
    if (iwt_node_of(traffic->op, from) == iwt_node_of(traffic->op, to)) {
        traffic->inside++;
    } else {
        traffic->between++;
    }
}

static void expect_traffic(const char *name, uint32_t ranks, uint32_t node_ranks, iw_placement placement,
                           uint64_t between, uint64_t inside)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    struct traffic traffic = {.between = 0};
    iw_program *program;

    pattern.ranks = ranks;
    pattern.bytes = 8;
    pattern.nodes = (iw_nodes){.ranks = node_ranks, .placement = placement};
    program = iwt_make(name, &pattern, &traffic.op);
    iwt_for_messages(traffic.op, count_message, &traffic);
    if (traffic.between != between || traffic.inside != inside) {
        fail_msg("%s P=%u nodes of %u: %" PRIu64 " messages between nodes, %" PRIu64 " inside", name, ranks,
                 node_ranks, traffic.between, traffic.inside);
    }
    assert_int_equal(iw_program_messages(program), between + inside);
    iw_program_free(program);
}

/* 30 ranks on 8 nodes of 4, the last half empty: 22 ranks report and are told. */
static void only_leaders_send_to_other_nodes(void **state)
{
    const iw_placement placements[] = {IW_PLACEMENT_BLOCK, IW_PLACEMENT_ROUND_ROBIN};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        expect_traffic("barrier:two-level", 30, 4, placements[i], UINT64_C(8) * 3, UINT64_C(2) * 22);
        expect_traffic("allreduce:two-level", 30, 4, placements[i], UINT64_C(8) * 3, UINT64_C(2) * 22);
        expect_traffic("bcast:two-level", 30, 4, placements[i], 7, 22);
        expect_traffic("reduce:two-level", 30, 4, placements[i], 7, 22);
        expect_traffic("allreduce:han", 30, 4, placements[i], 14, UINT64_C(2) * 22);
        expect_traffic("allgather:two-level", 30, 4, placements[i], UINT64_C(8) * 3, UINT64_C(2) * 22);
        expect_traffic("alltoall:two-level", 30, 4, placements[i], UINT64_C(8) * 7, UINT64_C(2) * 22);
    }
}

/* 32 ranks on 8 nodes of 4. Rings: each of 4 rings leaves 8 nodes in each of 62 rounds. Trees: both have an
 * edge above each of 7 nodes, used up and down. Switch: 4 such pairs of trees, and 3 messages a rank, twice.
 */
static void accelerators_cross_nodes_on_all_cards(void **state)
{
    (void)state;
    expect_traffic("allreduce:node-rings", 32, 4, IW_PLACEMENT_BLOCK, UINT64_C(62) * 4 * 8,
                   UINT64_C(62) * 32);
    expect_traffic("allreduce:node-double-tree", 32, 4, IW_PLACEMENT_BLOCK, UINT64_C(4) * 7,
                   UINT64_C(4) * 24);
    expect_traffic("allreduce:nvls", 32, 4, IW_PLACEMENT_BLOCK, UINT64_C(4) * 4 * 7, UINT64_C(2) * 3 * 32);
}

/* As flat ones where there is one rank a node, or one node. */
static void one_level_is_left_of_nodes_of_one_rank_and_of_one_node(void **state)
{
    (void)state;
    expect_traffic("allreduce:two-level", 16, 1, IW_PLACEMENT_BLOCK, 64, 0);
    expect_traffic("allreduce:two-level", 16, 16, IW_PLACEMENT_BLOCK, 0, 30);
    expect_traffic("allreduce:two-level", 16, 99, IW_PLACEMENT_ROUND_ROBIN, 0, 30);
}

/* ---- rounds that engines evaluate fast ---- */

/* Rounds inside nodes of such a size are rounds of pairs; 2^20 ranks on nodes of 128 have 14 of them. */
static void rounds_inside_usual_nodes_are_pairs(void **state)
{
    static const uint32_t sizes[] = {2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192};
    iw_pattern pattern = IW_PATTERN_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const struct iwi_operation *op;
        iw_program *program;
        uint32_t inside = 0;

        pattern.ranks = sizes[i] * 8192 - 1; /* a free seat on the last node */
        pattern.bytes = 8;
        pattern.nodes.ranks = sizes[i];
        program = iwt_make("allreduce:two-level", &pattern, &op);
        while (UINT32_C(1) << inside < sizes[i]) {
            inside++;
        }
        assert_int_equal(op->algorithm->round_count(op), 2 * inside + 13);
        for (uint32_t k = 0; k < 2 * inside; k++) {
            struct iwi_round round;

            op->algorithm->round(op, k < inside ? k : k + 13, &round);
            assert_true(round.is_pairs);
        }
        iw_program_free(program);
    }
}

static void algorithms_that_use_nodes_have_to_know_them(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_int_equal(iw_program_from_pattern(&l.log, "allreduce:two-level", &pattern, &program),
                     IW_ERR_RANGE);
    assert_non_null(strstr(l.text, "allreduce:two-level depends on nodes"));
}

/* 2 rings over 8 ranks: 16 pieces. Of 16 bytes all have one, of 17 one piece is larger, wherever it is. */
static void rings_tell_where_pieces_have_another_size(void **state)
{
    struct iwi_operation op = {.ranks = 8, .nodes = {.ranks = 2}};
    uint32_t nodes[IWI_NODE_RINGS_CHANGED];

    (void)state;
    for (op.bytes = 16; op.bytes <= 32; op.bytes++) {
        const uint32_t changed = iwi_node_rings_changed(&op, 1, nodes);

        if (op.bytes % 16 == 0) {
            assert_int_equal(changed, 0);
        } else {
            assert_in_range(changed, 2, IWI_NODE_RINGS_CHANGED);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaders_bring_every_contribution_to_every_rank),
        cmocka_unit_test(nodes_of_a_list_may_have_any_ranks),
        cmocka_unit_test(long_data_is_cut_among_the_leaders),
        cmocka_unit_test(blocks_of_a_node_travel_together),
        cmocka_unit_test(rings_and_trees_of_accelerators_reach_everyone),
        cmocka_unit_test(switches_bring_every_part_to_every_rank),
        cmocka_unit_test(accelerators_cross_nodes_on_all_cards),
        cmocka_unit_test(only_leaders_send_to_other_nodes),
        cmocka_unit_test(one_level_is_left_of_nodes_of_one_rank_and_of_one_node),
        cmocka_unit_test(rounds_inside_usual_nodes_are_pairs),
        cmocka_unit_test(algorithms_that_use_nodes_have_to_know_them),
        cmocka_unit_test(rings_tell_where_pieces_have_another_size),
    };

    return cmocka_run_group_tests_name("nodes", tests, NULL, NULL);
}
