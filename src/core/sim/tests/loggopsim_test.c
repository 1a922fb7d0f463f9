/* LogGOPSim's rules, one by one; tests/golden compares whole runs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <idlewave/noise.h>

#include "core/sim/engine.h"
#include "dag.h"

/* Picoseconds: L = 10, o = 2, g = 5, G = 1 per byte, O = 0, S = 100. */
static const iw_net net = {
    .L_ps = 10, .o_send_ps = 2, .o_recv_ps = 2, .g_ps = 5, .G = 1000, .O = 0, .S_bytes = 100};

struct fixture {
    struct iwt_dag dag;
    struct iwt_log log;
    struct iwi_job job;
    iw_time end_ps[IWT_MOST_DAG];
};

static iw_status run(struct fixture *f)
{
    iwt_dag_end(&f->dag);
    iwt_log_init(&f->log);
    f->job.program = &f->dag.program;
    f->job.schedule = &f->dag.schedule;
    f->job.net = &net;
    f->job.lanes = 1;
    f->job.end_ps = f->end_ps;
    return iwi_loggopsim_run(&f->log.log, &f->job);
}

/* rank 0: work, then send; rank 1: work, then receive. */
static void message(struct fixture *f, iw_time send_after_ps, iw_time recv_after_ps, uint64_t bytes)
{
    iwt_dag_rank(&f->dag);
    iwt_dag_calc(&f->dag, send_after_ps);
    iwt_dag_send(&f->dag, 1, bytes, 7);
    iwt_dag_requires(&f->dag, 0);
    iwt_dag_rank(&f->dag);
    iwt_dag_calc(&f->dag, recv_after_ps);
    iwt_dag_recv(&f->dag, 0, bytes, 7);
    iwt_dag_requires(&f->dag, 0);
}

static void bytes_are_paid_on_the_receivers_cpu(void **state)
{
    struct fixture f = {.dag = {.ranks = 0}};

    (void)state;
    message(&f, 0, 0, 41);
    iwt_dag_calc(&f.dag, 20); /* ready at 0 too, but the message comes at 12 */
    iwt_dag_irequires(&f.dag, 1);
    assert_ok(run(&f));
    assert_int_equal(f.end_ps[0], 2);
    assert_int_equal(f.end_ps[1], 20 + 2 + 40); /* no overlap of computation and transfer */
}

static void an_unexpected_message_is_paid_at_arrival_and_its_receive_costs_nothing(void **state)
{
    struct fixture f = {.dag = {.ranks = 0}};

    (void)state;
    iwt_dag_rank(&f.dag);
    iwt_dag_send(&f.dag, 1, 11, 7);
    iwt_dag_calc(&f.dag, 500);
    iwt_dag_requires(&f.dag, 0);
    iwt_dag_send(&f.dag, 1, 1, 9);
    iwt_dag_requires(&f.dag, 1);
    iwt_dag_rank(&f.dag);
    iwt_dag_recv(&f.dag, 0, 1, 9);
    iwt_dag_recv(&f.dag, 0, 11, 7);
    iwt_dag_requires(&f.dag, 0);
    assert_ok(run(&f));
    assert_int_equal(f.end_ps[1], 2 + 500 + 2 + 10 + 2);
}

static void a_zero_byte_message_saves_the_cost_of_a_byte(void **state)
{
    struct fixture f = {.dag = {.ranks = 0}};

    (void)state;
    message(&f, 0, 0, 0);
    assert_ok(run(&f));
    assert_int_equal(f.end_ps[1], 2 + 10 + 2 - 1);
}

static void a_rendezvous_send_is_held_until_its_message_is_served(void **state)
{
    struct fixture f = {.dag = {.ranks = 0}};

    (void)state;
    message(&f, 0, 500, 101);
    assert_ok(run(&f));
    assert_int_equal(f.end_ps[0], 500);
    assert_int_equal(f.end_ps[1], 500 + 2 + 100);
}

/* As LogGOPSim does: rank 0 ends at 27; by program order it would be 17. */
static void what_needs_a_start_is_let_go_before_what_needs_an_end(void **state)
{
    struct fixture f = {.dag = {.ranks = 0}};

    (void)state;
    iwt_dag_rank(&f.dag);
    iwt_dag_calc(&f.dag, 10);
    iwt_dag_send(&f.dag, 1, 1, 0);
    iwt_dag_requires(&f.dag, 0);
    iwt_dag_send(&f.dag, 1, 11, 1);
    iwt_dag_irequires(&f.dag, 0);
    iwt_dag_rank(&f.dag);
    iwt_dag_recv(&f.dag, 0, 1, 0);
    iwt_dag_recv(&f.dag, 0, 11, 1);
    assert_ok(run(&f));
    assert_int_equal(f.end_ps[0], 10 + (5 + 10) + 2);
    assert_int_equal(f.end_ps[1], 25 + 2 + 10 + 2);
}

/* The message waits for the first calc of rank 1, is older than the second, and served between them. */
static void an_eager_send_whose_receive_is_large_finishes_once(void **state)
{
    struct fixture f = {.dag = {.ranks = 0}};

    (void)state;
    iwt_dag_rank(&f.dag);
    iwt_dag_send(&f.dag, 1, 1, 7);
    iwt_dag_rank(&f.dag);
    iwt_dag_calc(&f.dag, 500);
    iwt_dag_calc(&f.dag, 5);
    iwt_dag_requires(&f.dag, 0);
    iwt_dag_recv(&f.dag, 0, 1000, 7);
    iwt_dag_requires(&f.dag, 1);
    assert_ok(run(&f));
    assert_int_equal(f.end_ps[0],
                     500 + 2 + 5); /* the size of the receive holds the sender until it is posted */
}

static void a_dependence_on_another_cpu_is_not_timed(void **state)
{
    struct fixture f = {.dag = {.ranks = 0}};

    (void)state;
    iwt_dag_rank(&f.dag);
    iwt_dag_calc(&f.dag, 1000);
    iwt_dag_calc(&f.dag, 100);
    iwt_dag_on_cpu(&f.dag, 1);
    iwt_dag_requires(&f.dag, 0);
    assert_ok(run(&f));
    assert_int_equal(f.end_ps[0], 1000);
}

static void sends_go_before_calcs_that_are_ready_too(void **state)
{
    struct fixture f = {.dag = {.ranks = 0}};

    (void)state;
    iwt_dag_rank(&f.dag);
    iwt_dag_calc(&f.dag, 1000);
    iwt_dag_send(&f.dag, 1, 1, 0);
    iwt_dag_rank(&f.dag);
    iwt_dag_recv(&f.dag, 0, 1, 0);
    assert_ok(run(&f));
    assert_int_equal(f.end_ps[0], 2 + 1000);
    assert_int_equal(f.end_ps[1], 14);
}

static void a_delay_lengthens_its_calc_when_delays_are_wanted(void **state)
{
    iw_delay delay = {.rank = 1, .step = 2, .time_ps = 1000};
    struct fixture f = {.dag = {.ranks = 0}};

    (void)state;
    message(&f, 0, 0, 1);
    iwt_dag_calc(&f.dag, 5);
    iwt_dag_requires(&f.dag, 1);
    iwt_dag_end(&f.dag);
    assert_ok(run(&f));
    assert_int_equal(f.end_ps[1], 14 + 5);
    iwt_dag_end(&f.dag);
    f.job = (struct iwi_job){.has_delays = true};
    assert_ok(run(&f)); /* the program has none */
    assert_int_equal(f.end_ps[1], 14 + 5);
    f.dag.program.delays = &delay;
    f.dag.program.delay_count = 1;
    assert_ok(iwi_loggopsim_run(&f.log.log, &f.job));
    assert_int_equal(f.end_ps[1], 14 + 5 + 1000);
}

static void a_deadlock_names_the_operations(void **state)
{
    struct fixture f = {.dag = {.ranks = 0}};

    (void)state;
    iwt_dag_rank(&f.dag);
    iwt_dag_calc(&f.dag, 5);
    iwt_dag_recv(&f.dag, 1, 8, 7);
    iwt_dag_rank(&f.dag);
    iwt_dag_send(&f.dag, 0, 101, 6);
    assert_status(run(&f), IW_ERR_DEADLOCK);
    iwt_assert_logged(&f.log, "2 ranks cannot continue: rank 0 op 1 (recv 8 B from rank 1, tag 7), rank 1 op "
                              "0 (send 101 B to rank 0, tag 6, never received)");
}

static void a_circle_of_dependences_is_a_deadlock(void **state)
{
    struct fixture f = {.dag = {.ranks = 0}};

    (void)state;
    iwt_dag_rank(&f.dag);
    iwt_dag_calc(&f.dag, 5);
    iwt_dag_requires(&f.dag, 1);
    iwt_dag_calc(&f.dag, 5);
    iwt_dag_requires(&f.dag, 0);
    assert_status(run(&f), IW_ERR_DEADLOCK);
    iwt_assert_logged(&f.log, "rank 0 op 0 (calc)");
}

static void messages_nobody_receives_are_told_when_wanted(void **state)
{
    struct fixture f = {.dag = {.ranks = 0}};

    (void)state;
    iwt_dag_rank(&f.dag);
    iwt_dag_send(&f.dag, 1, 1, 0);
    iwt_dag_rank(&f.dag);
    assert_ok(run(&f));
    assert_int_equal(f.log.warnings, 0);
    f.job.want_warnings = true;
    assert_ok(run(&f));
    iwt_assert_logged(&f.log, "1 message is sent but never received: rank 0 op 0 (1 B to rank 1, tag 0)");
}

static void in_order_schedules_and_explanations_are_refused(void **state)
{
    iw_split split[1];
    struct fixture f = {.dag = {.ranks = 0}};

    (void)state;
    iwt_dag_rank(&f.dag);
    iwt_dag_calc(&f.dag, 5);
    f.job.split = split;
    assert_status(run(&f), IW_ERR_UNSUPPORTED);
    f.job.split = NULL;
    f.dag.schedule.is_in_order = true;
    assert_status(iwi_loggopsim_run(&f.log.log, &f.job), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&f.log, "GOAL");
}

static void time_that_cannot_be_counted_is_an_error(void **state)
{
    struct fixture f = {.dag = {.ranks = 0}};

    (void)state;
    iwt_dag_rank(&f.dag);
    for (uint32_t i = 0; i < 12; i++) {
        iwt_dag_calc(&f.dag, IW_TIME_INPUT_MAX);
    }
    assert_status(run(&f), IW_ERR_RANGE);
    iwt_assert_logged(&f.log, "106 days");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_paid_on_the_receivers_cpu),
        cmocka_unit_test(an_unexpected_message_is_paid_at_arrival_and_its_receive_costs_nothing),
        cmocka_unit_test(a_zero_byte_message_saves_the_cost_of_a_byte),
        cmocka_unit_test(a_rendezvous_send_is_held_until_its_message_is_served),
        cmocka_unit_test(what_needs_a_start_is_let_go_before_what_needs_an_end),
        cmocka_unit_test(an_eager_send_whose_receive_is_large_finishes_once),
        cmocka_unit_test(a_dependence_on_another_cpu_is_not_timed),
        cmocka_unit_test(sends_go_before_calcs_that_are_ready_too),
        cmocka_unit_test(a_delay_lengthens_its_calc_when_delays_are_wanted),
        cmocka_unit_test(a_deadlock_names_the_operations),
        cmocka_unit_test(a_circle_of_dependences_is_a_deadlock),
        cmocka_unit_test(messages_nobody_receives_are_told_when_wanted),
        cmocka_unit_test(in_order_schedules_and_explanations_are_refused),
        cmocka_unit_test(time_that_cannot_be_counted_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
