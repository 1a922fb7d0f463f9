/* A traced run at a glance: computed by hand.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/files.h>
#include <idlewave/timeline.h>

#include <math.h>
#include <string.h>

#include "kit/files/trace/trace_read.h"
#include "support/support.h"

static void shares_functions_and_imbalance_are_those_of_all_ranks(void **state)
{
    /* rank 0: 60 of 100 computed; rank 1: 20 + 10 of 100, the last 10 behind its last call */
    struct iwi_call calls0[] = {
        {.kind = IWI_CALL_SEND, .compute_wall_ps = 60, .call_ps = 40, .enter_ps = 1060}};
    struct iwi_call calls1[] = {
        {.kind = IWI_CALL_RECV, .compute_wall_ps = 20, .call_ps = 70, .enter_ps = 1025}};
    struct iwi_trace_rank ranks[] = {
        {.calls = calls0, .call_count = 1, .wall_ps = 100},
        {.calls = calls1, .call_count = 1, .wall_ps = 100, .last_compute_wall_ps = 10}};
    struct iw_trace trace = {.origin = "idlewave", .rank_count = 2, .ranks = ranks};
    iw_trace_summary *summary = NULL;

    (void)state;
    iwi_use_function(&trace.uses, "MPI_Send", 40, 8);
    iwi_use_function(&trace.uses, "MPI_Recv", 50, 0);
    iwi_use_function(&trace.uses, "MPI_Recv", 20, 0);
    assert_ok(iw_trace_summarize(NULL, &trace, &summary));
    assert_int_equal(summary->run_ps, 105); /* from 1000 (rank 0 begins) to 1105 (rank 1 ends) */
    assert_true(summary->mpi_share > 0.5499 && summary->mpi_share < 0.5501); /* 40 + 70 of 200 */
    assert_true(summary->mpi_least > 0.399 && summary->mpi_least < 0.401);
    assert_true(summary->mpi_most > 0.699 && summary->mpi_most < 0.701);
    assert_int_equal(summary->compute_most_ps, 60);
    assert_int_equal(summary->compute_mean_ps, 45);
    assert_int_equal(summary->most_rank, 0);
    assert_int_equal(summary->function_count, 2);
    assert_string_equal(summary->functions[0].name, "MPI_Recv");
    assert_int_equal(summary->functions[0].calls, 2);
    assert_int_equal(summary->functions[0].time_ps, 70);
    assert_int_equal(summary->functions[1].bytes, 8);
    assert_int_equal(summary->calls, 3);
    iw_trace_summary_free(summary);
}

/* rank 0: 60 by the wall clock, 15 of them CPU time; of rank 1's 20 the CPU time is not known. */
static void what_is_told_beside_a_prediction(void **state)
{
    struct iwi_call calls0[] = {
        {.kind = IWI_CALL_SEND, .compute_wall_ps = 60, .compute_cpu_ps = 15, .call_ps = 40}};
    struct iwi_call calls1[] = {
        {.kind = IWI_CALL_RECV, .compute_wall_ps = 20, .compute_cpu_ps = -1, .call_ps = 80}};
    struct iwi_trace_rank ranks[] = {{.calls = calls0, .call_count = 1, .wall_ps = 100},
                                     {.calls = calls1, .call_count = 1, .wall_ps = 100}};
    struct iw_trace trace = {.origin = "liballprof", .rank_count = 2, .ranks = ranks, .has_cpu_time = true};
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    iw_traced traced;

    (void)state;
    opts.ranks = 8;
    assert_ok(iw_trace_describe_program(NULL, &trace, &opts, &traced));
    assert_int_equal(traced.ranks, 2);
    assert_int_equal(traced.replicas, 4);
    assert_int_equal(traced.run_ps, 100);
    assert_true(fabs(traced.mpi_share - 0.6) < 1e-9);
    assert_true(fabs(traced.cpu_share - 0.25) < 1e-9);
    assert_true(traced.is_by_cpu && traced.has_p2p);
    assert_int_equal(traced.opaque, 0);
    assert_int_equal(traced.replica_compute, IW_REPLICA_RESAMPLE);
    opts.clock = IW_COMPUTE_WALL;
    opts.drops_p2p = true;
    opts.ranks = 0;
    calls0[0].compute_cpu_ps = -1;
    calls1[0].kind = IWI_CALL_OPAQUE;
    assert_ok(iw_trace_describe_program(NULL, &trace, &opts, &traced));
    assert_int_equal(traced.replicas, 1);
    assert_true(isnan(traced.cpu_share));
    assert_false(traced.is_by_cpu || traced.has_p2p);
    assert_int_equal(traced.opaque, 1);
}

/* Of 4 ranks: world, two groups of data parallelism, one of tensors, one of a single rank, and one without
 * collectives. */
static void groups_that_stay_as_large_are_counted(void **state)
{
    struct iwi_call calls[5];
    struct iwi_trace_rank ranks[4] = {{.wall_ps = 100, .calls = calls, .call_count = 5}};
    uint32_t members[] = {0, 1};
    struct iwi_comm comms[] = {{.size = 4, .name = "world"},
                               {.size = 2, .members = members, .name = "DP_GROUP_0"},
                               {.size = 2, .members = members, .name = "DP_GROUP_1"},
                               {.size = 2, .members = members, .name = "tensors"},
                               {.size = 1, .members = members, .name = "alone"},
                               {.size = 2, .members = members, .name = "unused"}};
    struct iw_trace trace = {.origin = "liballprof",
                             .is_training = true,
                             .rank_count = 4,
                             .ranks = ranks,
                             .comms = comms,
                             .comm_count = 6};
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    iw_traced traced;

    (void)state;
    for (uint32_t comm = 0; comm < 5; comm++) {
        calls[comm] = (struct iwi_call){.kind = IWI_CALL_COLLECTIVE, .comm = comm};
    }
    assert_ok(iw_trace_describe_program(NULL, &trace, &opts, &traced));
    assert_int_equal(traced.fixed_groups, 1);
    opts.grow = "tensors";
    assert_ok(iw_trace_describe_program(NULL, &trace, &opts, &traced));
    assert_int_equal(traced.fixed_groups, 2);
}

static void rules_that_are_none_are_told_with_those_there_are(void **state)
{
    struct iwi_trace_rank ranks[2] = {{.wall_ps = 100}};
    struct iw_trace trace = {.origin = "liballprof", .rank_count = 2, .ranks = ranks};
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    iw_program *program = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    opts.rules = "nonesuch";
    assert_status(iw_program_from_trace(&l.log, &trace, &opts, &program), IW_ERR_USAGE);
    iwt_assert_logged(&l, "'nonesuch' is neither a file of Open MPI's rules nor one of ");
    iwt_assert_logged(&l, "mpich");
}

static void functions_that_find_no_room_are_counted_together(void **state)
{
    struct iwi_function_uses uses = {.count = 0};
    char name[32];

    (void)state;
    for (int i = 0; i < IWI_USES + 5; i++) {
        snprintf(name, sizeof name, "MPI_Function_%d", i);
        iwi_use_function(&uses, name, 1, 2);
    }
    iwi_use_function(&uses, "MPI_Function_0", 1, 2);
    iwi_use_function(&uses, NULL, 1, 2);
    iwi_use_function(NULL, "MPI_Send", 1, 2);
    assert_int_equal(uses.count, IWI_USES);
    assert_int_equal(uses.of[0].calls, 2);
    assert_string_equal(uses.of[IWI_USES - 1].name, "others");
    assert_int_equal(uses.of[IWI_USES - 1].calls, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_functions_and_imbalance_are_those_of_all_ranks),
        cmocka_unit_test(what_is_told_beside_a_prediction),
        cmocka_unit_test(groups_that_stay_as_large_are_counted),
        cmocka_unit_test(rules_that_are_none_are_told_with_those_there_are),
        cmocka_unit_test(functions_that_find_no_room_are_counted_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
