/* Names of MPI functions, and calls made of events.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "trace_rig.h"

/* ---- names ---- */

static void names_tell_what_functions_do(void **state)
{
    (void)state;
    assert_int_equal(function("MPI_Send").kind, IWI_FN_P2P);
    assert_int_equal(function("MPI_Ssend").flags, IWI_FN_SYNCHRONOUS);
    assert_int_equal(function("mpi_send").kind, IWI_FN_P2P);
    assert_int_equal(function("MPI_Send_c").kind, IWI_FN_P2P);
    assert_int_equal(function("MPI_Allgatherv").op, IWI_TRACE_ALLGATHER);
    assert_int_equal(function("MPI_Ineighbor_alltoallw").op, IWI_TRACE_NEIGHBOR);
    assert_int_equal(function("MPI_Iexscan").kind, IWI_FN_ICOLLECTIVE);
    assert_int_equal(function("MPI_Comm_split").op, IWI_TRACE_COMM_CREATE);
    assert_int_equal(function("MPI_Comm_rank").kind, IWI_FN_LOCAL);
    assert_int_equal(function("MPI_Get").kind, IWI_FN_OPAQUE);
    assert_int_equal(function("MPI_Get_count").kind, IWI_FN_LOCAL);
    assert_int_equal(function("MPI_File_write_all").kind, IWI_FN_OPAQUE);
    assert_int_equal(function("MPI_Testsome").kind, IWI_FN_TEST);
    assert_int_equal(function("compute_forces").kind, IWI_FN_NONE);
    assert_int_equal(function("MPI_").kind, IWI_FN_NONE);
}

/* ---- calls ---- */

static void computing_is_the_time_between_functions(void **state)
{
    struct rig *rig = new_rig();
    const struct iwi_trace_event send = {.type = IWI_EV_SEND, .peer = 1, .tag = 3, .bytes = 8};
    const struct iwi_trace_event recv = {.type = IWI_EV_RECV, .peer = 0, .tag = 3, .bytes = 8};
    struct iw_trace *trace;

    (void)state;
    call(rig, 0, "MPI_Send", &send, 1);
    call(rig, 0, "MPI_Probe", NULL, 0); /* 10 ps of waiting, which are nobody's */
    call(rig, 0, "MPI_Ssend", &send, 1);
    call(rig, 1, "MPI_Recv", &recv, 1);
    call(rig, 1, "MPI_Recv", &recv, 1);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[0].call_count, 2);
    assert_int_equal(trace->ranks[0].calls[0].compute_wall_ps, 100);
    assert_int_equal(trace->ranks[0].calls[0].call_ps, 10);
    assert_int_equal(trace->ranks[0].calls[1].compute_wall_ps, 200);
    assert_int_equal(trace->ranks[0].calls[1].flags, IWI_CALL_SYNCHRONOUS);
    assert_int_equal(trace->ranks[0].calls[1].compute_cpu_ps, -1);
    assert_int_equal(trace->ranks[0].wall_ps, 330);
    assert_int_equal(rig->log.warnings, 0);
    end(rig, trace);
}

static void cpu_time_is_summed_over_polls(void **state)
{
    struct rig *rig = new_rig();
    const struct iwi_call_span probe = {100, 110, 60, 0, 0}, barrier = {200, 210, 70, 15, 0};
    const struct iwi_trace_event event = {.type = IWI_EV_COLLECTIVE, .op = IWI_TRACE_BARRIER};
    struct iw_trace *trace;

    (void)state;
    iwi_build_begin(&rig->builders[0], 0);
    assert_ok(iwi_build(&rig->builders[0], function("MPI_Probe"), "MPI_Probe", &probe, NULL, 0));
    assert_ok(iwi_build(&rig->builders[0], function("MPI_Barrier"), "MPI_Barrier", &barrier, &event, 1));
    call(rig, 1, "MPI_Barrier", &event, 1);
    call(rig, 2, "MPI_Barrier", &event, 1);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[0].calls[0].compute_cpu_ps, 130);
    assert_int_equal(trace->ranks[0].calls[0].compute_wall_ps, 100 + 90 - 15);
    end(rig, trace);
}

static void a_sendrecv_is_receive_send_and_wait(void **state)
{
    struct rig *rig = new_rig();
    struct iw_trace *trace;

    (void)state;
    for (uint32_t r = 0; r < 2; r++) {
        const struct iwi_trace_event events[] = {{.type = IWI_EV_SEND, .peer = 1 - r, .tag = 1, .bytes = 4},
                                                 {.type = IWI_EV_RECV, .peer = 1 - r, .tag = 1, .bytes = 4}};

        call(rig, r, "MPI_Sendrecv", events, 2);
    }
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[0].call_count, 3);
    assert_int_equal(trace->ranks[0].calls[0].kind, IWI_CALL_IRECV);
    assert_int_equal(trace->ranks[0].calls[0].compute_wall_ps, 100);
    assert_int_equal(trace->ranks[0].calls[1].kind, IWI_CALL_ISEND);
    assert_int_equal(trace->ranks[0].calls[2].kind, IWI_CALL_WAIT);
    assert_int_equal(trace->ranks[0].calls[2].request_count, 2);
    assert_int_equal(trace->ranks[0].calls[2].call_ps, 10);
    end(rig, trace);
}

static void a_message_to_nobody_is_no_call(void **state)
{
    struct rig *rig = new_rig();
    const struct iwi_trace_event posted = {.type = IWI_EV_ISEND, .peer = IWI_PEER_NULL, .request = 7};
    const struct iwi_trace_event done = {.type = IWI_EV_COMPLETED, .request = 7};
    struct iw_trace *trace;

    (void)state;
    call(rig, 0, "MPI_Isend", &posted, 1);
    call(rig, 0, "MPI_Wait", &done, 1);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[0].call_count, 0);
    assert_int_equal(trace->ranks[0].last_compute_wall_ps, 200);
    assert_int_equal(rig->gaps.of[IWI_GAP_UNKNOWN_REQUEST].count, 0);
    end(rig, trace);
}

static void a_cancelled_receive_takes_no_message(void **state)
{
    struct rig *rig = new_rig();
    const struct iwi_trace_event posted = {
        .type = IWI_EV_IRECV_POSTED, .peer = IWI_PEER_UNKNOWN, .tag = IWI_TAG_UNKNOWN, .request = 7};
    const struct iwi_trace_event done = {.type = IWI_EV_CANCELLED, .request = 7};
    struct iw_trace *trace;

    (void)state;
    call(rig, 0, "MPI_Irecv", &posted, 1);
    call(rig, 0, "MPI_Wait", &done, 1);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[0].call_count, 0);
    assert_int_equal(rig->gaps.of[IWI_GAP_UNSENT].count, 0);
    end(rig, trace);
}

static void a_buffered_send_is_waited_for_by_nobody(void **state)
{
    struct rig *rig = new_rig();
    const struct iwi_trace_event send = {.type = IWI_EV_SEND, .peer = 1, .tag = 3, .bytes = 8};
    const struct iwi_trace_event recv = {.type = IWI_EV_RECV, .peer = 0, .tag = 3, .bytes = 8};
    struct iw_trace *trace;

    (void)state;
    call(rig, 0, "MPI_Bsend", &send, 1);
    call(rig, 1, "MPI_Recv", &recv, 1);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[0].calls[0].kind, IWI_CALL_ISEND);
    assert_int_equal(trace->ranks[0].request_count, 1);
    assert_int_equal(rig->gaps.of[IWI_GAP_NEVER_COMPLETED].count, 0);
    end(rig, trace);
}

static void what_is_not_followed_is_opaque_and_counted(void **state)
{
    struct rig *rig = new_rig();
    struct iw_trace *trace;

    (void)state;
    call(rig, 0, "MPI_Put", NULL, 0);
    call(rig, 0, "MPI_File_write", NULL, 0);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[0].calls[0].kind, IWI_CALL_OPAQUE);
    assert_int_equal(trace->ranks[0].calls[0].call_ps, 10);
    assert_int_equal(rig->gaps.of[IWI_GAP_OPAQUE].count, 2);
    iwi_gaps_log(&rig->log.log, "run", &rig->gaps);
    iwt_assert_logged(&rig->log, "2 (first: rank 0, MPI call 1, MPI_Put)");
    end(rig, trace);
}

/* ---- completions that a trace does not tell ---- */

static void post_two(struct rig *rig, uint64_t first_request)
{
    const struct iwi_trace_event posted[] = {{.type = IWI_EV_ISEND, .peer = 1, .request = first_request},
                                             {.type = IWI_EV_ISEND, .peer = 1, .request = first_request + 1}};
    const struct iwi_trace_event recv = {.type = IWI_EV_RECV, .peer = 0};

    for (int i = 0; i < 2; i++) {
        call(rig, 0, "MPI_Isend", &posted[i], 1);
        call(rig, 1, "MPI_Recv", &recv, 1);
    }
}

static void waits_take_the_oldest_request_and_waitall_all(void **state)
{
    struct rig *rig = new_rig();
    struct iw_trace *trace;
    struct iwi_trace_rank *rank;

    (void)state;
    rig->builders[0].lacks_completions = true;
    post_two(rig, 40);
    call(rig, 0, "MPI_Wait", NULL, 0);
    post_two(rig, 50);
    call(rig, 0, "MPI_Waitall", NULL, 0);
    trace = finish(rig, false);
    rank = &trace->ranks[0];
    assert_int_equal(rank->call_count, 6);
    assert_int_equal(rank->calls[2].request_count, 1);
    assert_int_equal(rank->completed[rank->calls[2].request], 0);
    assert_int_equal(rank->calls[5].request_count, 3);
    assert_int_equal(rank->completed[rank->calls[5].request], 1);
    assert_int_equal(rig->gaps.of[IWI_GAP_COMPLETION].count, 2);
    end(rig, trace);
}

static void a_request_used_again_was_completed_by_the_last_test(void **state)
{
    struct rig *rig = new_rig();
    struct iw_trace *trace;

    (void)state;
    rig->builders[0].lacks_completions = true;
    post_two(rig, 40);
    call(rig, 0, "MPI_Test", NULL, 0);
    call(rig, 0, "MPI_Test", NULL, 0);
    post_two(rig, 40);
    call(rig, 0, "MPI_Waitall", NULL, 0);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[0].call_count, 6);
    assert_int_equal(trace->ranks[0].calls[2].kind, IWI_CALL_WAIT);
    assert_int_equal(trace->ranks[0].calls[2].request_count, 2);
    assert_int_equal(trace->ranks[0].calls[2].call_ps, 20);
    assert_int_equal(trace->ranks[0].calls[5].request_count, 2);
    end(rig, trace);
}

static void a_request_without_end_is_named(void **state)
{
    struct rig *rig = new_rig();
    struct iw_trace *trace;

    (void)state;
    post_two(rig, 40);
    call(rig, 0, "MPI_Wait", NULL, 0);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[0].call_count, 2);
    assert_int_equal(rig->gaps.of[IWI_GAP_NEVER_COMPLETED].count, 2);
    end(rig, trace);
}

static void a_completion_without_a_request_is_named(void **state)
{
    struct rig *rig = new_rig();
    const struct iwi_trace_event done = {.type = IWI_EV_COMPLETED, .request = 7};
    struct iw_trace *trace;

    (void)state;
    call(rig, 0, "MPI_Wait", &done, 1);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[0].call_count, 0);
    assert_int_equal(rig->gaps.of[IWI_GAP_UNKNOWN_REQUEST].count, 1);
    end(rig, trace);
}

static void many_open_requests_are_found_again(void **state)
{
    struct iwi_open_requests requests = {0};
    enum { COUNT = 1000 };

    (void)state;
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_non_null(iwi_open_requests_add(NULL, &requests, i * 64));
    }
    for (uint64_t i = 0; i < COUNT; i += 2) {
        iwi_open_requests_remove(&requests, iwi_open_requests_find(&requests, i * 64));
    }
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_int_equal(iwi_open_requests_find(&requests, i * 64) != NULL, i % 2);
    }
    assert_int_equal(iwi_open_requests_oldest(&requests)->id, 64);
    assert_non_null(iwi_open_requests_add(NULL, &requests, 5));
    assert_int_equal(requests.count, COUNT);
    assert_int_equal(requests.open, COUNT / 2 + 1);
    iwi_open_requests_release(&requests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_tell_what_functions_do),
        cmocka_unit_test(computing_is_the_time_between_functions),
        cmocka_unit_test(cpu_time_is_summed_over_polls),
        cmocka_unit_test(a_sendrecv_is_receive_send_and_wait),
        cmocka_unit_test(a_message_to_nobody_is_no_call),
        cmocka_unit_test(a_cancelled_receive_takes_no_message),
        cmocka_unit_test(a_buffered_send_is_waited_for_by_nobody),
        cmocka_unit_test(what_is_not_followed_is_opaque_and_counted),
        cmocka_unit_test(waits_take_the_oldest_request_and_waitall_all),
        cmocka_unit_test(a_request_used_again_was_completed_by_the_last_test),
        cmocka_unit_test(a_request_without_end_is_named),
        cmocka_unit_test(a_completion_without_a_request_is_named),
        cmocka_unit_test(many_open_requests_are_found_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
