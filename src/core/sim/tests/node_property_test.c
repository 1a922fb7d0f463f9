/* Random collectives on random machines: levels, NICs, placements, cores and speeds of nodes, in both
 * engines.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include "core/program/program.h"
#include "random_program.h"
#include "support/support.h"

enum { PROGRAMS = 3000 / IWT_FEWER, MOST_RANKS = 48 };

/* How many of the programs had what. */
struct tally {
    uint32_t programs, levels, nics, round_robin, cores, speeds, node_algorithms, segments;
};

/* One or two repetitions of any operation that takes these arguments; where nodes are known, half of them by
 * an algorithm that uses them. */
static iw_program *random_collectives(struct iwt_random *random, const iw_net *net, struct tally *tally)
{
    const char *op, *algorithm, *summary;
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;
    size_t known = 0;
    bool wants_nodes;

    while (iw_algorithm_info(known, &op, &algorithm, &summary)) {
        known++;
    }
    pattern.repeat = 1 + iwt_below(random, 2);
    pattern.compute_ps = (iw_time)iwt_below(random, 60000);
    pattern.reduce = (iw_fs_per_byte)iwt_below(random, 50000);
    pattern.nodes = iw_net_nodes(net);
    wants_nodes = pattern.nodes.ranks > 0 && iwt_below(random, 2);
    for (bool is_made = false; !is_made;) { /* some need nodes, or an even number of ranks */
        char name[64];
        struct iwt_log l;

        iwt_log_init(&l);
        pattern.ranks = 2 + (uint32_t)iwt_below(random, MOST_RANKS - 1);
        pattern.bytes = iwt_below(random, 2) ? iwt_below(random, 500) : pattern.ranks * iwt_below(random, 9);
        pattern.root = (uint32_t)iwt_below(random, 2) * (pattern.ranks - 1);
        pattern.segment_bytes = iwt_below(random, 3) ? 0 : 20 + iwt_below(random, 100);
        (void)iw_algorithm_info((size_t)iwt_below(random, known), &op, &algorithm, &summary);
        snprintf(name, sizeof name, "%s:%s", op, algorithm);
        is_made = iw_program_from_pattern(&l.log, name, &pattern, &program) == IW_OK;
        if (is_made && wants_nodes && !program->operations[0].algorithm->uses_nodes) {
            iw_program_free(program);
            is_made = false;
        }
    }
    tally->node_algorithms += program->operations[0].algorithm->uses_nodes;
    tally->segments += pattern.segment_bytes > 0 && pattern.bytes > pattern.segment_bytes;
    return program;
}

static void count_net(const iw_net *net, struct tally *tally)
{
    tally->levels += net->inner_count > 0;
    tally->nics += net->nics.count > 0;
    tally->round_robin += net->inner_count > 0 && net->placement == IW_PLACEMENT_ROUND_ROBIN;
}

static void assert_same_ends(const iw_sim_result *event, const iw_sim_result *flow, uint64_t seed)
{
    for (uint64_t i = 0; i < event->trials * event->ranks; i++) {
        if (event->end_ps[i] != flow->end_ps[i]) {
            fail_msg("program %llu, trial %llu rank %llu: %lld ps and %lld ps", (unsigned long long)seed,
                     (unsigned long long)(i / event->ranks), (unsigned long long)(i % event->ranks),
                     (long long)event->end_ps[i], (long long)flow->end_ps[i]);
        }
    }
    assert_int_equal(event->noiseless_ps, flow->noiseless_ps);
}

static void compare_engines(uint64_t seed, struct tally *tally)
{
    struct iwt_random random = {seed, 0};
    const iw_net net = iwt_below(&random, 2) ? iwt_random_segmented_net(&random) : iwt_random_net(&random);
    iw_noise *noise = iwt_random_noise(&random);
    iw_program *program = random_collectives(&random, &net, tally);
    iw_node_speeds *speeds = NULL;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *event, *flow;

    if (iwt_below(&random, 2)) {
        const char *const laws[] = {"normal:10%", "slow:1,1.37"};

        assert_ok(iw_node_speeds_new(NULL, laws[iwt_below(&random, 2)], 1 + (uint32_t)iwt_below(&random, 9),
                                     &speeds));
        opts.node_speeds = speeds;
    }
    opts.trials = 2;
    opts.lanes = 1 + (uint32_t)iwt_below(&random, 2);
    opts.rendezvous = iwt_below(&random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
    opts.engine = IW_ENGINE_EVENT;
    event = iwt_run(program, &net, noise, &opts);
    opts.engine = IW_ENGINE_FLOW;
    flow = iwt_run(program, &net, noise, &opts);
    assert_same_ends(event, flow, seed);
    count_net(&net, tally);
    tally->programs++;
    tally->cores += iw_noise_cores_per_rank(noise) > 1;
    tally->speeds += speeds != NULL;
    iw_sim_result_free(event);
    iw_sim_result_free(flow);
    iw_program_free(program);
    iw_node_speeds_free(speeds);
    iw_noise_free(noise);
}

static void event_and_flow_agree_on_random_machines(void **state)
{
    struct tally tally = {.programs = 0};

    (void)state;
    for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
        compare_engines(seed, &tally);
    }
    printf(
        "%u programs, event == flow: %u with levels (%u round robin), %u with NICs, %u with several cores a "
        "rank, %u with speeds of nodes, %u by algorithms that use nodes, %u in segments\n",
        tally.programs, tally.levels, tally.round_robin, tally.nics, tally.cores, tally.speeds,
        tally.node_algorithms, tally.segments);
    assert_int_equal(tally.programs, PROGRAMS);
    assert_true(tally.levels > PROGRAMS / 4 && tally.nics > PROGRAMS / 20 &&
                tally.round_robin > PROGRAMS / 10);
    assert_true(tally.cores > PROGRAMS / 10 && tally.speeds > PROGRAMS / 4);
    assert_true(tally.node_algorithms > PROGRAMS / 20 && tally.segments > PROGRAMS / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_and_flow_agree_on_random_machines),
    };

    return cmocka_run_group_tests_name("node_property", tests, NULL, NULL);
}
