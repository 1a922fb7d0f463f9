/* Rings and linear exchanges that are taken rank by rank: as the event engine has them, and as rounds do.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "core/sim/engine.h"
#include "random_program.h"
#include "support/support.h"

static void expect_same(const iw_sim_result *a, const iw_sim_result *b, const char *what, uint64_t seed)
{
    for (uint64_t i = 0; i < a->trials * a->ranks; i++) {
        if (a->end_ps[i] != b->end_ps[i]) {
            fail_msg("%s, seed %llu, trial %llu rank %llu of %u: %lld ps and %lld ps", what,
                     (unsigned long long)seed, (unsigned long long)(i / a->ranks),
                     (unsigned long long)(i % a->ranks), a->ranks, (long long)a->end_ps[i],
                     (long long)b->end_ps[i]);
        }
    }
    assert_int_equal(a->noiseless_ps, b->noiseless_ps);
}

static iw_program *random_ring(struct iwt_random *random, uint32_t least, uint32_t most)
{
    static const char *const operations[] = {"allreduce:ring", "bcast:scatter-allgather",
                                             "allgather:ring", "reduce_scatter:ring",
                                             "allreduce:ring", "allreduce:ring+barrier+allreduce:ring"};
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    pattern.ranks = least + (uint32_t)iwt_below(random, most - least + 1);
    pattern.bytes = iwt_below(random, 2) ? iwt_below(random, 20000) : pattern.ranks * iwt_below(random, 150);
    pattern.repeat = 1 + iwt_below(random, 2);
    pattern.root = (uint32_t)iwt_below(random, pattern.ranks);
    pattern.compute_ps = (iw_time)(iwt_below(random, 2) * iwt_below(random, 60000));
    pattern.reduce = (iw_fs_per_byte)(iwt_below(random, 2) * iwt_below(random, 50000));
    assert_ok(iw_program_from_pattern(NULL, operations[iwt_below(random, 6)], &pattern, &program));
    return program;
}

static iw_program *random_exchange(struct iwt_random *random)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    pattern.ranks = 2 + (uint32_t)iwt_below(random, iwt_below(random, 2) ? 12 : 80);
    pattern.bytes = iwt_below(random, 500);
    pattern.repeat = 1 + iwt_below(random, 2);
    pattern.compute_ps = (iw_time)(iwt_below(random, 2) * iwt_below(random, 60000));
    assert_ok(iw_program_from_pattern(
        NULL, iwt_below(random, 2) ? "alltoall:linear" : "alltoall:linear+allreduce:ring", &pattern,
        &program));
    return program;
}

/* Even nodes, two thirds of the time. */
static iw_program *random_node_rings(struct iwt_random *random, iw_net *net)
{
    const uint32_t seats = 1 + (uint32_t)iwt_below(random, 9), nodes = 2 + (uint32_t)iwt_below(random, 14);
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    net->inner_count = 1;
    net->nics.count = 0;
    net->inner[0] = (iw_net_inner){.name = "node", .ranks = seats, .costs = net->costs};
    net->inner[0].costs.L_ps /= 4;
    net->inner[0].costs.o_recv_ps /= 2;
    net->inner[0].costs.segment_count = 0;
    net->placement = iwt_below(random, 2) ? IW_PLACEMENT_BLOCK : IW_PLACEMENT_ROUND_ROBIN;
    pattern.ranks = seats * nodes + (uint32_t)(iwt_below(random, 3) == 0);
    pattern.nodes = (iw_nodes){.ranks = seats, .placement = net->placement};
    pattern.bytes =
        iwt_below(random, 3) ? iwt_below(random, 20000) : pattern.ranks * seats * iwt_below(random, 9);
    pattern.repeat = 1 + iwt_below(random, 2);
    pattern.compute_ps = (iw_time)(iwt_below(random, 2) * iwt_below(random, 60000));
    pattern.reduce = (iw_fs_per_byte)(iwt_below(random, 2) * iwt_below(random, 50000));
    assert_ok(iw_program_from_pattern(NULL, "allreduce:node-rings", &pattern, &program));
    return program;
}

/* Of the usual order: hits are as rare as on real machines, so that there is something to jump over. */
static iw_noise *rare_noise(struct iwt_random *random)
{
    static const char *const specs[] = {"periodic:1000kHz,50ns", "poisson:500kHz,exp:100ns",
                                        "periodic:10kHz,20us",   "poisson:100kHz,pareto:1.5,100ns",
                                        "periodic:300kHz,40ns",  "poisson:30kHz,fixed:3us"};
    iw_noise *noise = NULL;

    assert_ok(iw_noise_new(NULL, &noise));
    for (uint64_t k = 0; k <= iwt_below(random, 2); k++) {
        assert_ok(iw_noise_add(NULL, noise, specs[iwt_below(random, 6)]));
    }
    return noise;
}

static iw_net eager_net(struct iwt_random *random)
{
    iw_net net = iwt_below(random, 2) ? iwt_random_segmented_net(random) : iwt_random_net(random);

    net.S_bytes = iwt_below(random, 3) ? UINT64_MAX : net.S_bytes;
    return net;
}

enum kind { RING, EXCHANGE, NODE_RINGS };

static iw_program *random_of(struct iwt_random *random, enum kind kind, iw_net *net)
{
    return kind == RING       ? random_ring(random, 2, iwt_below(random, 2) ? 12 : 90)
           : kind == EXCHANGE ? random_exchange(random)
                              : random_node_rings(random, net);
}

static void compare_with_events(enum kind kind)
{
    for (uint64_t seed = 0; seed < 96 / IWT_FEWER; seed++) {
        struct iwt_random random = {seed, 0};
        iw_net net = eager_net(&random);
        iw_noise *noise = iwt_below(&random, 2) ? rare_noise(&random) : iwt_random_noise(&random);
        iw_program *program = random_of(&random, kind, &net);
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        iw_sim_result *event, *flow;

        opts.trials = 2;
        opts.rendezvous = iwt_below(&random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
        opts.lanes = 1 + (uint32_t)iwt_below(&random, 2);
        opts.engine = IW_ENGINE_EVENT;
        event = iwt_run(program, &net, noise, &opts);
        opts.engine = IW_ENGINE_FLOW;
        flow = iwt_run(program, &net, noise, &opts);
        expect_same(event, flow, "event and flow", seed);
        iw_sim_result_free(event);
        iw_sim_result_free(flow);
        iw_program_free(program);
        iw_noise_free(noise);
    }
}

static void rings_are_as_the_event_engine_has_them(void **state)
{
    (void)state;
    compare_with_events(RING);
}

static void exchanges_are_as_the_event_engine_has_them(void **state)
{
    (void)state;
    compare_with_events(EXCHANGE);
}

static void rings_over_nodes_are_as_the_event_engine_has_them(void **state)
{
    (void)state;
    compare_with_events(NODE_RINGS);
}

/* Nearly in order, mixed of several lines, and in no order at all. */
static void arrivals_are_sorted_by_time_and_number(void **state)
{
    enum { MOST = 300 };
    struct iwi_arrival arrivals[MOST], expected[MOST], scratch[IWI_SORT_ROOM * MOST];

    (void)state;
    for (uint64_t seed = 0; seed < 600; seed++) {
        struct iwt_random random = {seed, 0};
        const size_t count = (size_t)iwt_below(&random, MOST + 1);
        const uint64_t lines = 1 + iwt_below(&random, 4), slope = iwt_below(&random, 4) * 5;

        for (size_t k = 0; k < count; k++) {
            arrivals[k].time = (iw_time)(k * slope + iwt_below(&random, lines) * 70 + iwt_below(&random, 4));
            arrivals[k].time += iwt_below(&random, 50) == 0 ? 3000 : 0;
            arrivals[k].index = (uint32_t)(count - k);
            expected[k] = arrivals[k];
        }
        iwi_sort_arrivals(expected, count);
        iwi_sort_by_lines(arrivals, count, scratch);
        for (size_t k = 0; k < count; k++) {
            assert_true(arrivals[k].time == expected[k].time && arrivals[k].index == expected[k].index);
        }
    }
}

/* One thread, and members of a team, whose blocks may differ in size; who explains goes round by round. */
static void laps_are_as_rounds(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40 / IWT_FEWER; seed++) {
        struct iwt_random random = {seed, 0};
        const iw_net net = eager_net(&random);
        iw_noise *noise = rare_noise(&random);
        iw_program *program = random_ring(&random, 64, iwt_below(&random, 2) ? 80 : 700);
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        iw_sim_result *laps, *shared, *rounds;

        laps = iwt_run(program, &net, noise, &opts);
        opts.threads = 2 + (uint32_t)iwt_below(&random, 6);
        opts.parallel = IW_PARALLEL_RANKS;
        shared = iwt_run(program, &net, noise, &opts);
        expect_same(laps, shared, "one thread and several", seed);
        opts.want_explain = true;
        rounds = iwt_run(program, &net, noise, &opts);
        expect_same(laps, rounds, "laps and rounds", seed);
        iw_sim_result_free(laps);
        iw_sim_result_free(shared);
        iw_sim_result_free(rounds);
        iw_program_free(program);
        iw_noise_free(noise);
    }
}

static double cpu_seconds(const iw_noise *noise)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_program *program = NULL;
    iw_sim_result *result;
    struct timespec begin, end;

    pattern.ranks = 4095; /* blocks of two sizes: no rank stands for all */
    pattern.bytes = 1 << 20;
    assert_ok(iw_program_from_pattern(NULL, "allreduce:ring", &pattern, &program));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    result = iwt_run(program, iw_net_builtin("chic"), noise, &opts);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    iw_sim_result_free(result);
    iw_program_free(program);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

/* A rank that only passes on what it gets has as few pieces as the one before it. Both runs have the one
 * without noise in them; once more, in turns, as long as others disturb them. */
static void a_ring_without_noise_is_short(void **state)
{
    iw_noise *noise = NULL;
    double with = 0.0, without = INFINITY;

    (void)state;
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, "periodic:1kHz,50us"));
    for (int i = 0; i < 10 && without > 0.5 * with; i++) {
        with = fmax(with, cpu_seconds(noise));
        without = fmin(without, cpu_seconds(NULL));
    }
    if (without > 0.5 * with) {
        fail_msg("%.3f s of CPU time without noise, and %.3f s with noise", without, with);
    }
    iw_noise_free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_are_as_the_event_engine_has_them),
        cmocka_unit_test(exchanges_are_as_the_event_engine_has_them),
        cmocka_unit_test(rings_over_nodes_are_as_the_event_engine_has_them),
        cmocka_unit_test(arrivals_are_sorted_by_time_and_number),
        cmocka_unit_test(laps_are_as_rounds),
        cmocka_unit_test(a_ring_without_noise_is_short),
    };

    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
