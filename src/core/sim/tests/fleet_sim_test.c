/* Simulations whose nodes meet different recorded nodes: engines, lanes and members of a team agree.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include <idlewave/recording.h>

#include "random_program.h"
#include "support/made_recording.h"
#include "support/support.h"

enum { RANKS = 24, CASES = 60, TRIALS = 5, MOST_NODES = 7 };

/* 1 to 4 CPUs of different lengths, detours of 5 to 40 ns, with sources that only some nodes have. */
static iw_recording *random_node(struct iwt_random *random)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    const size_t cpus = 1 + (size_t)iwt_below(random, 4);
    iw_recording *recording = iwt_recording(cpus, 3000 + (int64_t)iwt_below(random, 5000));
    const uint32_t own = iwt_source(recording, IW_CLASS_IRQ, names[iwt_below(random, 5)]);

    for (size_t cpu = 0; cpu < cpus; cpu++) {
        for (int64_t at_ns = 0; at_ns < recording->cpus[cpu].length_ns - 200;
             at_ns += 60 + (int64_t)iwt_below(random, 160)) {
            iwt_detour(recording, cpu, at_ns, 5 + (int64_t)iwt_below(random, 36),
                       own * (uint32_t)iwt_below(random, 2));
        }
    }
    return recording;
}

static iw_noise *random_fleet_noise(struct iwt_random *random)
{
    const size_t count = 2 + (size_t)iwt_below(random, MOST_NODES - 1);
    iw_recording *nodes[MOST_NODES];
    iw_noise *noise = NULL;
    iw_sync sync;

    assert_ok(iw_noise_new(NULL, &noise));
    if (iwt_below(random, 3) == 0) {
        assert_ok(iw_noise_add(NULL, noise, "poisson:5000kHz,fixed:30ns"));
    }
    for (size_t i = 0; i < count; i++) {
        nodes[i] = random_node(random);
    }
    iw_noise_align_nodes(noise, (iw_align)iwt_below(random, 2));
    assert_ok(iw_noise_add_recordings(NULL, noise, (const iw_recording *const *)nodes, count));
    for (size_t i = 0; i < count; i++) {
        iw_recording_free(nodes[i]);
    }
    sync = (iw_sync)iwt_below(random, 3);
    iw_noise_align(noise, sync, (iw_time)iwt_below(random, 2) * 30000, 1 + (uint32_t)iwt_below(random, 9));
    return noise;
}

static void assert_same(iw_sim_result *one, iw_sim_result *other)
{
    assert_memory_equal(one->end_ps, other->end_ps, TRIALS * RANKS * sizeof *one->end_ps);
    iw_sim_result_free(other);
}

static void engines_lanes_and_members_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct iwt_random random = {seed, 0};
        iw_program *program = iwt_random_pattern(&random, RANKS);
        iw_noise *noise = random_fleet_noise(&random);
        const iw_net net = iwt_random_net(&random);
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        iw_sim_result *event;

        opts.trials = TRIALS;
        opts.engine = IW_ENGINE_EVENT;
        event = iwt_run(program, &net, noise, &opts);
        opts.engine = IW_ENGINE_FLOW;
        opts.lanes = 1U << iwt_below(&random, 4);
        assert_same(event, iwt_run(program, &net, noise, &opts));
        opts.parallel = IW_PARALLEL_RANKS;
        opts.threads = 2 + (uint32_t)iwt_below(&random, 5);
        assert_same(event, iwt_run(program, &net, noise, &opts));
        iw_sim_result_free(event);
        iw_noise_free(noise);
        iw_program_free(program);
    }
}

/* One node in four loses half of its time: of 4 ranks alone one is slow, in each trial; which one changes. */
static void one_slow_node_of_four_slows_one_rank_of_four(void **state)
{
    enum { LENGTH_NS = 1000, NODES = 4 };
    iw_recording *nodes[NODES];
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_noise *noise = NULL;
    struct iwt_builder b;
    iw_program *program;
    iw_sim_result *result;
    int slow_at[NODES] = {0};

    (void)state;
    for (size_t i = 0; i < NODES; i++) {
        nodes[i] = iwt_recording(1, LENGTH_NS);
    }
    iwt_detour(nodes[2], 0, 0, LENGTH_NS / 2, 0);
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add_recordings(NULL, noise, (const iw_recording *const *)nodes, NODES));
    iwt_builder_init(&b, NODES);
    for (uint32_t rank = 0; rank < NODES; rank++) {
        iwt_calc(&b, rank, IWT_NS(10 * LENGTH_NS / 2));
    }
    program = iwt_program(&b);
    opts.trials = 40;
    result = iwt_run(program, &net, noise, &opts);
    for (uint64_t trial = 0; trial < opts.trials; trial++) {
        int slow = 0;

        for (uint32_t rank = 0; rank < NODES; rank++) {
            const bool is_slow = result->end_ps[trial * NODES + rank] > IWT_NS(10 * LENGTH_NS / 2);

            slow += is_slow;
            slow_at[rank] += is_slow;
        }
        assert_int_equal(slow, 1);
    }
    for (size_t i = 0; i < NODES; i++) {
        assert_in_range(slow_at[i], 2, 20);
        iw_recording_free(nodes[i]);
    }
    iw_sim_result_free(result);
    iw_program_free(program);
    iwt_builder_release(&b);
    iw_noise_free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_lanes_and_members_agree),
        cmocka_unit_test(one_slow_node_of_four_slows_one_rank_of_four),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
