/* Limits of tails: never below the true quantile of laws that are allowed, not far above it for large
 * samples.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/rng.h"
#include "features/fleet/fleet_judge.h"
#include "support/support.h"

enum { MOST = 2000 };

static double values[MOST];

static double unit(uint64_t seed, uint64_t index)
{
    return iwi_draw_unit((struct iwi_draw_id){.seed = seed, .purpose = IWI_DRAW_TEST}, index);
}

static double normal(uint64_t seed, uint64_t index)
{
    return sqrt(-2.0 * log(unit(seed, 2 * index))) * cos(6.283185307179586 * unit(seed, 2 * index + 1));
}

static double exponential(uint64_t seed, uint64_t index)
{
    return -log(unit(seed, index));
}

typedef double (*law)(uint64_t seed, uint64_t index);

/* The limit for p of a sample, of which so many are moved up by 100. */
static double limit_of(law draw, uint64_t seed, size_t count, size_t outliers, double p)
{
    struct iwi_fleet_tail tail;

    for (size_t i = 0; i < count; i++) {
        values[i] = draw(seed, i) + (i < outliers ? 100.0 : 0.0);
    }
    tail = iwi_fleet_tail_fit(values, count, 1e-6, 1.0);
    return iwi_fleet_tail_limit(&tail, p, 0.0);
}

/* True quantiles for 1e-7: 5.20 of the normal law, 16.1 of the exponential one. */
static void limits_of_large_samples_are_safe_and_not_far(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        const double of_normal = limit_of(normal, seed, MOST, 0, 1e-7),
                     of_exponential = limit_of(exponential, seed, MOST, 0, 1e-7);

        assert_true(of_normal > 5.2 && of_normal < 12.0);
        assert_true(of_exponential > 13.0 && of_exponential < 22.0);
    }
}

static void few_outliers_do_not_move_the_limit(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        const double without = limit_of(normal, seed, 1000, 0, 1e-7);

        assert_true(fabs(limit_of(normal, seed, 1000, 10, 1e-7) / without - 1.0) < 0.3);
        assert_true(limit_of(normal, seed, 1000, 100, 1e-7) < 30.0); /* one in ten: still far below them */
    }
}

/* One value of 8 is beyond the limit for 1e-4 in about one sample in a thousand, or less. */
static void small_samples_are_judged_with_care(void **state)
{
    int beyond = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        const double limit = limit_of(normal, seed, 8, 0, 1e-4);

        for (size_t i = 0; i < 8; i++) {
            beyond += values[i] > limit;
        }
    }
    assert_in_range(beyond, 0, 4);
}

static void more_variance_and_a_floor_widen_it(void **state)
{
    struct iwi_fleet_tail tail;

    (void)state;
    for (size_t i = 0; i < 100; i++) {
        values[i] = 3.0;
    }
    tail = iwi_fleet_tail_fit(values, 100, 0.01, 1.0);
    assert_true(tail.median == 3.0 && tail.gap > 0.067);
    assert_true(iwi_fleet_tail_limit(&tail, 1e-6, 0.0) > 3.475);
    assert_true(iwi_fleet_tail_limit(&tail, 1e-6, 1.0) > iwi_fleet_tail_limit(&tail, 1e-6, 0.0) + 3.0);
    assert_true(iwi_fleet_tail_limit(&tail, 1e-6, -1.0) == iwi_fleet_tail_limit(&tail, 1e-6, 0.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_of_large_samples_are_safe_and_not_far),
        cmocka_unit_test(few_outliers_do_not_move_the_limit),
        cmocka_unit_test(small_samples_are_judged_with_care),
        cmocka_unit_test(more_variance_and_a_floor_widen_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
