/* Traces as programs: what each call becomes, what is refused.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/trace_program.h"

#include <stdio.h>

#include "trace_testing.h"

/* The kinds of a base rank's operations: c compute, w work, s send, r receive, W wait, C collective. */
static void assert_nodes(const iw_program *program, uint32_t rank, const char *kinds)
{
    const struct iwi_schedule *schedule = program->trace->schedule;
    char found[64] = "";
    size_t length = 0;

    for (uint64_t n = schedule->first_node[rank]; n < schedule->first_node[rank + 1] && length < 63; n++) {
        const struct iwi_node *node = &schedule->nodes[n];

        found[length++] = node->kind == IWI_CALC   ? (node->flags & IWI_NODE_PHASE ? 'c' : 'w')
                          : node->kind == IWI_SEND ? 's'
                          : node->kind == IWI_RECV ? 'r'
                          : node->kind == IWI_WAIT ? 'W'
                                                   : 'C';
    }
    assert_string_equal(found, kinds);
}

static void each_call_becomes_its_operations(void **state)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    iw_program *program;

    (void)state;
    make_small(&t);
    program = program_of(&t, &opts);
    assert_nodes(program, 0, "csWCw");
    assert_nodes(program, 1, "rCc");
    assert_int_equal(iw_program_ranks(program), 2);
    assert_int_equal(iw_program_messages(program), 1 + 2); /* dissemination among 2: one each way */
    assert_int_equal(program->trace->schedule->call_of[2], 1);
    assert_int_equal(program->trace->schedule->nodes[0].amount, 600); /* CPU time where it is known */
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

static void messages_and_collectives_can_be_left_out(void **state)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    iw_program *program;

    (void)state;
    make_small(&t);
    opts.drops_p2p = true;
    program = program_of(&t, &opts);
    assert_nodes(program, 0, "cCw");
    assert_int_equal(iw_program_messages(program), 2);
    iw_program_free(program);
    opts.drops_p2p = false;
    opts.drops_collectives = true;
    program = program_of(&t, &opts);
    assert_nodes(program, 0, "csWw");
    assert_int_equal(iw_program_messages(program), 1);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

static void computation_is_scaled_by_the_clock_asked_for(void **state)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    iw_program *program;

    (void)state;
    make_small(&t);
    opts.clock = IW_COMPUTE_WALL;
    opts.compute_scale = 0.5;
    program = program_of(&t, &opts);
    assert_int_equal(program->trace->schedule->nodes[0].amount, 500);
    assert_nodes(program, 0, "csWCw");
    assert_int_equal(program->trace->schedule->nodes[4].amount, 70); /* opaque calls are not computation */
    iw_program_free(program);
    opts.compute_scale = 0;
    program = program_of(&t, &opts);
    assert_nodes(program, 0, "sWCw");
    iw_program_free(program);
    opts.compute_scale = -1;
    assert_refused(&t, &opts, IW_ERR_RANGE, "-1");
    iwt_made_trace_release(&t);
}

static void cpu_time_that_was_not_traced_cannot_be_had(void **state)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;

    (void)state;
    iwt_made_trace_init(&t, 2);
    iwt_trace_compute(&t, 0, 1000, -1);
    iwt_trace_collective_all(&t, IWI_TRACE_BARRIER, 0, 0, 0);
    opts.clock = IW_COMPUTE_CPU;
    assert_refused(&t, &opts, IW_ERR_USAGE, "no CPU times");
    iwt_made_trace_release(&t);
}

static void the_same_tag_on_two_communicators_is_not_the_same(void **state)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    iw_program *program;
    const struct iwi_node *nodes;
    uint32_t copy;

    (void)state;
    iwt_made_trace_init(&t, 2);
    copy = iwt_trace_comm(&t, NULL, 0);
    (void)iwt_trace_message(&t, 0, IWI_CALL_SEND, 1, 0, 9, 8);
    (void)iwt_trace_message(&t, 0, IWI_CALL_SEND, 1, copy, 9, 8);
    (void)iwt_trace_message(&t, 1, IWI_CALL_RECV, 0, copy, 9, 8);
    (void)iwt_trace_message(&t, 1, IWI_CALL_RECV, 0, 0, 9, 8);
    program = program_of(&t, &opts);
    nodes = program->trace->schedule->nodes;
    assert_int_not_equal(nodes[0].tag, nodes[1].tag);
    assert_int_equal(nodes[0].tag, nodes[3].tag);
    assert_int_equal(program->trace->tags[nodes[1].tag].comm, copy);
    assert_int_equal(program->trace->tags[nodes[1].tag].tag, 9);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

/* ibarrier, iallreduce, blocking bcast: the bcast runs both first; the waits find nothing left. */
static void collectives_run_in_the_order_they_were_started(void **state)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t requests[2];

        requests[0] = iwt_trace_collective(&t, rank, IWI_CALL_ICOLLECTIVE, IWI_TRACE_BARRIER, 0, 0, 0);
        requests[1] = iwt_trace_collective(&t, rank, IWI_CALL_ICOLLECTIVE, IWI_TRACE_ALLREDUCE, 0, 0, 8);
        if (rank == 0) { /* waits for the second only */
            iwt_trace_wait(&t, rank, &requests[1], 1);
        }
        (void)iwt_trace_collective(&t, rank, IWI_CALL_COLLECTIVE, IWI_TRACE_BCAST, 0, 0, 8);
        iwt_trace_wait(&t, rank, requests, rank == 0 ? 1 : 2);
    }
    program = program_of(&t, &opts);
    for (uint32_t rank = 0; rank < 2; rank++) {
        const struct iwi_node *nodes =
            &program->trace->schedule->nodes[program->trace->schedule->first_node[rank]];

        assert_nodes(program, rank, "CCC");
        for (uint64_t i = 0; i < 3; i++) {
            assert_int_equal(nodes[i].amount, i);
        }
    }
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

static void what_is_never_waited_for_ends_with_the_rank(void **state)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    struct iwt_log l;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 2);
    (void)iwt_trace_message(&t, 0, IWI_CALL_ISEND, 1, 0, 1, 8);
    (void)iwt_trace_message(&t, 1, IWI_CALL_RECV, 0, 0, 1, 8);
    (void)iwt_trace_message(&t, 1, IWI_CALL_IRECV, 0, 0, 2, 8);
    (void)iwt_trace_collective(&t, 0, IWI_CALL_ICOLLECTIVE, IWI_TRACE_BARRIER, 0, 0, 0);
    (void)iwt_trace_collective(&t, 1, IWI_CALL_ICOLLECTIVE, IWI_TRACE_BARRIER, 0, 0, 0);
    iwt_log_init(&l);
    assert_ok(iwi_program_from_rules(&l.log, &t.trace, &opts, &iwi_rules_paper, &program));
    iwt_assert_logged(&l, "1 receives that the trace never completes");
    assert_nodes(program, 0, "sCW");
    assert_nodes(program, 1, "rC");
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

static void uneven_blocks_count_with_their_mean(void **state)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        (void)iwt_trace_collective(&t, rank, IWI_CALL_COLLECTIVE, IWI_TRACE_ALLGATHER, 0, 0, 10 + 7 * rank);
    }
    program = program_of(&t, &opts);
    assert_int_equal(program->trace->operation_count, 1);
    assert_int_equal(program->trace->operations[0].bytes, 17);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

/* Sends of one rank of an operation, as "to:bytes ...". */
static void assert_sends(const struct iwi_operation *op, uint32_t rank, const char *sends)
{
    struct iwi_msg sent[8], received[8];
    struct iwi_role role = {.sends = sent, .recvs = received};
    char found[128] = "";
    size_t length = 0;

    op->algorithm->role(op, 0, rank, &role);
    for (uint32_t i = 0; i < role.send_count; i++) {
        length += (size_t)snprintf(found + length, sizeof found - length, "%s%u:%u", i > 0 ? " " : "",
                                   role.sends[i].peer, (unsigned)role.sends[i].bytes);
    }
    assert_string_equal(found, sends);
}

/* Rank 0 sends 16 MB to 1 and nothing to 2; the others send nothing. */
static void an_uneven_alltoallv_is_its_messages(void **state)
{
    const struct iwi_sent_piece parts[] = {{1, 16000000}, {2, 0}, {0, 5}};
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 3);
    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t rank = 0; rank < 3; rank++) {
            (void)iwt_trace_collective(&t, rank, IWI_CALL_COLLECTIVE, IWI_TRACE_ALLTOALL, 0, 0, 0);
            iwt_trace_sized(&t, rank);
            if (rank == 0) {
                iwt_trace_sizes(&t, rank, parts, 3);
                t.trace.ranks[0].calls[i].sizes = 1; /* each different list is stored once */
            }
        }
    }
    program = program_of(&t, &opts);
    assert_int_equal(iw_program_messages(program), 5);
    assert_int_equal(program->trace->operation_count, 1);
    assert_sends(&program->trace->operations[0], 0, "1:16000000");
    assert_sends(&program->trace->operations[0], 1, "");
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

/* In the order of the communicator's ranks, 2 0 1; the same on more ranks. */
static void neighbours_stay_neighbours(void **state)
{
    const uint32_t members[] = {2, 0, 1};
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    iw_program *program;
    uint32_t comm;

    (void)state;
    iwt_made_trace_init(&t, 3);
    comm = iwt_trace_comm(&t, members, 3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        const struct iwi_sent_piece next = {(rank + 1) % 3, 100 + rank};

        (void)iwt_trace_collective(&t, members[rank], IWI_CALL_COLLECTIVE, IWI_TRACE_NEIGHBOR, comm, 0, 7);
        iwt_trace_sizes(&t, members[rank], &next, 1);
    }
    for (opts.ranks = 3; opts.ranks <= 6; opts.ranks += 3) {
        program = program_of(&t, &opts);
        assert_int_equal(iw_program_messages(program), opts.ranks);
        assert_sends(&program->trace->operations[0], 2, "0:102");
        if (opts.ranks == 6) {
            assert_sends(&program->trace->operations[0], 5, "3:102");
        }
        iw_program_free(program);
    }
    iwt_made_trace_release(&t);
}

static void parts_of_gatherv_and_its_kin_are_sent_as_they_are(void **state)
{
    static const struct {
        enum iwi_trace_op op;
        const char *of_0, *of_2;
    } cases[] = {{IWI_TRACE_GATHER, "1:10", "1:12"},
                 {IWI_TRACE_SCATTER, "", ""},
                 {IWI_TRACE_ALLGATHER, "1:10", "0:12"}};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        iw_trace_opts opts = IW_TRACE_OPTS_INIT;
        struct iwt_made_trace t;
        iw_program *program;

        iwt_made_trace_init(&t, 3);
        for (uint32_t rank = 0; rank < 3; rank++) {
            (void)iwt_trace_collective(&t, rank, IWI_CALL_COLLECTIVE, cases[k].op, 0, 1, 10 + rank);
            iwt_trace_sized(&t, rank);
        }
        program = program_of(&t, &opts);
        assert_sends(&program->trace->operations[0], 0, cases[k].of_0);
        assert_sends(&program->trace->operations[0], 2, cases[k].of_2);
        if (cases[k].op == IWI_TRACE_SCATTER) {
            assert_sends(&program->trace->operations[0], 1, "2:12 0:10");
        }
        iw_program_free(program);
        iwt_made_trace_release(&t);
    }
}

static void sizes_of_more_ranks_than_traced_are_means_and_that_is_told(void **state)
{
    const struct iwi_sent_piece part = {1, 30};
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    struct iwt_log l;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        (void)iwt_trace_collective(&t, rank, IWI_CALL_COLLECTIVE, IWI_TRACE_ALLTOALL, 0, 0,
                                   rank == 0 ? 15 : 0);
        iwt_trace_sized(&t, rank);
    }
    iwt_trace_sizes(&t, 0, &part, 1);
    iwt_log_init(&l);
    opts.ranks = 4;
    assert_ok(iwi_program_from_rules(&l.log, &t.trace, &opts, &iwi_rules_paper, &program));
    iwt_assert_logged(&l, "on more ranks than traced they use the mean");
    assert_int_equal(program->trace->operations[0].bytes, 8);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

static void neighbour_collectives_that_count_as_waiting_for_all_are_told(void **state)
{
    struct iwt_made_trace t;
    struct iwt_log l;

    (void)state;
    iwt_made_trace_init(&t, 2);
    iwt_trace_collective_all(&t, IWI_TRACE_BARRIER, 0, 0, 0);
    iwt_log_init(&l);
    iwi_trace_warn_of_neighbours(&l.log, &t.trace);
    assert_int_equal(l.warnings, 0);
    iwt_trace_collective_all(&t, IWI_TRACE_NEIGHBOR, 0, 0, 0);
    iwi_trace_warn_of_neighbours(&l.log, &t.trace);
    iwt_assert_logged(&l, "2 calls of neighbour collectives count as waiting for all ranks");
    iwt_made_trace_release(&t);
}

static void lists_of_sizes_must_fit_their_communicator(void **state)
{
    const struct iwi_sent_piece part = {2, 30};
    struct iwt_made_trace t;
    struct iwt_log l;

    (void)state;
    iwt_made_trace_init(&t, 2);
    iwt_trace_collective_all(&t, IWI_TRACE_NEIGHBOR, 0, 0, 0);
    iwt_trace_sizes(&t, 1, &part, 1);
    iwt_log_init(&l);
    assert_status(iwi_trace_check(&l.log, &t.trace), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "rank 1 call 0: the communicator has no rank 2");
    t.trace.parts[0].peer = 0;
    assert_ok(iwi_trace_check(NULL, &t.trace));
    t.trace.ranks[1].calls[0].sizes = 2;
    assert_status(iwi_trace_check(NULL, &t.trace), IW_ERR_FORMAT);
    t.trace.ranks[1].calls[0].sizes = 1;
    t.trace.size_lists[0].count = 2;
    assert_status(iwi_trace_check(NULL, &t.trace), IW_ERR_FORMAT);
    iwt_made_trace_release(&t);
}

/* Rows of 2 of 4 ranks; "communicator 1" must not mean "communicator 12". */
static void communicators_that_keep_their_size_are_named(void **state)
{
    static const uint32_t rows[2][2] = {{0, 1}, {2, 3}};
    static const char *const names[] = {"communicator 1", "communicator 12"};
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    struct iwt_log l;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 4);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t row = iwt_trace_comm(&t, rows[i], 2);

        (void)snprintf(t.trace.comms[row].name, IWI_COMM_NAME_SIZE, "%s", names[i]);
        iwt_trace_collective_all(&t, IWI_TRACE_BARRIER, row, 0, 0);
    }
    opts.ranks = 8;
    iwt_log_init(&l);
    assert_ok(iwi_program_from_rules(&l.log, &t.trace, &opts, &iwi_rules_paper, &program));
    iwt_assert_logged(
        &l, "2 communicators keep their traced size on 8 ranks: communicator 1 (2 ranks), communicator 12");
    iw_program_free(program);
    opts.grow = "Communicator 1";
    iwt_log_init(&l);
    assert_ok(iwi_program_from_rules(&l.log, &t.trace, &opts, &iwi_rules_paper, &program));
    iwt_assert_logged(&l, "1 communicator keeps its traced size on 8 ranks: communicator 12 (2 ranks)");
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

static uint32_t fixed_groups(const struct iwt_made_trace *t, const char *told)
{
    uint32_t count;

    assert_ok(iwi_trace_fixed_groups(NULL, &t->trace, told, &count));
    return count;
}

/* Those of the pair that has a name, those of the pair that has none; nothing is called in the third. */
static void what_keeps_its_size_goes_by_names_as_printed(void **state)
{
    static const uint32_t rows[3][2] = {{0, 1}, {2, 3}, {0, 2}};
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    struct iwt_log l;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 4);
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t row = iwt_trace_comm(&t, rows[i], 2);

        assert_int_equal(row, i + 1);
        if (i < 2) {
            iwt_trace_collective_all(&t, IWI_TRACE_BARRIER, row, 0, 0);
        }
    }
    (void)snprintf(t.trace.comms[1].name, IWI_COMM_NAME_SIZE, "data rows");
    assert_int_equal(fixed_groups(&t, NULL), 2);
    assert_int_equal(fixed_groups(&t, "rows"), 1);
    assert_int_equal(fixed_groups(&t, "communicator 2"), 1);
    assert_int_equal(fixed_groups(&t, "communicator 3"), 2);
    t.trace.is_training = true;
    assert_int_equal(fixed_groups(&t, NULL), 1);
    t.trace.is_training = false;
    opts.ranks = 8;
    opts.grow = "communicator 2";
    iwt_log_init(&l);
    assert_ok(iwi_program_from_rules(&l.log, &t.trace, &opts, &iwi_rules_paper, &program));
    iwt_assert_logged(&l, "1 communicator keeps its traced size on 8 ranks: data rows (2 ranks)");
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

static void equal_collectives_are_one_operation(void **state)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 3);
    for (uint32_t i = 0; i < 100; i++) {
        iwt_trace_collective_all(&t, IWI_TRACE_BCAST, 0, i % 2, 8);
        iwt_trace_collective_all(&t, IWI_TRACE_ALLREDUCE, 0, 0, i % 3);
    }
    program = program_of(&t, &opts);
    assert_int_equal(program->trace->collective_count, 200);
    assert_int_equal(program->trace->operation_count, 2 + 3);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

/* Rank 1 has another collective, another root, one too many, one too few. */
static void ranks_that_disagree_are_named(void **state)
{
    static const struct {
        enum iwi_trace_op op;
        uint32_t root, count;
        const char *message;
    } cases[] = {
        {IWI_TRACE_ALLREDUCE, 0, 1, "rank 1, call 0: allreduce on communicator 0, where rank 0 has bcast"},
        {IWI_TRACE_BCAST, 1, 1, "where rank 0 has another root"},
        {IWI_TRACE_BCAST, 0, 2, "rank 1, call 1: bcast on communicator 0, on which another rank has no"},
        {IWI_TRACE_BCAST, 0, 0,
         "only 1 of the 2 ranks of communicator 0 have its collective number 1 (bcast"},
        {IWI_TRACE_BCAST, 9, 1, "the root of bcast is 9"},
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        iw_trace_opts opts = IW_TRACE_OPTS_INIT;
        struct iwt_made_trace t;
        iw_program *program;

        iwt_made_trace_init(&t, 2);
        (void)iwt_trace_collective(&t, 0, IWI_CALL_COLLECTIVE, IWI_TRACE_BCAST, 0, 0, 8);
        for (uint32_t i = 0; i < cases[k].count; i++) {
            (void)iwt_trace_collective(&t, 1, IWI_CALL_COLLECTIVE, cases[k].op, 0, cases[k].root, 8);
        }
        assert_refused(&t, &opts, IW_ERR_FORMAT, cases[k].message);
        opts.drops_collectives = true;
        program = program_of(&t, &opts);
        iw_program_free(program);
        iwt_made_trace_release(&t);
    }
}

static void a_rank_outside_a_communicator_cannot_use_it(void **state)
{
    static const uint32_t members[] = {0};
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    uint32_t comm;

    (void)state;
    iwt_made_trace_init(&t, 2);
    comm = iwt_trace_comm(&t, members, 1);
    (void)iwt_trace_collective(&t, 1, IWI_CALL_COLLECTIVE, IWI_TRACE_BARRIER, comm, 0, 0);
    assert_refused(&t, &opts, IW_ERR_FORMAT, "to which the rank does not belong");
    iwt_made_trace_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_becomes_its_operations),
        cmocka_unit_test(messages_and_collectives_can_be_left_out),
        cmocka_unit_test(computation_is_scaled_by_the_clock_asked_for),
        cmocka_unit_test(cpu_time_that_was_not_traced_cannot_be_had),
        cmocka_unit_test(the_same_tag_on_two_communicators_is_not_the_same),
        cmocka_unit_test(collectives_run_in_the_order_they_were_started),
        cmocka_unit_test(what_is_never_waited_for_ends_with_the_rank),
        cmocka_unit_test(uneven_blocks_count_with_their_mean),
        cmocka_unit_test(an_uneven_alltoallv_is_its_messages),
        cmocka_unit_test(neighbours_stay_neighbours),
        cmocka_unit_test(parts_of_gatherv_and_its_kin_are_sent_as_they_are),
        cmocka_unit_test(sizes_of_more_ranks_than_traced_are_means_and_that_is_told),
        cmocka_unit_test(neighbour_collectives_that_count_as_waiting_for_all_are_told),
        cmocka_unit_test(lists_of_sizes_must_fit_their_communicator),
        cmocka_unit_test(communicators_that_keep_their_size_are_named),
        cmocka_unit_test(what_keeps_its_size_goes_by_names_as_printed),
        cmocka_unit_test(equal_collectives_are_one_operation),
        cmocka_unit_test(ranks_that_disagree_are_named),
        cmocka_unit_test(a_rank_outside_a_communicator_cannot_use_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
