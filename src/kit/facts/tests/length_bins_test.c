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

    iwi_bins_add(&bins, 2000000, 0.1);
    iwi_bins_add(&bins, 1000000, 0.6);
    iwi_bins_add(&bins, 1000000, 0.4);
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
    /* no more than all detours in sum, 0.1 x 2 ms + 1 x 1 ms a second, and no less than the longest */
    assert_near(iwi_bins_slowdown(&bins, 100.0, 1e12), 1.2e-3, 1e-6);
    assert_near(iwi_bins_phases(&bins, 100.0, 0.5), 1e12, 1e-6);
    assert_near(iwi_bins_phases(&bins, 100.0, 0.0), 1.0, 1e-6);
}

static void bins_add_up(void **state)
{
    struct iwi_length_bins sum = {0};
    const struct iwi_length_bins bins = sample();

    (void)state;
    iwi_bins_add_all(&sum, &bins, 3.0);
    assert_near(iwi_bins_longest_s(&sum, 1.0 / 3.0), iwi_bins_longest_s(&bins, 1.0), 1e-12);
    iwi_bins_add(&sum, 0, 1.0);            /* no time at all */
    iwi_bins_add(&sum, INT64_MAX, 0.0001); /* 292 years */
    assert_true(iwi_bins_longest_s(&sum, 1.0) > 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_of_a_phase),
        cmocka_unit_test(phases_follow_from_what_was_lost),
        cmocka_unit_test(bins_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
