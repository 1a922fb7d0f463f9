/* Changes of level: found where they are, and how often where there is none. The laws here are not those that
 * the rule was made with (normal values, correlated by the one before).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/stats/change_points.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/rng.h"
#include "support/support.h"

enum { MOST = 16, LENGTHS = 3, LONGEST = 1000 };

static const size_t lengths[LENGTHS] = {40, 200, LONGEST};
static const double ERROR_RATE = 0.01;

typedef void (*law_fn)(uint64_t series, double *values, size_t count);

static double unit(uint64_t series, uint64_t index)
{
    return iwi_draw_unit((struct iwi_draw_id){.seed = 71, .trial = series, .purpose = IWI_DRAW_TEST}, index);
}

static void exponential(uint64_t series, double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = 10.0 - log(unit(series, i));
    }
}

/* Without a variance. */
static void pareto(uint64_t series, double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = pow(unit(series, i), -1.0 / 1.5);
    }
}

/* A clock of few digits, and every tenth value is another one. */
static void coarse(uint64_t series, double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = floor(5.0 * unit(series, i)) + (i % 10 == 0 ? 20.0 : 0.0);
    }
}

/* What a value has goes on into the next two: a moving mean of skewed ones, correlated by 0.5 and 0.17. */
static void moving(uint64_t series, double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = -log(unit(series, i)) - 0.6 * log(unit(series, i + 1)) - 0.3 * log(unit(series, i + 2));
    }
}

/* Now and then a disturbance that lasts for about three values. */
static void bursts(uint64_t series, double *values, size_t count)
{
    double level = 0.0;

    for (size_t i = 0; i < count; i++) {
        const double drawn = unit(series, 2 * i);

        level = drawn < 0.05 ? 5.0 : drawn < 0.35 ? 0.0 : level;
        values[i] = level + unit(series, 2 * i + 1);
    }
}

/* Products: the logarithm keeps half of the one before. */
static void products(uint64_t series, double *values, size_t count)
{
    double logarithm = 0.0;

    for (size_t i = 0; i < count; i++) {
        logarithm = 0.5 * logarithm + unit(series, i) - 0.5;
        values[i] = exp(4.0 * logarithm);
    }
}

static size_t count_alarms(law_fn law, size_t length, size_t series)
{
    static double values[LONGEST];
    size_t alarms = 0;

    for (size_t i = 0; i < series; i++) {
        struct iwi_level_change changes[MOST];
        size_t count;

        law(i, values, length);
        assert_ok(iwi_find_changes(NULL, values, length, ERROR_RATE, changes, MOST, &count));
        alarms += count > 0;
    }
    return alarms;
}

/* At most the rate, but for what so many series may have by chance: three standard deviations. */
static void expect_rate(law_fn law, const char *name, double most)
{
    const size_t series = 2000 / IWT_FEWER;

    for (int i = 0; i < LENGTHS; i++) {
        const size_t alarms = count_alarms(law, lengths[i], series);

        if ((double)alarms > most * (double)series + 3.0 * sqrt(most * (double)series) + 1.0) {
            fail_msg("%s, %zu values: %zu alarms in %zu series", name, lengths[i], alarms, series);
        }
        print_message("%s, %zu values: %zu of %zu\n", name, lengths[i], alarms, series);
    }
}

static void independent_values_alarm_as_rarely_as_stated(void **state)
{
    (void)state;
    expect_rate(exponential, "exponential", ERROR_RATE);
    expect_rate(pareto, "Pareto", ERROR_RATE);
    expect_rate(coarse, "coarse", ERROR_RATE);
}

static void values_that_hang_together_alarm_at_most_three_times_as_often(void **state)
{
    (void)state;
    expect_rate(moving, "moving", 3.0 * ERROR_RATE);
    expect_rate(bursts, "bursts", 3.0 * ERROR_RATE);
    expect_rate(products, "products", 3.0 * ERROR_RATE);
}

static void a_change_is_found_where_it_is(void **state)
{
    struct iwi_level_change changes[MOST];
    double values[200];
    size_t count;

    (void)state;
    pareto(3, values, 200);
    for (size_t i = 120; i < 200; i++) {
        values[i] += 3.0;
    }
    assert_ok(iwi_find_changes(NULL, values, 200, ERROR_RATE, changes, MOST, &count));
    assert_int_equal(count, 1);
    assert_in_range(changes[0].at, 110, 130);
    assert_true(changes[0].chance < 1e-6);
}

static void a_change_and_its_end_are_two(void **state)
{
    struct iwi_level_change changes[MOST];
    double values[300];
    size_t count;

    (void)state;
    exponential(5, values, 300);
    for (size_t i = 100; i < 180; i++) {
        values[i] += 4.0;
    }
    assert_ok(iwi_find_changes(NULL, values, 300, ERROR_RATE, changes, MOST, &count));
    assert_int_equal(count, 2);
    assert_in_range(changes[0].at, 97, 103);
    assert_in_range(changes[1].at, 177, 183);
}

static void few_or_equal_values_have_none(void **state)
{
    struct iwi_level_change changes[MOST];
    double values[60] = {0.0};
    size_t count;

    (void)state;
    for (size_t length = 0; length <= 60; length += 20) {
        assert_ok(iwi_find_changes(NULL, values, length, ERROR_RATE, changes, MOST, &count));
        assert_int_equal(count, 0);
    }
}

/* Kolmogorov's table: 1.358 is exceeded in 5 % of cases, 1.628 in 1 %. */
static void the_limit_law_is_kolmogorovs(void **state)
{
    (void)state;
    assert_true(fabs(iwi_kolmogorov_above(1.3581) - 0.05) < 1e-4);
    assert_true(fabs(iwi_kolmogorov_above(1.6276) - 0.01) < 1e-4);
    assert_true(fabs(iwi_kolmogorov_above(0.5) - 0.96394524) < 1e-7);
    assert_true(iwi_kolmogorov_above(0.1) == 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_values_alarm_as_rarely_as_stated),
        cmocka_unit_test(values_that_hang_together_alarm_at_most_three_times_as_often),
        cmocka_unit_test(a_change_is_found_where_it_is),
        cmocka_unit_test(a_change_and_its_end_are_two),
        cmocka_unit_test(few_or_equal_values_have_none),
        cmocka_unit_test(the_limit_law_is_kolmogorovs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
