/* Every algorithm: the flow engine's rounds give what the event engine gives on the unrolled program, and the
 * explanation of every rank's path sums to its end.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/net/net.h"
#include "core/sim/plan.h"
#include "random_program.h"
#include "support/support.h"

static iw_pattern random_pattern(struct iwt_random *random, uint32_t ranks)
{
    iw_pattern pattern = IW_PATTERN_INIT;

    pattern.ranks = ranks;
    pattern.bytes = iwt_below(random, 600);
    pattern.segment_bytes = iwt_below(random, 2) * (1 + iwt_below(random, 100));
    pattern.root = (uint32_t)iwt_below(random, ranks);
    pattern.repeat = 1 + iwt_below(random, 3);
    pattern.compute_ps = (iw_time)(iwt_below(random, 2) * iwt_below(random, 50000));
    pattern.reduce = (iw_fs_per_byte)iwt_below(random, 20000);
    pattern.distance = 1;
    pattern.is_periodic = iwt_below(random, 2) == 0;
    pattern.is_one_way = iwt_below(random, 2) == 0;
    pattern.is_split = iwt_below(random, 2) == 0;
    pattern.nodes =
        (iw_nodes){.ranks = 1 + (uint32_t)iwt_below(random, 6),
                   .placement = iwt_below(random, 2) ? IW_PLACEMENT_BLOCK : IW_PLACEMENT_ROUND_ROBIN};
    return pattern;
}

static void every_algorithm_is_the_same_on_both_engines(void **state)
{
    static const uint32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 31, 32, 33};
    const char *op, *algorithm, *summary;

    (void)state;
    for (size_t index = 0; iw_algorithm_info(index, &op, &algorithm, &summary); index++) {
        char name[64];

        (void)snprintf(name, sizeof name, "%s:%s", op, algorithm);
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            struct iwt_random random = {index * 1000 + k, 0};
            iw_pattern pattern = random_pattern(&random, sizes[k]);
            const iw_delay delay = {.rank = sizes[k] - 1, .step = 1, .time_ps = 77777};

            if (strcmp(op, "pingpong") == 0 && sizes[k] % 2 == 1) {
                continue;
            }
            if (iwt_below(&random, 2)) {
                pattern.delays = &delay;
                pattern.delay_count = 1;
            }
            iwt_compare_engines(name, &pattern, &random);
        }
    }
}

/* Explaining takes rank after rank instead of streaming; the mean of all paths shows every rank's end. */
static void compare_with_explained(const char *operations, const iw_pattern *pattern,
                                   struct iwt_random *random)
{
    iw_program *program = iwt_pattern_program(operations, pattern);
    const iw_net net = iwt_random_segmented_net(random);
    iw_noise *noise = iwt_random_noise(random);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result;
    double sum_ps = 0, explained_ps = 0;

    opts.lanes = 8;
    opts.threads = 1;
    opts.want_explain = true;
    opts.engine = IW_ENGINE_FLOW;
    opts.rendezvous = iwt_below(random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
    result = iwt_run(program, &net, noise, &opts);
    for (uint32_t rank = 0; rank < result->ranks; rank++) {
        sum_ps += (double)result->end_ps[rank];
    }
    for (size_t part = 0; part < IW_PARTS; part++) {
        explained_ps += result->explain->mean_ps[part] * result->ranks;
    }
    if (fabs(sum_ps - explained_ps) > 0.5 || result->explain->median.makespan_ps != result->makespan_ps[0]) {
        fail_msg("'%s' on %u ranks, %llu bytes: all ends sum to %.0f ps, explained ones to %.0f ps",
                 operations, result->ranks, (unsigned long long)pattern->bytes, sum_ps, explained_ps);
    }
    iw_sim_result_free(result);
    iw_noise_free(noise);
    iw_program_free(program);
}

/* More elements than the cache holds: rounds are then taken several at once, on parts of the ranks. 2100 and
 * 2304 are no powers of two; 300 bytes are more than the random nets send eagerly. An allgather becomes long
 * by itself. */
static void large_streaming_rounds_are_the_same_as_rank_by_rank(void **state)
{
    static const char *const operations[] = {"allreduce:dissemination", "allreduce:recursive-doubling",
                                             "barrier:dissemination+allreduce:dissemination",
                                             "allgather:recursive-doubling", "allreduce:reduce-bcast"};
    static const uint32_t sizes[] = {2100, 2304, 4096};
    const size_t stride = IWT_IS_SLOW ? 3 : 1;

    (void)state;
    for (size_t k = 0; k < sizeof operations / sizeof operations[0]; k++) {
        for (size_t n = k % stride; n < sizeof sizes / sizeof sizes[0]; n += stride) {
            struct iwt_random random = {k * 100 + n, 0};
            iw_pattern pattern = IW_PATTERN_INIT;

            pattern.ranks = sizes[n];
            pattern.bytes = (k + n) % 2 && strncmp(operations[k], "allgather", 9) != 0 ? 300 : 1;
            pattern.reduce = (iw_fs_per_byte)iwt_below(&random, 20000);
            compare_with_explained(operations[k], &pattern, &random);
        }
    }
}

static void sequences_of_operations_are_the_same_on_both_engines(void **state)
{
    static const char *const sequences[] = {"halo2d+allreduce", "barrier+bcast:chain+reduce:binary",
                                            "sweep2d+allreduce:recursive-doubling",
                                            "allreduce:dissemination+allreduce:dissemination"};

    (void)state;
    for (uint64_t seed = 0; seed < 40 / IWT_FEWER; seed++) {
        struct iwt_random random = {seed, 0};
        iw_pattern pattern = random_pattern(&random, seed % 8 < 4 ? 24 : 32);

        iwt_compare_engines(sequences[seed % 4], &pattern, &random);
    }
}

static void halo1d_reaches_further_partners_on_both_engines(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 32 / IWT_FEWER; seed++) {
        struct iwt_random random = {seed, 0};
        iw_pattern pattern = random_pattern(&random, 11);

        pattern.distance = 1 + (uint32_t)iwt_below(&random, 4);
        iwt_compare_engines("halo1d", &pattern, &random);
    }
}

/* Levels that the network has share the parts; those that it does not have get nothing. */
static void assert_levels_share_parts(const iw_split *split, uint32_t inner_count)
{
    for (size_t part = 0; part < IW_NET_PARTS; part++) {
        iw_time outermost = split->part_ps[IW_PART_OVERHEAD + part];

        for (uint32_t level = 0; level < IW_NET_INNER_MAX; level++) {
            assert_true(split->inner_ps[level][part] >= 0);
            assert_true(level < inner_count || split->inner_ps[level][part] == 0);
            outermost -= split->inner_ps[level][part];
        }
        assert_true(outermost >= 0);
    }
}

/* The explained run itself, for the split of every rank. */
static void assert_engine_splits_sum(iw_engine engine, const iw_program *program, const iw_net *net,
                                     const iw_noise *noise, iw_rendezvous rendezvous, const char *what,
                                     iw_split *split)
{
    const iw_sim_opts opts = {.size = sizeof opts, .engine = engine, .rules = IW_RULES_IDLEWAVE};
    struct iwi_levels levels;
    struct iwi_plan plan;
    iw_time end[64];
    iw_time makespan = 0;
    struct iwi_batches batches = {
        .plan = &plan, .trials = 1, .lanes = 1, .threads = 1, .makespan_ps = &makespan, .end_ps = end};

    assert_ok(iwi_plan_init(NULL, program, net, &opts, &plan));
    assert_ok(iwi_levels_init(NULL, net, iw_program_ranks(program), &levels));
    batches.job = (struct iwi_job){.program = program,
                                   .schedule = plan.schedule,
                                   .net = net,
                                   .levels = levels,
                                   .noise = noise,
                                   .has_delays = true,
                                   .rendezvous = rendezvous,
                                   .seed = 5,
                                   .split = split};
    assert_ok(iwi_batches_run(NULL, &batches));
    for (uint32_t rank = 0; rank < iw_program_ranks(program); rank++) {
        iw_time sum = 0;

        for (size_t part = 0; part < IW_PARTS; part++) {
            assert_true(split[rank].part_ps[part] >= 0);
            sum += split[rank].part_ps[part];
        }
        assert_levels_share_parts(&split[rank], net->inner_count);
        if (sum != end[rank]) {
            fail_msg("%s: rank %u ends at %lld ps, explained are %lld ps", what, rank, (long long)end[rank],
                     (long long)sum);
        }
    }
    iwi_levels_release(&levels);
    iwi_plan_release(&plan);
}

static void assert_splits_sum(const iw_program *program, const iw_net *net, const iw_noise *noise,
                              iw_rendezvous rendezvous, const char *what)
{
    iw_split flow[64], event[64];

    assert_engine_splits_sum(IW_ENGINE_FLOW, program, net, noise, rendezvous, what, flow);
    assert_engine_splits_sum(IW_ENGINE_EVENT, program, net, noise, rendezvous, what, event);
    for (uint32_t rank = 0; rank < iw_program_ranks(program); rank++) {
        if (memcmp(&flow[rank], &event[rank], sizeof flow[rank]) != 0) {
            fail_msg("%s: rank %u: flow and event tell different paths (%llu and %llu hops)", what, rank,
                     (unsigned long long)flow[rank].hops, (unsigned long long)event[rank].hops);
        }
    }
}

static void explanations_sum_to_the_end_of_every_rank(void **state)
{
    const char *op, *algorithm, *summary;

    (void)state;
    for (size_t index = 0; iw_algorithm_info(index, &op, &algorithm, &summary); index++) {
        struct iwt_random random = {index, 0};
        const iw_delay delay = {.rank = 3, .step = 1, .time_ps = 77777};
        iw_pattern pattern = random_pattern(&random, 26);
        iw_net net = iwt_random_segmented_net(&random);
        iw_noise *noise = iwt_random_noise(&random);
        iw_program *program;
        char name[64];

        iwt_make_series(&random, 90000, &net);
        (void)snprintf(name, sizeof name, "%s:%s", op, algorithm);
        pattern.delays = &delay;
        pattern.delay_count = 1;
        program = iwt_pattern_program(name, &pattern);
        assert_splits_sum(program, &net, noise, index % 2 ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS,
                          name);
        iw_program_free(program);
        iw_noise_free(noise);
        iwi_net_release(&net);
    }
}

static void explanations_of_schedules_sum_up_too(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500 / IWT_FEWER; seed++) {
        struct iwt_random random = {seed, 0};
        iw_net net = iwt_random_segmented_net(&random);
        iw_noise *noise = iwt_random_noise(&random);
        struct iwt_builder b;
        iw_program *program;

        iwt_make_series(&random, 90000, &net);
        iwt_random_program(&random, IWT_MIXED_SIZES, &b);
        program = iwt_program(&b);
        assert_splits_sum(program, &net, noise, seed % 2 ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS,
                          "schedule");
        iw_program_free(program);
        iw_noise_free(noise);
        iwi_net_release(&net);
        iwt_builder_release(&b);
    }
}

/* Dissemination on 8 ranks of 1 byte, o = 2, L = 10, g = 5: 3 rounds of o + L + o, all of it explained. */
static void a_noiseless_dissemination_is_overhead_and_latency(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    const iw_net net = iwt_example_net();
    iw_program *program;
    iw_sim_result *result;

    (void)state;
    pattern.ranks = 8;
    program = iwt_pattern_program("barrier:dissemination", &pattern);
    opts.want_explain = true;
    result = iwt_run(program, &net, NULL, &opts);
    assert_int_equal(result->explain->median.makespan_ps, IWT_NS(3 * 14));
    assert_int_equal(result->explain->median.split.part_ps[IW_PART_OVERHEAD], IWT_NS(3 * 4));
    assert_int_equal(result->explain->median.split.part_ps[IW_PART_LATENCY], IWT_NS(3 * 10));
    assert_int_equal(result->explain->median.split.hops, 3);
    iw_sim_result_free(result);
    iw_program_free(program);
}

/* The same on pairs of ranks in which o = 1 and L = 4, by recursive doubling: the first of the 3 rounds is
 * inside, which takes 1 + 4 + 1, the others take 14 each. */
static void levels_are_explained_apart(void **state)
{
    static const iw_engine engines[] = {IW_ENGINE_FLOW, IW_ENGINE_EVENT};
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_net net = iwt_example_net();
    iw_program *program;

    (void)state;
    net.inner_count = 1;
    net.inner[0] = (iw_net_inner){
        .name = "node",
        .ranks = 2,
        .costs = {.L_ps = IWT_NS(4), .o_send_ps = IWT_NS(1), .o_recv_ps = IWT_NS(1), .g_ps = IWT_NS(2)}};
    pattern.ranks = 8;
    program = iwt_pattern_program("allreduce:recursive-doubling", &pattern);
    opts.want_explain = true;
    for (size_t i = 0; i < 2; i++) {
        iw_sim_result *result;
        const iw_split *split;

        opts.engine = engines[i];
        result = iwt_run(program, &net, NULL, &opts);
        split = &result->explain->median.split;
        assert_int_equal(result->explain->median.makespan_ps, IWT_NS(6 + 2 * 14));
        assert_int_equal(split->part_ps[IW_PART_OVERHEAD], IWT_NS(2 + 2 * 4));
        assert_int_equal(split->part_ps[IW_PART_LATENCY], IWT_NS(4 + 2 * 10));
        assert_int_equal(split->inner_ps[0][0], IWT_NS(2));
        assert_int_equal(split->inner_ps[0][IW_PART_LATENCY - IW_PART_OVERHEAD], IWT_NS(4));
        assert_true(result->explain->mean_inner_ps[0][0] == (double)IWT_NS(2));
        iw_sim_result_free(result);
    }
    iw_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_is_the_same_on_both_engines),
        cmocka_unit_test(large_streaming_rounds_are_the_same_as_rank_by_rank),
        cmocka_unit_test(sequences_of_operations_are_the_same_on_both_engines),
        cmocka_unit_test(halo1d_reaches_further_partners_on_both_engines),
        cmocka_unit_test(explanations_sum_to_the_end_of_every_rank),
        cmocka_unit_test(explanations_of_schedules_sum_up_too),
        cmocka_unit_test(a_noiseless_dissemination_is_overhead_and_latency),
        cmocka_unit_test(levels_are_explained_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
