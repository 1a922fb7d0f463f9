/* Noise of the network (docs/explanation/semantics.md, rule 16).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "builder.h"
#include "core/net/net_noise.h"
#include "support/support.h"

/* All messages are delayed by the same. */
static iw_net delaying_net(iw_time delay_ns)
{
    iw_net net = iwt_example_net();

    net.noise =
        (iw_net_noise){.point_count = 2, .points = {{0.0, IWT_NS(delay_ns)}, {1.0, IWT_NS(delay_ns)}}};
    return net;
}

static void expect(iw_engine engine, const iw_net *net, const struct iwt_builder *b, iw_rendezvous rendezvous,
                   const iw_time end_ns[2])
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    opts.engine = engine;
    opts.rendezvous = rendezvous;
    iwt_expect_ends(b, net, &opts, end_ns);
}

static void a_delay_comes_before_the_arrival(void **state)
{
    const iw_net net = delaying_net(7);
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 2);
    iwt_send(&b, 0, 1, 11, 7);
    iwt_recv(&b, 1, 0, 11, 7);
    for (iw_engine engine = IW_ENGINE_EVENT; engine <= IW_ENGINE_FLOW; engine++) {
        expect(engine, &net, &b, IW_RENDEZVOUS_IDEAL, (iw_time[]){2, 31});
    }
    iwt_builder_release(&b);
}

static void all_parts_of_a_rendezvous_are_delayed(void **state)
{
    const iw_net net = delaying_net(7);
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 2);
    iwt_calc(&b, 1, IWT_NS(50));
    iwt_send(&b, 0, 1, 201, 7);
    iwt_recv(&b, 1, 0, 201, 7);
    expect(IW_ENGINE_AUTO, &net, &b, IW_RENDEZVOUS_IDEAL, (iw_time[]){50, 269});
    expect(IW_ENGINE_AUTO, &net, &b, IW_RENDEZVOUS_RTS_CTS, (iw_time[]){73, 292});
    iwt_builder_release(&b);
}

/* Half of all messages are delayed by 20, the others by nothing. Both: 19, the first alone: 34, else 39. */
static void messages_overtake(void **state)
{
    enum { TRIALS = 400 };
    iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    uint64_t none = 0, first = 0, second = 0;
    struct iwt_builder b;
    iw_program *program;
    iw_sim_result *result;

    (void)state;
    net.noise = (iw_net_noise){.point_count = 4,
                               .points = {{0.0, 0}, {0.5, 0}, {0.5 + 1e-12, IWT_NS(20)}, {1.0, IWT_NS(20)}}};
    iwt_builder_init(&b, 2);
    for (uint32_t k = 0; k < 2; k++) {
        iwt_isend(&b, 0, 1, 1, k);
        iwt_irecv(&b, 1, 0, 1, k);
    }
    iwt_wait(&b, 0);
    iwt_wait(&b, 1);
    program = iwt_program(&b);
    opts.trials = TRIALS;
    result = iwt_run(program, &net, NULL, &opts);
    assert_int_equal(result->noiseless_ps, IWT_NS(19));
    for (size_t trial = 0; trial < TRIALS; trial++) {
        none += result->makespan_ps[trial] == IWT_NS(19);
        first += result->makespan_ps[trial] == IWT_NS(34);
        second += result->makespan_ps[trial] == IWT_NS(39);
    }
    assert_int_equal(none + first + second, TRIALS);
    assert_in_range(none, TRIALS / 4 - 35, TRIALS / 4 + 35); /* 4 standard deviations */
    assert_in_range(first, TRIALS / 4 - 35, TRIALS / 4 + 35);
    iw_sim_result_free(result);
    iw_program_free(program);
    iwt_builder_release(&b);
}

static void messages_inside_a_node_are_not_delayed(void **state)
{
    iw_net net = delaying_net(7);
    struct iwt_builder b;

    (void)state;
    iw_net_inner inside = {.name = "node", .ranks = 2, .costs = net.costs};

    net.inner[0] = inside;
    net.inner_count = 1;
    iwt_builder_init(&b, 4);
    iwt_send(&b, 0, 1, 11, 7);
    iwt_recv(&b, 1, 0, 11, 7);
    expect(IW_ENGINE_FLOW, &net, &b, IW_RENDEZVOUS_IDEAL, (iw_time[]){2, 24});
    expect(IW_ENGINE_EVENT, &net, &b, IW_RENDEZVOUS_IDEAL, (iw_time[]){2, 24});
    iwt_builder_release(&b);
}

/* 0 to 10 for a half, 10 to 30 for the other: by hand. */
static void quantiles_lie_on_straight_lines(void **state)
{
    const iw_net_noise noise = {.point_count = 3, .points = {{0.0, 0}, {0.5, 10000}, {1.0, 30000}}};
    struct iwi_delay_table table;
    double sum = 0.0;

    (void)state;
    iwi_delay_table_init(&noise, &table);
    assert_int_equal(iwi_delay_of(&table, UINT64_C(1) << 62), 5000); /* u = 1/4 */
    assert_int_equal(iwi_delay_of(&table, UINT64_C(1) << 63), 10000);
    assert_int_equal(iwi_delay_of(&table, UINT64_C(3) << 62), 20000);
    assert_int_equal(iwi_delay_of(&table, UINT64_MAX), 30000);
    assert_true(iw_net_noise_mean_ps(&noise) == 12500.0);
    for (uint64_t number = 0; number < 10000; number++) {
        sum += (double)iwi_delay_of(&table, iwi_net_noise_bits(1, 0, 3, number, IWI_CARRIED_DATA).v[0]);
    }
    assert_true(fabs(sum / 10000 / 12500 - 1) < 0.04); /* its standard deviation is 8780 */
}

/* On the path of the early receiver, where L is 10 and two bytes parts of 2 are overhead. */
static void paths_tell_the_noise_of_the_network(void **state)
{
    static const iw_engine engines[] = {IW_ENGINE_EVENT, IW_ENGINE_FLOW};
    const iw_net net = delaying_net(7);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 2);
    iwt_send(&b, 0, 1, 11, 7);
    iwt_recv(&b, 1, 0, 11, 7);
    for (size_t e = 0; e < 2; e++) {
        iw_program *program = iwt_program(&b);
        iw_sim_result *result;

        opts.engine = engines[e];
        opts.want_explain = true;
        result = iwt_run(program, &net, NULL, &opts);
        assert_int_equal(result->explain->median.split.part_ps[IW_PART_NETWORK], IWT_NS(7));
        assert_int_equal(result->explain->median.split.part_ps[IW_PART_LATENCY], IWT_NS(10));
        assert_string_equal(iw_part_name(IW_PART_NETWORK), "network noise");
        iw_sim_result_free(result);
        iw_program_free(program);
    }
    iwt_builder_release(&b);
}

static void refuse(const iw_net *net, const iw_sim_opts *opts, iw_status expected)
{
    iw_sim_result *result = NULL;
    struct iwt_builder b;
    iw_program *program;

    iwt_builder_init(&b, 2);
    iwt_send(&b, 0, 1, 201, 7);
    iwt_recv(&b, 1, 0, 201, 7);
    program = iwt_program(&b);
    assert_int_equal(iw_simulate(NULL, program, net, NULL, opts, &result), expected);
    iw_program_free(program);
    iwt_builder_release(&b);
}

static void what_cannot_be_is_refused(void **state)
{
    const iw_net_noise wrong[] = {{.point_count = 1, .points = {{0.0, 0}}},
                                  {.point_count = 2, .points = {{0.1, 0}, {1.0, 5}}},
                                  {.point_count = 2, .points = {{0.0, 0}, {0.9, 5}}},
                                  {.point_count = 3, .points = {{0.0, 0}, {0.0, 3}, {1.0, 5}}},
                                  {.point_count = 3, .points = {{0.0, 0}, {0.5, 6}, {1.0, 5}}},
                                  {.point_count = 2, .points = {{0.0, -1}, {1.0, 5}}},
                                  {.point_count = IW_NET_NOISE_POINTS_MAX + 1, .points = {{0.0, 0}}}};
    const iw_net net = delaying_net(7);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        iw_net bad = iwt_example_net();

        bad.noise = wrong[k];
        refuse(&bad, &opts, IW_ERR_RANGE);
    }
    opts.engine = IW_ENGINE_FLOW;
    refuse(&net, &opts, IW_ERR_UNSUPPORTED); /* by rendezvous */
    opts.engine = IW_ENGINE_WINDOW;
    refuse(&net, &opts, IW_ERR_UNSUPPORTED);
    opts.engine = IW_ENGINE_AUTO;
    opts.rules = IW_RULES_LOGGOPSIM;
    refuse(&net, &opts, IW_ERR_UNSUPPORTED);
    opts.rules = IW_RULES_IDLEWAVE;
    opts.checkpoint_dir = "points";
    refuse(&net, &opts, IW_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delay_comes_before_the_arrival),
        cmocka_unit_test(all_parts_of_a_rendezvous_are_delayed),
        cmocka_unit_test(messages_overtake),
        cmocka_unit_test(messages_inside_a_node_are_not_delayed),
        cmocka_unit_test(quantiles_lie_on_straight_lines),
        cmocka_unit_test(paths_tell_the_noise_of_the_network),
        cmocka_unit_test(what_cannot_be_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
