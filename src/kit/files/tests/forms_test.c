/* A program takes as long in every form: as pattern, as GOAL text and binary, as the trace of its run; under
 * noise, to the picosecond.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * forms_test [all]: some of the random programs, or all of them: most of the time goes into files.
 */
#include "support/support.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/files.h>
#include <idlewave/program.h>

#include "core/net/net.h"
#include "core/program/trace_program.h"
#include "core/sim/tests/random_program.h"
#include "core/sim/tests/trace_fixture.h"
#include "support/otf2_program.h"

/* Patterns and programs together are the 3,000 of which docs/explanation/semantics.md, 8, speaks. */
enum { PATTERNS = 2000, PROGRAMS = 1000, TRACES = 500 };

/* One of so many; of patterns in archives enough that each algorithm has its turn. */
enum { FEWER = 8, FEWER_ARCHIVES = 32 };

/* How many of so many random cases; `state` is that of the tests. */
static uint64_t cases_of(uint64_t all, uint64_t fewer, void **state)
{
    const bool *wants_all = *state;

    return *wants_all ? all : all / fewer;
}

struct forms {
    char folder[64], goal_path[96];
    iw_program *goal;
    iw_program *traced;
    iw_trace *trace;
};

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *place)
{
    (void)info;
    (void)flag;
    (void)place;
    return remove(path);
}

static void make_folder(struct forms *f)
{
    *f = (struct forms){.folder = "/tmp/iw-forms-XXXXXX"};
    assert_non_null(mkdtemp(f->folder));
    (void)snprintf(f->goal_path, sizeof f->goal_path, "%s/program.goal", f->folder);
}

static void write_goal(struct forms *f, const iw_program *program, bool is_binary)
{
    struct iwt_log l;

    iwt_log_init(&l);
    assert_ok(iw_program_write_goal(&l.log, program, f->goal_path, is_binary, 1));
    assert_ok(iw_program_from_goal(&l.log, f->goal_path, 1, &f->goal));
    assert_int_equal(l.warnings, 0);
    assert_true(f->goal->schedule->is_in_order);
}

/* `in_order`: the program's schedule. */
static void write_trace(struct forms *f, const struct iwi_schedule *in_order)
{
    const iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_log l;

    iwt_log_init(&l);
    iwt_otf2_program(f->folder, in_order);
    if (iw_trace_open(&l.log, f->folder, &f->trace) != IW_OK ||
        iw_program_from_trace(&l.log, f->trace, &opts, &f->traced) != IW_OK) {
        fail_msg("%s", l.text);
    }
}

static void release(struct forms *f)
{
    iw_program_free(f->goal);
    iw_program_free(f->traced);
    iw_trace_free(f->trace);
    assert_int_equal(nftw(f->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* A run of a program, and what it is to be like. */
struct run {
    const iw_net *net;
    const iw_noise *noise;
    iw_sim_opts opts;
    const char *what;
    uint64_t seed;
    iw_sim_result *as_made;
};

static void expect_same(const struct run *run, const iw_program *form, const char *name)
{
    iw_sim_result *result = iwt_run(form, run->net, run->noise, &run->opts);

    assert_int_equal(result->ranks, run->as_made->ranks);
    for (uint64_t i = 0; i < result->trials * result->ranks; i++) {
        if (result->end_ps[i] != run->as_made->end_ps[i]) {
            fail_msg("'%s' (seed %llu) on %u ranks, trial %llu rank %llu: %lld ps as it was made, %lld as %s",
                     run->what, (unsigned long long)run->seed, result->ranks,
                     (unsigned long long)(i / result->ranks), (unsigned long long)(i % result->ranks),
                     (long long)run->as_made->end_ps[i], (long long)result->end_ps[i], name);
        }
    }
    iw_sim_result_free(result);
}

/* Noise of the network, messages by rendezvous and NICs with queues in all combinations. */
static iw_net random_net(struct iwt_random *random)
{
    iw_net net = iwt_random_segmented_net(random);

    iwt_make_series(random, 90000, &net);
    if (iw_net_is_noisy(&net) && iwt_below(random, 2)) {
        net.S_bytes = iwt_below(random, 300);
    }
    if (net.nics.count > 0 && iwt_below(random, 3) == 0) {
        net.nics.sharing = IW_NIC_QUEUES;
    }
    return net;
}

static struct run random_run(struct iwt_random *random, const char *what, uint64_t seed, iw_net *net,
                             iw_noise **noise_p)
{
    struct run run = {.net = net, .opts = IW_SIM_OPTS_INIT, .what = what, .seed = seed};

    *net = random_net(random);
    *noise_p = iwt_random_clock_noise(random);
    iw_noise_share_phases(*noise_p, 1, IW_LOOP_STATIC); /* on several cores GOAL's reductions are phases */
    run.noise = *noise_p;
    run.opts.trials = 2;
    run.opts.threads = 1;
    run.opts.rendezvous = iwt_below(random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
    return run;
}

/* ---- patterns ---- */

static iw_pattern random_pattern(struct iwt_random *random)
{
    iw_pattern pattern = IW_PATTERN_INIT;

    pattern.ranks = 2 * (1 + (uint32_t)iwt_below(random, 9));
    pattern.ranks -= (uint32_t)iwt_below(random, 2);
    pattern.bytes = iwt_below(random, 600);
    pattern.segment_bytes = iwt_below(random, 2) * (1 + iwt_below(random, 100));
    pattern.root = (uint32_t)iwt_below(random, pattern.ranks);
    pattern.repeat = 1 + iwt_below(random, 3);
    pattern.compute_ps = IWT_NS(iwt_below(random, 2) * iwt_below(random, 50));
    pattern.reduce = (iw_fs_per_byte)(iwt_below(random, 2) * 1000000); /* a nanosecond a byte */
    pattern.is_periodic = iwt_below(random, 2) == 0;
    pattern.is_one_way = iwt_below(random, 2) == 0;
    pattern.is_split = iwt_below(random, 2) == 0;
    pattern.nodes =
        (iw_nodes){.ranks = 1 + (uint32_t)iwt_below(random, 6),
                   .placement = iwt_below(random, 2) ? IW_PLACEMENT_BLOCK : IW_PLACEMENT_ROUND_ROBIN};
    return pattern;
}

static size_t count_algorithms(void)
{
    const char *op, *algorithm, *summary;
    size_t count = 0;

    while (iw_algorithm_info(count, &op, &algorithm, &summary)) {
        count++;
    }
    return count;
}

/* "allreduce:ring", or two of them; the first is number `index`. */
static void name_operations(struct iwt_random *random, size_t index, size_t count, iw_pattern *pattern,
                            char name[128])
{
    const uint64_t operations = 1 + iwt_below(random, 2);
    const char *op, *algorithm, *summary;
    size_t used = 0;

    for (uint64_t k = 0; k < operations; k++) {
        assert_true(
            iw_algorithm_info((index + k * iwt_below(random, count)) % count, &op, &algorithm, &summary));
        if (strcmp(op, "pingpong") == 0) {
            pattern->ranks += pattern->ranks % 2;
        }
        used += (size_t)snprintf(name + used, 128 - used, "%s%s:%s", k > 0 ? "+" : "", op, algorithm);
    }
}

static void all_forms_of_a_pattern_take_as_long(void **state)
{
    const size_t algorithms = count_algorithms();

    assert_true(cases_of(PATTERNS, FEWER_ARCHIVES, state) >= algorithms);
    for (uint64_t seed = 0; seed < cases_of(PATTERNS, FEWER_ARCHIVES, state); seed++) {
        struct iwt_random random = {seed, 0};
        iw_pattern pattern = random_pattern(&random);
        struct iwi_schedule *in_order = NULL;
        iw_program *program = NULL;
        iw_noise *noise;
        iw_net net;
        char name[128];
        struct forms f;
        struct run run;

        name_operations(&random, seed % algorithms, algorithms, &pattern, name);
        assert_ok(iw_program_from_pattern(NULL, name, &pattern, &program));
        assert_ok(iwi_program_unroll(NULL, program, &in_order));
        run = random_run(&random, name, seed, &net, &noise);
        run.as_made = iwt_run(program, &net, noise, &run.opts);
        make_folder(&f);
        write_goal(&f, program, seed % 2 == 1);
        expect_same(&run, f.goal, "GOAL");
        write_trace(&f, in_order);
        expect_same(&run, f.traced, "trace");
        iw_sim_result_free(run.as_made);
        release(&f);
        iw_noise_free(noise);
        iwi_net_release(&net);
        iwi_schedule_free(in_order);
        iw_program_free(program);
    }
}

/* ---- programs of blocking and nonblocking operations ---- */

/* Lengths in whole nanoseconds, which is what the trace has. */
static void round_lengths(struct iwi_schedule *schedule)
{
    for (uint64_t node = 0; node < schedule->first_node[schedule->ranks]; node++) {
        if (schedule->nodes[node].kind == IWI_CALC) {
            schedule->nodes[node].amount -= schedule->nodes[node].amount % IW_PS_PER_NS;
        }
    }
}

static void all_forms_of_a_program_take_as_long(void **state)
{
    for (uint64_t seed = 0; seed < cases_of(PROGRAMS, FEWER_ARCHIVES, state); seed++) {
        struct iwt_random random = {seed, 0};
        struct iwt_builder builder;
        iw_program *program;
        iw_noise *noise;
        iw_net net;
        struct forms f;
        struct run run;

        iwt_random_program(&random, IWT_MIXED_SIZES, &builder);
        program = iwt_program(&builder);
        round_lengths(program->schedule);
        run = random_run(&random, "program", seed, &net, &noise);
        run.as_made = iwt_run(program, &net, noise, &run.opts);
        make_folder(&f);
        write_goal(&f, program, seed % 2 == 1);
        expect_same(&run, f.goal, "GOAL");
        run.opts.engine = IW_ENGINE_EVENT;
        expect_same(&run, f.goal, "GOAL on the event engine");
        write_trace(&f, program->schedule);
        expect_same(&run, f.traced, "trace");
        iw_sim_result_free(run.as_made);
        release(&f);
        iw_noise_free(noise);
        iwi_net_release(&net);
        iw_program_free(program);
        iwt_builder_release(&builder);
    }
}

/* ---- traces with collectives of all kinds ---- */

/* GOAL has no synchronous sends. */
static void make_sends_ordinary(struct iwi_schedule *schedule)
{
    for (uint64_t node = 0; node < schedule->first_node[schedule->ranks]; node++) {
        schedule->nodes[node].flags &= (uint8_t)~IWI_NODE_SYNCHRONOUS;
    }
}

static void a_trace_takes_as_long_as_its_goal(void **state)
{
    for (uint64_t seed = 0; seed < cases_of(TRACES, FEWER, state); seed++) {
        struct iwt_trace_fixture t;
        iw_noise *noise;
        iw_net net;
        struct forms f;
        struct run run;

        iwt_trace_set_up(&t, seed);
        make_sends_ordinary(t.program->trace->schedule);
        run = random_run(&t.random, "trace", seed, &net, &noise);
        run.as_made = iwt_run(t.program, &net, noise, &run.opts);
        make_folder(&f);
        write_goal(&f, t.program, seed % 2 == 1);
        expect_same(&run, f.goal, "GOAL");
        iw_sim_result_free(run.as_made);
        run.noise = NULL;
        run.as_made = iwt_run(t.program, &net, NULL, &run.opts);
        expect_same(&run, f.goal, "GOAL, without noise");
        iw_sim_result_free(run.as_made);
        release(&f);
        iw_noise_free(noise);
        iwi_net_release(&net);
        iwt_trace_tear_down(&t);
    }
}

/* ---- the ones of the issue ---- */

/* 64 ranks of `operations` under 100 Hz of 50 us. */
static void compare_on_64_ranks(const char *operations, iw_time compute_ps, uint64_t repeat)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    struct iwi_schedule *in_order = NULL;
    struct run run = {.net = iw_net_builtin("chic"), .opts = IW_SIM_OPTS_INIT, .what = operations};
    iw_program *program = NULL;
    iw_noise *noise = NULL;
    struct forms f;

    pattern.ranks = 64;
    pattern.bytes = 1000;
    pattern.compute_ps = compute_ps;
    pattern.repeat = repeat;
    assert_ok(iw_program_from_pattern(NULL, operations, &pattern, &program));
    assert_ok(iwi_program_unroll(NULL, program, &in_order));
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, "periodic:100Hz,50us"));
    run.noise = noise;
    run.opts.trials = 5;
    run.as_made = iwt_run(program, run.net, noise, &run.opts);
    assert_true(run.as_made->makespan_ps[0] > run.as_made->noiseless_ps);
    make_folder(&f);
    write_goal(&f, program, false);
    expect_same(&run, f.goal, "GOAL");
    write_trace(&f, in_order);
    expect_same(&run, f.traced, "trace");
    iw_program_free(f.goal);
    write_goal(&f, f.traced, true);
    expect_same(&run, f.goal, "GOAL of the trace");
    iw_sim_result_free(run.as_made);
    release(&f);
    iw_noise_free(noise);
    iwi_schedule_free(in_order);
    iw_program_free(program);
}

static void noise_meets_all_forms_of_a_large_program_alike(void **state)
{
    (void)state;
    compare_on_64_ranks("halo2d+allreduce", IW_PS_PER_MS, 10);
    compare_on_64_ranks("barrier", IW_PS_PER_MS, 4);
}

/* ---- compute phases ---- */

/* Without reductions, whose calcs GOAL does not tell from others. */
static void phases_of_a_pattern_are_those_of_its_goal(void **state)
{
    const size_t algorithms = count_algorithms();

    for (uint64_t seed = 0; seed < cases_of(PROGRAMS / 2, FEWER, state); seed++) {
        struct iwt_random random = {seed, 0};
        iw_pattern pattern = random_pattern(&random);
        struct run run = {.opts = IW_SIM_OPTS_INIT, .seed = seed};
        iw_program *program = NULL;
        iw_noise *noise;
        iw_net net;
        char name[128];
        struct forms f;

        name_operations(&random, seed % algorithms, algorithms, &pattern, name);
        pattern.compute_ps += 1;
        pattern.reduce = 0;
        assert_ok(iw_program_from_pattern(NULL, name, &pattern, &program));
        net = iwt_random_net(&random);
        noise = iwt_random_noise(&random);
        run.net = &net;
        run.noise = noise;
        run.what = name;
        run.as_made = iwt_run(program, &net, noise, &run.opts);
        make_folder(&f);
        write_goal(&f, program, seed % 2 == 1);
        expect_same(&run, f.goal, "GOAL");
        iw_sim_result_free(run.as_made);
        release(&f);
        iw_noise_free(noise);
        iw_program_free(program);
    }
}

int main(int argc, char **argv)
{
    bool wants_all = argc > 1 && strcmp(argv[1], "all") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(all_forms_of_a_pattern_take_as_long, &wants_all),
        cmocka_unit_test_prestate(all_forms_of_a_program_take_as_long, &wants_all),
        cmocka_unit_test_prestate(a_trace_takes_as_long_as_its_goal, &wants_all),
        cmocka_unit_test(noise_meets_all_forms_of_a_large_program_alike),
        cmocka_unit_test_prestate(phases_of_a_pattern_are_those_of_its_goal, &wants_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
