/* Remedies for a whole node: all noise at the same time, and a core that is left to the operating system.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "features/whatif/break_even.h"
#include "made_question.h"
#include "support/made_recording.h"
#include "support/support.h"

/* Hit together, a barrier of any size loses what one rank loses: less than with each rank at another time. */
static void noise_at_the_same_time_costs_less(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    const iw_change *together;
    iw_whatif *whatif;

    (void)state;
    opts.wants_together = true;
    whatif = iwt_ask(set, &opts);
    together = iwt_change(whatif, "co-scheduling");
    assert_int_equal(together->kind, IW_CHANGE_TOGETHER);
    assert_int_equal(together->removed_count, 0);
    assert_non_null(together->remedy);
    assert_true(together->saving.low > 0.0);
    assert_true(together->slowdown.value > 0.0);
    iw_whatif_free(whatif);
    iw_noise_set_align(set, IW_SYNC_START, 0, 1);
    whatif = iwt_ask(set, &opts);
    assert_null(iwt_change(whatif, "co-scheduling")); /* it is so already */
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

/* Of 4 cores 3 do the work of a step in 4/3 ms. T0 is 10 steps of 1 ms and a barrier each. */
static void a_reserved_core_pays_its_price(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    const iw_change *reserve;
    iw_whatif *whatif;

    (void)state;
    opts.cores_per_node = 4;
    whatif = iwt_ask(set, &opts);
    reserve = iwt_change(whatif, "reserved core");
    assert_int_equal(reserve->removed_count, 3); /* the tick stays */
    assert_true(fabs(whatif->break_even.price -
                     10.0 / 3.0 * (double)IW_PS_PER_MS / (double)whatif->noiseless_ps) < 1e-9);
    assert_true(reserve->slowdown.value > whatif->break_even.price);
    assert_true(reserve->saving.value < 0.0); /* far too dear on 16 ranks */
    assert_false(whatif->is_reserve_unknown);
    iw_whatif_free(whatif);
    question.is_fixed = true; /* a trace, say */
    whatif = iwt_ask(set, &opts);
    assert_null(iwt_change(whatif, "reserved core"));
    assert_int_equal(whatif->break_even.most_ranks, 0);
    assert_true(whatif->is_reserve_unknown);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

/* A daemon of 1 ms every 10 s against 1/20 of 1 ms: from some hundred ranks on it comes in most steps. */
static void from_some_ranks_on_a_reserved_core_gains(void **state)
{
    iw_recording *recording = iwt_recording(1, 10000000000);
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set;
    iw_whatif *whatif;

    (void)state;
    iwt_detour(recording, 0, 5000000000, 1000000, iwt_source(recording, IW_CLASS_THREAD, "daemon"));
    set = iwt_set(recording, NULL);
    question.steps = 2;
    opts.cores_per_node = 21;
    opts.sim.trials = 30;
    opts.redraws = 0;
    whatif = iwt_ask(set, &opts);
    assert_true(whatif->break_even.is_known && !whatif->break_even.is_always);
    /* a step is hit with probability ranks x 1 ms / 10 s or so, which costs 1 ms on average: 500 ranks */
    assert_true(whatif->break_even.ranks.value > 100.0 && whatif->break_even.ranks.value < 1500.0);
    assert_true(whatif->break_even.ranks.low <= whatif->break_even.ranks.value);
    assert_true(whatif->break_even.ranks.high >= whatif->break_even.ranks.value);
    assert_int_equal(whatif->break_even.least_ranks, 4);
    assert_true(whatif->break_even.most_ranks >= 1024 && whatif->break_even.most_ranks <= 4096);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

/* One simulation of so many cores less, as 'simulate --spare-cores' makes it: the mean of its makespans. */
static double spared_mean_ps(const iw_noise_set *set, const iw_whatif_opts *opts)
{
    const iw_program_maker *maker = &opts->program;
    iw_sim_result *result = NULL;
    iw_program *program = NULL;
    iw_noise *noise = NULL;
    double sum_ps = 0.0;

    assert_ok(iw_noise_set_make(NULL, set, NULL, opts->sim.seed, 0, &noise));
    assert_ok(maker->make(maker->arg, 0, iw_spare_work(opts->cores_per_node, opts->spare_cores), &program));
    assert_ok(iw_simulate(NULL, program, opts->net, noise, &opts->sim, &result));
    for (uint64_t i = 0; i < result->trials; i++) {
        sum_ps += (double)result->makespan_ps[i];
    }
    sum_ps /= (double)result->trials;
    iw_sim_result_free(result);
    iw_noise_free(noise);
    maker->release(maker->arg, program);
    return sum_ps;
}

static void simulations_with_spare_cores_are_what_is_priced(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL), *spared = iwt_set(iwt_node(), NULL);
    const iw_change *reserve;
    iw_whatif *whatif;
    double mean_ps;

    (void)state;
    opts.cores_per_node = 16;
    opts.spare_cores = 3;
    iw_noise_set_share_phases(set, 4, IW_LOOP_DYNAMIC);
    iw_noise_set_share_phases(spared, 4, IW_LOOP_DYNAMIC);
    whatif = iwt_ask(set, &opts);
    reserve = iwt_change(whatif, "3 reserved cores");
    assert_non_null(reserve);
    assert_ok(iw_noise_set_spare(NULL, spared));
    assert_int_equal(iw_noise_set_source_count(spared), 1); /* the tick stays */
    mean_ps = spared_mean_ps(spared, &opts);
    assert_true(fabs(reserve->slowdown.value - (mean_ps / (double)whatif->noiseless_ps - 1.0)) < 1e-12);
    assert_true(fabs(whatif->break_even.price -
                     10.0 * 3.0 / 13.0 * (double)IW_PS_PER_MS / (double)whatif->noiseless_ps) < 1e-9);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
    iw_noise_set_free(spared);
}

/* A rank of 8 cores is a node; each of its CPUs is away for D once in L, at places far apart. In one phase d
 * a rank loses D if one of the 8 detours begins in it, and what is left of one under way: P(loss <= x) = 1 -
 * 8 (d + D - x) / L below D. The mean of the largest of N is the integral of 1 - P(loss <= x)^N. */
static double mean_of_largest(double ranks, double d, double D, double L)
{
    return D - L / (8.0 * (ranks + 1.0)) *
                   (pow(1.0 - 8.0 * d / L, ranks + 1.0) - pow(1.0 - 8.0 * (d + D) / L, ranks + 1.0));
}

/* All that noise can go to the spare core, which costs d / 7: it pays from where the largest loss is more. */
static void the_break_even_is_where_the_closed_form_has_it(void **state)
{
    const double d = 1e6, D = 5e5, L = 1e9; /* ns */
    iw_recording *recording = iwt_recording(8, (int64_t)L);
    const uint32_t daemon = iwt_source(recording, IW_CLASS_THREAD, "daemon");
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    double ranks = 1.0, now_ns, noiseless_ns, error;
    iw_noise_set *set;
    iw_whatif *whatif;

    (void)state;
    for (size_t cpu = 0; cpu < 8; cpu++) {
        iwt_detour(recording, cpu, (int64_t)cpu * 125000000 + 1000, (int64_t)D, daemon);
    }
    set = iwt_set(recording, NULL);
    iw_noise_set_align(set, IW_SYNC_NONE, 0, 0);
    iw_noise_set_share_phases(set, 8, IW_LOOP_STATIC);
    while (mean_of_largest(ranks, d, D, L) < d / 7.0) {
        ranks += 1.0;
    }
    question.ranks = (uint32_t)ranks;
    question.steps = 1;
    opts.cores_per_node = 8;
    opts.sim.trials = 1000;
    opts.redraws = 0;
    whatif = iwt_ask(set, &opts);
    assert_int_equal(whatif->ranks_per_node, 1);
    noiseless_ns = (double)whatif->noiseless_ps / 1000.0;
    now_ns = whatif->now.value * noiseless_ns;
    error = 0.5 * D / sqrt(1000.0); /* no loss spreads more than this */
    assert_true(fabs(now_ns - mean_of_largest(ranks, d, D, L)) < 4.5 * error);
    assert_true(whatif->break_even.is_known);
    assert_true(whatif->break_even.ranks.value > 0.75 * ranks &&
                whatif->break_even.ranks.value < 1.35 * ranks);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

static void the_gain_begins_where_the_line_crosses_zero(void **state)
{
    const uint32_t ranks[] = {4, 16, 64, 256};
    const iw_estimate savings[] = {{-3.0, -4.0, -2.0}, {-1.0, -2.0, 0.0}, {1.0, -1.0, 3.0}, {5.0, 3.0, 7.0}};
    iw_break_even found = {.price = 0.5};

    (void)state;
    iwi_break_even_cross(ranks, savings, 4, &found);
    assert_true(found.is_known && !found.is_always);
    assert_true(fabs(found.ranks.value - 32.0) < 1e-9);            /* half way from 16 to 64 */
    assert_true(fabs(found.ranks.low - 16.0) < 1e-9);              /* -2, 0, 3 */
    assert_true(fabs(found.ranks.high - 64.0 * sqrt(2.0)) < 1e-9); /* a quarter of the way from -1 to 3 */
    assert_int_equal(found.least_ranks, 4);
    assert_int_equal(found.most_ranks, 256);
    assert_true(found.price == 0.5);
}

static void a_gain_that_never_or_always_is_there_has_no_crossing(void **state)
{
    const uint32_t ranks[] = {4, 16};
    const iw_estimate loss[] = {{-3.0, -4.0, -2.0}, {-1.0, -2.0, 1.0}},
                      gain[] = {{3.0, -2.0, 4.0}, {5.0, 4.0, 6.0}};
    iw_break_even found = {.price = 0.0};

    (void)state;
    iwi_break_even_cross(ranks, loss, 2, &found);
    assert_false(found.is_known || found.is_always);
    assert_true(found.ranks.high == 16.0);
    iwi_break_even_cross(ranks, gain, 2, &found);
    assert_true(!found.is_known && found.is_always);
    assert_true(found.ranks.low == 4.0 && found.ranks.high > 4.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_at_the_same_time_costs_less),
        cmocka_unit_test(a_reserved_core_pays_its_price),
        cmocka_unit_test(from_some_ranks_on_a_reserved_core_gains),
        cmocka_unit_test(simulations_with_spare_cores_are_what_is_priced),
        cmocka_unit_test(the_break_even_is_where_the_closed_form_has_it),
        cmocka_unit_test(the_gain_begins_where_the_line_crosses_zero),
        cmocka_unit_test(a_gain_that_never_or_always_is_there_has_no_crossing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
