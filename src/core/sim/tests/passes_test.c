/* Graphs by passes over their ranks take as long as by the event engine, to the picosecond; what passes
 * cannot run they leave.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/net/net.h"
#include "core/sim/graph/graph.h"
#include "dag.h"
#include "random_program.h"
#include "support/made_graph.h"
#include "support/support.h"

/* Compares all ends; says whether passes ran the job. */
static bool passes_agree(struct iwi_job job, const struct iwi_passes *passes, uint64_t seed)
{
    const uint32_t ranks = job.schedule->ranks;
    iw_time *by_event = calloc(ranks, sizeof *by_event), *by_passes = calloc(ranks, sizeof *by_passes);
    bool is_done = false;

    assert_true(by_event != NULL && by_passes != NULL);
    job.lanes = 1;
    job.has_delays = true;
    job.end_ps = by_event;
    assert_ok(iwi_event_run(NULL, &job));
    job.end_ps = by_passes;
    assert_ok(iwi_passes_run(NULL, &job, passes, &is_done));
    for (uint32_t rank = 0; is_done && rank < ranks; rank++) {
        if (by_event[rank] != by_passes[rank]) {
            fail_msg("graph %llu rank %u: %lld ps by event, %lld ps by passes", (unsigned long long)seed,
                     rank, (long long)by_event[rank], (long long)by_passes[rank]);
        }
    }
    free(by_event);
    free(by_passes);
    return is_done;
}

/* Each message has its own tag; half of the graphs have times that often coincide. */
static struct iwt_graph_kind random_kind(struct iwt_random *random)
{
    const bool is_coarse = iwt_below(random, 2) == 0;

    return (struct iwt_graph_kind){.ranks = 1 + (uint32_t)iwt_below(random, 12),
                                   .cpus = 1,
                                   .nics = 1 + (uint32_t)iwt_below(random, 2),
                                   .operations = 10 + iwt_below(random, 200),
                                   .calc_percent = 10 + (uint32_t)iwt_below(random, 40),
                                   .tags = 1,
                                   .most_bytes = is_coarse ? 3 : 300,
                                   .has_exact_sizes = true,
                                   .most_ps = is_coarse ? IWT_NS(3) : IWT_NS(60),
                                   .grain_ps = is_coarse ? IWT_NS(1) : 1,
                                   .dependences = 1 + (uint32_t)iwt_below(random, 4),
                                   .is_shuffled = iwt_below(random, 3) == 0};
}

static void passes_and_events_agree_on_random_graphs(void **state)
{
    const uint64_t count = 4000 / IWT_FEWER;
    uint64_t done = 0;

    (void)state;
    for (uint64_t seed = 0; seed < count; seed++) {
        struct iwt_random random = {seed, 0};
        const struct iwt_graph_kind kind = random_kind(&random);
        iw_net net = iwt_random_segmented_net(&random);
        iw_noise *noise = iwt_below(&random, 3) ? iwt_random_noise(&random) : NULL;
        iw_program *program = iwt_made_graph(seed, &kind);
        struct iwi_job job = {.net = &net, .noise = noise, .seed = seed};
        struct iwi_passes *passes = NULL;
        struct iwi_graph_refusal refusal;

        net.S_bytes = 1000;
        net.nics.sharing = IW_NIC_MAX_RATE;
        job.program = program;
        job.schedule = program->schedule;
        assert_ok(iwi_levels_init(NULL, &net, program->ranks, &job.levels));
        assert_ok(iwi_passes_new(NULL, program->schedule, &net, &refusal, &passes));
        assert_non_null(passes);
        done += passes_agree(job, passes, seed);
        iwi_passes_free(passes);
        iwi_levels_release(&job.levels);
        iw_program_free(program);
        iw_noise_free(noise);
        iwi_net_release(&net);
    }
    print_message("%llu of %llu graphs by passes\n", (unsigned long long)done, (unsigned long long)count);
    assert_true(done > count - count / 10);
}

/* As Schedgen writes it: every send requires the receive of the round before, all receives are posted. */
static struct iwi_schedule *dissemination(uint32_t ranks, uint32_t rounds)
{
    const uint64_t nodes = (uint64_t)ranks * 2 * rounds, deps = (uint64_t)ranks * (rounds - 1);
    struct iwi_schedule *schedule = NULL;
    uint64_t node = 0, dep = 0;

    assert_ok(iwi_schedule_new(NULL, ranks, nodes, deps, &schedule));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        for (uint32_t k = 0; k < rounds; k++) {
            const uint32_t distance = UINT32_C(1) << k;

            schedule->nodes[node] =
                (struct iwi_node){.kind = IWI_SEND, .peer = (rank + distance) % ranks, .amount = 1};
            schedule->first_dep[node++] = dep;
            if (k > 0) {
                schedule->deps[dep++].node = 2 * k - 1;
            }
            schedule->nodes[node] =
                (struct iwi_node){.kind = IWI_RECV, .peer = (rank + ranks - distance) % ranks, .amount = 1};
            schedule->first_dep[node++] = dep;
        }
        schedule->first_node[rank + 1] = node;
    }
    schedule->first_dep[nodes] = dep;
    schedule->cpu_count = schedule->nic_count = 1;
    return schedule;
}

/* Ranks near 0 get messages of the last ones too late in the first pass, with other arrivals under noise. */
static void ranks_that_were_wrong_run_again(void **state)
{
    iw_program *program = NULL;
    iw_noise *noise = NULL;
    struct iwi_passes *passes = NULL;
    struct iwi_graph_refusal refusal;
    struct iwi_job job = {.net = iw_net_builtin("chic")};

    (void)state;
    assert_ok(iwi_program_from_schedule(NULL, dissemination(200, 8), &program));
    job.program = program;
    job.schedule = program->schedule;
    assert_ok(iwi_passes_new(NULL, program->schedule, job.net, &refusal, &passes));
    assert_non_null(passes);
    assert_true(passes_agree(job, passes, 0));
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, "periodic:1kHz,50us"));
    job.noise = noise;
    for (job.seed = 0; job.seed < 20; job.seed++) {
        assert_true(passes_agree(job, passes, job.seed));
    }
    iw_noise_free(noise);
    iwi_passes_free(passes);
    iw_program_free(program);
}

/* Rank 0 sends `count` messages with one tag, rank 1 receives as many of so many bytes. */
static bool has_passes(uint32_t count, uint64_t recv_bytes)
{
    const iw_net net = iwt_example_net();
    struct iwt_dag d = {.ranks = 0};
    struct iwi_passes *passes = NULL;
    struct iwi_graph_refusal refusal;
    bool has;

    iwt_dag_rank(&d);
    for (uint32_t i = 0; i < count; i++) {
        iwt_dag_send(&d, 1, 8, 7);
    }
    iwt_dag_rank(&d);
    for (uint32_t i = 0; i < count; i++) {
        iwt_dag_recv(&d, 0, recv_bytes, 7);
    }
    iwt_dag_end(&d);
    assert_ok(iwi_passes_new(NULL, &d.schedule, &net, &refusal, &passes));
    has = passes != NULL;
    iwi_passes_free(passes);
    return has;
}

static void every_message_needs_a_receive_of_its_own(void **state)
{
    (void)state;
    assert_true(has_passes(1, 8));
    assert_false(has_passes(1, 9)); /* another size */
    assert_false(has_passes(2, 8)); /* which is first is a matter of time */
}

/* Passes give up, and windows do the same as the event engine. */
static void expect_by_windows(const struct iwi_schedule *schedule, struct iwi_job job)
{
    struct iwi_graph_refusal refusal;
    struct iwi_graph *graph = NULL;
    struct iwt_log by_event, by_flow;
    iw_time end[IWT_MOST_DAG], flow_end[IWT_MOST_DAG];
    iw_status status;
    bool is_done = true;

    iwt_log_init(&by_event);
    iwt_log_init(&by_flow);
    assert_ok(iwi_graph_new(NULL, schedule, job.net, &refusal, &graph));
    assert_non_null(graph);
    job.schedule = schedule;
    job.lanes = 1;
    job.end_ps = flow_end;
    assert_ok(iwi_passes_run(NULL, &job, graph->passes, &is_done));
    assert_false(is_done);
    status = iwi_graph_run(&by_flow.log, &job, graph);
    job.end_ps = end;
    assert_status(iwi_event_run(&by_event.log, &job), status);
    assert_string_equal(by_flow.text, by_event.text);
    for (uint32_t rank = 0; status == IW_OK && rank < schedule->ranks; rank++) {
        assert_int_equal(flow_end[rank], end[rank]);
    }
    iwi_graph_free(graph);
}

static void a_deadlock_is_left_to_windows(void **state)
{
    const iw_net net = iwt_example_net();
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    for (uint32_t rank = 0; rank < 2; rank++) {
        iwt_dag_rank(&d);
        iwt_dag_recv(&d, 1 - rank, 8, 0);
        iwt_dag_send(&d, 1 - rank, 8, 0);
        iwt_dag_requires(&d, 0);
    }
    iwt_dag_end(&d);
    expect_by_windows(&d.schedule, (struct iwi_job){.program = &d.program, .net = &net});
}

/* When a clock lets the send of a rank go, the CPU is at what follows the message of the next rank. So each
 * send is late by a little more than that one, which passes learn one rank at a time. */
static void too_many_passes_are_left_to_windows(void **state)
{
    enum { CLOCK = 40 };
    const iw_net net = iwt_example_net();
    struct iwt_dag d = {.ranks = 0};

    (void)state;
    for (uint32_t rank = 0; rank < CLOCK; rank++) {
        iwt_dag_rank(&d);
        iwt_dag_recv(&d, CLOCK, 1, 1);
        if (rank > 0) {
            iwt_dag_send(&d, rank - 1, 1, 0);
            iwt_dag_requires(&d, 0);
        }
        if (rank + 1 < CLOCK) {
            iwt_dag_recv(&d, rank + 1, 1, 0);
            iwt_dag_calc(&d, IWT_NS(10010));
            iwt_dag_requires(&d, rank > 0 ? 2 : 1);
        }
    }
    iwt_dag_rank(&d);
    for (uint32_t k = 0; k < CLOCK; k++) {
        iwt_dag_calc(&d, IWT_NS(10000));
        if (k > 0) {
            iwt_dag_requires(&d, 2 * k - 1);
        }
        iwt_dag_send(&d, CLOCK - 1 - k, 1, 1);
        iwt_dag_requires(&d, 2 * k);
    }
    iwt_dag_end(&d);
    expect_by_windows(&d.schedule, (struct iwi_job){.program = &d.program, .net = &net});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_and_events_agree_on_random_graphs),
        cmocka_unit_test(ranks_that_were_wrong_run_again),
        cmocka_unit_test(every_message_needs_a_receive_of_its_own),
        cmocka_unit_test(a_deadlock_is_left_to_windows),
        cmocka_unit_test(too_many_passes_are_left_to_windows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
