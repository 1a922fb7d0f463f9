/* Graphs in the event engine, and in the window and flow engines where they run them
 * (docs/explanation/semantics.md, 7 and 8): wildcards, several CPUs, the order of ready operations.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/sim/graph/graph.h"
#include "core/sim/window/window_plan.h"
#include "dag.h"
#include "random_program.h"
#include "support/support.h"

enum { ANY = -1 };

/* The same by windows, where these can run it. */
static void expect_by_windows(struct iwi_job job, const iw_time *end_ns)
{
    struct iwi_window_plan *plan = NULL;
    uint64_t node;

    if (iwi_window_refusal(job.schedule, job.net, &node) != NULL) {
        return;
    }
    job.split = NULL;
    assert_ok(iwi_window_plan_new(NULL, job.schedule, job.net, job.rendezvous, &plan));
    assert_ok(iwi_window_run(NULL, &job, plan));
    for (uint32_t r = 0; r < job.schedule->ranks; r++) {
        assert_int_equal(job.end_ps[r], IWT_NS(end_ns[r]));
    }
    iwi_window_plan_free(plan);
}

/* The same by the flow engine. */
static void expect_by_flow(const struct iwt_dag *d, const struct iwi_job *like, const iw_time *end_ns)
{
    iw_time end[IWT_MOST_DAG];
    struct iwi_job job = *like;
    struct iwi_graph *graph = NULL;
    struct iwi_graph_refusal refusal;

    assert_ok(iwi_graph_new(NULL, &d->schedule, like->net, &refusal, &graph));
    assert_int_equal(graph == NULL, refusal.why != NULL);
    if (graph == NULL) {
        return;
    }
    job.end_ps = end;
    assert_ok(iwi_graph_run(NULL, &job, graph));
    for (uint32_t r = 0; r < d->ranks; r++) {
        assert_int_equal(end[r], IWT_NS(end_ns[r]));
    }
    iwi_graph_free(graph);
}

/* Runs with the example network (L 10, o 2, g 5, G 1, S 100; ns) and checks the ends and their explanations.
 */
static void expect(struct iwt_dag *d, const iw_time *end_ns)
{
    const iw_net net = iwt_example_net();
    iw_split split[IWT_MOST_DAG];
    iw_time end[IWT_MOST_DAG];
    struct iwi_job job = {.net = &net, .lanes = 1, .seed = 1, .end_ps = end, .split = split};

    memset(split, 0, sizeof split);
    iwt_dag_end(d);
    job.program = &d->program;
    job.schedule = &d->schedule;
    assert_ok(iwi_event_run(NULL, &job));
    expect_by_flow(d, &job, end_ns);
    for (uint32_t r = 0; r < d->ranks; r++) {
        iw_time sum = 0;

        for (size_t part = 0; part < IW_PARTS; part++) {
            sum += split[r].part_ps[part];
        }
        assert_int_equal(end[r], IWT_NS(end_ns[r]));
        assert_int_equal(sum, end[r]);
    }
    expect_by_windows(job, end_ns);
}

static void ready_operations_run_in_program_order(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, IWT_NS(7));
    iwt_dag_calc(&d, IWT_NS(5)); /* both are ready at 0 */
    iwt_dag_calc(&d, IWT_NS(1));
    iwt_dag_requires(&d, 0); /* ready at 7: after the second, which was ready before */
    expect(&d, (iw_time[]){13});
}

static void an_earlier_ready_operation_goes_first(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, IWT_NS(20));
    iwt_dag_calc(&d, IWT_NS(3)); /* ready at 20 */
    iwt_dag_requires(&d, 0);
    iwt_dag_recv(&d, 1, 1, 0); /* arrives at 12, so is ready before */
    iwt_dag_send(&d, 1, 1, 1);
    iwt_dag_requires(&d, 2);
    iwt_dag_rank(&d);
    iwt_dag_send(&d, 0, 1, 0);
    iwt_dag_recv(&d, 0, 1, 1);
    /* 20 to 22 the receive, then the send (ready at 22) after the calc (ready at 20): 25 to 27; arrival 37 */
    expect(&d, (iw_time[]){27, 39});
}

static void cpus_of_a_rank_work_side_by_side(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, IWT_NS(30));
    iwt_dag_calc(&d, IWT_NS(20));
    iwt_dag_on_cpu(&d, 1);
    iwt_dag_calc(&d, IWT_NS(5)); /* after the one on the other CPU: 20 to 25 on CPU 1 */
    iwt_dag_on_cpu(&d, 1);
    iwt_dag_requires(&d, 1);
    expect(&d, (iw_time[]){30});
}

/* A rank with 30 ns of work on CPU 0 and 5 ns on CPU 1. */
static void add_work_on_two_cpus(struct iwt_dag *d)
{
    iwt_dag_rank(d);
    iwt_dag_calc(d, IWT_NS(30));
    iwt_dag_calc(d, IWT_NS(5));
    iwt_dag_on_cpu(d, 1);
}

static void dependences_between_cpus_are_timed(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    add_work_on_two_cpus(&d);
    iwt_dag_requires(&d, 0);
    expect(&d, (iw_time[]){35});
}

static void a_start_is_enough_for_irequires(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    add_work_on_two_cpus(&d);
    iwt_dag_irequires(&d, 0);
    expect(&d, (iw_time[]){30});
}

static void a_send_waiting_for_its_gap_holds_the_cpu(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_send(&d, 1, 11, 0);
    iwt_dag_send(&d, 1, 11, 1); /* gap until 15: 15 to 17 */
    iwt_dag_calc(&d, IWT_NS(1));
    iwt_dag_rank(&d);
    iwt_dag_recv(&d, 0, 11, 0);
    iwt_dag_recv(&d, 0, 11, 1);
    expect(&d, (iw_time[]){18, 39});
}

static void a_rendezvous_send_lets_the_cpu_go(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_send(&d, 1, 201, 0);
    iwt_dag_calc(&d, IWT_NS(20)); /* 2 to 22, while the transfer waits until 50 */
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, IWT_NS(50));
    iwt_dag_recv(&d, 0, 201, 0);
    iwt_dag_requires(&d, 0);
    expect(&d, (iw_time[]){50, 262});
}

/* Three senders; the second computes less, so its message is first. */
static void any_source_takes_the_first_to_arrive(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_recv(&d, (uint32_t)ANY, 1, 0);
    iwt_dag_send(&d, 1, 1, 9); /* after the first receive, which must have been rank 2's: 22 + 2 */
    iwt_dag_requires(&d, 0);
    iwt_dag_recv(&d, (uint32_t)ANY, 1, 0);
    iwt_dag_requires(&d, 1);
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, IWT_NS(100));
    iwt_dag_send(&d, 0, 1, 0);
    iwt_dag_requires(&d, 0);
    iwt_dag_recv(&d, 0, 1, 9);
    iwt_dag_requires(&d, 1);
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, IWT_NS(10));
    iwt_dag_send(&d, 0, 1, 0);
    iwt_dag_requires(&d, 0);
    expect(&d, (iw_time[]){114, 104, 12});
}

/* 91 bytes of tag 1 arrive at 2 + 10 + 90 = 102; 1 byte of tag 2, sent at 95 to 97, at 107. */
static void any_tag_does_not_overtake(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_send(&d, 1, 91, 1);
    iwt_dag_send(&d, 1, 1, 2);
    iwt_dag_rank(&d);
    iwt_dag_recv(&d, 0, 91, (uint32_t)ANY); /* 102 to 104, gap until 197 */
    iwt_dag_recv(&d, 0, 1, 2);              /* would take tag 2 if the first had not left it */
    iwt_dag_requires(&d, 0);
    expect(&d, (iw_time[]){97, 199});
}

/* Runs with the example network, for what it logs. */
static iw_status run_logged(struct iwt_dag *d, struct iwt_log *l)
{
    const iw_net net = iwt_example_net();
    iw_time end[IWT_MOST_DAG];
    struct iwi_job job = {.net = &net, .lanes = 1, .seed = 1, .end_ps = end, .want_warnings = true};

    iwt_log_init(l);
    iwt_dag_end(d);
    job.program = &d->program;
    job.schedule = &d->schedule;
    return iwi_event_run(&l->log, &job);
}

static void a_circle_of_dependences_is_a_deadlock(void **state)
{
    struct iwt_dag d = {.ranks = 0};
    struct iwt_log l;

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, 1);
    iwt_dag_requires(&d, 1);
    iwt_dag_calc(&d, 1);
    iwt_dag_requires(&d, 0);
    assert_status(run_logged(&d, &l), IW_ERR_DEADLOCK);
    iwt_assert_logged(&l, "rank 0 op 0");
}

static void a_message_nobody_receives_is_warned_about(void **state)
{
    struct iwt_dag d = {.ranks = 0};
    struct iwt_log l;

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_send(&d, 1, 1, 0);
    iwt_dag_rank(&d);
    assert_ok(run_logged(&d, &l));
    iwt_assert_logged(&l, "1 message is sent but never received: rank 0 op 0 (1 B to rank 1, tag 0)");
}

/* docs/explanation/semantics.md, 8: a receive, work beside it, a send, and the wait for both. */
static void make_overlap(struct iwt_dag *d)
{
    iwt_dag_rank(d);
    iwt_dag_recv(d, 1, 11, 0);
    iwt_dag_calc(d, IWT_NS(30));
    iwt_dag_irequires(d, 0);
    iwt_dag_send(d, 1, 1, 0);
    iwt_dag_requires(d, 1);
    iwt_dag_empty(d);
    iwt_dag_requires(d, 0);
    iwt_dag_requires(d, 2);
}

static void end_overlap(struct iwt_dag *d)
{
    iwt_dag_rank(d);
    iwt_dag_send(d, 0, 11, 0);
    iwt_dag_recv(d, 0, 1, 0);
    iwt_dag_requires(d, 0);
    iwt_dag_end(d);
    assert_ok(iwi_schedule_put_in_order(NULL, &d->schedule));
}

static void a_graph_in_order_serves_messages_in_its_wait(void **state)
{
    const iw_net net = iwt_example_net();
    const iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct iwt_dag d = {.ranks = 0};
    iw_sim_result *result;

    (void)state;
    make_overlap(&d);
    end_overlap(&d);
    assert_true(d.schedule.is_in_order);
    result = iwt_run(&d.program, &net, NULL, &opts);
    assert_int_equal(result->engine, IW_ENGINE_FLOW);
    assert_int_equal(result->end_ps[0], IWT_NS(34));
    assert_int_equal(result->end_ps[1], IWT_NS(44));
    iw_sim_result_free(result);
}

static void a_graph_out_of_order_serves_by_ready_time(void **state)
{
    const iw_net net = iwt_example_net();
    const iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct iwt_dag d = {.ranks = 0};
    iw_sim_result *result;

    (void)state;
    make_overlap(&d);
    iwt_dag_calc(&d, IWT_NS(1));
    end_overlap(&d);
    result = iwt_run(&d.program, &net, NULL, &opts);
    assert_int_equal(result->engine, IW_ENGINE_FLOW);
    assert_int_equal(result->end_ps[0], IWT_NS(35));
    assert_int_equal(result->end_ps[1], IWT_NS(47));
    iw_sim_result_free(result);
}

/* The rules for graphs give blocking programs the same times as those for programs. */
static void a_chain_is_program_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct iwt_random random = {seed, 0};
        const iw_net net = iwt_random_net(&random);
        iw_noise *noise = iwt_random_noise(&random);
        struct iwt_builder b;
        iw_program *program, *graph_program = NULL;
        struct iwi_schedule *dag = NULL;
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        iw_sim_result *in_order, *graph;

        iwt_builder_init(&b, 4);
        for (int step = 0; step < 40; step++) {
            const uint32_t from = (uint32_t)iwt_below(&random, 4);
            const uint32_t to = (from + 1 + (uint32_t)iwt_below(&random, 3)) % 4;
            const uint64_t bytes = iwt_below(&random, 300);

            iwt_calc(&b, from, (iw_time)iwt_below(&random, 9000));
            iwt_send(&b, from, to, bytes, 0);
            iwt_recv(&b, to, from, bytes, 0);
        }
        program = iwt_program(&b);
        assert_ok(iwi_schedule_to_dag(NULL, program->schedule, &dag));
        assert_ok(iwi_program_from_schedule(NULL, dag, &graph_program));
        opts.engine = IW_ENGINE_EVENT;
        in_order = iwt_run(program, &net, noise, &opts);
        graph = iwt_run(graph_program, &net, noise, &opts);
        for (uint32_t r = 0; r < 4; r++) {
            assert_int_equal(in_order->end_ps[r], graph->end_ps[r]);
        }
        iw_sim_result_free(graph);
        iw_sim_result_free(in_order);
        iw_program_free(program);
        iw_program_free(graph_program);
        iw_noise_free(noise);
        iwt_builder_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ready_operations_run_in_program_order),
        cmocka_unit_test(an_earlier_ready_operation_goes_first),
        cmocka_unit_test(cpus_of_a_rank_work_side_by_side),
        cmocka_unit_test(dependences_between_cpus_are_timed),
        cmocka_unit_test(a_start_is_enough_for_irequires),
        cmocka_unit_test(a_send_waiting_for_its_gap_holds_the_cpu),
        cmocka_unit_test(a_rendezvous_send_lets_the_cpu_go),
        cmocka_unit_test(any_source_takes_the_first_to_arrive),
        cmocka_unit_test(any_tag_does_not_overtake),
        cmocka_unit_test(a_circle_of_dependences_is_a_deadlock),
        cmocka_unit_test(a_message_nobody_receives_is_warned_about),
        cmocka_unit_test(a_graph_in_order_serves_messages_in_its_wait),
        cmocka_unit_test(a_graph_out_of_order_serves_by_ready_time),
        cmocka_unit_test(a_chain_is_program_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
