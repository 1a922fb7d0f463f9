/* What crosses borders is what the patterns send over them; the choice follows the work, the workers and
 * memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "builder.h"
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

/* By the constants, all CPUs idle: what is chosen here does not hang on how busy the machine of the test is. */
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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
