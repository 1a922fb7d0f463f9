/* Nodes aligned by the wall clock: what is hit together costs once, and what to assume independence costs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <idlewave/files.h>
#include <idlewave/whatif.h>

#include "core/base/rng.h"
#include "made_question.h"
#include "support/made_recording.h"
#include "support/support.h"

enum { NODES = 8, SECONDS = 20 };

static const int64_t S = INT64_C(1000000000);

struct fleet {
    char folder[32], paths[NODES][48];
};

/* Detours of 500 us, 20 a second: at the same instants of the wall clock on all nodes, or on each at others.
 * Nodes began to record at different times. */
static struct fleet make_fleet(bool is_together, bool is_quiet)
{
    struct fleet fleet = {.folder = "/tmp/iw-independence-XXXXXX"};

    assert_non_null(mkdtemp(fleet.folder));
    for (uint32_t node = 0; node < NODES; node++) {
        const struct iwi_draw_id draw = {
            .seed = 11, .purpose = IWI_DRAW_TEST, .rank = is_together ? 0 : node + 1};
        const int64_t start_ns = 1000 * S + node * S / 100;
        iw_recording *recording = iwt_recording(1, SECONDS * S);
        char text[32];

        for (uint64_t i = 0; i < 20 * SECONDS && !is_quiet; i++) {
            const int64_t at_ns = 1000 * S + (int64_t)i * S / 20 +
                                  (int64_t)iwi_draw_below(draw, i, (uint64_t)(S / 20 - 1000000));

            if (at_ns > start_ns && at_ns + 1000000 < start_ns + SECONDS * S) {
                iwt_detour(recording, 0, at_ns - start_ns, 500000, 0);
            }
        }
        snprintf(text, sizeof text, "%lld", (long long)start_ns);
        iwt_attribute(recording, "start_wall_ns", text);
        iwt_attribute(recording, "wall_synchronised", "yes");
        snprintf(fleet.paths[node], sizeof fleet.paths[node], "%s/n%u.h5", fleet.folder, node);
        assert_ok(iw_recording_save(NULL, recording, fleet.paths[node]));
        iw_recording_free(recording);
    }
    return fleet;
}

static void remove_fleet(const struct fleet *fleet)
{
    for (size_t i = 0; i < NODES; i++) {
        assert_int_equal(unlink(fleet->paths[i]), 0);
    }
    assert_int_equal(rmdir(fleet->folder), 0);
}

static iw_noise_set *open_set(const struct fleet *fleet, iw_align align)
{
    iw_noise_set *set = NULL;

    assert_ok(iw_noise_set_new(NULL, &set));
    iw_noise_set_align_nodes(set, align);
    assert_ok(iw_noise_set_add(NULL, set, fleet->folder));
    return set;
}

struct answer {
    double slowdown;
    iw_independence independence;
    iw_estimate now, apart; /* of whatif */
};

static double mean_slowdown(const iw_sim_result *result)
{
    double sum = 0.0;

    for (uint64_t i = 0; i < result->trials; i++) {
        sum += (double)(result->makespan_ps[i] - result->noiseless_ps) / (double)result->noiseless_ps;
    }
    return sum / (double)result->trials;
}

/* The same question by both doors: 300 steps of 1 ms on 8 nodes. */
static struct answer ask(const iw_noise_set *set)
{
    struct iwt_question question = {.ranks = NODES, .steps = 300, .compute_ps = IW_PS_PER_MS};
    iw_whatif_opts opts = iwt_options(&question);
    struct answer answer;
    iw_program *program = NULL;
    iw_noise *noise = NULL;
    iw_sim_result *result;
    iw_whatif *whatif;

    question = (struct iwt_question){.ranks = NODES, .steps = 300, .compute_ps = IW_PS_PER_MS};
    opts.sim.trials = 20;
    assert_ok(opts.program.make(opts.program.arg, 0, 1.0, &program));
    assert_ok(iw_noise_set_make(NULL, set, NULL, opts.sim.seed, 0, &noise));
    assert_ok(iw_simulate(NULL, program, opts.net, noise, &opts.sim, &result));
    answer.slowdown = mean_slowdown(result);
    assert_true(iw_independence_is_asked(set));
    assert_int_equal(iw_independence_trials(set, 20), 20 + 2 * 12 * 4);
    assert_ok(iw_independence_find(NULL, &(iw_certainty_question){set, program, opts.net, &opts.sim, result},
                                   &answer.independence));
    whatif = iwt_ask(set, &opts);
    answer.now = whatif->now;
    answer.apart = iwt_change(whatif, "independent nodes")->slowdown;
    iw_whatif_free(whatif);
    iw_sim_result_free(result);
    iw_noise_free(noise);
    opts.program.release(opts.program.arg, program);
    return answer;
}

/* Of a detour that hits all nodes in the same step one is lost, of eight that do not up to eight: 1 % of the
 * time of each node, up to 8 % together. */
static void detours_that_coincide_cost_once(void **state)
{
    const struct fleet fleet = make_fleet(true, false);
    iw_noise_set *set = open_set(&fleet, IW_ALIGN_WALL);
    const struct answer answer = ask(set);

    (void)state;
    assert_in_range((int64_t)(1e4 * answer.slowdown), 90, 120);
    assert_true(answer.independence.independent.value > 4.0 * answer.slowdown);
    assert_true(answer.independence.overstated.low > 3.0 * answer.slowdown);
    assert_true(answer.independence.overstated.high < 0.09);
    assert_int_equal(answer.independence.nodes, NODES);
    assert_int_equal(answer.independence.recorded_nodes, NODES);
    iw_noise_set_free(set);
    remove_fleet(&fleet);
}

static void nodes_without_noise_have_nothing_to_be_independent_of(void **state)
{
    const struct fleet fleet = make_fleet(true, true);
    struct iwt_question question = {.ranks = NODES, .steps = 10, .compute_ps = IW_PS_PER_MS};
    iw_noise_set *set = open_set(&fleet, IW_ALIGN_WALL);
    iw_whatif_opts opts = iwt_options(&question);
    iw_whatif *whatif;

    (void)state;
    question = (struct iwt_question){.ranks = NODES, .steps = 10, .compute_ps = IW_PS_PER_MS};
    opts.sim.trials = 4;
    whatif = iwt_ask(set, &opts);
    assert_int_equal(whatif->change_count, 0);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
    remove_fleet(&fleet);
}

static void independent_nodes_lose_nothing_by_the_assumption(void **state)
{
    const struct fleet fleet = make_fleet(false, false);
    iw_noise_set *set = open_set(&fleet, IW_ALIGN_WALL);
    const struct answer answer = ask(set);

    (void)state;
    assert_true(answer.independence.overstated.low < 0.0 && answer.independence.overstated.high > 0.0);
    iw_noise_set_free(set);
    remove_fleet(&fleet);
}

static void whatif_and_simulate_give_one_answer(void **state)
{
    const struct fleet fleet = make_fleet(true, false);
    iw_noise_set *set = open_set(&fleet, IW_ALIGN_WALL), *free_set = open_set(&fleet, IW_ALIGN_NONE);
    const struct answer answer = ask(set);

    (void)state;
    assert_true(fabs(answer.now.value - answer.slowdown) < 1e-12);
    assert_true(fabs(answer.apart.value - answer.independence.independent.value) < 1e-12);
    assert_false(iw_independence_is_asked(free_set));
    assert_null(iw_noise_set_window(free_set));
    iw_noise_set_align(set, IW_SYNC_START, 0, 1);
    assert_false(iw_independence_is_asked(set));
    iw_noise_set_free(free_set);
    iw_noise_set_free(set);
    remove_fleet(&fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detours_that_coincide_cost_once),
        cmocka_unit_test(nodes_without_noise_have_nothing_to_be_independent_of),
        cmocka_unit_test(independent_nodes_lose_nothing_by_the_assumption),
        cmocka_unit_test(whatif_and_simulate_give_one_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
