/* Visits of traces: collectives, messages, what is computed, by hand; and files told apart.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/arrivals/visits_reader.h"

#include <idlewave/waits.h>

#include "support/support.h"

#define US(x) ((iw_time)(x)*IW_PS_PER_US)

enum { RANKS = 2, MOST_CALLS = 8 };

struct made {
    struct iwi_call calls[RANKS][MOST_CALLS];
    uint32_t completed[RANKS][MOST_CALLS];
    struct iwi_trace_rank ranks[RANKS];
    struct iwi_comm comms[2];
    struct iw_trace trace;
    iw_time at_ps[RANKS];
};

static const uint32_t backwards[RANKS] = {1, 0};

static void init(struct made *made)
{
    *made = (struct made){
        .comms = {{.size = RANKS}, {.size = RANKS, .members = (uint32_t *)(uintptr_t)backwards}}};
    for (uint32_t r = 0; r < RANKS; r++) {
        made->ranks[r] = (struct iwi_trace_rank){.calls = made->calls[r], .completed = made->completed[r]};
        made->at_ps[r] = US(5000);
    }
    made->trace =
        (struct iw_trace){.rank_count = RANKS, .ranks = made->ranks, .comms = made->comms, .comm_count = 2};
}

/* The rank's next call, after so much computing. */
static struct iwi_call *call(struct made *made, uint32_t rank, uint8_t kind, iw_time compute_us,
                             iw_time call_us)
{
    struct iwi_trace_rank *of = &made->ranks[rank];
    struct iwi_call *call = &of->calls[of->call_count++];

    made->at_ps[rank] += US(compute_us);
    *call = (struct iwi_call){.kind = kind,
                              .enter_ps = made->at_ps[rank],
                              .compute_wall_ps = US(compute_us),
                              .compute_cpu_ps = -1,
                              .call_ps = US(call_us)};
    made->at_ps[rank] += US(call_us);
    return call;
}

static void wait_for_all(struct made *made, uint32_t rank, iw_time compute_us, iw_time call_us)
{
    struct iwi_trace_rank *of = &made->ranks[rank];
    struct iwi_call *wait = call(made, rank, IWI_CALL_WAIT, compute_us, call_us);

    wait->request = (uint32_t)of->completed_count;
    wait->request_count = of->request_count - (uint32_t)of->completed_count;
    for (uint32_t k = 0; k < wait->request_count; k++) {
        made->completed[rank][of->completed_count] = (uint32_t)of->completed_count;
        of->completed_count++;
    }
}

static void fill(struct made *made, struct iwi_visits *visits)
{
    assert_ok(iwi_trace_check(NULL, &made->trace));
    iwi_visits_init(visits, NULL, "test");
    assert_ok(iwi_visits_of_trace(NULL, &made->trace, visits));
}

static void assert_visit(const struct iwi_visit *visit, uint32_t rank, iw_time enter_us, iw_time ahead_us,
                         iw_time leave_us)
{
    assert_int_equal(visit->rank, rank);
    assert_int_equal(visit->enter_ps, US(enter_us));
    assert_int_equal(visit->ahead_ps, US(ahead_us));
    assert_int_equal(visit->leave_ps, US(leave_us));
}

static void blocking_collectives_are_met_in_their_order(void **state)
{
    struct made made;
    struct iwi_visits visits;

    (void)state;
    init(&made);
    for (uint32_t i = 0; i < 3; i++) {
        call(&made, 0, IWI_CALL_COLLECTIVE, 10, 21)->op = IWI_TRACE_ALLREDUCE;
        call(&made, 1, IWI_CALL_COLLECTIVE, 30, 1)->op = IWI_TRACE_ALLREDUCE;
    }
    fill(&made, &visits);
    assert_int_equal(visits.encounter_count, 3);
    assert_visit(&visits.visits[2], 0, 41, 0, 62);
    assert_visit(&visits.visits[3], 1, 61, 0, 62);
    assert_int_equal(visits.visits[visits.encounters[1].last].rank, 1);
    assert_int_equal(visits.stretch_count, 6);
    assert_int_equal(visits.stretches[1].begin_ps, US(31));
    assert_int_equal(visits.stretches[1].end_ps, US(41));
    assert_int_equal(visits.step_count, 6);
    assert_int_equal(visits.visits[3].step, 1);
    assert_string_equal(visits.groups[visits.visits[0].group].name, "world");
    iwi_visits_release(&visits);
}

/* Rank 0 begins a reduction, computes on and waits for it; rank 1 blocks at once. */
static void who_computes_meanwhile_is_ahead(void **state)
{
    struct made made;
    struct iwi_visits visits;

    (void)state;
    init(&made);
    call(&made, 0, IWI_CALL_ICOLLECTIVE, 10, 1)->op = IWI_TRACE_ALLREDUCE;
    made.ranks[0].request_count = 1;
    wait_for_all(&made, 0, 20, 5);
    call(&made, 1, IWI_CALL_COLLECTIVE, 33, 3)->op = IWI_TRACE_ALLREDUCE;
    fill(&made, &visits);
    assert_int_equal(visits.encounter_count, 1);
    assert_visit(&visits.visits[0], 0, 10, 21, 36);
    assert_visit(&visits.visits[1], 1, 33, 0, 36);
    iwi_visits_release(&visits);
}

/* Whom nobody waits for is there all the same. */
static void a_request_that_is_never_completed_still_visits(void **state)
{
    struct made made;
    struct iwi_visits visits;

    (void)state;
    init(&made);
    for (uint32_t r = 0; r < RANKS; r++) {
        call(&made, r, IWI_CALL_ICOLLECTIVE, 10 + r, 1)->op = IWI_TRACE_BARRIER;
        made.ranks[r].request_count = 1;
    }
    wait_for_all(&made, 0, 20, 5);
    fill(&made, &visits);
    assert_int_equal(visits.encounters[0].count, 2);
    assert_visit(&visits.visits[1], 1, 11, 0, 12);
    iwi_visits_release(&visits);
}

static void a_message_is_a_visit_of_two_to_their_communicator(void **state)
{
    struct made made;
    struct iwi_visits visits;
    struct iwi_call *half;

    (void)state;
    init(&made);
    half = call(&made, 0, IWI_CALL_SEND, 40, 2);
    half->peer = 1;
    half->bytes = 8;
    half = call(&made, 1, IWI_CALL_IRECV, 5, 1);
    half->peer = 0;
    half->bytes = 8;
    half = call(&made, 1, IWI_CALL_ISEND, 0, 1); /* to itself: nobody is met */
    half->peer = 1;
    half->request = 1;
    half = call(&made, 1, IWI_CALL_IRECV, 0, 1);
    half->peer = 1;
    half->request = 2;
    made.ranks[1].request_count = 3;
    wait_for_all(&made, 1, 7, 30);
    fill(&made, &visits);
    assert_int_equal(visits.encounter_count, 1);
    assert_int_equal(visits.visit_count, 2);
    assert_visit(&visits.visits[0], 0, 40, 0, 42);
    assert_visit(&visits.visits[1], 1, 5, 10, 45);
    assert_true(visits.visits[1].has_root);
    assert_int_equal(visits.visits[1].root, 0);
    iwi_visits_release(&visits);
}

/* Root 0 of a communicator that counts backwards is rank 1. Polls before a receive were waiting. */
static void roots_are_ranks_of_the_world_and_polls_are_waits(void **state)
{
    struct made made;
    struct iwi_visits visits;
    struct iwi_call *half;

    (void)state;
    init(&made);
    for (uint32_t r = 0; r < RANKS; r++) {
        half = call(&made, r, IWI_CALL_COLLECTIVE, 10, 1);
        half->op = IWI_TRACE_BCAST;
        half->comm = 1;
        half = call(&made, r, r == 0 ? IWI_CALL_SEND : IWI_CALL_RECV, 20, 2);
        half->peer = 1 - r;
    }
    half->compute_wall_ps = US(5);
    fill(&made, &visits);
    assert_int_equal(visits.encounter_count, 2);
    assert_visit(&visits.visits[1], 1, 16, 0, 33); /* of the world: the message */
    assert_string_equal(visits.groups[visits.visits[2].group].name, "communicator 1");
    assert_true(visits.visits[2].has_root);
    assert_int_equal(visits.visits[2].root, 1);
    iwi_visits_release(&visits);
}

/* ---- files ---- */

static void expect_refused(const char *path, iw_status expected, const char *words)
{
    struct iwt_log log;
    iw_visits *visits = NULL;

    iwt_log_init(&log);
    assert_int_equal(iw_visits_open(&log.log, &path, 1, &visits), expected);
    iwt_assert_logged(&log, words);
    assert_null(visits);
}

static void what_is_no_trace_is_refused_with_a_list_of_those_that_are(void **state)
{
    const char *two[] = {IW_TEST_DATA "/traces/liballprof-mpich", IW_TEST_DATA "/traces/liballprof-openmpi"};
    struct iwt_log log;
    iw_visits *visits = NULL;

    (void)state;
    expect_refused("/nowhere", IW_ERR_IO, "cannot read '/nowhere'");
    expect_refused(IW_TEST_DATA "/traces/README.md", IW_ERR_FORMAT, "is not a trace of a run; supported: ");
    expect_refused(IW_TEST_DATA "/traces", IW_ERR_FORMAT, "contains no trace of a run");
    expect_refused(two[0], IW_ERR_UNSUPPORTED, "have separate clocks");
    iwt_log_init(&log);
    assert_int_equal(iw_visits_open(&log.log, two, 2, &visits), IW_ERR_USAGE);
    assert_int_equal(iw_visits_open(&log.log, two, 0, &visits), IW_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocking_collectives_are_met_in_their_order),
        cmocka_unit_test(who_computes_meanwhile_is_ahead),
        cmocka_unit_test(a_request_that_is_never_completed_still_visits),
        cmocka_unit_test(a_message_is_a_visit_of_two_to_their_communicator),
        cmocka_unit_test(roots_are_ranks_of_the_world_and_polls_are_waits),
        cmocka_unit_test(what_is_no_trace_is_refused_with_a_list_of_those_that_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
