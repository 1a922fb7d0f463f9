/* The cone recursion against what can be computed by hand and against the simulator.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

#include <math.h>

#include <idlewave/sim.h>

#include "support/support.h"

static iw_model_row answer(const char *spec, const char *net, double work_ns, uint64_t ranks)
{
    iw_model_row row;

    assert_ok(iw_model_cone(NULL, spec, iw_net_builtin(net), work_ns, &ranks, 1, &row));
    return row;
}

/* Mean makespan in ns; *error_p: its standard deviation. */
static double simulated(const char *spec, const char *net, iw_time work_ps, uint32_t ranks, uint64_t trials,
                        double *error_p)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_program *program;
    iw_sim_result *result;
    iw_noise *noise;
    double sum = 0, squares = 0;

    pattern.ranks = ranks;
    pattern.compute_ps = work_ps;
    opts.trials = trials;
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, spec));
    assert_ok(iw_program_from_pattern(NULL, "barrier:dissemination", &pattern, &program));
    assert_ok(iw_simulate(NULL, program, iw_net_builtin(net), noise, &opts, &result));
    for (uint64_t i = 0; i < trials; i++) {
        const double ns = (double)result->makespan_ps[i] / (double)IW_PS_PER_NS;

        sum += ns;
        squares += ns * ns;
    }
    iw_sim_result_free(result);
    iw_program_free(program);
    iw_noise_free(noise);
    *error_p = sqrt(fmax(squares / (double)trials - sum / (double)trials * (sum / (double)trials), 0) /
                    (double)trials);
    return sum / (double)trials;
}

/* Within `tolerance` of the simulated mean, or of its four standard deviations. */
static void assert_agrees(const char *spec, const char *net, double work_ns, uint32_t ranks, uint64_t trials,
                          double tolerance)
{
    double error;
    const double mean = simulated(spec, net, (iw_time)(work_ns * 1e3), ranks, trials, &error);
    const double modelled = answer(spec, net, work_ns, ranks).high_ns.value;

    if (fabs(modelled - mean) > tolerance * mean + 4 * error) {
        fail_msg("%s on %s, %u ranks: model %g ns, simulated %g +- %g ns", spec, net, ranks, modelled, mean,
                 error);
    }
}

/* Rounds of o_s + L + o_r = 0.77 + 5.33 + 0.77 us. */
static void without_noise_it_takes_all_rounds(void **state)
{
    const iw_model_row row = answer("periodic:1Hz,0", "chic", 0, 1000);

    (void)state;
    assert_true(fabs(row.noiseless_ns - 68700) < 1e-6);
    assert_true(row.high_ns.value == row.noiseless_ns && row.slowest_ns.value == 0);
    assert_int_equal(row.support, IW_SUPPORT_EXACT);
}

static void one_rank_without_work_meets_no_noise(void **state)
{
    (void)state;
    assert_true(answer("periodic:1Hz,1ms", "chic", 0, 1).high_ns.value == 0);
}

/* A detour of D is under way on some rank with probability 2 D/T, and half of it is left in the mean. One
 * that begins during the round while a rank works (o) or waits (o + L, of 2 o + L) adds all of D: (2 o +
 * L)/T, of two ranks. */
static void two_ranks_are_as_by_hand(void **state)
{
    const double period = 1e9, detour = 1e6, round = 6870;
    const double added = 2 * detour / period * (detour / 2) + 2 * round / period * detour;

    (void)state;
    assert_true(fabs(answer("periodic:1Hz,1ms", "chic", 0, 2).slowest_ns.value / added - 1) < 0.01);
}

static void work_is_hit_too(void **state)
{
    const double period = 1e9, detour = 1e6, work = 2e6;
    const double added = 2 * detour / period * (detour / 2) + 2 * (work + 6870) / period * detour;
    const iw_model_row row = answer("periodic:1Hz,1ms", "chic", work, 2);

    (void)state;
    assert_true(row.noiseless_ns == work + 6870);
    assert_true(fabs(row.slowest_ns.value / added - 1) < 0.01);
}

static void everybody_is_late_at_scale(void **state)
{
    const iw_model_row row = answer("periodic:0.375Hz,5.6ms", "chic", 0, 1 << 20);

    (void)state; /* the paper's 148 times as long, and published simulations' 146 */
    assert_true(row.median_ns / row.noiseless_ns > 140 && row.median_ns / row.noiseless_ns < 155);
    assert_int_equal(row.support, IW_SUPPORT_RECURSION);
}

static void more_ranks_never_take_less_time(void **state)
{
    double before = 0;
    uint64_t ranks[60];
    iw_model_row rows[60];

    (void)state;
    for (size_t i = 0; i < 60; i++) {
        ranks[i] = i == 0 ? 1 : ranks[i - 1] * 5 / 4 + 1;
    }
    assert_ok(iw_model_cone(NULL, "periodic:0.5Hz,220us", iw_net_builtin("altix"), 0, ranks, 60, rows));
    for (size_t i = 0; i < 60; i++) {
        assert_int_equal(rows[i].ranks, ranks[i]);
        assert_true(rows[i].high_ns.value >= before);
        assert_true(rows[i].high_ns.value >= rows[i].noiseless_ns);
        before = rows[i].high_ns.value;
    }
}

static void it_agrees_with_the_simulator_within_ten_percent(void **state)
{
    (void)state;
    assert_agrees("periodic:0.375Hz,5.6ms", "chic", 0, 1 << 10, 400, 0.1);
    assert_agrees("periodic:0.375Hz,5.6ms", "chic", 0, 1 << 13, 50, 0.1);
    assert_agrees("periodic:0.5Hz,220us", "altix", 0, 1 << 11, 400, 0.1);
    assert_agrees("periodic:0.5Hz,220us", "altix", 0, 1 << 14, 40, 0.1);
    assert_agrees("periodic:0.375Hz,5.6ms", "chic", 1e6, 1 << 11, 100, 0.1);
    assert_agrees("periodic:16Hz,50us", "zeptoos", 0, 1 << 12, 50, 0.1);
    assert_agrees("poisson:0.375Hz,fixed:5.6ms", "chic", 1e6, 1 << 11, 100, 0.1);
    assert_agrees("poisson:0.375Hz,fixed:5.6ms", "chic", 0, 1 << 10, 400, 0.1);
    assert_agrees("poisson:0.5Hz,fixed:220us", "altix", 0, 1 << 14, 40, 0.1);
}

static void ranks_that_are_no_power_of_two_are_answered(void **state)
{
    (void)state;
    assert_agrees("periodic:0.375Hz,5.6ms", "chic", 0, 3000, 100, 0.1);
}

static void what_it_is_not_made_for_is_refused(void **state)
{
    static const struct {
        const char *spec, *part;
        double work_ns;
    } cases[] = {{"exp:1%", "give the work of a phase", 0},
                 {"poisson:1Hz,exp:1ms", "use fixed:TIME", 0},
                 {"periodic:1kHz,100us", "over 5% of the time", 0},
                 {"periodic:100Hz,1ns", "over 250 detours long", 0},
                 {"periodic:1kHz,10us", "1012 detours in one phase", 1e9}};
    const uint64_t ranks = 8, none = 0;
    iw_net free_messages = *iw_net_builtin("chic");
    struct iwt_log l;
    iw_model_row row;

    (void)state;
    iwt_log_init(&l);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_status(
            iw_model_cone(&l.log, cases[i].spec, iw_net_builtin("chic"), cases[i].work_ns, &ranks, 1, &row),
            IW_ERR_UNSUPPORTED);
        iwt_assert_logged(&l, cases[i].part);
    }
    free_messages.o_recv_ps = 0;
    assert_status(iw_model_cone(&l.log, "periodic:1Hz,1ms", &free_messages, 0, &ranks, 1, &row),
                  IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&l, "cost CPU time");
    assert_status(iw_model_cone(&l.log, "periodic:1Hz,1ms", iw_net_builtin("chic"), 0, &none, 1, &row),
                  IW_ERR_RANGE);
    assert_status(iw_model_cone(&l.log, "periodic:1Hz", iw_net_builtin("chic"), 0, &ranks, 1, &row),
                  IW_ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_noise_it_takes_all_rounds),
        cmocka_unit_test(one_rank_without_work_meets_no_noise),
        cmocka_unit_test(two_ranks_are_as_by_hand),
        cmocka_unit_test(work_is_hit_too),
        cmocka_unit_test(everybody_is_late_at_scale),
        cmocka_unit_test(more_ranks_never_take_less_time),
        cmocka_unit_test(it_agrees_with_the_simulator_within_ten_percent),
        cmocka_unit_test(ranks_that_are_no_power_of_two_are_answered),
        cmocka_unit_test(what_it_is_not_made_for_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
