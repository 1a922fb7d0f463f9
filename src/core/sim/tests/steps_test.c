/* Steps of ranks: by hand, and the same from both engines.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "dag.h"
#include "random_program.h"
#include "step_log.h"
#include "support/support.h"

/* All times in nanoseconds. */
struct expected {
    uint32_t rank;
    iw_time begin, delay, compute, noise, comm, wait;
};

static void expect_of_engine(const iw_program *program, const iw_noise *noise, iw_engine engine,
                             const struct expected *expected, size_t count)
{
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct iwt_step_log log = {.count = 0};

    opts.engine = engine;
    iw_sim_result_free(iwt_run_steps(program, &net, noise, &opts, &log));
    assert_int_equal(log.count, count);
    for (size_t i = 0; i < count; i++) {
        const struct expected *e = &expected[i];
        const iw_step *step = &log.steps[i].step;
        const iw_time state_ns[IW_STATES] = {e->delay, e->compute, e->noise, e->comm, e->wait};

        assert_int_equal(log.steps[i].rank, e->rank);
        assert_int_equal(step->begin_ps, IWT_NS(e->begin));
        for (int state = 0; state < IW_STATES; state++) {
            if (step->state_ps[state] != IWT_NS(state_ns[state])) {
                fail_msg("%s engine, step %zu of all, state %d: %lld ps instead of %lld ns",
                         iw_engine_name(engine), i, state, (long long)step->state_ps[state],
                         (long long)state_ns[state]);
            }
        }
    }
    iwt_step_log_release(&log);
}

static void expect(const iw_program *program, const iw_noise *noise, const struct expected *expected,
                   size_t count)
{
    expect_of_engine(program, noise, IW_ENGINE_EVENT, expected, count);
    expect_of_engine(program, noise, IW_ENGINE_FLOW, expected, count);
}

/* Rank 0 computes and sends 11 bytes to 1, which sends them on to 2; all compute again. */
static iw_program *chain(void)
{
    struct iwt_builder b;
    iw_program *program;

    iwt_builder_init(&b, 3);
    iwt_calc(&b, 0, IWT_NS(20));
    iwt_send(&b, 0, 1, 11, 0);
    iwt_calc(&b, 1, IWT_NS(10));
    iwt_recv(&b, 1, 0, 11, 0);
    iwt_send(&b, 1, 2, 11, 0);
    iwt_calc(&b, 2, IWT_NS(10));
    iwt_recv(&b, 2, 1, 11, 0);
    for (uint32_t rank = 0; rank < 3; rank++) {
        iwt_calc(&b, rank, IWT_NS(5));
    }
    program = iwt_program(&b);
    iwt_builder_release(&b);
    return program;
}

static void a_delay_makes_the_others_wait(void **state)
{
    /* Rank 0 sends from 50 to 52, arrival 72; rank 1 receives until 74, sends until 76, arrival 96; rank 2
     * receives until 98. */
    static const struct expected expected[] = {
        {0, 0, 30, 20, 0, 2, 0}, {0, 52, 0, 5, 0, 0, 0},  {1, 0, 0, 10, 0, 4, 62},
        {1, 76, 0, 5, 0, 0, 0},  {2, 0, 0, 10, 0, 2, 86}, {2, 98, 0, 5, 0, 0, 0},
    };
    const iw_delay delay = {.rank = 0, .step = 1, .time_ps = IWT_NS(30)};
    iw_program *program = chain();

    (void)state;
    assert_ok(iw_program_set_delays(NULL, program, &delay, 1));
    expect(program, NULL, expected, 6);
    iw_program_free(program);
}

/* The transfer of 201 bytes starts at 50, when rank 1 posts its receive: arrival 260. Rank 0's step has no
 * computation. */
static void a_rendezvous_send_waits_for_its_receiver(void **state)
{
    static const struct expected expected[] = {{0, 0, 0, 0, 0, 2, 48}, {1, 0, 0, 50, 0, 2, 210}};
    struct iwt_builder b;
    iw_program *program;

    (void)state;
    iwt_builder_init(&b, 2);
    iwt_send(&b, 0, 1, 201, 0);
    iwt_calc(&b, 1, IWT_NS(50));
    iwt_recv(&b, 1, 0, 201, 0);
    program = iwt_program(&b);
    expect(program, NULL, expected, 2);
    iw_program_free(program);
    iwt_builder_release(&b);
}

/* Two sends of 11 bytes: the second starts at 15, when the gap is over. */
static void the_gap_counts_as_waiting(void **state)
{
    static const struct expected expected[] = {{0, 0, 0, 0, 0, 4, 13}, {1, 0, 0, 0, 0, 4, 35}};
    struct iwt_builder b;
    iw_program *program;

    (void)state;
    iwt_builder_init(&b, 2);
    for (uint32_t tag = 0; tag < 2; tag++) {
        iwt_send(&b, 0, 1, 11, tag);
        iwt_recv(&b, 1, 0, 11, tag);
    }
    program = iwt_program(&b);
    expect(program, NULL, expected, 2);
    iw_program_free(program);
    iwt_builder_release(&b);
}

/* Detours [4, 10), [12, 15) and [20, 26) on both ranks. Rank 0: 10 of computation from 0 to 19, o_s from 19
 * to 27 with 6 lost; arrival 47. Rank 1 waits in all of them. */
static void noise_counts_where_it_hits_work(void **state)
{
    static const struct iwt_detour detours[] = {{4, 10}, {12, 15}, {20, 26}};
    static const struct expected expected[] = {{0, 0, 0, 10, 15, 2, 0}, {1, 0, 0, 0, 0, 2, 47}};
    iw_noise *noise = iwt_noise_at(detours, 3);
    struct iwt_builder b;
    iw_program *program;

    (void)state;
    iwt_builder_init(&b, 2);
    iwt_calc(&b, 0, IWT_NS(10));
    iwt_send(&b, 0, 1, 11, 0);
    iwt_recv(&b, 1, 0, 11, 0);
    program = iwt_program(&b);
    expect(program, noise, expected, 2);
    iw_program_free(program);
    iw_noise_free(noise);
    iwt_builder_release(&b);
}

/* A ring of three, 11 bytes each way, first up then down; rank 1 is delayed by 100.
 * Rank 0: up sent 22, received 42 to 44, down sent 46, from rank 1 at 137 + 20 = 157 to 159.
 * Rank 1: up sent 122, received until 124, down from 135 (gap) to 137, from rank 2 at 146 + 20 = 166 to 168.
 * Rank 2: up sent 22, received 142 to 144, down sent 146, received 157 (gap) to 159. */
static void a_split_exchange_waits_twice(void **state)
{
    static const struct expected expected[] = {
        {0, 0, 0, 20, 0, 8, 131}, {1, 0, 100, 20, 0, 8, 40}, {2, 0, 0, 20, 0, 8, 131}};
    const iw_delay delay = {.rank = 1, .step = 1, .time_ps = IWT_NS(100)};
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    (void)state;
    pattern.ranks = 3;
    pattern.bytes = 11;
    pattern.compute_ps = IWT_NS(20);
    pattern.is_periodic = pattern.is_split = true;
    pattern.delays = &delay;
    pattern.delay_count = 1;
    assert_ok(iw_program_from_pattern(NULL, "halo1d", &pattern, &program));
    expect(program, NULL, expected, 3);
    iw_program_free(program);
}

/* Ranks 1 and 2 do nothing at all: no step. A phase without work is a step of no length. */
static void what_takes_no_time_before_the_first_phase_is_no_step(void **state)
{
    static const struct expected expected[] = {{0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 7, 0, 0, 0}};
    struct iwt_builder b;
    iw_program *program;

    (void)state;
    iwt_builder_init(&b, 3);
    iwt_calc(&b, 0, 0);
    iwt_calc(&b, 0, IWT_NS(7));
    program = iwt_program(&b);
    expect(program, NULL, expected, 2);
    iw_program_free(program);
    iwt_builder_release(&b);
}

/* The message is there at 12 and served behind the first calc, at 20; the second calc is ready at 20, so it
 * comes after the receive. */
static void graphs_have_steps_in_the_order_of_their_cpu(void **state)
{
    static const struct expected expected[] = {
        {0, 0, 0, 20, 0, 2, 0}, {0, 22, 0, 3, 0, 0, 0}, {1, 0, 0, 0, 0, 2, 0}};
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, IWT_NS(20));
    iwt_dag_recv(&d, 1, 1, 0);
    iwt_dag_calc(&d, IWT_NS(3));
    iwt_dag_requires(&d, 0);
    iwt_dag_rank(&d);
    iwt_dag_send(&d, 0, 1, 0);
    iwt_dag_end(&d);
    expect_of_engine(&d.program, NULL, IW_ENGINE_EVENT, expected, 3);
}

/* ---- engines agree ---- */

static void compare_engines(const iw_program *program, const iw_net *net, const iw_noise *noise,
                            iw_sim_opts opts, const char *what, uint64_t seed)
{
    struct iwt_step_log event = {.count = 0}, flow = {.count = 0}, again = {.count = 0};

    opts.engine = IW_ENGINE_EVENT;
    iw_sim_result_free(iwt_run_steps(program, net, noise, &opts, &event));
    opts.engine = IW_ENGINE_FLOW;
    iw_sim_result_free(iwt_run_steps(program, net, noise, &opts, &flow));
    iwt_assert_same_steps(&event, &flow, what, seed);
    opts.trials = 5; /* the first one's steps, from a run of its own */
    iw_sim_result_free(iwt_run_steps(program, net, noise, &opts, &again));
    iwt_assert_same_steps(&flow, &again, what, seed);
    iwt_step_log_release(&event);
    iwt_step_log_release(&flow);
    iwt_step_log_release(&again);
}

static void engines_agree_on_random_programs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 600 / IWT_FEWER; seed++) {
        struct iwt_random random = {seed, 0};
        const iw_net net = iwt_random_net(&random);
        iw_noise *noise = iwt_random_noise(&random);
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        struct iwt_builder builder;
        iw_program *program;

        iwt_random_program(&random, IWT_MIXED_SIZES, &builder);
        program = iwt_program(&builder);
        opts.rendezvous = iwt_below(&random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
        opts.first_trial = iwt_below(&random, 9);
        compare_engines(program, &net, noise, opts, "program", seed);
        iw_program_free(program);
        iw_noise_free(noise);
        iwt_builder_release(&builder);
    }
}

static iw_program *random_pattern(struct iwt_random *random)
{
    static const char *const operations[] = {
        "halo1d",         "halo2d",          "halo3d+allreduce", "allreduce",
        "barrier",        "allreduce:ring",  "bcast+reduce",     "sweep2d",
        "halo1d+barrier", "allgather:bruck", "alltoall:linear",  "allreduce:recursive-doubling"};
    const uint32_t ranks = 3 + (uint32_t)iwt_below(random, 30);
    const iw_delay delay = {.rank = (uint32_t)iwt_below(random, ranks),
                            .step = 1 + iwt_below(random, 4),
                            .time_ps = (iw_time)iwt_below(random, 3000000)};
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    pattern.ranks = ranks;
    pattern.bytes = iwt_below(random, 300);
    pattern.repeat = 4;
    pattern.compute_ps = (iw_time)iwt_below(random, 500000);
    pattern.reduce = (iw_fs_per_byte)iwt_below(random, 20000);
    pattern.is_periodic = iwt_below(random, 2);
    pattern.is_one_way = iwt_below(random, 3) == 0;
    pattern.is_split = !pattern.is_one_way && iwt_below(random, 2);
    pattern.delays = &delay;
    pattern.delay_count = pattern.compute_ps > 0;
    assert_ok(iw_program_from_pattern(NULL, operations[iwt_below(random, 12)], &pattern, &program));
    return program;
}

static void engines_agree_on_random_patterns(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400 / IWT_FEWER; seed++) {
        struct iwt_random random = {seed, 0};
        const iw_net net = iwt_random_net(&random);
        iw_noise *noise = iwt_random_noise(&random);
        iw_program *program = random_pattern(&random);
        iw_sim_opts opts = IW_SIM_OPTS_INIT;

        opts.rendezvous = iwt_below(&random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
        opts.lanes = 1U << iwt_below(&random, 4);
        compare_engines(program, &net, noise, opts, "pattern", seed);
        iw_program_free(program);
        iw_noise_free(noise);
    }
}

/* Over 2^21 steps streaming rounds are not watched one by one: what they cost is comm, the rest waits. */
static void streaming_rounds_of_large_runs_cost_what_they_cost(void **state)
{
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_pattern pattern = IW_PATTERN_INIT;
    struct iwt_step_log log = {.count = 0};
    iw_noise *noise = NULL;
    iw_program *program = NULL;

    (void)state;
    pattern.ranks = (1 << 20) + 1;
    pattern.repeat = 2;
    pattern.compute_ps = IWT_NS(100);
    assert_ok(iw_program_from_pattern(NULL, "barrier:dissemination", &pattern, &program));
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, "poisson:1000kHz,fixed:30ns"));
    iw_sim_result_free(iwt_run_steps(program, &net, noise, &opts, &log));
    assert_int_equal(log.count, 2 * pattern.ranks);
    for (size_t i = 0; i < log.count; i++) { /* 21 rounds of o_s + o_r */
        assert_int_equal(log.steps[i].step.state_ps[IW_STATE_COMM], IWT_NS(21 * 4));
        assert_int_equal(log.steps[i].step.state_ps[IW_STATE_COMPUTE], IWT_NS(100));
    }
    iwt_step_log_release(&log);
    iw_program_free(program);
    iw_noise_free(noise);
}

/* ---- who has no steps ---- */

static void ignore(void *arg, uint32_t rank, const iw_step *step)
{
    (void)arg;
    (void)rank;
    (void)step;
    fail_msg("nothing runs");
}

static void loggopsim_rules_have_no_steps(void **state)
{
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    iw_program *program = chain();

    (void)state;
    opts.steps = (iw_step_sink){ignore, NULL};
    opts.rules = IW_RULES_LOGGOPSIM;
    assert_int_equal(iw_simulate(NULL, program, &net, NULL, &opts, &result), IW_ERR_UNSUPPORTED);
    iw_program_free(program);
}

static void ranks_with_several_cpus_have_no_steps(void **state)
{
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, IWT_NS(7));
    iwt_dag_calc(&d, IWT_NS(5));
    iwt_dag_on_cpu(&d, 1);
    iwt_dag_end(&d);
    opts.steps = (iw_step_sink){ignore, NULL};
    assert_int_equal(iw_simulate(NULL, &d.program, &net, NULL, &opts, &result), IW_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delay_makes_the_others_wait),
        cmocka_unit_test(a_rendezvous_send_waits_for_its_receiver),
        cmocka_unit_test(the_gap_counts_as_waiting),
        cmocka_unit_test(noise_counts_where_it_hits_work),
        cmocka_unit_test(a_split_exchange_waits_twice),
        cmocka_unit_test(what_takes_no_time_before_the_first_phase_is_no_step),
        cmocka_unit_test(graphs_have_steps_in_the_order_of_their_cpu),
        cmocka_unit_test(engines_agree_on_random_programs),
        cmocka_unit_test(engines_agree_on_random_patterns),
        cmocka_unit_test(streaming_rounds_of_large_runs_cost_what_they_cost),
        cmocka_unit_test(loggopsim_rules_have_no_steps),
        cmocka_unit_test(ranks_with_several_cpus_have_no_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
