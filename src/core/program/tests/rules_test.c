/* Which algorithm a collective gets: the rule sets, and what users want instead.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/rules.h"

#include <idlewave/program.h>

#include <string.h>

#include "support/support.h"

static const struct iwi_algorithm_overrides no_overrides = {NULL, 0};

static const char *chosen_with(const char *set, const struct iwi_algorithm_overrides *overrides,
                               enum iwi_op_kind kind, uint32_t ranks, uint64_t bytes)
{
    struct iwi_operation op = {.ranks = ranks, .bytes = bytes};

    iwi_rules_choose(iwi_rules_find(set), overrides, kind, &op);
    assert_int_equal(op.algorithm->kind, kind);
    return op.algorithm->name;
}

static const char *chosen(const char *set, enum iwi_op_kind kind, uint32_t ranks, uint64_t bytes)
{
    return chosen_with(set, &no_overrides, kind, ranks, bytes);
}

static void the_paper_takes_dissemination_and_binomial_trees_at_every_size(void **state)
{
    (void)state;
    assert_string_equal(chosen("paper", IWI_ALLREDUCE, 2, 1), "dissemination");
    assert_string_equal(chosen("paper", IWI_ALLREDUCE, 32768, 1 << 20), "dissemination");
    assert_string_equal(chosen("paper", IWI_BARRIER, 100, 0), "dissemination");
    assert_string_equal(chosen("paper", IWI_BCAST, 32768, 1 << 20), "binomial");
    assert_string_equal(chosen("paper", IWI_REDUCE, 3, 8), "binomial");
}

/* Of Open MPI 4.1.4's decisions, each side of a boundary. */
static void ompi_changes_at_its_boundaries(void **state)
{
    (void)state;
    assert_string_equal(chosen("ompi-4.1", IWI_ALLREDUCE, 64, 262143), "recursive-doubling");
    assert_string_equal(chosen("ompi-4.1", IWI_ALLREDUCE, 64, 262144), "rabenseifner");
    assert_string_equal(chosen("ompi-4.1", IWI_ALLREDUCE, 128, 8), "reduce-bcast");
    assert_string_equal(chosen("ompi-4.1", IWI_ALLREDUCE, 4095, 2048), "recursive-doubling");
    /* a ring by its decisions, which is recursive doubling for fewer elements than ranks */
    assert_string_equal(chosen("ompi-4.1", IWI_ALLREDUCE, 24, 8), "recursive-doubling");
    assert_string_equal(chosen("ompi-4.1", IWI_ALLREDUCE, 48, 127), "recursive-doubling");
    assert_string_equal(chosen("ompi-4.1", IWI_ALLREDUCE, 48, 128), "rabenseifner");
    assert_string_equal(chosen("ompi-4.1", IWI_ALLREDUCE, 3, 4096), "ring");
    assert_string_equal(chosen("ompi-4.1", IWI_ALLREDUCE, 4096, 16384), "recursive-doubling");
    assert_string_equal(chosen("ompi-4.1", IWI_ALLREDUCE, 4096, 32768), "rabenseifner");
    assert_string_equal(chosen("ompi-4.1", IWI_BARRIER, 3, 0), "recursive-doubling");
    assert_string_equal(chosen("ompi-4.1", IWI_BARRIER, 7, 0), "linear");
    assert_string_equal(chosen("ompi-4.1", IWI_BARRIER, 255, 0), "dissemination");
    assert_string_equal(chosen("ompi-4.1", IWI_BARRIER, 256, 0), "tree");
    assert_string_equal(chosen("ompi-4.1", IWI_BARRIER, 32768, 0), "dissemination");
    assert_string_equal(chosen("ompi-4.1", IWI_BCAST, 1024, 524287), "binomial");
    assert_string_equal(chosen("ompi-4.1", IWI_BCAST, 1024, 524288), "scatter-allgather");
    assert_string_equal(chosen("ompi-4.1", IWI_ALLTOALL, 64, 1023), "bruck");
    assert_string_equal(chosen("ompi-4.1", IWI_ALLTOALL, 64, 1024), "linear");
    assert_string_equal(chosen("ompi-4.1", IWI_SCATTER, 64, 511), "binomial");
    assert_string_equal(chosen("ompi-4.1", IWI_SCATTER, 64, 512), "linear");
    assert_string_equal(chosen("ompi-4.1", IWI_SCAN, 64, 512), "linear");
}

static void mpich_asks_for_powers_of_two_and_for_all_ranks_bytes(void **state)
{
    (void)state;
    assert_string_equal(chosen("mpich", IWI_ALLGATHER, 64, 8 * 1024 - 1), "recursive-doubling");
    assert_string_equal(chosen("mpich", IWI_ALLGATHER, 64, 8 * 1024), "ring"); /* 64 x 8 KiB = 512 KiB */
    assert_string_equal(chosen("mpich", IWI_ALLGATHER, 63, 8), "bruck");
    assert_string_equal(chosen("mpich", IWI_ALLGATHER, 80, 1024), "ring"); /* 80 KiB */
    assert_string_equal(chosen("mpich", IWI_BCAST, 7, 1 << 20), "binomial");
    assert_string_equal(chosen("mpich", IWI_BCAST, 8, 12288), "binomial");
    assert_string_equal(chosen("mpich", IWI_BCAST, 8, 12289), "scatter-allgather");
    assert_string_equal(chosen("mpich", IWI_REDUCE, 8, 2048), "binomial");
    assert_string_equal(chosen("mpich", IWI_REDUCE, 8, 2049), "rabenseifner");
}

static const char *chosen_on_nodes(const char *set, enum iwi_op_kind kind, uint32_t ranks, uint64_t bytes,
                                   uint32_t node_ranks)
{
    struct iwi_operation op = {.ranks = ranks, .bytes = bytes, .nodes.ranks = node_ranks};

    iwi_rules_choose(iwi_rules_find(set), &no_overrides, kind, &op);
    return op.algorithm->name;
}

static void mpich_uses_nodes_where_they_are_known(void **state)
{
    (void)state;
    assert_string_equal(chosen_on_nodes("mpich", IWI_BARRIER, 64, 0, 4), "two-level");
    assert_string_equal(chosen_on_nodes("mpich", IWI_REDUCE, 64, 1 << 20, 4), "two-level");
    assert_string_equal(chosen_on_nodes("mpich", IWI_ALLREDUCE, 65, 8, 4), "two-level");
    assert_string_equal(chosen_on_nodes("mpich", IWI_ALLGATHER, 64, 8, 4), "recursive-doubling");
    assert_string_equal(chosen_on_nodes("mpich", IWI_BCAST, 65, 12287, 4), "two-level");
    assert_string_equal(chosen_on_nodes("mpich", IWI_BCAST, 65, 12288, 4), "binomial");
    assert_string_equal(chosen_on_nodes("mpich", IWI_BCAST, 65, 12289, 4), "scatter-allgather");
    assert_string_equal(chosen_on_nodes("mpich", IWI_BCAST, 64, 524287, 4), "two-level");
    assert_string_equal(chosen_on_nodes("mpich", IWI_BCAST, 64, 524288, 4), "scatter-allgather");
    assert_string_equal(chosen_on_nodes("mpich", IWI_BCAST, 7, 1 << 20, 4), "two-level");
    /* one node, and one rank on each */
    assert_string_equal(chosen_on_nodes("mpich", IWI_ALLREDUCE, 64, 8, 64), "recursive-doubling");
    assert_string_equal(chosen_on_nodes("mpich", IWI_ALLREDUCE, 64, 8, 1), "recursive-doubling");
    assert_string_equal(chosen_on_nodes("ompi-4.1", IWI_ALLREDUCE, 64, 8, 4), "recursive-doubling");
}

/* Segments of 64 KiB; what han lacks is as in 4.1. */
static void ompi_5_takes_han_where_nodes_are_known(void **state)
{
    struct iwi_operation op = {.ranks = 64, .bytes = 1 << 20, .nodes.ranks = 4};

    (void)state;
    iwi_rules_choose(iwi_rules_find("ompi-5"), &no_overrides, IWI_BCAST, &op);
    assert_string_equal(op.algorithm->name, "han");
    assert_int_equal(op.segment_bytes, 64 << 10);
    assert_string_equal(chosen_on_nodes("ompi-5", IWI_REDUCE, 64, 8, 4), "han");
    assert_string_equal(chosen_on_nodes("ompi-5", IWI_ALLREDUCE, 64, 8, 4), "han");
    assert_string_equal(chosen_on_nodes("ompi-5", IWI_BARRIER, 64, 0, 4), "two-level");
    assert_string_equal(chosen_on_nodes("ompi-5", IWI_ALLGATHER, 64, 8, 4), "two-level");
    assert_string_equal(chosen_on_nodes("ompi-5", IWI_ALLTOALL, 64, 1024, 4), "linear");
    assert_string_equal(chosen_on_nodes("ompi-5", IWI_ALLREDUCE, 64, 262144, 64), "rabenseifner");
    assert_string_equal(chosen("ompi-5", IWI_ALLREDUCE, 128, 8), "reduce-bcast");
}

/* 8 accelerators a node, by hand, in microseconds and bytes per microsecond.
 * 2 nodes: rings of the middle protocol need 14 + 2 * 14 * 1.9 + 2 * 4 = 75.2 and 15/8 of the bytes at
 * 293600; trees of the short one 6.8 + 2 (7 * 0.6 + 5) = 25.2, of the long one 8.4 + 2 (28 + 14) = 92.4 and
 * twice the bytes at 288000; NVLS 25 + 2 * 20.9 = 66.8 and 15/8 at 364000. So short messages go by trees,
 * long ones by NVLS until rings of the long protocol, 8.4 + 2 * 14 * 3.4 + 28 = 131.6 and 15/8 at 400000, are
 * quicker: from 64.8 / (15/8 (1/364000 - 1/400000)) = 139776000 bytes on. 128 nodes: those rings take 8.4 + 2
 * * 896 * 3.4 + 254 * 14 = 9657 more than they save below 20 GB. */
static void nccl_takes_what_its_model_says(void **state)
{
    (void)state;
    assert_string_equal(chosen_on_nodes("nccl", IWI_ALLREDUCE, 16, 8, 8), "node-double-tree");
    assert_string_equal(chosen_on_nodes("nccl", IWI_ALLREDUCE, 16, 139775999, 8), "nvls");
    assert_string_equal(chosen_on_nodes("nccl", IWI_ALLREDUCE, 16, 139776001, 8), "node-rings");
    assert_string_equal(chosen_on_nodes("nccl", IWI_ALLREDUCE, 1024, 8, 8), "node-double-tree");
    assert_string_equal(chosen_on_nodes("nccl", IWI_ALLREDUCE, 1024, 1 << 30, 8), "nvls");
    assert_string_equal(chosen_on_nodes("nccl", IWI_ALLGATHER, 16, 8, 8), "ring");
    assert_string_equal(chosen("nccl", IWI_ALLREDUCE, 16, 8), "ring");
}

static void nccl_goes_around_rings(void **state)
{
    struct iwi_operation op = {.ranks = 16, .bytes = 1 << 22};

    (void)state;
    assert_string_equal(chosen("nccl-ring", IWI_ALLREDUCE, 16, 8), "ring");
    iwi_rules_choose(iwi_rules_find("nccl-ring"), &no_overrides, IWI_BCAST, &op);
    assert_string_equal(op.algorithm->name, "chain");
    assert_int_equal(op.segment_bytes, 512 << 10);
}

static void every_set_has_a_rule_for_every_collective(void **state)
{
    static const uint32_t ranks[] = {1, 2, 3, 4, 7, 8, 31, 100, 128, 1000, 4096, 32768};

    (void)state;
    for (size_t s = 0; iw_rules_name(s) != NULL; s++) {
        const struct iwi_rule_set *set = iwi_rules_find(iw_rules_name(s));

        assert_non_null(set);
        for (uint32_t kind = IWI_BARRIER; kind <= IWI_EXSCAN; kind++) {
            bool has_rule = false;

            for (size_t i = 0; i < set->count; i++) {
                has_rule |= set->rules[i].algorithm->kind == kind;
            }
            assert_true(has_rule);
            for (size_t r = 0; r < sizeof ranks / sizeof ranks[0]; r++) {
                (void)chosen(set->name, (enum iwi_op_kind)kind, ranks[r], 0);
                (void)chosen(set->name, (enum iwi_op_kind)kind, ranks[r], UINT64_C(1) << 40);
            }
        }
    }
    assert_null(iwi_rules_find("mpi"));
}

static void wishes_come_before_rules_from_their_size_on(void **state)
{
    static const char *const texts[] = {"bcast>64KiB=scatter_allgather", "bcast>1MiB=pipeline/8KiB",
                                        "reduce-scatter=ring", NULL};
    struct iwi_operation op = {.ranks = 16, .bytes = (1 << 20) + 1};
    struct iwi_algorithm_overrides overrides;

    (void)state;
    assert_ok(iwi_algorithm_overrides_parse(NULL, texts, &overrides));
    assert_string_equal(chosen_with("paper", &overrides, IWI_BCAST, 16, 64 << 10), "binomial");
    assert_string_equal(chosen_with("paper", &overrides, IWI_BCAST, 16, (64 << 10) + 1), "scatter-allgather");
    assert_string_equal(chosen_with("paper", &overrides, IWI_REDUCE_SCATTER, 16, 1), "ring");
    assert_string_equal(chosen_with("paper", &overrides, IWI_ALLREDUCE, 16, 1), "dissemination");
    iwi_rules_choose(&iwi_rules_paper, &overrides, IWI_BCAST, &op);
    assert_string_equal(op.algorithm->name, "chain");
    assert_int_equal(op.segment_bytes, 8 << 10);
    iwi_algorithm_overrides_release(&overrides);
}

static void a_later_wish_replaces_an_earlier_one(void **state)
{
    static const char *const texts[] = {"allreduce=ring", "allreduce=rabenseifner", NULL};
    struct iwi_algorithm_overrides overrides;

    (void)state;
    assert_ok(iwi_algorithm_overrides_parse(NULL, texts, &overrides));
    assert_string_equal(chosen_with("paper", &overrides, IWI_ALLREDUCE, 16, 8), "rabenseifner");
    iwi_algorithm_overrides_release(&overrides);
}

static void open_mpis_names_are_known(void **state)
{
    static const char *const texts[] = {"allreduce=nonoverlapping", "barrier=bruck", "allgather=bruck", NULL};
    struct iwi_algorithm_overrides overrides;

    (void)state;
    assert_ok(iwi_algorithm_overrides_parse(NULL, texts, &overrides));
    assert_string_equal(overrides.rules[0].algorithm->name, "reduce-bcast");
    assert_string_equal(overrides.rules[1].algorithm->name, "dissemination");
    assert_string_equal(overrides.rules[2].algorithm->name, "bruck");
    iwi_algorithm_overrides_release(&overrides);
}

static void assert_refused(const char *text, const char *message)
{
    const char *const texts[] = {text, NULL};
    struct iwi_algorithm_overrides overrides;
    struct iwt_log l;

    iwt_log_init(&l);
    assert_status(iwi_algorithm_overrides_parse(&l.log, texts, &overrides), IW_ERR_USAGE);
    assert_int_equal(l.errors, 1);
    iwt_assert_logged(&l, message);
}

static void bad_wishes_are_refused_with_what_would_do(void **state)
{
    (void)state;
    assert_refused("ring", "write OP=ALGORITHM");
    assert_refused("=ring", "write OP=ALGORITHM");
    assert_refused("bcast=", "write OP=ALGORITHM");
    assert_refused("", "write OP=ALGORITHM");
    assert_refused("bcast=hexagonal", "use binomial,");
    assert_refused("brcast=binomial", "use barrier");
    assert_refused("halo2d=neighbours", "not a collective operation");
    assert_refused("bcast>many=chain", "many");
    assert_refused("bcast=chain/", "''");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_paper_takes_dissemination_and_binomial_trees_at_every_size),
        cmocka_unit_test(ompi_changes_at_its_boundaries),
        cmocka_unit_test(mpich_asks_for_powers_of_two_and_for_all_ranks_bytes),
        cmocka_unit_test(mpich_uses_nodes_where_they_are_known),
        cmocka_unit_test(ompi_5_takes_han_where_nodes_are_known),
        cmocka_unit_test(nccl_takes_what_its_model_says),
        cmocka_unit_test(nccl_goes_around_rings),
        cmocka_unit_test(every_set_has_a_rule_for_every_collective),
        cmocka_unit_test(wishes_come_before_rules_from_their_size_on),
        cmocka_unit_test(a_later_wish_replaces_an_earlier_one),
        cmocka_unit_test(open_mpis_names_are_known),
        cmocka_unit_test(bad_wishes_are_refused_with_what_would_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
