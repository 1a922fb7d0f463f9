/* OTF2 archives as Score-P and our own tracer lay them out.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "trace_otf2_testing.h"

#include <otf2/OTF2_Events.h>
#include <otf2/OTF2_GeneralDefinitions.h>

static const char SCOREP[] = "Score-P 8.4", IDLEWAVE[] = "idlewave 0.1.0";

/* ---- Score-P ---- */

static void blocking_messages_are_read(void **state)
{
    struct iwt_otf2 *w = begin(SCOREP, 2, 1);
    struct iw_trace *trace;

    (void)state;
    iwt_otf2_enter(w, 0, 100, "main");
    iwt_otf2_enter(w, 0, 110, "MPI_Init");
    iwt_otf2_leave(w, 0, 200);
    iwt_otf2_enter(w, 0, 210, "solve"); /* user regions do not matter */
    iwt_otf2_enter(w, 0, 250, "MPI_Ssend");
    iwt_otf2_send(w, 0, 251, 1, 0, 9, 64);
    iwt_otf2_leave(w, 0, 300);
    iwt_otf2_leave(w, 0, 310);
    iwt_otf2_enter(w, 0, 350, "MPI_Finalize");
    iwt_otf2_leave(w, 0, 900);
    iwt_otf2_leave(w, 0, 910);
    iwt_otf2_enter(w, 1, 200, "MPI_Recv");
    iwt_otf2_recv(w, 1, 290, 0, 0, 9, 64);
    iwt_otf2_leave(w, 1, 300);
    trace = finish(w);
    assert_string_equal(trace->origin, "scorep");
    assert_call(trace, 0, 0, IWI_CALL_SEND, 1, 9, 64);
    assert_int_equal(trace->ranks[0].calls[0].flags, IWI_CALL_SYNCHRONOUS);
    assert_int_equal(trace->ranks[0].calls[0].compute_wall_ps, 50 * IW_PS_PER_NS); /* behind MPI_Init */
    assert_int_equal(trace->ranks[0].calls[0].call_ps, 50 * IW_PS_PER_NS);
    assert_int_equal(trace->ranks[0].last_compute_wall_ps, 50 * IW_PS_PER_NS); /* before MPI_Finalize */
    assert_int_equal(trace->ranks[0].wall_ps, 150 * IW_PS_PER_NS);
    assert_call(trace, 1, 0, IWI_CALL_RECV, 0, 9, 64);
    assert_false(trace->has_cpu_time);
    assert_int_equal(log_.warnings, 0);
    end(trace);
}

static void requests_are_completed_by_their_events(void **state)
{
    struct iwt_otf2 *w = begin(SCOREP, 2, 1);
    struct iw_trace *trace;

    (void)state;
    for (uint32_t r = 0; r < 2; r++) {
        iwt_otf2_enter(w, r, 100, "MPI_Irecv");
        iwt_otf2_irecv_request(w, r, 101, 7);
        iwt_otf2_leave(w, r, 110);
        iwt_otf2_enter(w, r, 120, "MPI_Isend");
        iwt_otf2_isend(w, r, 121, 1 - r, 0, 3, 8 + r, 8);
        iwt_otf2_leave(w, r, 130);
        iwt_otf2_enter(w, r, 140, "MPI_Testsome"); /* found nothing */
        iwt_otf2_leave(w, r, 150);
        iwt_otf2_enter(w, r, 160, "MPI_Waitany");
        iwt_otf2_irecv(w, r, 165, 1 - r, 0, 3, 9 - r, 7);
        iwt_otf2_leave(w, r, 170);
        iwt_otf2_enter(w, r, 180, "MPI_Test");
        iwt_otf2_isend_complete(w, r, 185, 8);
        iwt_otf2_leave(w, r, 190);
    }
    trace = finish(w);
    assert_int_equal(trace->ranks[0].call_count, 4);
    assert_call(trace, 0, 0, IWI_CALL_IRECV, 1, 3, 9);
    assert_call(trace, 0, 1, IWI_CALL_ISEND, 1, 3, 8);
    assert_int_equal(trace->ranks[0].calls[2].kind, IWI_CALL_WAIT);
    assert_int_equal(trace->ranks[0].completed[trace->ranks[0].calls[2].request], 0);
    assert_int_equal(trace->ranks[0].calls[2].compute_wall_ps,
                     20 * IW_PS_PER_NS); /* without the failed test */
    assert_int_equal(trace->ranks[0].completed[trace->ranks[0].calls[3].request], 1);
    assert_int_equal(log_.warnings, 0);
    end(trace);
}

struct collective {
    const char *name;
    uint8_t op;
    uint32_t root;
    uint64_t sent[2], received[2]; /* of ranks 0 and 1 of 4 */
    uint64_t bytes;
};

/* What Score-P writes for 24 bytes each on 4 ranks. */
static void sizes_of_collectives_are_those_of_one_rank(void **state)
{
    static const struct collective all[] = {
        {"MPI_Barrier", OTF2_COLLECTIVE_OP_BARRIER, UINT32_MAX, {0, 0}, {0, 0}, 0},
        {"MPI_Bcast", OTF2_COLLECTIVE_OP_BCAST, 0, {96, 0}, {24, 24}, 24},
        {"MPI_Reduce", OTF2_COLLECTIVE_OP_REDUCE, 0, {0, 24}, {72, 0}, 24}, /* root in place */
        {"MPI_Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE, UINT32_MAX, {96, 96}, {96, 96}, 24},
        {"MPI_Gather", OTF2_COLLECTIVE_OP_GATHER, 0, {24, 24}, {96, 0}, 24},
        {"MPI_Scatter", OTF2_COLLECTIVE_OP_SCATTER, 0, {96, 0}, {24, 24}, 24},
        {"MPI_Allgather", OTF2_COLLECTIVE_OP_ALLGATHER, UINT32_MAX, {96, 96}, {96, 96}, 24},
        {"MPI_Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL, UINT32_MAX, {60, 60}, {60, 60}, 20}, /* of 20 in place
                                                                                            */
        {"MPI_Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER, UINT32_MAX, {96, 96}, {96, 96}, 24},
        {"MPI_Scan", OTF2_COLLECTIVE_OP_SCAN, UINT32_MAX, {96, 72}, {24, 48}, 24},
    };
    struct iwt_otf2 *w = begin(SCOREP, 4, 1);
    struct iw_trace *trace;

    (void)state;
    for (uint32_t r = 0; r < 4; r++) {
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            const uint64_t sent = r < 2 ? all[i].sent[r] : all[i].sent[1];

            iwt_otf2_enter(w, r, 100 * i, all[i].name);
            iwt_otf2_collective(w, r, 100 * i + 1, all[i].op, 0, all[i].root, sent, all[i].received[r > 0]);
            iwt_otf2_leave(w, r, 100 * i + 50);
        }
    }
    trace = finish(w);
    for (uint32_t r = 0; r < 2; r++) {
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            assert_int_equal(trace->ranks[r].calls[i].kind, IWI_CALL_COLLECTIVE);
            assert_int_equal(trace->ranks[r].calls[i].bytes, all[i].bytes);
        }
    }
    assert_int_equal(trace->ranks[0].calls[9].op, IWI_TRACE_SCAN);
    end(trace);
}

static void nonblocking_collectives_are_told_when_complete(void **state)
{
    struct iwt_otf2 *w = begin(SCOREP, 2, 1);
    struct iw_trace *trace;

    (void)state;
    for (uint32_t r = 0; r < 2; r++) {
        iwt_otf2_enter(w, r, 100, "MPI_Ibcast");
        iwt_otf2_icollective_request(w, r, 101, 5);
        iwt_otf2_leave(w, r, 110);
        iwt_otf2_enter(w, r, 120, "MPI_Wait");
        iwt_otf2_icollective_complete(w, r, 130, OTF2_COLLECTIVE_OP_BCAST, 0, 1, r == 1 ? 32 : 0, 16, 5);
        iwt_otf2_leave(w, r, 140);
        iwt_otf2_enter(w, r, 150, "MPI_Iallreduce"); /* never completed: nobody knows what it was */
        iwt_otf2_icollective_request(w, r, 151, 6);
        iwt_otf2_leave(w, r, 160);
    }
    trace = finish(w);
    assert_int_equal(trace->ranks[0].calls[0].kind, IWI_CALL_ICOLLECTIVE);
    assert_int_equal(trace->ranks[0].calls[0].op, IWI_TRACE_BCAST);
    assert_int_equal(trace->ranks[0].calls[0].bytes, 16);
    assert_int_equal(trace->ranks[0].calls[0].peer, 1);
    assert_int_equal(trace->ranks[0].calls[1].request_count, 1);
    assert_int_equal(trace->ranks[0].calls[2].kind, IWI_CALL_OPAQUE);
    iwt_assert_logged(&log_, "collective calls without their communicator in the trace: 2");
    end(trace);
}

static void ranks_of_communicators_become_world_ranks(void **state)
{
    const uint64_t odd_first[] = {3, 1, 2, 0}, pair[] = {2, 3}, others[] = {0, 1}, all[] = {0, 1, 2, 3};
    struct iwt_otf2 *w = begin(SCOREP, 4, 1);
    const uint32_t turned = iwt_otf2_comm(w, 4, odd_first), inter = iwt_otf2_intercomm(w, 2, pair, 2, others);
    const uint32_t again = iwt_otf2_comm(w, 4, all), unknown = iwt_otf2_comm(w, 0, all);
    struct iw_trace *trace;

    (void)state;
    iwt_otf2_send(w, 3, 10, 1, turned, 1, 8); /* from 3 to 1, without a region around it */
    iwt_otf2_recv(w, 1, 20, 0, turned, 1, 8);
    iwt_otf2_send(w, 2, 30, 1, inter, 2, 8); /* from 2 to the 1 of the other group */
    iwt_otf2_recv(w, 1, 40, 0, inter, 2, 8);
    iwt_otf2_send(w, 0, 50, 0, 1, 3, 8); /* MPI_COMM_SELF */
    iwt_otf2_recv(w, 0, 60, 0, 1, 3, 8);
    iwt_otf2_send(w, 0, 70, 3, again, 4, 8);
    iwt_otf2_recv(w, 3, 80, 0, again, 4, 8);
    iwt_otf2_send(w, 0, 90, 0, unknown, 5, 8);
    iwt_otf2_collective(w, 0, 95, OTF2_COLLECTIVE_OP_BARRIER, inter, UINT32_MAX, 0, 0);
    trace = finish(w);
    assert_call(trace, 3, 0, IWI_CALL_SEND, 1, 1, 8);
    assert_call(trace, 1, 0, IWI_CALL_RECV, 3, 1, 8);
    assert_call(trace, 2, 0, IWI_CALL_SEND, 1, 2, 8);
    assert_call(trace, 1, 1, IWI_CALL_RECV, 2, 2, 8);
    assert_call(trace, 0, 0, IWI_CALL_SEND, 0, 3, 8);
    assert_int_equal(trace->comms[trace->ranks[0].calls[0].comm].size, 1);
    assert_call(trace, 3, 1, IWI_CALL_RECV, 0, 4, 8);
    assert_null(trace->comms[trace->ranks[3].calls[1].comm].members);
    assert_int_not_equal(trace->ranks[3].calls[1].comm, 0);
    assert_int_equal(trace->ranks[0].calls[3].kind, IWI_CALL_OPAQUE);
    iwt_assert_logged(&log_, "communicators with unknown members: 1");
    iwt_assert_logged(&log_, "collective calls on intercommunicators: 1");
    end(trace);
}

static void calls_of_threads_are_put_in_order(void **state)
{
    const uint64_t thread = (uint64_t)1 << 32;
    struct iwt_otf2 *w = begin(SCOREP, 2, 2);
    struct iw_trace *trace;

    (void)state;
    iwt_otf2_enter(w, 0, 100, "MPI_Isend");
    iwt_otf2_isend(w, 0, 101, 1, 0, 1, 8, 77);
    iwt_otf2_leave(w, 0, 110);
    iwt_otf2_enter(w, 0, 300, "MPI_Send");
    iwt_otf2_send(w, 0, 301, 1, 0, 2, 8);
    iwt_otf2_leave(w, 0, 310);
    iwt_otf2_enter(w, thread, 200, "MPI_Wait"); /* completes a request of the other thread */
    iwt_otf2_isend_complete(w, thread, 205, 77);
    iwt_otf2_leave(w, thread, 210);
    iwt_otf2_recv(w, 1, 400, 0, 0, 1, 8);
    iwt_otf2_recv(w, 1, 410, 0, 0, 2, 8);
    iwt_otf2_enter(w, 1 | thread, 100, "omp loop"); /* a thread that only computes needs no warning */
    iwt_otf2_leave(w, 1 | thread, 200);
    trace = finish(w);
    assert_int_equal(trace->ranks[0].call_count, 4);
    assert_int_equal(trace->ranks[0].calls[1].kind, IWI_CALL_WAIT);
    assert_int_equal(trace->ranks[0].calls[1].request_count, 1);
    assert_call(trace, 0, 2, IWI_CALL_ISEND, 1, 2, 8);
    assert_int_equal(trace->ranks[0].calls[2].compute_wall_ps, 90 * IW_PS_PER_NS);
    assert_int_equal(trace->ranks[0].calls[3].kind, IWI_CALL_WAIT);
    assert_int_equal(trace->ranks[0].calls[3].call_ps, 10 * IW_PS_PER_NS);
    iwt_assert_logged(&log_, "rank 0 called MPI from 2 threads; their calls are treated as sequential, so "
                             "the prediction is too long where they overlapped");
    assert_int_equal(trace->threaded.ranks, 1);
    assert_int_equal(log_.warnings, 1);
    end(trace);
}

/* Rank 0's thread 1 has received the answer before the send of thread 0, which brought it about, returns. */
static void what_a_thread_starts_counts_before_what_another_waits_for(void **state)
{
    const uint64_t thread = (uint64_t)1 << 32;
    struct iwt_otf2 *w = begin(SCOREP, 2, 2);
    struct iw_trace *trace;

    (void)state;
    iwt_otf2_enter(w, 0, 100, "MPI_Send");
    iwt_otf2_send(w, 0, 101, 1, 0, 1, 8);
    iwt_otf2_leave(w, 0, 400);
    iwt_otf2_enter(w, thread, 150, "MPI_Recv");
    iwt_otf2_recv(w, thread, 290, 1, 0, 2, 8);
    iwt_otf2_leave(w, thread, 300);
    iwt_otf2_enter(w, 1, 100, "MPI_Recv");
    iwt_otf2_recv(w, 1, 200, 0, 0, 1, 8);
    iwt_otf2_leave(w, 1, 200);
    iwt_otf2_enter(w, 1, 210, "MPI_Send");
    iwt_otf2_send(w, 1, 210, 0, 0, 2, 8);
    iwt_otf2_leave(w, 1, 220);
    trace = finish(w);
    assert_int_equal(trace->ranks[0].call_count, 4);
    assert_call(trace, 0, 0, IWI_CALL_ISEND, 1, 1, 8);
    assert_call(trace, 0, 1, IWI_CALL_IRECV, 1, 2, 8);
    assert_int_equal(trace->ranks[0].calls[2].kind, IWI_CALL_WAIT);
    assert_int_equal(trace->ranks[0].calls[3].kind, IWI_CALL_WAIT);
    assert_int_equal(trace->ranks[0].completed[0], trace->ranks[0].calls[1].request);
    assert_int_equal(trace->ranks[0].completed[1], trace->ranks[0].calls[0].request);
    end(trace);
}

/* ---- our own ---- */

static void our_attributes_are_used(void **state)
{
    struct iwt_otf2 *w = begin(IDLEWAVE, 2, 1);
    struct iw_trace *trace;

    (void)state;
    for (uint32_t r = 0; r < 2; r++) {
        iwt_otf2_enter(w, r, 0, "MPI_Init");
        iwt_otf2_leave(w, r, 100);
        iwt_otf2_attribute(w, "idlewave.cpu_ns", OTF2_TYPE_UINT64, 70);
        iwt_otf2_attribute(w, "idlewave.poll_ns", OTF2_TYPE_UINT64, 5);
        iwt_otf2_enter(w, r, 200, "MPI_Allreduce");
        iwt_otf2_attribute(w, "idlewave.bytes", OTF2_TYPE_UINT64, 48);
        iwt_otf2_collective(w, r, 210, OTF2_COLLECTIVE_OP_ALLREDUCE, 0, UINT32_MAX, 48, 48);
        iwt_otf2_leave(w, r, 220);
        iwt_otf2_enter(w, r, 230, "MPI_Ineighbor_alltoall");
        iwt_otf2_attribute(w, "idlewave.comm", OTF2_TYPE_COMM, 0);
        iwt_otf2_attribute(w, "idlewave.op", OTF2_TYPE_UINT8, OTF2_COLLECTIVE_OP_ALLTOALL);
        iwt_otf2_attribute(w, "idlewave.bytes", OTF2_TYPE_UINT64, 12);
        iwt_otf2_icollective_request(w, r, 230, 3);
        iwt_otf2_leave(w, r, 240);
        iwt_otf2_enter(w, r, 250, "MPI_Wait");
        iwt_otf2_icollective_complete(w, r, 260, OTF2_COLLECTIVE_OP_ALLTOALL, 0, UINT32_MAX, 24, 24, 3);
        iwt_otf2_leave(w, r, 260);
        iwt_otf2_enter(w, r, 270, "MPI_Send"); /* to MPI_PROC_NULL: no event */
        iwt_otf2_leave(w, r, 280);
    }
    trace = finish(w);
    assert_string_equal(trace->origin, "idlewave");
    assert_true(trace->has_cpu_time);
    assert_int_equal(trace->ranks[0].call_count, 3);
    assert_int_equal(trace->ranks[0].calls[0].bytes, 48);
    assert_int_equal(trace->ranks[0].calls[0].compute_cpu_ps, 70 * IW_PS_PER_NS);
    assert_int_equal(trace->ranks[0].calls[0].compute_wall_ps, 95 * IW_PS_PER_NS);
    assert_int_equal(trace->ranks[0].calls[1].kind, IWI_CALL_ICOLLECTIVE);
    assert_int_equal(trace->ranks[0].calls[1].op, IWI_TRACE_NEIGHBOR);
    assert_int_equal(trace->ranks[0].calls[1].bytes, 12);
    iwt_assert_logged(&log_, "neighbour collectives whose partners the trace lacks");
    iwt_assert_logged(&log_, ": 2 (first: rank 0, MPI call 2, MPI_Ineighbor_alltoall)");
    assert_int_equal(log_.warnings, 1);
    end(trace);
}

static struct iw_trace *made_without_what_goes_without_saying(const char *format)
{
    struct iwt_otf2 *w = begin(IDLEWAVE, 2, 1);

    iwt_otf2_property(w, "IDLEWAVE::FORMAT", format);
    for (uint32_t r = 0; r < 2; r++) {
        iwt_otf2_enter(w, r, 0, "MPI_Init"); /* before it nothing is known */
        iwt_otf2_leave(w, r, 100);
        iwt_otf2_attribute(w, "idlewave.poll_ns", OTF2_TYPE_UINT64, 30);
        iwt_otf2_enter(w, r, 200, "MPI_Barrier");
        iwt_otf2_collective(w, r, 210, OTF2_COLLECTIVE_OP_BARRIER, 0, UINT32_MAX, 0, 0);
        iwt_otf2_leave(w, r, 220);
        iwt_otf2_attribute(w, "idlewave.cpu_ns", OTF2_TYPE_UINT64, 4);
        iwt_otf2_enter(w, r, 230, "MPI_Ibarrier");
        iwt_otf2_attribute(w, "idlewave.op", OTF2_TYPE_UINT8, OTF2_COLLECTIVE_OP_BARRIER);
        iwt_otf2_icollective_request(w, r, 230, 3);
        iwt_otf2_leave(w, r, 240);
        iwt_otf2_enter(w, r, 247, "MPI_Wait");
        iwt_otf2_icollective_complete(w, r, 260, OTF2_COLLECTIVE_OP_BARRIER, 0, UINT32_MAX, 0, 0, 3);
        iwt_otf2_leave(w, r, 260);
    }
    return finish(w);
}

/* Format 3 leaves out CPU time that is all but polls, and MPI_COMM_WORLD; in format 2 they were not known. */
static void what_goes_without_saying_is_known_in_format_3(void **state)
{
    struct iw_trace *trace = made_without_what_goes_without_saying("3");

    (void)state;
    assert_int_equal(trace->ranks[0].call_count, 3);
    assert_int_equal(trace->ranks[0].calls[0].compute_wall_ps, 70 * IW_PS_PER_NS);
    assert_int_equal(trace->ranks[0].calls[0].compute_cpu_ps, 70 * IW_PS_PER_NS);
    assert_int_equal(trace->ranks[0].calls[1].compute_cpu_ps, 4 * IW_PS_PER_NS);
    assert_int_equal(trace->ranks[0].calls[1].comm, 0);
    assert_int_equal(trace->ranks[0].calls[2].compute_cpu_ps, 7 * IW_PS_PER_NS);
    end(trace);
    trace = made_without_what_goes_without_saying("2");
    assert_int_equal(trace->ranks[0].calls[0].compute_cpu_ps, -1);
    assert_int_equal(trace->ranks[0].calls[1].compute_cpu_ps, 4 * IW_PS_PER_NS);
    end(trace);
}

/* MPI_Start has no name that would tell it. */
static void a_persistent_neighbour_collective_is_known_by_its_operation(void **state)
{
    struct iwt_otf2 *w = begin(IDLEWAVE, 2, 1);
    struct iw_trace *trace;

    (void)state;
    for (uint32_t r = 0; r < 2; r++) {
        iwt_otf2_enter(w, r, 0, "MPI_Init");
        iwt_otf2_leave(w, r, 100);
        iwt_otf2_enter(w, r, 200, "MPI_Start");
        iwt_otf2_attribute(w, "idlewave.comm", OTF2_TYPE_COMM, 0);
        iwt_otf2_attribute(w, "idlewave.op", OTF2_TYPE_UINT8, 255);
        iwt_otf2_icollective_request(w, r, 200, 3);
        iwt_otf2_leave(w, r, 210);
        iwt_otf2_enter(w, r, 220, "MPI_Wait");
        iwt_otf2_icollective_complete(w, r, 230, OTF2_COLLECTIVE_OP_ALLTOALL, 0, UINT32_MAX, 24, 24, 3);
        iwt_otf2_leave(w, r, 230);
    }
    trace = finish(w);
    assert_int_equal(trace->ranks[0].calls[0].kind, IWI_CALL_ICOLLECTIVE);
    assert_int_equal(trace->ranks[0].calls[0].op, IWI_TRACE_NEIGHBOR);
    iwt_assert_logged(&log_, "neighbour collectives whose partners the trace lacks");
    assert_int_equal(log_.warnings, 1);
    end(trace);
}

/* Format 2 has lists of what goes to whom; the same of two ranks are one number of each. */
static void lists_of_sizes_are_found(void **state)
{
    static const uint64_t to_one[] = {1, 4096}, to_two[] = {1, 7, 0, 9};
    struct iwt_otf2 *w = begin(IDLEWAVE, 2, 1);
    const struct iwi_size_list *list;
    const struct iwi_call *calls;
    struct iw_trace *trace;

    (void)state;
    iwt_otf2_property(w, "IDLEWAVE::FORMAT", "2");
    for (uint32_t r = 0; r < 2; r++) {
        iwt_otf2_enter(w, r, 200, "MPI_Alltoallv");
        iwt_otf2_attribute(w, "idlewave.bytes", OTF2_TYPE_UINT64, 2048);
        iwt_otf2_attribute(w, "idlewave.sizes", OTF2_TYPE_UINT32, 5);
        iwt_otf2_collective(w, r, 210, OTF2_COLLECTIVE_OP_ALLTOALLV, 0, UINT32_MAX, 4096, 0);
        iwt_otf2_leave(w, r, 220);
        iwt_otf2_enter(w, r, 230, "MPI_Gatherv");
        iwt_otf2_attribute(w, "idlewave.bytes", OTF2_TYPE_UINT64, 10 + r);
        iwt_otf2_collective(w, r, 240, OTF2_COLLECTIVE_OP_GATHERV, 0, 0, 10 + r, 0);
        iwt_otf2_leave(w, r, 240);
        iwt_otf2_enter(w, r, 250, "MPI_Alltoallv");
        iwt_otf2_attribute(w, "idlewave.sizes", OTF2_TYPE_UINT32, UINT32_MAX); /* found no room */
        iwt_otf2_collective(w, r, 260, OTF2_COLLECTIVE_OP_ALLTOALLV, 0, UINT32_MAX, 4096, 0);
        iwt_otf2_leave(w, r, 260);
        iwt_otf2_list(w, r, 5, r == 0 ? 2 : 4, r == 0 ? to_one : to_two);
    }
    trace = finish(w);
    calls = trace->ranks[1].calls;
    assert_int_equal(trace->size_list_count, 2);
    list = &trace->size_lists[calls[0].sizes - 1];
    assert_int_equal(list->count, 2);
    assert_int_equal(trace->parts[list->first + 1].bytes, 9);
    assert_int_equal(trace->size_lists[trace->ranks[0].calls[0].sizes - 1].count, 1);
    assert_int_equal(calls[1].flags, IWI_CALL_SIZED);
    assert_int_equal(calls[1].bytes, 11);
    assert_int_equal(calls[2].flags, 0);
    iwt_assert_logged(&log_, ": 2 (first: rank 0, MPI call 3, MPI_Alltoallv); their sizes are averaged");
    assert_int_equal(log_.warnings, 1);
    end(trace);
}

/* Of a trace of 0.2: parts are what was sent or received, but what alltoallv sent to whom is not there. */
static void what_format_1_cannot_say_is_told(void **state)
{
    struct iwt_otf2 *w = begin(IDLEWAVE, 2, 1);
    struct iw_trace *trace;

    (void)state;
    for (uint32_t r = 0; r < 2; r++) {
        iwt_otf2_enter(w, r, 230, "MPI_Scatterv");
        iwt_otf2_attribute(w, "idlewave.bytes", OTF2_TYPE_UINT64, r == 0 ? 11 : 12);
        iwt_otf2_collective(w, r, 240, OTF2_COLLECTIVE_OP_SCATTERV, 0, 0, r == 0 ? 22 : 0, 10 + 2 * r);
        iwt_otf2_leave(w, r, 240);
        iwt_otf2_enter(w, r, 250, "MPI_Alltoallv");
        iwt_otf2_attribute(w, "idlewave.bytes", OTF2_TYPE_UINT64, 2048);
        iwt_otf2_collective(w, r, 260, OTF2_COLLECTIVE_OP_ALLTOALLV, 0, UINT32_MAX, 4096, 0);
        iwt_otf2_leave(w, r, 260);
        iwt_otf2_enter(w, r, 300, "MPI_Wait"); /* for MPI_PROC_NULL */
        iwt_otf2_leave(w, r, 400);
        iwt_otf2_enter(w, r, 500, "MPI_Wait"); /* for a file, 20 us */
        iwt_otf2_leave(w, r, 20500);
    }
    trace = finish(w);
    assert_int_equal(trace->ranks[0].call_count, 3);
    assert_int_equal(trace->ranks[0].calls[0].bytes, 10);
    assert_int_equal(trace->ranks[0].calls[0].flags, IWI_CALL_SIZED);
    assert_int_equal(trace->ranks[0].calls[1].bytes, 2048);
    assert_int_equal(trace->ranks[0].calls[2].kind, IWI_CALL_OPAQUE);
    assert_int_equal(trace->ranks[0].calls[2].call_ps, 20000 * IW_PS_PER_NS);
    iwt_assert_logged(
        &log_, "made by idlewave 0.2, or by another tracer): 2 (first: rank 0, MPI call 2, MPI_Alltoallv); "
               "their sizes are averaged");
    iwt_assert_logged(&log_, "waits for files, one-sided or partitioned communication: 2");
    assert_int_equal(log_.warnings, 2);
    end(trace);
}

/* Polls before the end of something that is no message are waiting for it. */
static void requests_that_are_no_messages_take_the_time_they_took(void **state)
{
    struct iwt_otf2 *w = begin(IDLEWAVE, 1, 1);
    struct iw_trace *trace;

    (void)state;
    iwt_otf2_property(w, "IDLEWAVE::FORMAT", "2");
    iwt_otf2_enter(w, 0, 0, "MPI_Init");
    iwt_otf2_leave(w, 0, 100);
    iwt_otf2_attribute(w, "idlewave.poll_ns", OTF2_TYPE_UINT64, 50);
    iwt_otf2_enter(w, 0, 200, "MPI_Test");
    iwt_otf2_attribute(w, "idlewave.unknown", OTF2_TYPE_UINT64, 1);
    iwt_otf2_leave(w, 0, 210);
    iwt_otf2_enter(w, 0, 300, "MPI_Waitall"); /* for MPI_PROC_NULL, by a rank that lost its CPU */
    iwt_otf2_leave(w, 0, 99300);
    iwt_otf2_enter(w, 0, 99400, "MPI_Finalize");
    iwt_otf2_leave(w, 0, 99500);
    trace = finish(w);
    assert_int_equal(trace->ranks[0].call_count, 1);
    assert_int_equal(trace->ranks[0].calls[0].kind, IWI_CALL_OPAQUE);
    assert_int_equal(trace->ranks[0].calls[0].call_ps, 60 * IW_PS_PER_NS);
    assert_int_equal(trace->ranks[0].calls[0].compute_wall_ps, 50 * IW_PS_PER_NS);
    iwt_assert_logged(&log_, "waits for files, one-sided or partitioned communication: 1");
    end(trace);
}

static void what_was_posted_helps_where_a_receive_never_ends(void **state)
{
    struct iwt_otf2 *w = begin(IDLEWAVE, 2, 1);
    struct iw_trace *trace;

    (void)state;
    iwt_otf2_enter(w, 0, 0, "MPI_Irecv");
    iwt_otf2_attribute(w, "idlewave.comm", OTF2_TYPE_COMM, 0);
    iwt_otf2_attribute(w, "idlewave.posted_source", OTF2_TYPE_INT32, UINT32_MAX); /* -1 */
    iwt_otf2_attribute(w, "idlewave.posted_tag", OTF2_TYPE_INT32, 6);
    iwt_otf2_irecv_request(w, 0, 0, 1);
    iwt_otf2_leave(w, 0, 10);
    iwt_otf2_enter(w, 0, 20, "MPI_Request_free");
    iwt_otf2_cancelled(w, 0, 30, 1);
    iwt_otf2_leave(w, 0, 30);
    for (uint32_t tag = 5; tag <= 6; tag++) {
        iwt_otf2_enter(w, 1, 100 * tag, "MPI_Bsend");
        iwt_otf2_attribute(w, "idlewave.mode", OTF2_TYPE_UINT8, 1);
        iwt_otf2_send(w, 1, 100 * tag, 0, 0, tag, 8 * tag);
        iwt_otf2_leave(w, 1, 100 * tag + 10);
    }
    trace = finish(w);
    assert_call(trace, 0, 0, IWI_CALL_IRECV, 1, 6, 48);
    assert_int_equal(trace->ranks[1].calls[0].kind, IWI_CALL_OPAQUE);
    assert_call(trace, 1, 1, IWI_CALL_ISEND, 0, 6, 48);
    iwt_assert_logged(&log_, "receives without their source in the trace: 1");
    iwt_assert_logged(&log_,
                      "1 message is never received (rank 1, MPI call 1: 40 B to rank 0, tag 5); its time");
    assert_int_equal(log_.warnings, 2);
    end(trace);
}

static void time_while_recording_was_off_is_left_out(void **state)
{
    struct iwt_otf2 *w = begin(IDLEWAVE, 1, 1);
    struct iw_trace *trace;

    (void)state;
    iwt_otf2_enter(w, 0, 100, "MPI_Barrier");
    iwt_otf2_collective(w, 0, 100, OTF2_COLLECTIVE_OP_BARRIER, 0, UINT32_MAX, 0, 0);
    iwt_otf2_leave(w, 0, 110);
    iwt_otf2_switch(w, 0, 150, 0);
    iwt_otf2_switch(w, 0, 1000, 1);
    iwt_otf2_enter(w, 0, 1020, "MPI_Custom"); /* described as opaque */
    iwt_otf2_leave(w, 0, 1050);
    trace = finish(w);
    assert_int_equal(trace->ranks[0].calls[1].kind, IWI_CALL_OPAQUE);
    assert_int_equal(trace->ranks[0].calls[1].compute_wall_ps, 60 * IW_PS_PER_NS);
    assert_int_equal(trace->ranks[0].calls[1].call_ps, 30 * IW_PS_PER_NS);
    iwt_assert_logged(&log_, "gaps where recording was switched off: 1");
    end(trace);
}

static void impossible_events_are_refused_with_their_place(void **state)
{
    struct iwt_otf2 *w = begin(SCOREP, 2, 1);
    struct iw_trace *trace;

    (void)state;
    iwt_otf2_enter(w, 1, 100, "MPI_Send");
    iwt_otf2_send(w, 1, 100, 5, 0, 1, 8);
    iwt_otf2_leave(w, 1, 110);
    iwt_otf2_close(w);
    assert_status(open_made(&trace), IW_ERR_FORMAT);
    iwt_assert_logged(&log_, "rank 1, event 2: its communicator has no rank 5");
    assert_int_equal(log_.errors, 1);
    remove_made();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocking_messages_are_read),
        cmocka_unit_test(requests_are_completed_by_their_events),
        cmocka_unit_test(sizes_of_collectives_are_those_of_one_rank),
        cmocka_unit_test(nonblocking_collectives_are_told_when_complete),
        cmocka_unit_test(ranks_of_communicators_become_world_ranks),
        cmocka_unit_test(calls_of_threads_are_put_in_order),
        cmocka_unit_test(what_a_thread_starts_counts_before_what_another_waits_for),
        cmocka_unit_test(our_attributes_are_used),
        cmocka_unit_test(what_goes_without_saying_is_known_in_format_3),
        cmocka_unit_test(a_persistent_neighbour_collective_is_known_by_its_operation),
        cmocka_unit_test(lists_of_sizes_are_found),
        cmocka_unit_test(what_format_1_cannot_say_is_told),
        cmocka_unit_test(requests_that_are_no_messages_take_the_time_they_took),
        cmocka_unit_test(what_was_posted_helps_where_a_receive_never_ends),
        cmocka_unit_test(time_while_recording_was_off_is_left_out),
        cmocka_unit_test(impossible_events_are_refused_with_their_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
