/* What the check of traces refuses, each with its place.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include "core/program/trace.h"

static struct iwt_log log_;

/* Rank 0 sends and waits, rank 1 receives; then both meet. */
struct made {
    struct iwi_call calls[2][3];
    uint32_t completed[1], members[2];
    struct iwi_trace_rank ranks[2];
    struct iwi_comm comms[2];
    struct iw_trace trace;
};

static void make(struct made *made)
{
    *made = (struct made){
        .calls = {{{.kind = IWI_CALL_ISEND, .peer = 1, .tag = 5, .bytes = 8},
                   {.kind = IWI_CALL_WAIT, .request = 0, .request_count = 1},
                   {.kind = IWI_CALL_COLLECTIVE, .op = IWI_TRACE_BCAST, .comm = 1, .peer = 1}},
                  {{.kind = IWI_CALL_RECV, .peer = 0, .tag = 5, .bytes = 8},
                   {.kind = IWI_CALL_OPAQUE},
                   {.kind = IWI_CALL_COLLECTIVE, .op = IWI_TRACE_BCAST, .comm = 1, .peer = 1}}},
        .members = {1, 0},
    };
    made->ranks[0] = (struct iwi_trace_rank){.calls = made->calls[0],
                                             .call_count = 3,
                                             .completed = made->completed,
                                             .completed_count = 1,
                                             .request_count = 1};
    made->ranks[1] = (struct iwi_trace_rank){.calls = made->calls[1], .call_count = 3};
    made->comms[0].size = 2;
    made->comms[1] = (struct iwi_comm){.size = 2, .members = made->members};
    made->trace =
        (struct iw_trace){.rank_count = 2, .ranks = made->ranks, .comms = made->comms, .comm_count = 2};
    iwt_log_init(&log_);
}

static void assert_refused(const struct made *made, const char *message)
{
    assert_status(iwi_trace_check(&log_.log, &made->trace), IW_ERR_FORMAT);
    assert_int_equal(log_.errors, 1);
    iwt_assert_logged(&log_, message);
}

static void a_good_trace_passes(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    assert_ok(iwi_trace_check(&log_.log, &made.trace));
    assert_int_equal(log_.errors, 0);
}

static void bad_indices_are_refused(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    made.calls[0][0].peer = 2;
    assert_refused(&made, "trace: rank 0 call 0: no rank 2");
    make(&made);
    made.calls[1][0].tag = -1;
    assert_refused(&made, "trace: rank 1 call 0: bad tag");
    make(&made);
    made.calls[1][2].comm = 2;
    assert_refused(&made, "trace: rank 1 call 2: no communicator 2");
    make(&made);
    made.calls[1][2].op = IWI_TRACE_OPS;
    assert_refused(&made, "trace: rank 1 call 2: no collective");
    make(&made);
    made.calls[1][2].peer = 2;
    assert_refused(&made, "the communicator has no root 2");
    make(&made);
    made.calls[1][1].kind = 0;
    assert_refused(&made, "trace: rank 1 call 1: unknown kind 0");
}

static void bad_requests_are_refused(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    made.completed[0] = 1;
    assert_refused(&made, "trace: rank 0 call 1: completes an unknown request, 1");
    make(&made);
    made.calls[0][2] = made.calls[0][1];
    assert_refused(&made, "trace: rank 0 call 2: completes for the second time request 0");
    make(&made);
    made.calls[0][1].request_count = 2;
    assert_refused(&made, "invalid number of completed requests 2");
    make(&made);
    made.calls[0][1] = made.calls[0][0];
    assert_refused(&made, "trace: rank 0 call 1: invalid number of a new request 0");
}

static void bad_times_and_members_are_refused(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    made.calls[0][1].call_ps = -1;
    assert_refused(&made, "trace: rank 0 call 1: a time is negative");
    make(&made);
    made.members[1] = 7;
    assert_refused(&made, "trace: communicator 1 has rank 7 as member");
    make(&made);
    made.comms[0].size = 3;
    assert_refused(&made, "trace: communicator 0 has a bad size, 3");
    make(&made);
    made.trace.rank_count = 0;
    assert_refused(&made, "trace: no ranks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_trace_passes),
        cmocka_unit_test(bad_indices_are_refused),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(bad_times_and_members_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
