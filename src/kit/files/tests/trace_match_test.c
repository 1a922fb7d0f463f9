/* Receives and their messages, where a trace tells them and where not.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "trace_rig.h"

static const struct iwi_trace_event any = {
    .type = IWI_EV_RECV, .comm = IWI_NO_COMM, .peer = IWI_PEER_UNKNOWN, .tag = IWI_TAG_UNKNOWN};

static void receives_without_source_take_messages_in_order(void **state)
{
    struct rig *rig = new_rig();
    const struct iwi_trace_event first = {.type = IWI_EV_SEND, .peer = 1, .tag = 3, .bytes = 8};
    const struct iwi_trace_event second = {.type = IWI_EV_SEND, .peer = 1, .tag = 4, .bytes = 16};
    struct iw_trace *trace;

    (void)state;
    call(rig, 0, "MPI_Send", &first, 1);
    call(rig, 0, "MPI_Send", &second, 1);
    call(rig, 1, "MPI_Recv", &any, 1);
    call(rig, 1, "MPI_Recv", &any, 1);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[1].calls[0].tag, 3);
    assert_int_equal(trace->ranks[1].calls[0].peer, 0);
    assert_int_equal(trace->ranks[1].calls[0].comm, 0);
    assert_int_equal(trace->ranks[1].calls[1].tag, 4);
    assert_int_equal(trace->ranks[1].calls[1].bytes, 16);
    assert_int_equal(rig->gaps.of[IWI_GAP_SOURCE].count, 2);
    end(rig, trace);
}

static struct iwi_trace_event send_to(uint32_t peer, int32_t tag)
{
    return (struct iwi_trace_event){.type = IWI_EV_SEND, .peer = peer, .tag = tag};
}

static void a_receive_takes_only_what_can_have_been_sent(void **state)
{
    const struct iwi_trace_event early = send_to(2, 1), late = send_to(2, 2), go = send_to(0, 3);
    const struct iwi_trace_event wait_for_go = {.type = IWI_EV_RECV, .peer = 2, .tag = 3};
    struct rig *rig = new_rig();
    struct iw_trace *trace;

    (void)state;
    /* rank 0 sends only after rank 2 had its first message; its clock is far ahead of the others' */
    call(rig, 0, "MPI_Recv", &wait_for_go, 1);
    call(rig, 0, "MPI_Send", &late, 1);
    rig->now_ps[1] = 1000000;
    call(rig, 1, "MPI_Send", &early, 1);
    call(rig, 2, "MPI_Recv", &any, 1);
    call(rig, 2, "MPI_Send", &go, 1);
    call(rig, 2, "MPI_Recv", &any, 1);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[2].calls[0].peer, 1);
    assert_int_equal(trace->ranks[2].calls[2].peer, 0);
    end(rig, trace);
}

static void a_barrier_divides_messages(void **state)
{
    const struct iwi_trace_event barrier = {.type = IWI_EV_COLLECTIVE, .op = IWI_TRACE_BARRIER};
    const struct iwi_trace_event first = send_to(2, 1), second = send_to(2, 2);
    struct rig *rig = new_rig();
    struct iw_trace *trace;

    (void)state;
    call(rig, 0, "MPI_Barrier", &barrier, 1);
    call(rig, 0, "MPI_Send", &second, 1);
    for (int i = 0; i < 5; i++) { /* takes its time before the first message */
        call(rig, 1, "MPI_Put", NULL, 0);
    }
    call(rig, 1, "MPI_Send", &first, 1);
    call(rig, 1, "MPI_Barrier", &barrier, 1);
    call(rig, 2, "MPI_Recv", &any, 1);
    call(rig, 2, "MPI_Barrier", &barrier, 1);
    call(rig, 2, "MPI_Recv", &any, 1);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[2].calls[0].tag, 1);
    assert_int_equal(trace->ranks[2].calls[2].tag, 2);
    end(rig, trace);
}

static void the_receive_that_ends_first_takes_the_first_message(void **state)
{
    const struct iwi_trace_event first = send_to(1, 1), second = send_to(1, 2);
    struct iwi_trace_event posted[2] = {any, any};
    const struct iwi_trace_event done[2] = {{.type = IWI_EV_COMPLETED, .request = 0},
                                            {.type = IWI_EV_COMPLETED, .request = 1}};
    struct rig *rig = new_rig();
    struct iw_trace *trace;

    (void)state;
    call(rig, 0, "MPI_Send", &first, 1);
    call(rig, 0, "MPI_Send", &second, 1);
    for (uint64_t i = 0; i < 2; i++) {
        posted[i].type = IWI_EV_IRECV_POSTED;
        posted[i].request = i;
        call(rig, 1, "MPI_Irecv", &posted[i], 1);
    }
    call(rig, 1, "MPI_Wait", &done[1], 1); /* the one that was posted last */
    call(rig, 1, "MPI_Wait", &done[0], 1);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[1].calls[0].tag, 2);
    assert_int_equal(trace->ranks[1].calls[1].tag, 1);
    end(rig, trace);
}

static void what_is_known_of_a_receive_is_kept(void **state)
{
    struct rig *rig = new_rig();
    const struct iwi_trace_event first = {.type = IWI_EV_SEND, .peer = 1, .tag = 3, .bytes = 8};
    const struct iwi_trace_event second = {.type = IWI_EV_SEND, .peer = 1, .tag = 4, .bytes = 16};
    const struct iwi_trace_event of_tag = {.type = IWI_EV_RECV, .peer = IWI_PEER_UNKNOWN, .tag = 4};
    struct iw_trace *trace;

    (void)state;
    call(rig, 0, "MPI_Send", &first, 1);
    call(rig, 0, "MPI_Send", &second, 1);
    call(rig, 1, "MPI_Recv", &any, 1); /* must not take tag 4 from the one that needs it */
    call(rig, 1, "MPI_Recv", &of_tag, 1);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[1].calls[0].tag, 3);
    assert_int_equal(trace->ranks[1].calls[1].tag, 4);
    end(rig, trace);
}

static void a_receive_has_the_bytes_of_its_message(void **state)
{
    struct rig *rig = new_rig();
    const struct iwi_trace_event send = {.type = IWI_EV_SEND, .peer = 1, .tag = 3, .bytes = 8};
    const struct iwi_trace_event recv = {.type = IWI_EV_RECV, .peer = 0, .tag = 3, .bytes = 4096};
    struct iw_trace *trace;

    (void)state;
    call(rig, 0, "MPI_Send", &send, 1);
    call(rig, 1, "MPI_Recv", &recv, 1);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[1].calls[0].bytes, 8);
    end(rig, trace);
}

static void messages_without_the_other_side_are_named(void **state)
{
    struct rig *rig = new_rig();
    const struct iwi_trace_event send = {.type = IWI_EV_ISEND, .peer = 1, .tag = 3, .request = 1};
    const struct iwi_trace_event done = {.type = IWI_EV_COMPLETED, .request = 1};
    const struct iwi_trace_event recv = {.type = IWI_EV_RECV, .peer = 0, .tag = 5};
    struct iw_trace *trace;

    (void)state;
    call(rig, 0, "MPI_Isend", &send, 1);
    call(rig, 0, "MPI_Wait", &done, 1);
    call(rig, 1, "MPI_Recv", &recv, 1);
    trace = finish(rig, false);
    assert_int_equal(trace->ranks[0].call_count, 1); /* and nothing waits for it */
    assert_int_equal(trace->ranks[0].calls[0].kind, IWI_CALL_OPAQUE);
    assert_int_equal(trace->ranks[1].calls[0].kind, IWI_CALL_OPAQUE);
    assert_int_equal(rig->gaps.of[IWI_GAP_UNRECEIVED].count, 1);
    assert_int_equal(rig->gaps.of[IWI_GAP_UNSENT].count, 1);
    end(rig, trace);
}

static void a_wrong_source_is_mended_where_sources_are_not_trusted(void **state)
{
    struct rig *rig = new_rig();
    const struct iwi_trace_event send = {.type = IWI_EV_SEND, .peer = 1, .tag = 3, .bytes = 8};
    const struct iwi_trace_event recv = {.type = IWI_EV_RECV, .peer = 1, .tag = 99, .bytes = 8};
    struct iw_trace *trace;

    (void)state;
    call(rig, 0, "MPI_Send", &send, 1);
    call(rig, 1, "MPI_Recv", &recv, 1);
    trace = finish(rig, true);
    assert_int_equal(trace->ranks[1].calls[0].peer, 0);
    assert_int_equal(trace->ranks[1].calls[0].tag, 3);
    end(rig, trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(receives_without_source_take_messages_in_order),
        cmocka_unit_test(a_receive_takes_only_what_can_have_been_sent),
        cmocka_unit_test(a_barrier_divides_messages),
        cmocka_unit_test(the_receive_that_ends_first_takes_the_first_message),
        cmocka_unit_test(what_is_known_of_a_receive_is_kept),
        cmocka_unit_test(a_receive_has_the_bytes_of_its_message),
        cmocka_unit_test(messages_without_the_other_side_are_named),
        cmocka_unit_test(a_wrong_source_is_mended_where_sources_are_not_trusted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
