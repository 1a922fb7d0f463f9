/* What must hold for every program: engines agree to the picosecond, names don't matter.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/net/net.h"
#include "random_program.h"
#include "support/support.h"

enum { PROGRAMS = 3000 };

/* A random program with what a run of it needs. */
struct fixture {
    uint64_t seed;
    struct iwt_random random;
    iw_net net;
    iw_noise *noise;
    struct iwt_builder builder;
    iw_program *program;
    iw_node_speeds *speeds; /* of half of them */
    iw_sim_opts opts;
};

enum noise_choice { RANDOM_NOISE, OWN_NOISE /* empty; the test adds sources */ };

static void set_up(struct fixture *f, uint64_t seed, enum noise_choice choice)
{
    *f = (struct fixture){.seed = seed, .random = {seed, 0}, .opts = IW_SIM_OPTS_INIT};
    f->net = iwt_random_net(&f->random);
    if (choice == RANDOM_NOISE) {
        f->noise = iwt_random_noise(&f->random);
    } else {
        assert_ok(iw_noise_new(NULL, &f->noise));
        f->net.noise.point_count = 0;
    }
    iwt_make_series(&f->random, 90000, &f->net);
    iwt_random_program(&f->random, IWT_MIXED_SIZES, &f->builder);
    f->program = iwt_program(&f->builder);
    if (f->net.inner_count > 0 && seed % 3 == 0) {
        iwt_place_randomly(&f->random, iw_program_ranks(f->program), &f->net);
    }
    if (choice == RANDOM_NOISE && seed % 2) {
        assert_ok(iw_node_speeds_new(NULL, seed % 4 == 1 ? "normal:10%" : "slow:1,1.37",
                                     1 + (uint32_t)iwt_below(&f->random, 3), &f->speeds));
        f->opts.node_speeds = f->speeds;
        f->opts.replaced_nodes = (uint32_t)iwt_below(&f->random, 2);
    }
}

static void tear_down(struct fixture *f)
{
    iw_program_free(f->program);
    iw_node_speeds_free(f->speeds);
    iw_noise_free(f->noise);
    iwi_net_release(&f->net);
    iwt_builder_release(&f->builder);
}

static iw_sim_result *run(const struct fixture *f)
{
    return iwt_run(f->program, &f->net, f->noise, &f->opts);
}

static void assert_same_ends(const struct fixture *f, const iw_sim_result *a, const iw_sim_result *b,
                             const char *what)
{
    assert_int_equal(a->trials, b->trials);
    for (uint64_t i = 0; i < a->trials * a->ranks; i++) {
        if (a->end_ps[i] != b->end_ps[i]) {
            fail_msg("%s, program %llu, trial %llu rank %llu: %lld ps and %lld ps", what,
                     (unsigned long long)f->seed, (unsigned long long)(i / a->ranks),
                     (unsigned long long)(i % a->ranks), (long long)a->end_ps[i], (long long)b->end_ps[i]);
        }
    }
}

static void event_and_flow_agree_on_random_programs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
        struct fixture f;
        iw_sim_result *event, *flow;

        set_up(&f, seed, RANDOM_NOISE);
        f.opts.trials = 2;
        f.opts.rendezvous = iwt_below(&f.random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
        f.opts.engine = IW_ENGINE_EVENT;
        event = run(&f);
        f.opts.engine = IW_ENGINE_FLOW;
        flow = run(&f);
        assert_same_ends(&f, event, flow, "event and flow");
        assert_int_equal(event->noiseless_ps, flow->noiseless_ps);
        iw_sim_result_free(event);
        iw_sim_result_free(flow);
        tear_down(&f);
    }
}

static void lanes_and_threads_change_nothing(void **state)
{
    static const uint32_t shapes[][2] = {{2, 1}, {8, 1}, {1, 2}, {4, 2}, {8, 2}};

    (void)state;
    for (uint64_t seed = 0; seed < PROGRAMS / 10; seed++) {
        struct fixture f;
        iw_sim_result *one;

        set_up(&f, seed, RANDOM_NOISE);
        f.opts.trials = 11;
        f.opts.lanes = f.opts.threads = 1;
        one = run(&f);
        for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
            iw_sim_result *other;

            f.opts.lanes = shapes[k][0];
            f.opts.threads = shapes[k][1];
            other = run(&f);
            assert_same_ends(&f, one, other, "lanes and threads");
            iw_sim_result_free(other);
        }
        iw_sim_result_free(one);
        tear_down(&f);
    }
}

static void detours_of_no_length_are_no_noise(void **state)
{
    static const iw_time start[] = {5, 1000, 70000};
    static const iw_time duration[] = {0, 0, 0};

    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct fixture f;
        iw_sim_result *without, *with;

        set_up(&f, seed, OWN_NOISE);
        assert_ok(iw_noise_add_trace(NULL, f.noise, "empty", start, duration, 3, 100000));
        without = iwt_run(f.program, &f.net, NULL, &f.opts);
        with = run(&f);
        assert_same_ends(&f, without, with, "no noise and empty noise");
        iw_sim_result_free(without);
        iw_sim_result_free(with);
        tear_down(&f);
    }
}

/* A random order of the ranks. */
static void shuffle_names(struct iwt_random *random, uint32_t ranks, uint32_t *name)
{
    for (uint32_t r = 0; r < ranks; r++) {
        const uint32_t other = (uint32_t)iwt_below(random, r + 1);

        name[r] = name[other];
        name[other] = r;
    }
}

/* Noise that is the same on all ranks, so that only names differ. */
static void renaming_ranks_renames_the_results(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROGRAMS / 10; seed++) {
        struct fixture f;
        uint32_t name[IWT_MOST_RANKS];
        struct iwt_builder renamed;
        iw_program *renamed_program;
        iw_sim_result *result, *renamed_result;

        set_up(&f, seed, OWN_NOISE);
        f.net.inner_count = 0; /* levels tell ranks apart */
        f.net.nics.count = 0;
        shuffle_names(&f.random, f.builder.ranks, name);
        iwt_rename(&f.builder, name, &renamed);
        renamed_program = iwt_program(&renamed);
        assert_ok(iw_noise_add(NULL, f.noise, "poisson:10000kHz,exp:30ns"));
        iw_noise_align(f.noise, IW_SYNC_START, 0, 1);
        f.opts.engine = seed % 2 ? IW_ENGINE_EVENT : IW_ENGINE_FLOW;
        result = run(&f);
        renamed_result = iwt_run(renamed_program, &f.net, f.noise, &f.opts);
        for (uint32_t r = 0; r < f.builder.ranks; r++) {
            assert_int_equal(result->end_ps[r], renamed_result->end_ps[name[r]]);
        }
        iw_sim_result_free(result);
        iw_sim_result_free(renamed_result);
        iw_program_free(renamed_program);
        iwt_builder_release(&renamed);
        tear_down(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_and_flow_agree_on_random_programs),
        cmocka_unit_test(lanes_and_threads_change_nothing),
        cmocka_unit_test(detours_of_no_length_are_no_noise),
        cmocka_unit_test(renaming_ranks_renames_the_results),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
