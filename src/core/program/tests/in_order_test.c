/* Which graphs are programs in order, and that a program comes back from its graph.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <string.h>

#include "core/program/in_order.h"
#include "core/sim/tests/dag.h"
#include "core/sim/tests/random_program.h"

static void put_in_order(struct iwt_dag *d)
{
    iwt_dag_end(d);
    assert_ok(iwi_schedule_put_in_order(NULL, &d->schedule));
}

/* ---- in order ---- */

static void a_chain_is_in_order(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, 5);
    iwt_dag_send(&d, 1, 8, 0);
    iwt_dag_requires(&d, 0);
    iwt_dag_calc(&d, 7);
    iwt_dag_requires(&d, 1);
    iwt_dag_rank(&d);
    iwt_dag_recv(&d, 0, 8, 0);
    iwt_dag_rank(&d); /* has nothing to do */
    put_in_order(&d);
    assert_true(d.schedule.is_in_order);
    for (uint64_t n = 0; n < 4; n++) {
        assert_int_equal(d.nodes[n].flags & IWI_NODE_NONBLOCKING, 0);
        assert_int_equal(d.first_dep[n + 1], 0);
    }
}

static void a_calc_of_nothing_that_requires_messages_is_their_wait(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_recv(&d, 0, 8, 0);
    iwt_dag_send(&d, 0, 8, 0);
    iwt_dag_irequires(&d, 0);
    iwt_dag_calc(&d, 9);
    iwt_dag_irequires(&d, 1);
    iwt_dag_empty(&d);
    iwt_dag_requires(&d, 0);
    iwt_dag_requires(&d, 1);
    iwt_dag_requires(&d, 2);
    put_in_order(&d);
    assert_true(d.schedule.is_in_order);
    assert_int_equal(d.nodes[0].flags, IWI_NODE_NONBLOCKING);
    assert_int_equal(d.nodes[1].flags, IWI_NODE_NONBLOCKING);
    assert_int_equal(d.nodes[3].kind, IWI_WAIT);
    assert_int_equal(d.first_dep[3], 0);
    assert_int_equal(d.first_dep[4], 2);
    assert_int_equal(d.deps[0].node, 0);
    assert_int_equal(d.deps[1].node, 1);
}

static void a_calc_of_nothing_behind_another_is_no_wait(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, 1);
    iwt_dag_empty(&d);
    iwt_dag_requires(&d, 0);
    put_in_order(&d);
    assert_true(d.schedule.is_in_order);
    assert_int_equal(d.nodes[1].kind, IWI_CALC);
    assert_int_equal(d.first_dep[2], 0);
}

/* ---- not in order ---- */

/* A receive that goes on, and a send behind it. */
static struct iwt_dag open_receive(void)
{
    struct iwt_dag d = {.ranks = 0};

    iwt_dag_rank(&d);
    iwt_dag_recv(&d, 0, 8, 0);
    iwt_dag_send(&d, 0, 8, 0);
    iwt_dag_irequires(&d, 0);
    return d;
}

/* The graph stays as it is. */
static void expect_graph(struct iwt_dag *d)
{
    struct iwt_dag before;

    iwt_dag_end(d);
    before = *d;
    assert_ok(iwi_schedule_put_in_order(NULL, &d->schedule));
    assert_false(d->schedule.is_in_order);
    assert_memory_equal(d->nodes, before.nodes, sizeof d->nodes);
    assert_memory_equal(d->deps, before.deps, sizeof d->deps);
    assert_memory_equal(d->first_dep, before.first_dep, sizeof d->first_dep);
}

static void the_first_operation_out_of_order_is_found(void **state)
{
    struct iwt_dag d = {.ranks = 0};
    struct iwi_disorder disorder;

    (void)state;
    iwt_dag_rank(&d); /* in order */
    iwt_dag_calc(&d, 1);
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, 1);
    iwt_dag_calc(&d, 1);
    iwt_dag_requires(&d, 0);
    iwt_dag_calc(&d, 1); /* beside the two others */
    iwt_dag_rank(&d);
    iwt_dag_recv(&d, 0, 8, 0);
    iwt_dag_calc(&d, 1); /* and nobody waits for the receive */
    iwt_dag_irequires(&d, 0);
    iwt_dag_end(&d);
    assert_ok(iwi_schedule_find_disorder(NULL, &d.schedule, &disorder));
    assert_int_equal(disorder.ranks, 2);
    assert_int_equal(disorder.rank, 1);
    assert_int_equal(disorder.node, 2);
}

static void operations_side_by_side_are_a_graph(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, 1);
    iwt_dag_calc(&d, 1);
    expect_graph(&d);
}

static void one_rank_makes_all_a_graph(void **state)
{
    struct iwt_dag d = open_receive();

    (void)state;
    iwt_dag_empty(&d);
    iwt_dag_requires(&d, 0);
    iwt_dag_requires(&d, 1);
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, 1);
    iwt_dag_calc(&d, 1);
    expect_graph(&d);
}

static void a_message_that_nobody_waits_for_makes_a_graph(void **state)
{
    struct iwt_dag d = open_receive();

    (void)state;
    iwt_dag_empty(&d);
    iwt_dag_requires(&d, 1);
    expect_graph(&d);
}

static void a_message_that_is_waited_for_twice_makes_a_graph(void **state)
{
    struct iwt_dag d = open_receive();

    (void)state;
    iwt_dag_empty(&d);
    iwt_dag_requires(&d, 0);
    iwt_dag_requires(&d, 1);
    iwt_dag_empty(&d);
    iwt_dag_requires(&d, 0);
    iwt_dag_requires(&d, 2);
    expect_graph(&d);
}

static void work_that_requires_an_open_message_makes_a_graph(void **state)
{
    struct iwt_dag d = open_receive();

    (void)state;
    iwt_dag_calc(&d, 1);
    iwt_dag_requires(&d, 0);
    iwt_dag_requires(&d, 1);
    expect_graph(&d);
}

static void work_beside_work_makes_a_graph(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, 1);
    iwt_dag_calc(&d, 1);
    iwt_dag_irequires(&d, 0);
    expect_graph(&d);
}

static void an_operation_that_requires_a_later_one_makes_a_graph(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, 1);
    iwt_dag_requires(&d, 1);
    iwt_dag_calc(&d, 1);
    expect_graph(&d);
}

static void several_cpus_make_a_graph(void **state)
{
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, 1);
    iwt_dag_calc(&d, 1);
    iwt_dag_on_cpu(&d, 1);
    iwt_dag_requires(&d, 0);
    expect_graph(&d);
}

/* ---- there and back ---- */

static void assert_same_graph(const struct iwi_schedule *a, const struct iwi_schedule *b)
{
    const uint64_t nodes = a->first_node[a->ranks];

    assert_memory_equal(a->first_node, b->first_node, (a->ranks + (size_t)1) * sizeof *a->first_node);
    assert_memory_equal(a->first_dep, b->first_dep, (size_t)(nodes + 1) * sizeof *a->first_dep);
    for (uint64_t n = 0; n < nodes; n++) {
        assert_int_equal(a->nodes[n].kind, b->nodes[n].kind);
        assert_int_equal(a->nodes[n].flags, b->nodes[n].flags);
        assert_int_equal(a->nodes[n].amount, b->nodes[n].amount);
    }
    for (uint64_t d = 0; d < a->first_dep[nodes]; d++) {
        assert_int_equal(a->deps[d].node, b->deps[d].node);
        assert_int_equal(a->deps[d].is_start, b->deps[d].is_start);
    }
}

/* So LogGOPSim's rules run the graph that was read, and writing it again gives the same file. */
static void the_graph_of_a_graph_in_order_is_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct iwt_random random = {seed, 0};
        struct iwi_schedule *read = NULL, *graph = NULL, *again = NULL;
        struct iwt_builder builder;
        iw_program *program;

        iwt_random_program(&random, IWT_MIXED_SIZES, &builder);
        program = iwt_program(&builder);
        assert_ok(iwi_schedule_to_dag(NULL, program->schedule, &read));
        assert_ok(iwi_schedule_to_dag(NULL, program->schedule, &graph));
        assert_ok(iwi_schedule_put_in_order(NULL, read));
        assert_true(read->is_in_order);
        assert_ok(iwi_schedule_to_dag(NULL, read, &again));
        assert_same_graph(again, graph);
        iwi_schedule_free(again);
        iwi_schedule_free(graph);
        iwi_schedule_free(read);
        iw_program_free(program);
        iwt_builder_release(&builder);
    }
}

/* Nonblocking receive, blocking send, wait for the receive: another program than if the wait were for both.
 */
static void a_blocking_message_stays_out_of_the_wait_behind_it(void **state)
{
    struct iwi_schedule *dag = NULL;
    struct iwt_builder builder;
    iw_program *program;

    (void)state;
    iwt_builder_init(&builder, 1);
    iwt_irecv(&builder, 0, 0, 8, 0);
    iwt_send(&builder, 0, 0, 8, 0);
    iwt_wait(&builder, 0);
    program = iwt_program(&builder);
    assert_ok(iwi_schedule_to_dag(NULL, program->schedule, &dag));
    assert_int_equal(dag->first_node[1], 4);
    assert_ok(iwi_schedule_put_in_order(NULL, dag));
    assert_true(dag->is_in_order);
    assert_int_equal(dag->nodes[2].kind, IWI_WAIT); /* for the send */
    assert_int_equal(dag->nodes[3].kind, IWI_WAIT); /* for the receive */
    assert_int_equal(dag->first_dep[3], 1);
    assert_int_equal(dag->deps[0].node, 1);
    assert_int_equal(dag->deps[1].node, 0);
    iwi_schedule_free(dag);
    iw_program_free(program);
    iwt_builder_release(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_is_in_order),
        cmocka_unit_test(a_calc_of_nothing_that_requires_messages_is_their_wait),
        cmocka_unit_test(a_calc_of_nothing_behind_another_is_no_wait),
        cmocka_unit_test(the_first_operation_out_of_order_is_found),
        cmocka_unit_test(operations_side_by_side_are_a_graph),
        cmocka_unit_test(one_rank_makes_all_a_graph),
        cmocka_unit_test(a_message_that_nobody_waits_for_makes_a_graph),
        cmocka_unit_test(a_message_that_is_waited_for_twice_makes_a_graph),
        cmocka_unit_test(work_that_requires_an_open_message_makes_a_graph),
        cmocka_unit_test(work_beside_work_makes_a_graph),
        cmocka_unit_test(an_operation_that_requires_a_later_one_makes_a_graph),
        cmocka_unit_test(several_cpus_make_a_graph),
        cmocka_unit_test(the_graph_of_a_graph_in_order_is_the_same),
        cmocka_unit_test(a_blocking_message_stays_out_of_the_wait_behind_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
