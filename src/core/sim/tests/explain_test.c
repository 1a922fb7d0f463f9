/* Explanations of several trials, and the detours that hurt most on their paths: they were really there.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/net/net.h"
#include "core/noise/stream.h"
#include "core/sim/plan.h"
#include "random_program.h"
#include "support/support.h"

enum { RANKS = 12, TRIALS = 7, CASES = 40 };

static iw_program *some_program(uint32_t ranks)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    pattern.ranks = ranks;
    pattern.bytes = 64;
    pattern.repeat = 5;
    pattern.compute_ps = 300 * IW_PS_PER_NS;
    assert_ok(iw_program_from_pattern(NULL, ranks > 1 ? "halo1d+allreduce" : "barrier", &pattern, &program));
    return program;
}

/* Detours only, of sources that overlap. */
static iw_noise *some_noise(iw_sync sync)
{
    iw_noise *noise = NULL;

    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, "poisson:3000kHz,exp:40ns"));
    assert_ok(iw_noise_add(NULL, noise, "periodic:2000kHz,60ns"));
    assert_ok(iw_noise_add(NULL, noise, "poisson:500kHz,pareto:1.5,50ns"));
    iw_noise_align(noise, sync, 0, 1);
    return noise;
}

static iw_sim_result *explained(const iw_program *program, const iw_noise *noise, iw_engine engine,
                                uint64_t trials, uint32_t threads)
{
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    opts.engine = engine;
    opts.trials = TRIALS;
    opts.first_trial = 20;
    opts.seed = 3;
    opts.threads = threads;
    opts.want_explain = true;
    opts.explain_trials = trials;
    return iwt_run(program, &net, noise, &opts);
}

static void assert_same_path(const iw_path *a, const iw_path *b)
{
    assert_int_equal(a->trial, b->trial);
    assert_int_equal(a->last_rank, b->last_rank);
    assert_int_equal(a->makespan_ps, b->makespan_ps);
    assert_memory_equal(&a->split, &b->split, sizeof a->split);
}

static void assert_path_adds_up(const iw_path *path)
{
    const iw_split *split = &path->split;
    iw_time sum = 0, noise = 0, hits = 0;

    for (size_t part = 0; part < IW_PARTS; part++) {
        sum += split->part_ps[part];
        noise += part >= IW_PART_NOISE ? split->part_ps[part] : 0;
    }
    for (size_t i = 0; i < IW_HITS; i++) {
        hits += split->worst[i].lost_ps;
        assert_true(i == 0 || split->worst[i].lost_ps <= split->worst[i - 1].lost_ps);
        assert_true(split->worst[i].at_ps + split->worst[i].lost_ps <= path->makespan_ps);
    }
    assert_int_equal(sum, path->makespan_ps);
    assert_true(hits <= noise);
    assert_true((hits > 0) == (noise > 0));
}

/* ---- which trials ---- */

static void as_many_trials_as_wanted_are_explained_from_the_first_on(void **state)
{
    iw_program *program = some_program(RANKS);
    iw_noise *noise = some_noise(IW_SYNC_NONE);

    (void)state;
    for (uint64_t wanted = 0; wanted < TRIALS + 3; wanted++) {
        const uint64_t expected = wanted == 0 || wanted > TRIALS ? TRIALS : wanted;
        iw_sim_result *result = explained(program, noise, IW_ENGINE_FLOW, wanted, 1);
        const iw_explain *explain = result->explain;
        const uint64_t median = explain->median.trial - 20;

        assert_int_equal(explain->path_count, expected);
        for (uint64_t i = 0; i < expected && expected > 1; i++) {
            assert_int_equal(explain->paths[i].trial, 20 + i);
            assert_int_equal(explain->paths[i].makespan_ps, result->makespan_ps[i]);
            assert_path_adds_up(&explain->paths[i]);
        }
        assert_int_equal(explain->median.makespan_ps, result->makespan_ps[median]);
        if (expected == 1) {
            assert_same_path(&explain->paths[0], &explain->median);
        } else if (median < expected) {
            assert_same_path(&explain->paths[median], &explain->median);
        }
        iw_sim_result_free(result);
    }
    iw_noise_free(noise);
    iw_program_free(program);
}

static void engines_and_threads_explain_alike(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct iwt_random random = {seed, 0};
        iw_program *program = some_program(2 + (uint32_t)iwt_below(&random, RANKS));
        iw_noise *noise = iwt_random_noise(&random);
        iw_sim_result *flow = explained(program, noise, IW_ENGINE_FLOW, 0, 1),
                      *threads = explained(program, noise, IW_ENGINE_FLOW, 0, 3),
                      *event = explained(program, noise, IW_ENGINE_EVENT, 0, 2);

        for (uint64_t i = 0; i < TRIALS; i++) {
            assert_path_adds_up(&flow->explain->paths[i]);
            assert_same_path(&flow->explain->paths[i], &threads->explain->paths[i]);
            assert_same_path(&flow->explain->paths[i], &event->explain->paths[i]);
        }
        assert_memory_equal(flow->explain->mean_ps, event->explain->mean_ps, sizeof flow->explain->mean_ps);
        iw_sim_result_free(flow);
        iw_sim_result_free(threads);
        iw_sim_result_free(event);
        iw_noise_free(noise);
        iw_program_free(program);
    }
}

/* Rounds in which all ranks do the same are explained side by side: with and without gaps and levels, of any
 * number of ranks. */
static void streaming_rounds_explain_as_events_do(void **state)
{
    static const char *const patterns[] = {"barrier:dissemination", "allreduce:recursive-doubling",
                                           "allgather:bruck", "barrier:dissemination+allreduce"};

    (void)state;
    for (uint64_t seed = 0; seed < 4 * CASES; seed++) {
        struct iwt_random random = {seed, 0};
        iw_pattern pattern = IW_PATTERN_INIT;
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        iw_net net = iwt_random_net(&random);
        iw_noise *noise = iwt_random_noise(&random);
        iw_sim_result *flow, *event;
        iw_program *program;

        pattern.ranks = 2 + (uint32_t)iwt_below(&random, 150);
        pattern.bytes = iwt_below(&random, 120);
        pattern.repeat = 1 + (uint32_t)iwt_below(&random, 3);
        pattern.compute_ps = (iw_time)iwt_below(&random, 3) * IW_PS_PER_NS;
        program = iwt_pattern_program(patterns[seed % 4], &pattern);
        iwt_quiet_unless_eager(program, &net);
        opts.trials = 2;
        opts.want_explain = true;
        opts.engine = IW_ENGINE_FLOW;
        flow = iwt_run(program, &net, noise, &opts);
        opts.engine = IW_ENGINE_EVENT;
        event = iwt_run(program, &net, noise, &opts);
        for (uint64_t i = 0; i < opts.trials; i++) {
            assert_same_path(&flow->explain->paths[i], &event->explain->paths[i]);
        }
        assert_memory_equal(flow->explain->mean_ps, event->explain->mean_ps, sizeof flow->explain->mean_ps);
        assert_true(flow->explain->mean_hops == event->explain->mean_hops);
        iw_sim_result_free(flow);
        iw_sim_result_free(event);
        iw_noise_free(noise);
        iw_program_free(program);
        iwi_net_release(&net);
    }
}

/* On a network that takes no time, messages come exactly when their receivers are there. */
static void ties_go_to_what_a_rank_did_itself(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_net net = iwt_example_net();
    iw_program *program;
    iw_sim_result *result;

    (void)state;
    net.L_ps = net.g_ps = 0;
    net.G = 0;
    pattern.ranks = 16;
    opts.engine = IW_ENGINE_FLOW;
    opts.want_explain = true;
    program = iwt_pattern_program("barrier:dissemination", &pattern);
    result = iwt_run(program, &net, NULL, &opts);
    assert_true(result->makespan_ps[0] > 0);
    assert_int_equal(result->explain->median.split.hops, 0);
    assert_int_equal(result->explain->median.split.part_ps[IW_PART_OVERHEAD], result->makespan_ps[0]);
    iw_sim_result_free(result);
    iw_program_free(program);
}

/* By count of messages (with one for each rank): 50 million are few seconds. */
static void large_runs_explain_fewer_trials(void **state)
{
    (void)state;
    assert_int_equal(iwi_explain_trials(9000, 1000, 100, 0), 100);
    assert_int_equal(iwi_explain_trials(9999000, 1000, 100, 0), 5);
    assert_int_equal(iwi_explain_trials(9999000, 1000, 3, 0), 3);
    assert_int_equal(iwi_explain_trials(UINT64_C(1) << 40, 1000, 100, 0), 1);
    assert_int_equal(iwi_explain_trials(UINT64_C(1) << 40, 1000, 100, 7), 7);
    assert_int_equal(iwi_explain_trials(9000, 1000, 100, 200), 100);
}

/* ---- hits ---- */

struct search {
    const iw_hit *hit;
    bool is_found;
};

/* What is lost to a detour is lost until its end. */
static bool compare_piece(void *arg, uint32_t source, iw_time start, iw_time end)
{
    struct search *search = arg;
    const iw_hit *hit = search->hit;

    search->is_found =
        source == hit->source && start <= hit->at_ps && end == hit->at_ps + hit->lost_ps && end > start;
    return !search->is_found;
}

static void hits_are_detours_that_were_there(void **state)
{
    static const iw_sync syncs[] = {IW_SYNC_NONE, IW_SYNC_START};
    unsigned compared = 0;

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        iw_program *program = some_program(RANKS);
        iw_noise *noise = some_noise(syncs[k]);
        iw_sim_result *result = explained(program, noise, IW_ENGINE_AUTO, 0, 1);

        for (uint64_t i = 0; i < TRIALS; i++) {
            const iw_path *path = &result->explain->paths[i];

            for (size_t h = 0; h < IW_HITS; h++) {
                struct search search = {&path->split.worst[h], false};
                const struct iwi_stream_id id = {3, path->trial, search.hit->rank};

                iwi_noise_walk(noise, id, 2 * path->makespan_ps, compare_piece, &search);
                assert_true(search.is_found);
                compared++;
            }
        }
        iw_sim_result_free(result);
        iw_noise_free(noise);
        iw_program_free(program);
    }
    assert_int_equal(compared, 2 * TRIALS * IW_HITS);
}

/* The longest pieces of a walk; ties: the first. */
struct longest {
    iw_hit hits[IW_HITS];
};

static bool keep_longest(void *arg, uint32_t source, iw_time start, iw_time end)
{
    iw_hit *hits = ((struct longest *)arg)->hits;
    size_t at = 0;

    while (at < IW_HITS && hits[at].lost_ps >= end - start) {
        at++;
    }
    if (at < IW_HITS) {
        memmove(&hits[at + 1], &hits[at], (IW_HITS - 1 - at) * sizeof *hits);
        hits[at] = (iw_hit){start, end - start, 0, source};
    }
    return true;
}

/* A rank alone never waits: all detours take time of it, and the longest are the worst. */
static void a_rank_alone_is_hurt_by_its_longest_detours(void **state)
{
    iw_program *program = some_program(1);
    iw_noise *noise = some_noise(IW_SYNC_NONE);
    iw_sim_result *result = explained(program, noise, IW_ENGINE_AUTO, 0, 1);

    (void)state;
    for (uint64_t i = 0; i < TRIALS; i++) {
        const iw_path *path = &result->explain->paths[i];
        struct longest longest = {.hits = {{.at_ps = 0}}};

        iwi_noise_walk(noise, (struct iwi_stream_id){3, path->trial, 0}, path->makespan_ps, keep_longest,
                       &longest);
        assert_true(longest.hits[IW_HITS - 1].lost_ps > 0);
        assert_memory_equal(longest.hits, path->split.worst, sizeof longest.hits);
    }
    iw_sim_result_free(result);
    iw_noise_free(noise);
    iw_program_free(program);
}

/* Noise of compute phases is put down where the phase begins: 5 phases of 300 ns, each 25 ns longer. */
static void noise_of_phases_hurts_at_their_start(void **state)
{
    iw_program *program = some_program(1);
    iw_noise *noise = NULL;
    iw_sim_result *result;

    (void)state;
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, "bernoulli:1,25ns"));
    result = explained(program, noise, IW_ENGINE_AUTO, 1, 1);
    for (size_t i = 0; i < IW_HITS; i++) {
        const iw_hit *hit = &result->explain->median.split.worst[i];

        assert_int_equal(hit->lost_ps, IWT_NS(25));
        assert_int_equal(hit->at_ps, (iw_time)i * IWT_NS(325));
    }
    iw_sim_result_free(result);
    iw_noise_free(noise);
    iw_program_free(program);
}

static void the_list_of_hits_is_the_same_in_any_order(void **state)
{
    const iw_hit hits[] = {{100, 5, 1, 0}, {50, 7, 2, 1}, {40, 7, 3, 0}, {40, 7, 2, 1},
                           {40, 7, 2, 0},  {10, 0, 0, 0}, {10, 9, 4, 2}};
    const iw_hit expected[] = {hits[6], hits[4], hits[3], hits[2]};
    const size_t count = sizeof hits / sizeof hits[0];

    (void)state;
    for (size_t first = 0; first < count; first++) {
        for (size_t step = 1; step < count; step++) {
            iw_time by_source[3] = {0};
            iw_hit worst[4] = {{0}};
            const struct iwi_lost lost = {by_source, worst, 4};

            for (size_t i = 0; i < count; i++) { /* 7 is prime: all of them */
                iwi_lost_add(&lost, hits[(first + i * step) % count]);
            }
            assert_memory_equal(worst, expected, sizeof expected);
            assert_int_equal(by_source[0], 5 + 7 + 7);
            assert_int_equal(by_source[1], 7 + 7);
            assert_int_equal(by_source[2], 9);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_trials_as_wanted_are_explained_from_the_first_on),
        cmocka_unit_test(engines_and_threads_explain_alike),
        cmocka_unit_test(streaming_rounds_explain_as_events_do),
        cmocka_unit_test(ties_go_to_what_a_rank_did_itself),
        cmocka_unit_test(large_runs_explain_fewer_trials),
        cmocka_unit_test(hits_are_detours_that_were_there),
        cmocka_unit_test(a_rank_alone_is_hurt_by_its_longest_detours),
        cmocka_unit_test(noise_of_phases_hurts_at_their_start),
        cmocka_unit_test(the_list_of_hits_is_the_same_in_any_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
