/* The longest detour of a phase, and how many phases a job has, against numbers worked out by hand.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "kit/facts/length_bins.h"
#include "support/support.h"

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected))) {
        fail_msg("%.9g is not %.9g", value, expected);
    }
}

/* 2 ms once in 10 s, 1 ms once a second. In 1 s the first comes with 1 - exp(-0.1) = 0.0951626, else the
 * second with 1 - exp(-1) = 0.632121: 2 x 0.0951626 + 0.904837 x 0.632121 = 0.762292 ms. */
static struct iwi_length_bins sample(void)
{
    struct iwi_length_bins bins = {0};

    iwi_bins_add(&bins, 2000000, 0.1, 1.0);
    iwi_bins_add(&bins, 1000000, 0.6, 1.0);
    iwi_bins_add(&bins, 1000000, 0.4, 1.0);
    return bins;
}

static void the_longest_of_a_phase(void **state)
{
    const struct iwi_length_bins bins = sample();

    (void)state;
    assert_near(iwi_bins_longest_s(&bins, 1.0), 0.762292e-3, 1e-5);
    assert_near(iwi_bins_longest_s(&bins, 1e6), 2e-3, 1e-9); /* somewhere it comes for sure */
    assert_true(iwi_bins_longest_s(&bins, 0.0) == 0.0);
}

static void phases_follow_from_what_was_lost(void **state)
{
    const struct iwi_length_bins bins = sample();

    (void)state;
    for (double phases = 2.0; phases < 1e4; phases *= 7.0) {
        const double slowdown = iwi_bins_slowdown(&bins, 100.0, phases);

        assert_near(iwi_bins_phases(&bins, 100.0, slowdown), phases, 1e-3);
    }
    /* no more than all detours in sum, 0.1 x 2 ms + 1 x 1 ms a second, which are 1.2e-3 of the time with them
     */
    assert_near(iwi_bins_slowdown(&bins, 100.0, 1e12), 1.2e-3 / (1.0 - 1.2e-3), 2e-4);
    assert_near(iwi_bins_phases(&bins, 100.0, 0.5), 1e12, 1e-6);
    assert_near(iwi_bins_phases(&bins, 100.0, 0.0), 1.0, 1e-6);
}

/* 2 ms that come 100 times a second somewhere are under way with 1 - exp(-0.2); what is left of them is met
 * with the integral of 1 - exp(-100 (2 ms - x)), 2 ms - (1 - exp(-0.2)) / 100 = 0.187308 ms. In 5 ms of a
 * phase exp(-0.5) of the times none more comes: 2 ms - exp(-0.5) x 0.181269 / 100 = 0.900552 ms. */
static void the_first_phase_meets_what_is_under_way(void **state)
{
    struct iwi_length_bins bins = {0};

    (void)state;
    iwi_bins_add(&bins, 2000000, 100.0, 1.0);
    assert_near(iwi_bins_first_s(&bins, 0.0), 0.187308e-3, 1e-5);
    assert_near(iwi_bins_first_s(&bins, 5e-3), 0.900552e-3, 1e-5);
    iwi_bins_add(&bins, 1000, 1e-9, 1.0); /* what never comes changes nothing */
    assert_near(iwi_bins_first_s(&bins, 5e-3), 0.900552e-3, 1e-5);
}

/* 1 s that comes once in 100 s somewhere, in a job of 1 ms: it begins in one with 99 %, half of it to come.
 * Noise goes on meanwhile, so that 10 phases lose more than one. */
static void noise_goes_on_while_a_job_waits(void **state)
{
    struct iwi_length_bins bins = {0};

    (void)state;
    iwi_bins_add(&bins, 1000000000, 0.01, 1.0);
    assert_near(iwi_bins_slowdown(&bins, 1e-3, 1.0), 1e3 * 0.00499, 0.02);
    iwi_bins_add(&bins, 1000000000, 0.99, 1.0);
    assert_true(iwi_bins_slowdown(&bins, 1e-3, 10.0) > 1.2 * iwi_bins_slowdown(&bins, 1e-3, 1.0));
}

/* One event is one of at least 0.0513 on average (95 %), two are at least 0.355, ten at least 5.43. What
 * comes more often and costs as much leaves half of that in place. */
static void few_events_may_be_luck(void **state)
{
    struct iwi_length_bins bins = {0};

    (void)state;
    iwi_bins_add(&bins, 1000000, 1e-6, 1.0);
    assert_near(iwi_bins_least_part(&bins, 1.0, 1e6), 0.0513, 0.01);
    iwi_bins_add(&bins, 1000000, 1e-6, 1.0);
    assert_near(iwi_bins_least_part(&bins, 1.0, 1e6), 0.1777, 0.01);
    iwi_bins_add(&bins, 1000000, 8e-6, 8.0);
    assert_near(iwi_bins_least_part(&bins, 1.0, 1e6), 0.543, 0.01);
    iwi_bins_add(&bins, 1000, 1e-2, 1e7);
    assert_near(iwi_bins_least_part(&bins, 1.0, 1e6), 0.7715, 0.01);
    assert_true(iwi_bins_rare_from(&bins, 9.0) > iwi_bins_rare_from(&bins, 10.0));
    iwi_bins_thin(&bins, iwi_bins_rare_from(&bins, 10.0), 0.0);
    assert_true(iwi_bins_longest_s(&bins, 1e12) < 2e-6);
}

static void bins_add_up(void **state)
{
    struct iwi_length_bins sum = {0};
    const struct iwi_length_bins bins = sample();

    (void)state;
    iwi_bins_add_all(&sum, &bins, 3.0);
    assert_near(iwi_bins_longest_s(&sum, 1.0 / 3.0), iwi_bins_longest_s(&bins, 1.0), 1e-12);
    iwi_bins_add(&sum, 0, 1.0, 1.0);            /* no time at all */
    iwi_bins_add(&sum, INT64_MAX, 0.0001, 1.0); /* 292 years */
    assert_true(iwi_bins_longest_s(&sum, 1.0) > 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_of_a_phase),
        cmocka_unit_test(the_first_phase_meets_what_is_under_way),
        cmocka_unit_test(noise_goes_on_while_a_job_waits),
        cmocka_unit_test(few_events_may_be_luck),
        cmocka_unit_test(phases_follow_from_what_was_lost),
        cmocka_unit_test(bins_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
