/* Waits of runs whose waits are known.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/waits.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "made_visits.h"

enum { STEPS = 400 };

/* Each step computes for 1000 us, rank 3 for 1200 us in steps from ... to - 1. */
static void run_slow(struct made_run *run, uint32_t ranks, uint32_t from, uint32_t to)
{
    made_begin(run, ranks);
    for (uint32_t s = 0; s < STEPS; s++) {
        iw_time begin_ps[MADE_RANKS];

        memcpy(begin_ps, run->at_ps, sizeof begin_ps);
        for (uint32_t r = 0; r < ranks; r++) {
            /* a little that changes: 0 to 6 us */
            made_compute(run, r, US(1000 + (s * 5 + r * 3) % 7 + (r == 3 && s >= from && s < to ? 200 : 0)));
        }
        made_meet(run, IWI_VISIT_ALLREDUCE);
        made_step(run, begin_ps);
    }
}

static void a_slow_rank_is_named(void **state)
{
    struct made_run run;
    iw_waits *waits;
    const iw_waits_rank *slow;

    (void)state;
    run_slow(&run, 4, 0, STEPS);
    waits = made_waits(&run);
    assert_int_equal(waits->named, 1);
    slow = &waits->ranks[0];
    assert_int_equal(slow->rank, 3);
    assert_int_equal(slow->pattern, IW_WAITS_PERSISTENT);
    assert_int_equal(slow->last, STEPS);
    assert_int_equal(slow->met, STEPS);
    assert_true(slow->chance < 1e-6);
    assert_string_equal(slow->node, "node1");
    assert_true(fabs(slow->usual_late_ns - 200e3) < 7e3);
    assert_true(fabs(slow->caused_ns - waits->waiting_ns) < 1.0);
    assert_true(fabs(waits->waiting_ns - 3.0 * STEPS * 200e3) < 3.0 * STEPS * 7e3);
    assert_true(fabs(waits->transfer_ns - 4.0 * STEPS * MADE_TRANSFER_US * 1e3) < 1.0);
    assert_true(waits->imbalance_ns > 0.9 * waits->waiting_ns);
    assert_int_equal(waits->iterations, STEPS);
    assert_string_equal(waits->iterated, "steps");
    assert_int_equal(waits->change_count, 0);
    assert_string_equal(waits->nodes[0].name, "node1");
    assert_true(fabs(waits->nodes[0].caused_ns - slow->caused_ns) < 1.0);
    iw_waits_free(waits);
}

/* All of a rank's time is in one of four sums. */
static void no_time_is_lost(void **state)
{
    struct made_run run;
    iw_waits *waits;

    (void)state;
    run_slow(&run, 5, 10, 30);
    waits = made_waits(&run);
    for (size_t i = 0; i < waits->ranks_count; i++) {
        const iw_waits_rank *rank = &waits->ranks[i];

        assert_true(fabs(rank->computing_ns + rank->waiting_ns + rank->transfer_ns + rank->other_ns -
                         waits->run_ns) < 1.0);
    }
    iw_waits_free(waits);
}

static void a_slow_period_is_told_with_its_time(void **state)
{
    struct made_run run;
    iw_waits *waits;

    (void)state;
    run_slow(&run, 4, 160, 280);
    waits = made_waits(&run);
    assert_int_equal(waits->named, 1);
    assert_int_equal(waits->ranks[0].rank, 3);
    assert_int_equal(waits->ranks[0].pattern, IW_WAITS_PERIOD);
    assert_true(fabs(waits->ranks[0].from_ns / waits->run_ns - 0.39) < 0.03);
    assert_true(fabs(waits->ranks[0].to_ns / waits->run_ns - 0.70) < 0.03);
    assert_int_equal(waits->change_count, 2);
    assert_in_range(waits->changes[0].iteration, 158, 162);
    assert_in_range(waits->changes[1].iteration, 278, 282);
    assert_true(fabs(waits->changes[0].after_ns - waits->changes[0].before_ns - 200e3) < 7e3);
    iw_waits_free(waits);
}

/* Each rank is slow for a quarter of the run: what lasts that long for all of them is no period of one. */
static void what_goes_from_rank_to_rank_names_none(void **state)
{
    struct made_run run;
    iw_waits *waits;

    (void)state;
    made_begin(&run, 4);
    for (uint32_t s = 0; s < STEPS; s++) {
        iw_time begin_ps[MADE_RANKS];

        memcpy(begin_ps, run.at_ps, sizeof begin_ps);
        for (uint32_t r = 0; r < 4; r++) {
            made_compute(&run, r, US(1000 + (s * 5 + r * 3) % 7 + (s / 100 == r ? 200 : 0)));
        }
        made_meet(&run, IWI_VISIT_ALLREDUCE);
        made_step(&run, begin_ps);
    }
    waits = made_waits(&run);
    assert_int_equal(waits->named, 0);
    iw_waits_free(waits);
}

/* Rank 1 waits for the message of rank 0, which is slow, and comes last to what follows: rank 0 is the cause.
 */
static void waits_are_followed_to_their_cause(void **state)
{
    const struct iwi_visit message = {.op = IWI_VISIT_MESSAGE, .bytes = 8, .has_root = true, .root = 0};
    struct made_run run;
    iw_waits *waits;

    (void)state;
    made_begin(&run, 3);
    for (uint32_t s = 0; s < STEPS; s++) {
        for (uint32_t r = 0; r < 3; r++) {
            made_compute(&run, r, US(1000 + (r == 0 ? 300 : 0)));
        }
        made_visit(&run, 0, message, run.at_ps[0] + US(1));
        made_visit(&run, 1, message, run.at_ps[0] + US(2));
        run.sequence++;
        made_compute(&run, 1, US(5));
        made_meet(&run, IWI_VISIT_ALLREDUCE);
        run.step++;
    }
    waits = made_waits(&run);
    assert_int_equal(waits->ranks[0].rank, 0);
    assert_int_equal(waits->ranks[0].last, 0);
    assert_int_equal(made_rank(waits, 1)->last, STEPS);
    /* rank 1 waits 300 for the message; rank 2 waits 308 for rank 1, which waits for rank 0 for 300 of them,
     * receives for 3 and computes for 5; rank 0 waits for rank 1 for 7 (2 receiving, 5 computing) */
    assert_true(fabs(waits->ranks[0].caused_ns - 600e3 * STEPS) < 1.0);
    assert_true(fabs(made_rank(waits, 1)->caused_ns - 10e3 * STEPS) < 1.0);
    assert_true(fabs(waits->through_transfer_ns - 5e3 * STEPS) < 1.0);
    assert_int_equal(waits->named, 1);
    assert_int_equal(waits->messages, STEPS);
    assert_int_equal(waits->collectives, STEPS);
    assert_false(waits->has_bounds_only);
    assert_string_equal(waits->iterated, "from allreduce to allreduce of world");
    iw_waits_free(waits);
}

/* The same, but long before the reduction: rank 1 computes when rank 2 waits for it, and yet is late because
 * it waited. */
static void what_was_waited_earlier_is_not_forgotten(void **state)
{
    const struct iwi_visit message = {.op = IWI_VISIT_MESSAGE, .bytes = 8, .has_root = true, .root = 0};
    struct made_run run;
    iw_waits *waits;

    (void)state;
    made_begin(&run, 3);
    for (uint32_t s = 0; s < STEPS; s++) {
        for (uint32_t r = 0; r < 3; r++) {
            made_compute(&run, r, US(1000 + (r == 0 ? 300 : 0)));
        }
        made_visit(&run, 0, message, run.at_ps[0]);
        made_visit(&run, 1, message, run.at_ps[0]);
        run.sequence++;
        for (uint32_t r = 0; r < 3; r++) {
            made_compute(&run, r, US(2000 + (r == 1 ? 5 : 0)));
        }
        made_meet(&run, IWI_VISIT_ALLREDUCE);
        run.step++;
    }
    waits = made_waits(&run);
    assert_int_equal(waits->ranks[0].rank, 0);
    /* rank 1 waits 300 in the message, rank 2 305 in the reduction, of which rank 1 computed 5; rank 0 waits
     * these 5 too */
    assert_true(fabs(waits->ranks[0].caused_ns - 600e3 * STEPS) < 1.0);
    assert_true(fabs(made_rank(waits, 1)->caused_ns - 10e3 * STEPS) < 1.0);
    assert_int_equal(waits->named, 1);
    iw_waits_free(waits);
}

/* Rank 0 computes while the reduction is under way: only what it stands in MPI_Wait is waiting. */
static void computing_meanwhile_is_no_wait(void **state)
{
    struct made_run run;
    iw_waits *waits;

    (void)state;
    made_begin(&run, 2);
    for (uint32_t s = 0; s < STEPS; s++) {
        const iw_time last_ps = run.at_ps[1] + US(500);

        made_compute(&run, 0, US(450));
        made_compute(&run, 1, US(500));
        made_visit(&run, 0, (struct iwi_visit){.op = IWI_VISIT_ALLREDUCE, .ahead_ps = US(400)},
                   last_ps + US(10));
        made_visit(&run, 1, (struct iwi_visit){.op = IWI_VISIT_ALLREDUCE}, last_ps + US(10));
        run.sequence++;
    }
    waits = made_waits(&run);
    assert_true(fabs(waits->waiting_ns - 50e3 * STEPS) < 1.0);
    iw_waits_free(waits);
}

/* An eager send is not waited for; behind a root only the root is. */
static void who_is_not_needed_is_not_waited_for(void **state)
{
    struct made_run run;
    iw_waits *waits;

    (void)state;
    made_begin(&run, 3);
    for (uint32_t s = 0; s < STEPS; s++) {
        const struct iwi_visit message = {.op = IWI_VISIT_MESSAGE, .bytes = 8, .has_root = true, .root = 0};
        const struct iwi_visit broadcast = {
            .op = IWI_VISIT_BROADCAST, .bytes = 8, .has_root = true, .root = 0};

        made_visit(&run, 0, message, run.at_ps[0] + US(100)); /* is long in its send, but nobody's fault */
        made_compute(&run, 1, US(50));
        made_visit(&run, 1, message, run.at_ps[1] + US(60));
        run.sequence++;
        run.at_ps[2] = run.at_ps[0];
        made_visit(&run, 2, broadcast, run.at_ps[2] + US(20));
        made_visit(&run, 0, broadcast, run.at_ps[0] + US(20));
        made_visit(&run, 1, broadcast, run.at_ps[0] + US(30)); /* comes last */
        run.sequence++;
        run.at_ps[0] = run.at_ps[1] = run.at_ps[2] = run.at_ps[1] + US(100);
    }
    waits = made_waits(&run);
    assert_true(waits->waiting_ns < 1.0);
    iw_waits_free(waits);
}

static void pauses_that_have_a_name_get_their_part(void **state)
{
    struct made_run run;
    iw_waits *waits;

    (void)state;
    made_begin(&run, 3);
    for (uint32_t s = 0; s < STEPS; s++) {
        const bool is_paused = s % 10 == 5;

        if (is_paused) {
            const struct iwi_pause pause = {.rank = s / 10 % 3,
                                            .cause = IWI_PAUSE_GC,
                                            .begin_ps = run.at_ps[0],
                                            .end_ps = run.at_ps[0] + US(400)};

            assert_ok(iwi_visits_add_pause(&run.visits, &pause));
            run.at_ps[pause.rank] += US(400);
        }
        for (uint32_t r = 0; r < 3; r++) {
            made_compute(&run, r, US(1000));
        }
        made_meet(&run, IWI_VISIT_BARRIER);
    }
    waits = made_waits(&run);
    assert_int_equal(waits->named, 0);
    assert_int_equal(waits->cause_count, 1);
    assert_string_equal(waits->causes[0].name, "garbage collection");
    assert_int_equal(waits->causes[0].pauses, STEPS / 10);
    /* others wait at the end of a step, when the paused one computes, but for its pause */
    assert_true(fabs(waits->causes[0].caused_ns - waits->waiting_ns) < 1.0);
    assert_true(fabs(waits->waiting_ns - 2.0 * STEPS / 10 * 400e3) < 1.0);
    assert_true(waits->noise_ns > 0.99 * waits->waiting_ns);
    iw_waits_free(waits);
}

static void clocks_are_compared_by_gathers_too(void **state)
{
    struct made_run run;
    iw_waits *waits;

    (void)state;
    made_begin(&run, 2);
    for (uint32_t s = 0; s < STEPS; s++) {
        made_compute(&run, 0, US(1000));
        made_compute(&run, 1, US(1100));
        made_meet(&run, IWI_VISIT_ALLGATHER);
    }
    waits = made_waits(&run);
    assert_true(waits->clock_ns == 0.0);
    iw_waits_free(waits);
}

static void one_rank_has_bounds_only(void **state)
{
    struct made_run run;
    iw_waits *waits;

    (void)state;
    made_begin(&run, 1);
    for (uint32_t s = 0; s < STEPS; s++) {
        made_compute(&run, 0, US(1000));
        made_visit(&run, 0, (struct iwi_visit){.op = IWI_VISIT_ALLREDUCE, .bytes = 8},
                   run.at_ps[0] + US(s % 2 == 0 ? 30 : 50));
        run.sequence++;
    }
    waits = made_waits(&run);
    assert_true(waits->has_bounds_only);
    assert_true(fabs(waits->waiting_least_ns - 20e3 * STEPS / 2) < 1.0);
    assert_true(fabs(waits->waiting_most_ns - 40e3 * STEPS) < 1.0);
    assert_int_equal(waits->named, 0);
    iw_waits_free(waits);
}

/* A collective of 30 us, of which 20 us are hidden behind computation; every second takes 50 us more. */
static iw_waits *alone_and_overlapped(struct made_run *run, uint64_t bytes)
{
    made_begin(run, 1);
    for (uint32_t s = 0; s < STEPS; s++) {
        const iw_time begin_ps = run->at_ps[0];

        made_visit(run, 0, (struct iwi_visit){.op = IWI_VISIT_ALLREDUCE, .bytes = bytes},
                   begin_ps + US(s % 2 == 0 ? 30 : 80));
        run->at_ps[0] = begin_ps;
        made_compute(run, 0, US(20));
        run->at_ps[0] = begin_ps + US(s % 2 == 0 ? 30 : 80);
        run->sequence++;
    }
    return made_waits(run);
}

static void what_computation_hides_is_no_waiting(void **state)
{
    struct made_run run;
    iw_waits *waits = alone_and_overlapped(&run, 8);

    (void)state;
    /* 10 and 60 us are not hidden; of 60 us at most 30 were transfer */
    assert_true(fabs(waits->waiting_most_ns - 70e3 * STEPS / 2) < 1.0);
    assert_true(fabs(waits->waiting_most_ns - waits->waiting_ns - waits->transfer_ns) < 1.0);
    assert_true(fabs(waits->waiting_least_ns - 30e3 * STEPS / 2) < 1.0);
    iw_waits_free(waits);
}

static void collectives_of_unknown_size_are_not_equal(void **state)
{
    struct made_run run;
    iw_waits *waits = alone_and_overlapped(&run, 0);

    (void)state;
    assert_true(waits->waiting_least_ns == 0.0);
    assert_true(fabs(waits->waiting_most_ns - 70e3 * STEPS / 2) < 1.0);
    iw_waits_free(waits);
}

static void a_run_without_a_collective_is_refused(void **state)
{
    struct made_run run;
    struct iwt_log log;
    iw_waits *waits = NULL;

    (void)state;
    iwt_log_init(&log);
    made_begin(&run, 2);
    made_compute(&run, 0, US(5));
    assert_ok(iwi_visits_finish(&run.visits));
    assert_status(iw_waits_run(&log.log, "made", &run.visits, NULL, &waits), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&log, "no waits to explain");
    iwi_visits_release(&run.visits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_rank_is_named),
        cmocka_unit_test(no_time_is_lost),
        cmocka_unit_test(a_slow_period_is_told_with_its_time),
        cmocka_unit_test(what_goes_from_rank_to_rank_names_none),
        cmocka_unit_test(waits_are_followed_to_their_cause),
        cmocka_unit_test(what_was_waited_earlier_is_not_forgotten),
        cmocka_unit_test(computing_meanwhile_is_no_wait),
        cmocka_unit_test(who_is_not_needed_is_not_waited_for),
        cmocka_unit_test(pauses_that_have_a_name_get_their_part),
        cmocka_unit_test(clocks_are_compared_by_gathers_too),
        cmocka_unit_test(one_rank_has_bounds_only),
        cmocka_unit_test(what_computation_hides_is_no_waiting),
        cmocka_unit_test(collectives_of_unknown_size_are_not_equal),
        cmocka_unit_test(a_run_without_a_collective_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
