/* What crosses borders is what the patterns send over them; the choice follows the work, the workers and
 * memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include <idlewave/noise.h>

#include "builder.h"
#include "core/base/monotonic.h"
#include "core/sim/split/forecast.h"
#include "support/support.h"

static iw_program *make(const char *operations, uint32_t ranks, uint64_t repeat)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    pattern.ranks = ranks;
    pattern.repeat = repeat;
    assert_ok(iw_program_from_pattern(NULL, operations, &pattern, &program));
    return program;
}

static struct iwi_border_traffic crossing_of(const char *operations, uint32_t ranks, uint64_t repeat,
                                             uint32_t members)
{
    iw_program *program = make(operations, ranks, repeat);
    const struct iwi_border_traffic crossing = iwi_border_traffic_of(program, members);

    iw_program_free(program);
    return crossing;
}

static void a_ring_crosses_each_border_once_in_each_direction(void **state)
{
    (void)state;
    /* blocks of 16 are looked at rank by rank: exact */
    assert_true(crossing_of("halo1d", 64, 1, 4).values == 2.0);
    assert_true(crossing_of("halo1d", 64, 10, 4).values == 20.0);
    assert_int_equal(crossing_of("halo1d", 64, 10, 4).exchanges, 10);
    assert_true(crossing_of("halo1d", 64, 1, 1).values == 0.0);
}

static void dissemination_sends_min_of_shift_and_block(void **state)
{
    /* 64 ranks, 4 blocks of 16: shifts 1 2 4 8 16 32 */
    (void)state;
    assert_true(crossing_of("barrier:dissemination", 64, 1, 4).values == 1 + 2 + 4 + 8 + 16 + 16);
    assert_int_equal(crossing_of("barrier:dissemination", 64, 1, 4).exchanges, 6);
}

/* By the constants, all CPUs idle: what is chosen here does not hang on how busy the machine of the test is.
 */
static iw_forecast forecast_of(const char *operations, uint32_t ranks, uint64_t trials, uint32_t threads)
{
    iw_program *program = make(operations, ranks, 1);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct iwi_plan plan;
    iw_forecast forecast;

    opts.trials = trials;
    opts.threads = threads;
    assert_ok(iwi_plan_init(NULL, program, iw_net_builtin("chic"), &opts, &plan));
    iwi_forecast_fill(&plan, program, NULL, &opts, UINT32_MAX, &forecast);
    iwi_plan_release(&plan);
    iw_program_free(program);
    return forecast;
}

static void many_trials_are_split_and_one_is_cut(void **state)
{
    (void)state;
    assert_int_equal(forecast_of("barrier:dissemination", 1 << 20, 1000, 2).chosen, IW_PARALLEL_TRIALS);
    assert_int_equal(forecast_of("barrier:dissemination", 1 << 22, 1, 2).chosen, IW_PARALLEL_RANKS);
    assert_int_equal(forecast_of("barrier:dissemination", 64, 1, 2).chosen, IW_PARALLEL_TRIALS);
    assert_int_equal(forecast_of("barrier:dissemination", 1 << 22, 1, 1).chosen, IW_PARALLEL_TRIALS);
}

/* Members take rings rank by rank, as one thread does, but cannot take linear exchanges so. */
static void rings_are_split_and_linear_exchanges_are_not(void **state)
{
    (void)state;
    assert_int_equal(forecast_of("allreduce:ring", 1024, 1, 2).chosen, IW_PARALLEL_TRIALS);
    assert_int_equal(forecast_of("allreduce:ring", 16384, 1, 2).chosen, IW_PARALLEL_RANKS);
    assert_int_equal(forecast_of("alltoall:linear", 4096, 1, 4).chosen, IW_PARALLEL_TRIALS);
    assert_int_equal(forecast_of("allreduce:ring", 1 << 17, 1, 64).chosen, IW_PARALLEL_RANKS);
}

/* One of two CPUs is busy: members would wait for the one that shares it. Trials are split as before. */
static void ranks_are_split_over_idle_cpus_only(void **state)
{
    iw_program *program = make("barrier:dissemination", 1 << 22, 1);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct iwi_plan plan;
    iw_forecast forecast;

    (void)state;
    opts.threads = 4;
    assert_ok(iwi_plan_init(NULL, program, iw_net_builtin("chic"), &opts, &plan));
    iwi_forecast_fill(&plan, program, NULL, &opts, 2, &forecast);
    assert_int_equal(forecast.chosen, IW_PARALLEL_RANKS);
    assert_int_equal(forecast.threads, 2);
    iwi_forecast_fill(&plan, program, NULL, &opts, 1, &forecast);
    assert_int_equal(forecast.chosen, IW_PARALLEL_TRIALS);
    opts.trials = 4;
    iwi_forecast_fill(&plan, program, NULL, &opts, 1, &forecast);
    assert_int_equal(forecast.trials_split.workers, 4);
    iwi_plan_release(&plan);
    iw_program_free(program);
}

static void the_model_adds_up(void **state)
{
    const iw_forecast forecast = forecast_of("barrier:dissemination", 1 << 22, 1, 2);

    (void)state;
    assert_int_equal(forecast.messages, (uint64_t)22 << 22);
    assert_true(forecast.ranks_split.messages == (double)forecast.messages / 2);
    assert_true(forecast.ranks_split.compute_s ==
                forecast.ranks_split.messages * forecast.ranks_split.lanes * forecast.message_s);
    /* every value of a shift below 2^21, and the whole block at 2^21, as 8 bytes */
    assert_true(forecast.ranks_split.bytes_sent > 0.9 * 8 * (1 << 22) &&
                forecast.ranks_split.bytes_sent < 1.1 * 8 * (1 << 22));
    assert_true(forecast.trials_split.process_bytes >= forecast.ranks_split.process_bytes);
}

static void graphs_are_not_cut(void **state)
{
    iw_program *program = make("halo1d", 8, 1);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    iw_forecast forecast;
    struct iwt_log l;

    (void)state;
    opts.engine = IW_ENGINE_EVENT;
    opts.threads = 2;
    assert_ok(iw_forecast_make(NULL, program, iw_net_builtin("chic"), NULL, &opts, &forecast));
    assert_int_not_equal(forecast.ranks_split.refusal[0], '\0');
    assert_int_equal(forecast.chosen, IW_PARALLEL_TRIALS);
    opts.parallel = IW_PARALLEL_RANKS;
    iwt_log_init(&l);
    assert_status(iw_simulate(&l.log, program, iw_net_builtin("chic"), NULL, &opts, &result),
                  IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&l, "only trials can be split: the event engine");
    iw_program_free(program);
}

/* ---- samples ---- */

static void a_part_is_extrapolated_from_its_first_look(void **state)
{
    struct iwi_stopwatch watch = {
        .first_s = 1.0, .first_share = 0.2, .last_s = 3.0, .last_share = 0.6, .has_looked = true};

    (void)state;
    assert_true(fabs(iwi_stopwatch_read(&watch, IW_ERR_CANCELLED) - 5.0) < 1e-9); /* 1 + 2 x 0.8 / 0.4 */
    watch.last_s = 1.0;
    watch.last_share = 0.2;
    assert_true(fabs(iwi_stopwatch_read(&watch, IW_ERR_CANCELLED) - 5.0) < 1e-9); /* 1 / 0.2 */
    watch.last_share = 0.0;
    watch.first_share = 0.0;
    assert_true(isinf(iwi_stopwatch_read(&watch, IW_ERR_CANCELLED)));
}

static void a_stopwatch_stops_what_has_told_enough(void **state)
{
    struct iwi_stopwatch watch;
    const iw_progress progress = iwi_stopwatch_begin(&watch, 1e-9, 1.0);

    (void)state;
    assert_true(
        progress.step(progress.arg, &(iw_progress_now){.share = 0.001})); /* of the first nothing is known */
    assert_false(progress.step(progress.arg, &(iw_progress_now){.share = 0.1}));
}

/* CPU time of this thread for all of it. */
static double taken_s(const iw_program *program, const iw_noise *noise, const iw_sim_opts *opts)
{
    const double begin_s = iwi_thread_cpu_s();
    iw_sim_result *result;

    assert_ok(iw_simulate(NULL, program, iw_net_builtin("chic"), noise, opts, &result));
    iw_sim_result_free(result);
    return iwi_thread_cpu_s() - begin_s;
}

/* Others on the machine change what it takes: the best of three. */
static double ratio_of(const char *operations, uint32_t ranks, uint64_t repeat, iw_engine engine)
{
    iw_program *program = make(operations, ranks, repeat);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    double best = INFINITY;
    iw_noise *noise = NULL;

    opts.engine = engine;
    opts.trials = engine == IW_ENGINE_EVENT ? 1 : 40;
    opts.threads = 1;
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, "poisson:1kHz,exp:5us"));
    for (int attempt = 0; attempt < 3 && best > 1.5; attempt++) {
        iw_forecast forecast;

        assert_ok(iw_forecast_make(NULL, program, iw_net_builtin("chic"), noise, &opts, &forecast));
        assert_true(forecast.elapsed_s == forecast.cpu_s);
        best = fmin(best, exp(fabs(log(forecast.cpu_s / taken_s(program, noise, &opts)))));
    }
    print_message("%s on %u ranks: %.2f times\n", operations, (unsigned)ranks, best);
    iw_noise_free(noise);
    iw_program_free(program);
    return best;
}

static void a_run_takes_what_was_forecast(void **state)
{
    (void)state;
    assert_true(ratio_of("barrier:dissemination", 256, 100, IW_ENGINE_AUTO) < 2.0);
    assert_true(ratio_of("bcast:binomial", 4096, 50, IW_ENGINE_AUTO) < 2.0); /* rounds are not alike */
    assert_true(ratio_of("halo2d", 1024, 50, IW_ENGINE_AUTO) < 2.0);
    assert_true(ratio_of("halo1d", 1024, 100, IW_ENGINE_EVENT) < 2.0); /* a single unit of progress */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_crosses_each_border_once_in_each_direction),
        cmocka_unit_test(dissemination_sends_min_of_shift_and_block),
        cmocka_unit_test(many_trials_are_split_and_one_is_cut),
        cmocka_unit_test(rings_are_split_and_linear_exchanges_are_not),
        cmocka_unit_test(ranks_are_split_over_idle_cpus_only),
        cmocka_unit_test(the_model_adds_up),
        cmocka_unit_test(graphs_are_not_cut),
        cmocka_unit_test(a_part_is_extrapolated_from_its_first_look),
        cmocka_unit_test(a_stopwatch_stops_what_has_told_enough),
        cmocka_unit_test(a_run_takes_what_was_forecast),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
