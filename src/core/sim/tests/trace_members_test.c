/* Traces and stored schedules on members of a team: the same picoseconds as by one, however ranks are dealt.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/net/net.h"
#include "core/program/trace_program.h"
#include "core/sim/plan.h"
#include "dag.h"
#include "support/support.h"
#include "trace_fixture.h"

enum {
    TRACES = 200 / IWT_FEWER,
    SCHEDULES = 200 / IWT_FEWER,
    MOST_MEMBERS = 30 /* more than any of these programs has ranks */
};

static const uint32_t members_tried[] = {1, 2, 3, 4, 7, MOST_MEMBERS};

/* The last number takes the longest and is tried now and then. */
static size_t tried_with(uint64_t seed)
{
    return sizeof members_tried / sizeof members_tried[0] - (seed % 4 != 0);
}

static void assert_split(const iw_sim_result *result, uint32_t members)
{
    assert_int_equal(result->parallel, IW_PARALLEL_RANKS);
    assert_int_equal(result->threads, members);
}

/* Eager messages and rendezvous, waits, sub-communicators, the world in another order, messages across
 * collectives, delays, all sorts of noise; from one replica to four. */
static void members_of_traces_agree_with_one(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TRACES; seed++) {
        struct iwt_trace_fixture f;
        iw_sim_result *one;

        iwt_trace_set_up(&f, seed);
        f.opts.trials = 3;
        f.opts.parallel = IW_PARALLEL_TRIALS;
        one = iwt_trace_run(&f, IW_ENGINE_FLOW, 1);
        for (size_t k = 0; k < tried_with(seed); k++) {
            iw_sim_result *many;

            f.opts.parallel = IW_PARALLEL_RANKS;
            f.opts.threads = members_tried[k];
            many = iwt_trace_run(&f, IW_ENGINE_FLOW, (seed + k) % 2 ? 1 : 8);
            assert_split(many, members_tried[k]);
            iwt_trace_assert_same(&f, one, many);
            iw_sim_result_free(many);
        }
        iw_sim_result_free(one);
        iwt_trace_tear_down(&f);
    }
}

static void assert_same_ends(const iw_sim_result *a, const iw_sim_result *b, uint64_t seed)
{
    assert_int_equal(a->noiseless_ps, b->noiseless_ps);
    for (uint64_t i = 0; i < a->trials * a->ranks; i++) {
        if (a->end_ps[i] != b->end_ps[i]) {
            fail_msg("schedule %llu, trial %llu rank %llu: %lld ps and %lld ps", (unsigned long long)seed,
                     (unsigned long long)(i / a->ranks), (unsigned long long)(i % a->ranks),
                     (long long)a->end_ps[i], (long long)b->end_ps[i]);
        }
    }
}

static void members_of_schedules_agree_with_one(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SCHEDULES; seed++) {
        struct iwt_random random = {seed, 0};
        iw_net net = iwt_random_segmented_net(&random);
        iw_noise *noise = iwt_random_noise(&random);
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        struct iwt_builder builder;
        iw_program *program;
        iw_sim_result *one;

        iwt_random_program(&random, IWT_MIXED_SIZES, &builder);
        program = iwt_program(&builder);
        iwt_make_series(&random, 90000, &net);
        iwt_quiet_unless_eager(program, &net);
        opts.trials = 3;
        opts.rendezvous = iwt_below(&random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
        opts.threads = opts.lanes = 1;
        opts.parallel = IW_PARALLEL_TRIALS;
        one = iwt_run(program, &net, noise, &opts);
        opts.parallel = IW_PARALLEL_RANKS;
        for (size_t k = 0; k < tried_with(seed); k++) {
            iw_sim_result *many;

            opts.threads = members_tried[k];
            opts.lanes = (seed + k) % 2 ? 1 : 8;
            many = iwt_run(program, &net, noise, &opts);
            assert_split(many, members_tried[k]);
            assert_same_ends(one, many, seed);
            iw_sim_result_free(many);
        }
        iw_sim_result_free(one);
        iw_program_free(program);
        iw_noise_free(noise);
        iwi_net_release(&net);
        iwt_builder_release(&builder);
    }
}

/* A path is followed across members too. */
static void members_explain_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TRACES / 10; seed++) {
        struct iwt_trace_fixture f;
        iw_sim_result *one, *many;

        iwt_trace_set_up(&f, seed);
        f.opts.want_explain = true;
        f.opts.parallel = IW_PARALLEL_TRIALS;
        one = iwt_trace_run(&f, IW_ENGINE_FLOW, 1);
        f.opts.parallel = IW_PARALLEL_RANKS;
        f.opts.threads = 5;
        many = iwt_trace_run(&f, IW_ENGINE_FLOW, 1);
        assert_int_equal(one->explain->median.last_rank, many->explain->median.last_rank);
        assert_memory_equal(&one->explain->median.split, &many->explain->median.split,
                            sizeof one->explain->median.split);
        assert_true(one->explain->mean_hops == many->explain->mean_hops);
        iw_sim_result_free(one);
        iw_sim_result_free(many);
        iwt_trace_tear_down(&f);
    }
}

/* ---- many messages between neighbours: batches fill up ---- */

enum { WIDE_RANKS = 24, WIDE_ROUNDS = 700 };

static void make_wide_trace(struct iwt_made_trace *t)
{
    iwt_made_trace_init(t, WIDE_RANKS);
    for (uint32_t round = 0; round < WIDE_ROUNDS; round++) {
        for (uint32_t rank = 0; rank < WIDE_RANKS; rank++) {
            uint32_t requests[4];

            iwt_trace_compute(t, rank, (iw_time)(1000 + 37 * rank + 11 * (round % 13)), -1);
            for (uint32_t k = 0; k < 2; k++) {
                const uint32_t step = k == 0 ? 1 : 7, left = (rank + WIDE_RANKS - step) % WIDE_RANKS;

                requests[2 * k] =
                    iwt_trace_message(t, rank, IWI_CALL_IRECV, left, 0, (int32_t)k, 8 + 200 * k);
                requests[2 * k + 1] = iwt_trace_message(t, rank, IWI_CALL_ISEND, (rank + step) % WIDE_RANKS,
                                                        0, (int32_t)k, 8 + 200 * k);
            }
            iwt_trace_wait(t, rank, requests, 4);
        }
        if (round % 300 == 299) {
            iwt_trace_collective_all(t, IWI_TRACE_ALLREDUCE, 0, 0, 8);
        }
    }
}

static void long_runs_between_collectives_agree(void **state)
{
    const iw_net net = iwt_example_net();
    iw_trace_opts trace_opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    iw_noise *noise = NULL;

    (void)state;
    make_wide_trace(&t);
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, "poisson:3000kHz,exp:30ns"));
    for (uint32_t replicas = 1; replicas <= (IWT_IS_SLOW ? 2 : 3); replicas++) {
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        iw_program *program = NULL;
        iw_sim_result *one;

        trace_opts.ranks = replicas * WIDE_RANKS;
        assert_ok(iwi_program_from_rules(NULL, &t.trace, &trace_opts, &iwi_rules_paper, &program));
        opts.trials = 16;
        opts.lanes = 8;
        opts.threads = 1;
        opts.parallel = IW_PARALLEL_TRIALS;
        one = iwt_run(program, &net, noise, &opts);
        opts.parallel = IW_PARALLEL_RANKS;
        for (opts.threads = 2; opts.threads <= 8; opts.threads += 3) {
            iw_sim_result *many = iwt_run(program, &net, noise, &opts);

            assert_same_ends(one, many, replicas);
            iw_sim_result_free(many);
        }
        iw_sim_result_free(one);
        iw_program_free(program);
    }
    iw_noise_free(noise);
    iwt_made_trace_release(&t);
}

/* ---- what cannot run ---- */

static void run_stuck(const iw_program *program, iw_parallel parallel, struct iwt_log *l)
{
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;

    iwt_log_init(l);
    opts.parallel = parallel;
    opts.threads = 3;
    assert_status(iw_simulate(&l->log, program, &net, NULL, &opts, &result), IW_ERR_DEADLOCK);
    assert_int_equal(l->errors, 1);
}

static void a_deadlock_is_told_in_the_same_words(void **state)
{
    struct iwt_builder b;
    struct iwt_log one, many;
    iw_program *program;

    (void)state;
    iwt_builder_init(&b, 5);
    for (uint32_t rank = 0; rank < 4;
         rank++) { /* each waits for the next; rank 4 has nothing to do with it */
        iwt_calc(&b, rank, IWT_NS(5));
        iwt_recv(&b, rank, (rank + 1) % 4, 8, 1);
        iwt_send(&b, rank, (rank + 3) % 4, 8, 1);
    }
    iwt_calc(&b, 4, IWT_NS(5));
    program = iwt_program(&b);
    run_stuck(program, IW_PARALLEL_TRIALS, &one);
    run_stuck(program, IW_PARALLEL_RANKS, &many);
    assert_string_equal(one.text, many.text);
    iwt_assert_logged(&many, "4 ranks cannot continue: rank 0 op 1 (recv 8 B from rank 1, tag 1)");
    iw_program_free(program);
    iwt_builder_release(&b);
}

/* Two communicators waited for in different orders: the trace is stored message by message, then stuck. */
static void a_trace_that_is_stuck_is_told_in_the_same_words(void **state)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_log one, many;
    struct iwt_made_trace t;
    iw_program *program = NULL;
    uint32_t copy;

    (void)state;
    iwt_made_trace_init(&t, 2);
    copy = iwt_trace_comm(&t, NULL, 0);
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t requests[2];

        requests[0] = iwt_trace_collective(&t, rank, IWI_CALL_ICOLLECTIVE, IWI_TRACE_BARRIER, 0, 0, 0);
        requests[1] = iwt_trace_collective(&t, rank, IWI_CALL_ICOLLECTIVE, IWI_TRACE_BARRIER, copy, 0, 0);
        iwt_trace_wait(&t, rank, &requests[rank], 1);
        iwt_trace_wait(&t, rank, &requests[1 - rank], 1);
    }
    opts.ranks = 6;
    assert_ok(iwi_program_from_rules(NULL, &t.trace, &opts, &iwi_rules_paper, &program));
    run_stuck(program, IW_PARALLEL_TRIALS, &one);
    run_stuck(program, IW_PARALLEL_RANKS, &many);
    assert_string_equal(one.text, many.text);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

/* Stored message by message, and right: rank 1 receives before a broadcast what rank 0 sends behind it. */
static void a_trace_that_segments_cannot_order_is_split_too(void **state)
{
    const iw_net net = iwt_example_net();
    iw_trace_opts trace_opts = IW_TRACE_OPTS_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct iwt_made_trace t;
    iw_program *program = NULL;
    iw_sim_result *one, *many;

    (void)state;
    iwt_made_trace_init(&t, 3);
    (void)iwt_trace_collective(&t, 0, IWI_CALL_COLLECTIVE, IWI_TRACE_BCAST, 0, 0, 8);
    (void)iwt_trace_message(&t, 0, IWI_CALL_SEND, 1, 0, 1, 8);
    (void)iwt_trace_message(&t, 1, IWI_CALL_RECV, 0, 0, 1, 8);
    (void)iwt_trace_collective(&t, 1, IWI_CALL_COLLECTIVE, IWI_TRACE_BCAST, 0, 0, 8);
    (void)iwt_trace_collective(&t, 2, IWI_CALL_COLLECTIVE, IWI_TRACE_BCAST, 0, 0, 8);
    trace_opts.ranks = 12;
    assert_ok(iwi_program_from_rules(NULL, &t.trace, &trace_opts, &iwi_rules_paper, &program));
    opts.threads = 1;
    one = iwt_run(program, &net, NULL, &opts);
    opts.parallel = IW_PARALLEL_RANKS;
    for (opts.threads = 2; opts.threads < 6; opts.threads++) {
        many = iwt_run(program, &net, NULL, &opts);
        assert_memory_equal(one->end_ps, many->end_ps, 12 * sizeof(iw_time));
        iw_sim_result_free(many);
    }
    iw_sim_result_free(one);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

static void refuse(const iw_program *program, iw_rules rules, iw_engine engine, const char *why)
{
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct iwi_plan plan;

    opts.rules = rules;
    opts.engine = engine;
    assert_ok(iwi_plan_init(NULL, program, &net, &opts, &plan));
    if (why == NULL) {
        assert_null(iwi_partition_refusal(&plan));
    } else {
        assert_string_equal(iwi_partition_refusal(&plan), why);
    }
    iwi_plan_release(&plan);
}

static void what_needs_all_ranks_is_refused(void **state)
{
    struct iwt_dag chain = {.ranks = 0}, graph = {.ranks = 0}, any = {.ranks = 0};

    (void)state;
    iwt_dag_rank(&chain);
    iwt_dag_calc(&chain, 1);
    iwt_dag_calc(&chain, 1);
    iwt_dag_requires(&chain, 0);
    iwt_dag_end(&chain);
    assert_ok(iwi_schedule_put_in_order(NULL, &chain.schedule));
    iwt_dag_rank(&graph);
    iwt_dag_calc(&graph, 1);
    iwt_dag_calc(&graph, 1);
    iwt_dag_end(&graph);
    iwt_dag_rank(&any);
    iwt_dag_recv(&any, IWI_ANY, 8, 1);
    iwt_dag_end(&any);
    assert_ok(iwi_schedule_put_in_order(NULL, &any.schedule));
    refuse(&chain.program, IW_RULES_IDLEWAVE, IW_ENGINE_AUTO, NULL);
    refuse(&graph.program, IW_RULES_IDLEWAVE, IW_ENGINE_AUTO,
           "the flow engine uses one thread for the ranks of an unordered graph");
    refuse(&any.program, IW_RULES_IDLEWAVE, IW_ENGINE_AUTO,
           "the schedule has receives from any source or with any tag");
    refuse(&chain.program, IW_RULES_IDLEWAVE, IW_ENGINE_EVENT,
           "the event engine runs all ranks in time order");
    refuse(&chain.program, IW_RULES_LOGGOPSIM, IW_ENGINE_AUTO,
           "LogGOPSim's rules run all ranks in time order");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_schedules_agree_with_one),
        cmocka_unit_test(members_of_traces_agree_with_one),
        cmocka_unit_test(members_explain_the_same),
        cmocka_unit_test(long_runs_between_collectives_agree),
        cmocka_unit_test(a_deadlock_is_told_in_the_same_words),
        cmocka_unit_test(a_trace_that_is_stuck_is_told_in_the_same_words),
        cmocka_unit_test(a_trace_that_segments_cannot_order_is_split_too),
        cmocka_unit_test(what_needs_all_ranks_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
