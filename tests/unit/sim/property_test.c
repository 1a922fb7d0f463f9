/* What must hold for every program: engines agree to the picosecond, noise only delays, names don't matter.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "support/support.h"
#include "unit/sim/random_program.h"

enum { PROGRAMS = 3000 };

static void assert_same_ends(const iw_sim_result *a, const iw_sim_result *b, uint64_t seed, const char *what)
{
    assert_int_equal(a->trials, b->trials);
    for (uint64_t i = 0; i < a->trials * a->ranks; i++) {
        if (a->end_ps[i] != b->end_ps[i]) {
            fail_msg("%s, program %llu, trial %llu rank %llu: %lld ps and %lld ps", what,
                     (unsigned long long)seed, (unsigned long long)(i / a->ranks),
                     (unsigned long long)(i % a->ranks), (long long)a->end_ps[i], (long long)b->end_ps[i]);
        }
    }
}

static void event_and_flow_agree_on_random_programs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
        struct iwt_random random = {seed, 0};
        struct iwt_builder b;
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        const iw_net net = iwt_random_net(&random);
        iw_noise *noise = iwt_random_noise(&random);
        iw_program *program;
        iw_sim_result *event, *flow;

        iwt_random_program(&random, IWT_MIXED_SIZES, &b);
        program = iwt_program(&b);
        opts.trials = 2;
        opts.rendezvous = iwt_below(&random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
        opts.engine = IW_ENGINE_EVENT;
        event = iwt_run(program, &net, noise, &opts);
        opts.engine = IW_ENGINE_FLOW;
        flow = iwt_run(program, &net, noise, &opts);
        assert_same_ends(event, flow, seed, "event and flow");
        assert_int_equal(event->noiseless_ps, flow->noiseless_ps);
        iw_sim_result_free(event);
        iw_sim_result_free(flow);
        iw_program_free(program);
        iw_noise_free(noise);
        iwt_builder_release(&b);
    }
}

static void lanes_and_threads_change_nothing(void **state)
{
    static const uint32_t shapes[][2] = {{2, 1}, {8, 1}, {1, 2}, {4, 2}, {8, 2}};

    (void)state;
    for (uint64_t seed = 0; seed < PROGRAMS / 10; seed++) {
        struct iwt_random random = {seed, 0};
        struct iwt_builder b;
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        const iw_net net = iwt_random_net(&random);
        iw_noise *noise = iwt_random_noise(&random);
        iw_program *program;
        iw_sim_result *one;

        iwt_random_program(&random, IWT_MIXED_SIZES, &b);
        program = iwt_program(&b);
        opts.trials = 11;
        opts.lanes = opts.threads = 1;
        one = iwt_run(program, &net, noise, &opts);
        for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
            iw_sim_result *other;

            opts.lanes = shapes[k][0];
            opts.threads = shapes[k][1];
            other = iwt_run(program, &net, noise, &opts);
            assert_same_ends(one, other, seed, "lanes and threads");
            iw_sim_result_free(other);
        }
        iw_sim_result_free(one);
        iw_program_free(program);
        iw_noise_free(noise);
        iwt_builder_release(&b);
    }
}

/* A second source on top of the first. */
static void more_noise_never_ends_earlier(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROGRAMS / 3; seed++) {
        struct iwt_random random = {seed, 0};
        struct iwt_builder b;
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        const iw_net net = iwt_random_net(&random);
        iw_noise *some = NULL;
        iw_noise *more = NULL;
        iw_program *program;
        iw_sim_result *less_noisy, *noisier;

        iwt_random_program(&random, IWT_ONE_SIZE, &b);
        program = iwt_program(&b);
        assert_ok(iw_noise_new(NULL, &some));
        assert_ok(iw_noise_new(NULL, &more));
        assert_ok(iw_noise_add(NULL, some, "periodic:10000kHz,20ns"));
        assert_ok(iw_noise_add(NULL, more, "periodic:10000kHz,20ns"));
        assert_ok(iw_noise_add(NULL, more, seed % 2 ? "poisson:9000kHz,exp:30ns" : "phase-exp:30%"));
        less_noisy = iwt_run(program, &net, some, &opts);
        noisier = iwt_run(program, &net, more, &opts);
        for (uint32_t rank = 0; rank < less_noisy->ranks; rank++) {
            assert_true(noisier->end_ps[rank] >= less_noisy->end_ps[rank]);
        }
        assert_true(less_noisy->makespan_ps[0] >= less_noisy->noiseless_ps);
        iw_sim_result_free(less_noisy);
        iw_sim_result_free(noisier);
        iw_program_free(program);
        iw_noise_free(some);
        iw_noise_free(more);
        iwt_builder_release(&b);
    }
}

static void detours_of_no_length_are_no_noise(void **state)
{
    static const iw_time start[] = {5, 1000, 70000};
    static const iw_time duration[] = {0, 0, 0};

    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct iwt_random random = {seed, 0};
        struct iwt_builder b;
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        const iw_net net = iwt_random_net(&random);
        iw_noise *empty = NULL;
        iw_program *program;
        iw_sim_result *without, *with;

        iwt_random_program(&random, IWT_MIXED_SIZES, &b);
        program = iwt_program(&b);
        assert_ok(iw_noise_new(NULL, &empty));
        assert_ok(iw_noise_add_trace(NULL, empty, "empty", start, duration, 3, 100000));
        without = iwt_run(program, &net, NULL, &opts);
        with = iwt_run(program, &net, empty, &opts);
        assert_same_ends(without, with, seed, "no noise and empty noise");
        iw_sim_result_free(without);
        iw_sim_result_free(with);
        iw_program_free(program);
        iw_noise_free(empty);
        iwt_builder_release(&b);
    }
}

/* Noise that is the same on all ranks, so that only names differ. */
static void renaming_ranks_renames_the_results(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROGRAMS / 10; seed++) {
        struct iwt_random random = {seed, 0};
        struct iwt_builder b, renamed;
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        const iw_net net = iwt_random_net(&random);
        uint32_t name[IWT_MAX_RANKS];
        iw_noise *noise = NULL;
        iw_program *program, *renamed_program;
        iw_sim_result *result, *renamed_result;

        iwt_random_program(&random, IWT_MIXED_SIZES, &b);
        for (uint32_t r = 0; r < b.ranks; r++) {
            const uint32_t other = (uint32_t)iwt_below(&random, r + 1);

            name[r] = name[other];
            name[other] = r;
        }
        iwt_rename(&b, name, &renamed);
        program = iwt_program(&b);
        renamed_program = iwt_program(&renamed);
        assert_ok(iw_noise_new(NULL, &noise));
        assert_ok(iw_noise_add(NULL, noise, "poisson:10000kHz,exp:30ns"));
        iw_noise_align(noise, IW_SYNC_START, 0, 1);
        opts.engine = seed % 2 ? IW_ENGINE_EVENT : IW_ENGINE_FLOW;
        result = iwt_run(program, &net, noise, &opts);
        renamed_result = iwt_run(renamed_program, &net, noise, &opts);
        for (uint32_t r = 0; r < b.ranks; r++) {
            assert_int_equal(result->end_ps[r], renamed_result->end_ps[name[r]]);
        }
        iw_sim_result_free(result);
        iw_sim_result_free(renamed_result);
        iw_program_free(program);
        iw_program_free(renamed_program);
        iw_noise_free(noise);
        iwt_builder_release(&b);
        iwt_builder_release(&renamed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_and_flow_agree_on_random_programs),
        cmocka_unit_test(lanes_and_threads_change_nothing),
        cmocka_unit_test(more_noise_never_ends_earlier),
        cmocka_unit_test(detours_of_no_length_are_no_noise),
        cmocka_unit_test(renaming_ranks_renames_the_results),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
