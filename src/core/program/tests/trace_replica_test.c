/* Trace programs on more ranks: what is replicated, what is shared, what does not go.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/trace_program.h"

#include "trace_testing.h"

static void ranks_must_be_a_multiple(void **state)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    iw_program *program;

    (void)state;
    make_small(&t);
    opts.ranks = 7;
    assert_refused(&t, &opts, IW_ERR_RANGE, "for instance 8");
    opts.ranks = 1;
    assert_refused(&t, &opts, IW_ERR_RANGE, "for instance 2");
    opts.ranks = 8;
    program = program_of(&t, &opts);
    assert_int_equal(iw_program_ranks(program), 8);
    assert_int_equal(iw_program_messages(program), 4 + 8 * 3); /* the barrier is one of 8 ranks */
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

/* Partners of one unrolled rank's sends, in order. */
static void assert_partners(const struct iwi_schedule *schedule, uint32_t rank, const uint32_t *peers,
                            size_t count)
{
    size_t seen = 0;

    for (uint64_t n = schedule->first_node[rank]; n < schedule->first_node[rank + 1]; n++) {
        if (schedule->nodes[n].kind == IWI_SEND) {
            assert_true(seen < count);
            assert_int_equal(schedule->nodes[n].peer, peers[seen++]);
        }
    }
    assert_int_equal(seen, count);
}

/* 4 ranks; rows {0, 1}, {2, 3} as communicators, and the world turned around. Linear algorithms say who
 * sends. */
static void replicas_keep_partners_and_rows_but_share_the_world(void **state)
{
    static const uint32_t row[] = {2, 3}, around[] = {3, 2, 1, 0};
    static const char *const linear[] = {"bcast=linear", NULL};
    static const uint32_t of_6[] = {7, 7}; /* message; row */
    static const uint32_t of_3[] = {2, 1, 0, 7, 6, 5, 4};
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwi_schedule *schedule;
    struct iwt_made_trace t;
    iw_program *program;
    uint32_t turned, second_row;

    (void)state;
    iwt_made_trace_init(&t, 4);
    second_row = iwt_trace_comm(&t, row, 2);
    turned = iwt_trace_comm(&t, around, 4);
    (void)iwt_trace_message(&t, 2, IWI_CALL_SEND, 3, 0, 1, 8);
    (void)iwt_trace_message(&t, 3, IWI_CALL_RECV, 2, 0, 1, 8);
    iwt_trace_collective_all(&t, IWI_TRACE_BCAST, second_row, 0, 8);
    iwt_trace_collective_all(&t, IWI_TRACE_BCAST, turned, 0, 8);
    opts.ranks = 8;
    opts.algorithms = linear;
    program = program_of(&t, &opts);
    assert_ok(iwi_program_unroll(NULL, program, &schedule));
    assert_partners(schedule, 6, of_6, 2); /* replica 1 of rank 2: its partners are in replica 1 */
    assert_partners(schedule, 3, of_3, 7); /* the root of the turned world, of the first replica */
    assert_partners(schedule, 7, NULL, 0);
    iwi_schedule_free(schedule);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

/* Ranks of the world sit on nodes; members of another communicator may be anywhere. */
static void only_the_world_knows_its_nodes(void **state)
{
    static const uint32_t row[] = {0, 1, 2};
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 4);
    iwt_trace_collective_all(&t, IWI_TRACE_ALLREDUCE, 0, 0, 8);
    iwt_trace_collective_all(&t, IWI_TRACE_ALLREDUCE, iwt_trace_comm(&t, row, 3), 0, 8);
    opts.nodes = (iw_nodes){.ranks = 2};
    program = program_of(&t, &opts);
    assert_int_equal(program->trace->operation_count, 2);
    assert_int_equal(program->trace->operations[0].ranks, 4);
    assert_int_equal(program->trace->operations[0].nodes.ranks, 2);
    assert_int_equal(program->trace->operations[1].ranks, 3);
    assert_int_equal(program->trace->operations[1].nodes.ranks, 0);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

static void delays_count_the_computations_of_the_base_rank(void **state)
{
    static const iw_delay good = {.rank = 6, .step = 1, .time_ps = 5}, late = {.rank = 6, .step = 2};
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    struct iwt_log l;
    iw_program *program;

    (void)state;
    make_small(&t);
    opts.ranks = 8;
    program = program_of(&t, &opts);
    iwt_log_init(&l);
    assert_ok(iw_program_set_delays(&l.log, program, &good, 1));
    assert_status(iw_program_set_delays(&l.log, program, &late, 1), IW_ERR_RANGE);
    iwt_assert_logged(&l, "only 1 computations");
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

static void what_cannot_be_stored_is_said_before_it_is_tried(void **state)
{
    static const char *const linear[] = {"alltoall=linear", NULL};
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwi_schedule *schedule = NULL;
    struct iwt_made_trace t;
    struct iwt_log l;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 2);
    iwt_trace_collective_all(&t, IWI_TRACE_ALLTOALL, 0, 0, 8);
    opts.ranks = 1 << 22; /* 2^44 messages */
    opts.algorithms = linear;
    program = program_of(&t, &opts);
    iwt_log_init(&l);
    assert_status(iwi_program_unroll(&l.log, program, &schedule), IW_ERR_RANGE);
    iwt_assert_logged(&l, "use fewer ranks");
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_must_be_a_multiple),
        cmocka_unit_test(replicas_keep_partners_and_rows_but_share_the_world),
        cmocka_unit_test(only_the_world_knows_its_nodes),
        cmocka_unit_test(delays_count_the_computations_of_the_base_rank),
        cmocka_unit_test(what_cannot_be_stored_is_said_before_it_is_tried),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
