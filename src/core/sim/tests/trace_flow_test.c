/* Trace programs on the flow engine: what segments can order, what they cannot, and what no engine can run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "builder.h"
#include "core/program/trace_program.h"
#include "support/made_trace.h"
#include "support/support.h"

static iw_program *program_of(const struct iwt_made_trace *t, uint32_t ranks)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    iw_program *program = NULL;

    opts.ranks = ranks;
    assert_ok(iwi_program_from_rules(NULL, &t->trace, &opts, &iwi_rules_paper, &program));
    return program;
}

static iw_sim_result *run(const iw_program *program, iw_engine engine)
{
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    opts.engine = engine;
    return iwt_run(program, &net, NULL, &opts);
}

/* Rank 1 receives from rank 0 before a broadcast by rank 0, which sends behind it: works with eager messages.
 */
static void a_message_across_a_broadcast_is_stored_and_run(void **state)
{
    struct iwt_made_trace t;
    iw_program *program;
    iw_sim_result *flow, *event;

    (void)state;
    iwt_made_trace_init(&t, 3);
    (void)iwt_trace_collective(&t, 0, IWI_CALL_COLLECTIVE, IWI_TRACE_BCAST, 0, 0, 8);
    (void)iwt_trace_message(&t, 0, IWI_CALL_SEND, 1, 0, 1, 8);
    (void)iwt_trace_message(&t, 1, IWI_CALL_RECV, 0, 0, 1, 8);
    (void)iwt_trace_collective(&t, 1, IWI_CALL_COLLECTIVE, IWI_TRACE_BCAST, 0, 0, 8);
    (void)iwt_trace_collective(&t, 2, IWI_CALL_COLLECTIVE, IWI_TRACE_BCAST, 0, 0, 8);
    program = program_of(&t, 6);
    flow = run(program, IW_ENGINE_AUTO);
    event = run(program, IW_ENGINE_EVENT);
    assert_int_equal(flow->engine, IW_ENGINE_FLOW);
    assert_string_equal(
        flow->engine_note,
        "stored message by message: rank 1's call 0 waits for rank 0's call 1 across a collective");
    assert_memory_equal(flow->end_ps, event->end_ps, 6 * sizeof(iw_time));
    iw_sim_result_free(flow);
    iw_sim_result_free(event);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

/* Two nonblocking collectives of different communicators, waited for in different orders: legal MPI, but each
 * wait runs its collective alone. */
static void waits_in_different_orders_are_a_deadlock_with_rank_and_call(void **state)
{
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    struct iwt_made_trace t;
    struct iwt_log l;
    iw_program *program;
    uint32_t copy;

    (void)state;
    iwt_made_trace_init(&t, 2);
    copy = iwt_trace_comm(&t, NULL, 0);
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t requests[2];

        requests[0] = iwt_trace_collective(&t, rank, IWI_CALL_ICOLLECTIVE, IWI_TRACE_BARRIER, 0, 0, 0);
        requests[1] = iwt_trace_collective(&t, rank, IWI_CALL_ICOLLECTIVE, IWI_TRACE_BARRIER, copy, 0, 0);
        iwt_trace_wait(&t, rank, &requests[rank], 1);
        iwt_trace_wait(&t, rank, &requests[1 - rank], 1);
    }
    program = program_of(&t, 2);
    iwt_log_init(&l);
    assert_status(iw_simulate(&l.log, program, &net, NULL, &opts, &result), IW_ERR_DEADLOCK);
    iwt_assert_logged(
        &l,
        "2 ranks cannot continue: rank 0 call 2 (wait for 2 messages), rank 1 call 2 (wait for 2 messages)");
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

static void a_receive_that_nobody_sends_to_is_named(void **state)
{
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    struct iwt_made_trace t;
    struct iwt_log l;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 3);
    iwt_trace_collective_all(&t, IWI_TRACE_BARRIER, 0, 0, 0);
    (void)iwt_trace_message(&t, 2, IWI_CALL_RECV, 1, 0, 7, 8);
    iwt_trace_collective_all(&t, IWI_TRACE_BARRIER, 0, 0, 0);
    program = program_of(&t, 3 * 1000000); /* found without storing anything */
    iwt_log_init(&l);
    assert_status(iw_simulate(&l.log, program, &net, NULL, &opts, &result), IW_ERR_DEADLOCK);
    assert_int_equal(l.errors, 1);
    iwt_assert_logged(&l, "1 rank cannot continue: rank 2 call 1 (recv 8 B from rank 1)");
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

static void messages_that_are_never_received_are_counted_in_all_replicas(void **state)
{
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    struct iwt_made_trace t;
    struct iwt_log l;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 2);
    (void)iwt_trace_message(&t, 0, IWI_CALL_SEND, 1, 0, 7, 8);
    program = program_of(&t, 10);
    iwt_log_init(&l);
    assert_ok(iw_simulate(&l.log, program, &net, NULL, &opts, &result));
    iwt_assert_logged(&l, "5 messages are sent but never received: rank 0 call 0 (8 B to rank 1) and 4 more");
    iw_sim_result_free(result);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

/* L = 10, o = 2, S = 100 (docs/explanation/semantics.md). A synchronous send of 1 byte waits for a receive
 * posted at 50: x = 50, the sender ends there, the message arrives at 60, the receiver ends at 62. */
static void a_synchronous_send_waits_for_its_receive_at_any_size(void **state)
{
    static const iw_engine engines[] = {IW_ENGINE_FLOW, IW_ENGINE_EVENT};

    (void)state;
    for (size_t e = 0; e < 2; e++) {
        struct iwt_made_trace t;
        iw_program *program;
        iw_sim_result *result;

        iwt_made_trace_init(&t, 2);
        (void)iwt_trace_ssend(&t, 0, IWI_CALL_SEND, 1, 0, 1, 1);
        iwt_trace_compute(&t, 1, IWT_NS(50), -1);
        (void)iwt_trace_message(&t, 1, IWI_CALL_RECV, 0, 0, 1, 1);
        program = program_of(&t, 4);
        result = run(program, engines[e]);
        for (uint32_t rank = 0; rank < 4; rank++) {
            assert_int_equal(result->end_ps[rank], rank % 2 == 0 ? IWT_NS(50) : IWT_NS(62));
        }
        iw_sim_result_free(result);
        iw_program_free(program);
        iwt_made_trace_release(&t);
    }
}

/* Rank 1 computes 30 before it waits: the rounds of the barrier run in the waits. Dissemination of 1-byte
 * messages between two: rank 0 sends at 0 to 2 in its wait, which arrives at 12; rank 1 sends at 30 to 32,
 * serves what has come until 34. Rank 0 is served at 42 and ends at 44. */
static void a_nonblocking_collective_runs_in_its_wait(void **state)
{
    static const iw_engine engines[] = {IW_ENGINE_FLOW, IW_ENGINE_EVENT};

    (void)state;
    for (size_t e = 0; e < 2; e++) {
        struct iwt_made_trace t;
        iw_program *program;
        iw_sim_result *result;

        iwt_made_trace_init(&t, 2);
        for (uint32_t rank = 0; rank < 2; rank++) {
            const uint32_t request =
                iwt_trace_collective(&t, rank, IWI_CALL_ICOLLECTIVE, IWI_TRACE_BARRIER, 0, 0, 0);

            iwt_trace_compute(&t, rank, rank == 0 ? 0 : IWT_NS(30), -1);
            iwt_trace_wait(&t, rank, &request, 1);
        }
        program = program_of(&t, 2);
        result = run(program, engines[e]);
        assert_int_equal(result->end_ps[0], IWT_NS(44));
        assert_int_equal(result->end_ps[1], IWT_NS(34));
        iw_sim_result_free(result);
        iw_program_free(program);
        iwt_made_trace_release(&t);
    }
}

static bool count_progress(void *arg, const iw_progress_now *now)
{
    uint64_t *last = arg;

    assert_true(now->done <= now->total && now->total > 0);
    *last = 100 * now->done / now->total;
    return true;
}

static void progress_reaches_the_end(void **state)
{
    static const uint32_t pair[] = {1, 0};
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    struct iwt_made_trace t;
    iw_program *program;
    uint64_t percent = 0;
    uint32_t comm;

    (void)state;
    iwt_made_trace_init(&t, 3);
    comm = iwt_trace_comm(&t, pair, 2);
    for (uint32_t i = 0; i < 20; i++) {
        iwt_trace_collective_all(&t, IWI_TRACE_ALLREDUCE, comm, 0, 8);
        iwt_trace_collective_all(&t, IWI_TRACE_BCAST, 0, 0, 8);
    }
    program = program_of(&t, 12);
    opts.progress = (iw_progress){count_progress, &percent};
    assert_ok(iw_simulate(NULL, program, &net, NULL, &opts, &result));
    assert_int_equal(percent, 100);
    iw_sim_result_free(result);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_across_a_broadcast_is_stored_and_run),
        cmocka_unit_test(waits_in_different_orders_are_a_deadlock_with_rank_and_call),
        cmocka_unit_test(a_receive_that_nobody_sends_to_is_named),
        cmocka_unit_test(messages_that_are_never_received_are_counted_in_all_replicas),
        cmocka_unit_test(a_synchronous_send_waits_for_its_receive_at_any_size),
        cmocka_unit_test(a_nonblocking_collective_runs_in_its_wait),
        cmocka_unit_test(progress_reaches_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
