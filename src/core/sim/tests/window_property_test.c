/* Random graphs take as long by windows of time as by the event engine, to the picosecond, for any number of
 * threads, and so they do in the flow engine; what these cannot run is left to it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/net/net.h"
#include "core/sim/plan.h"
#include "random_program.h"
#include "support/made_graph.h"
#include "support/support.h"

struct window_share {
    uint64_t all, by_windows, by_flow, deadlocks, wild, serial;
};

static iw_net coarse_net(struct iwt_random *random)
{
    iw_net net = iwt_example_net();

    net.o_send_ps = IWT_NS(iwt_below(random, 3));
    net.o_recv_ps = IWT_NS(iwt_below(random, 3));
    net.L_ps = IWT_NS(iwt_below(random, 4));
    net.g_ps = IWT_NS(iwt_below(random, 3));
    net.G = (iw_fs_per_byte)iwt_below(random, 2) * 1000000;
    return net;
}

/* Half of them with times that often coincide. */
static struct iwt_graph_kind random_kind(struct iwt_random *random)
{
    const bool is_coarse = iwt_below(random, 2) == 0;

    return (struct iwt_graph_kind){.ranks = 1 + (uint32_t)iwt_below(random, 8),
                                   .cpus = iwt_below(random, 3) ? 1 + (uint32_t)iwt_below(random, 4) : 1,
                                   .nics = 1 + (uint32_t)iwt_below(random, 2),
                                   .operations = 10 + iwt_below(random, 120),
                                   .calc_percent = 10 + (uint32_t)iwt_below(random, 40),
                                   .wild_percent = iwt_below(random, 2) ? (uint32_t)iwt_below(random, 40) : 0,
                                   .tags = iwt_below(random, 2) ? 1 : 1 + (uint32_t)iwt_below(random, 20),
                                   .most_bytes = is_coarse ? 3 : 300,
                                   .has_exact_sizes = iwt_below(random, 3) > 0,
                                   .most_ps = is_coarse ? IWT_NS(3) : IWT_NS(60),
                                   .grain_ps = is_coarse ? IWT_NS(1) : 1,
                                   .dependences = 1 + (uint32_t)iwt_below(random, 4),
                                   .is_shuffled = iwt_below(random, 3) == 0,
                                   .can_deadlock = iwt_below(random, 2) == 0};
}

struct window_outcome {
    iw_status status;
    iw_sim_result *result; /* NULL unless IW_OK */
    struct iwt_log log;
};

static void run(const iw_program *program, const iw_net *net, const iw_noise *noise, const iw_sim_opts *opts,
                struct window_outcome *outcome)
{
    outcome->result = NULL;
    iwt_log_init(&outcome->log);
    outcome->status = iw_simulate(&outcome->log.log, program, net, noise, opts, &outcome->result);
}

static void expect_same(const struct window_outcome *event, const struct window_outcome *other, uint64_t seed,
                        uint32_t threads)
{
    /* deadlocks, and messages that nobody receives */
    if (event->status != other->status || strcmp(event->log.text, other->log.text) != 0) {
        fail_msg("graph %llu by event: %s\n%s\nby windows, %u threads: %s\n%s", (unsigned long long)seed,
                 iw_status_name(event->status), event->log.text, threads, iw_status_name(other->status),
                 other->log.text);
    }
    for (uint64_t i = 0; event->result != NULL && i < event->result->trials * event->result->ranks; i++) {
        if (event->result->end_ps[i] != other->result->end_ps[i]) {
            fail_msg("graph %llu, trial %llu rank %llu: %lld ps by event, %lld ps by windows, %u threads",
                     (unsigned long long)seed, (unsigned long long)(i / event->result->ranks),
                     (unsigned long long)(i % event->result->ranks), (long long)event->result->end_ps[i],
                     (long long)other->result->end_ps[i], threads);
        }
    }
    if (event->result != NULL) {
        assert_int_equal(event->result->noiseless_ps, other->result->noiseless_ps);
    }
}

static iw_sim_opts random_opts(struct iwt_random *random)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    opts.trials = 2;
    opts.threads = 1;
    opts.want_end_times = true;
    opts.rendezvous = iwt_below(random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
    return opts;
}

/* Some message is learnt of at once: there are no windows, and no threads. */
static bool is_serial(const iw_program *program, const iw_net *net, const iw_sim_opts *opts)
{
    struct iwi_window_plan *plan = NULL;
    bool is;

    assert_ok(iwi_window_plan_new(NULL, program->schedule, net, opts->rendezvous, &plan));
    is = plan->immediate != NULL;
    iwi_window_plan_free(plan);
    return is;
}

static void compare(uint64_t seed, uint32_t threads, struct window_share *share)
{
    struct iwt_random random = {seed, 0};
    const struct iwt_graph_kind kind = random_kind(&random);
    iw_net net = kind.most_bytes < 10 ? coarse_net(&random) : iwt_random_segmented_net(&random);
    iw_noise *noise = iwt_below(&random, 3) ? iwt_random_noise(&random) : NULL;
    iw_program *program = iwt_made_graph(seed, &kind);
    iw_sim_opts opts = random_opts(&random);
    struct window_outcome event, other;
    bool has_windows;
    uint64_t node;

    net.S_bytes = iwt_below(&random, 3) ? 1000 : kind.most_bytes / 2; /* some send by rendezvous */
    iwt_make_series(&random, 90000, &net);
    iwt_quiet_unless_eager(program, &net);
    net.nics.sharing = IW_NIC_MAX_RATE;
    opts.engine = IW_ENGINE_EVENT;
    run(program, &net, noise, &opts, &event);
    opts.engine =
        iwi_window_refusal(program->schedule, &net, &node) == NULL ? IW_ENGINE_WINDOW : IW_ENGINE_AUTO;
    opts.threads = threads;
    has_windows = opts.engine == IW_ENGINE_WINDOW && !is_serial(program, &net, &opts);
    opts.parallel = threads > 1 && has_windows ? IW_PARALLEL_RANKS : IW_PARALLEL_AUTO;
    run(program, &net, noise, &opts, &other);
    expect_same(&event, &other, seed, threads);
    share->all++;
    share->deadlocks += event.status == IW_ERR_DEADLOCK;
    share->by_windows += opts.engine == IW_ENGINE_WINDOW;
    share->serial += opts.engine == IW_ENGINE_WINDOW && !has_windows;
    share->wild += opts.engine == IW_ENGINE_WINDOW && kind.wild_percent > 0;
    iw_sim_result_free(other.result);
    opts.engine = IW_ENGINE_AUTO; /* flow, where that can run it */
    opts.parallel = IW_PARALLEL_TRIALS;
    run(program, &net, noise, &opts, &other);
    expect_same(&event, &other, seed, threads);
    share->by_flow += other.result != NULL && other.result->engine == IW_ENGINE_FLOW;
    iw_sim_result_free(event.result);
    iw_sim_result_free(other.result);
    iw_program_free(program);
    iw_noise_free(noise);
    iwi_net_release(&net);
}

static void compare_graphs(uint64_t first, uint64_t count, uint32_t threads)
{
    struct window_share share = {0, 0, 0, 0, 0, 0};

    for (uint64_t seed = first; seed < first + count; seed++) {
        compare(seed, threads, &share);
    }
    print_message("%llu graphs, %llu by the window engine, %llu of them with wildcards, %llu without "
                  "windows, %llu by flow, %llu deadlocks\n",
                  (unsigned long long)share.all, (unsigned long long)share.by_windows,
                  (unsigned long long)share.wild, (unsigned long long)share.serial,
                  (unsigned long long)share.by_flow, (unsigned long long)share.deadlocks);
    assert_true(share.by_windows > share.all / 3);
    assert_true(share.wild > share.all / 10);
    assert_true(share.serial > share.all / 20);
    assert_true(share.by_flow > share.all / 50);
    assert_true(share.deadlocks > 0 && share.deadlocks < share.all * 2 / 3);
}

static void windows_and_events_agree_on_random_graphs(void **state)
{
    (void)state;
    compare_graphs(0, 4000 / IWT_FEWER, 1);
}

/* More threads than CPUs wait for each other most of the time. */
static void compare_by_threads(uint64_t count)
{
    for (uint32_t threads = 2; threads <= 4; threads++) {
        compare_graphs(threads * UINT64_C(1000000), count, threads);
    }
}

static void any_number_of_threads_gives_the_same_ends(void **state)
{
    (void)state;
    compare_by_threads(IWT_FEWER > 1 ? 50 : 100);
}

/* With noise, each of this graph's trials ends in another deadlock: the first is told, whichever thread was
 * quicker. */
static void of_trials_that_fail_the_first_is_told(void **state)
{
    struct window_share share = {0, 0, 0, 0, 0, 0};

    (void)state;
    for (uint32_t again = 0; again < 30; again++) {
        compare(2000036, 2, &share);
    }
    assert_int_equal(share.deadlocks, share.all);
}

static void all_of_10000_graphs_agree(void **state)
{
    (void)state;
    compare_graphs(10000000, 10000, 1);
    compare_by_threads(400);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest long_tests[] = {
        cmocka_unit_test(all_of_10000_graphs_agree),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_and_events_agree_on_random_graphs),
        cmocka_unit_test(any_number_of_threads_gives_the_same_ends),
        cmocka_unit_test(of_trials_that_fail_the_first_is_told),
    };

    return argc > 1 && strcmp(argv[1], "all") == 0 ? cmocka_run_group_tests(long_tests, NULL, NULL)
                                                   : cmocka_run_group_tests(tests, NULL, NULL);
}
