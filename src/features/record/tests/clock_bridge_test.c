/* Instants of CLOCK_MONOTONIC_RAW on other clocks: near ties, between them, and long after them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/clock/clock.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "support/support.h"

static const int64_t SECOND_NS = 1000000000, HOUR_NS = 3600 * INT64_C(1000000000);

static int64_t raw_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* A clock of exactly 2.5 ticks a ns that stood at 1e9 when CLOCK_MONOTONIC_RAW stood at `zero_ns`. */
static const uint64_t TICKS_AT_ZERO = 1000000000;

static uint64_t ticks_at(int64_t zero_ns, int64_t ns)
{
    return TICKS_AT_ZERO + (uint64_t)((ns - zero_ns) / 2 * 5);
}

static uint64_t read_exact(void *state)
{
    return ticks_at(*(const int64_t *)state, raw_ns());
}

static const struct iwi_clock_ops exact_ops = {.name = "exact", .read = read_exact};

/* It believes to tick 2 ppm faster than it does, as after a short calibration. */
static const double BELIEVED_HZ = 2.5e9 * (1.0 + 2e-6);

/* Off by so much, counted as ns of that clock. */
static double error_ns(const struct iwi_clock_bridge *bridge, int64_t zero_ns, int64_t at_ns)
{
    const uint64_t exact = ticks_at(zero_ns, at_ns), got = iwi_clock_bridge_ticks(bridge, at_ns);

    return fabs((double)(int64_t)(got - exact)) / 2.5;
}

static struct iwi_tie exact_tie(int64_t zero_ns, int64_t at_ns)
{
    return (struct iwi_tie){.ticks = ticks_at(zero_ns, at_ns), .width_ticks = 1, .raw_ns = at_ns};
}

static void instants_between_ties_are_right_to_the_tick(void **state)
{
    const struct iwi_clock clock = {.ops = &exact_ops, .hz = BELIEVED_HZ};
    const int64_t zero_ns = HOUR_NS;
    const struct iwi_clock_bridge bridge = {.clock = &clock,
                                            .earlier = exact_tie(zero_ns, zero_ns + 7 * SECOND_NS),
                                            .later = exact_tie(zero_ns, zero_ns + 17 * SECOND_NS)};

    (void)state;
    for (int64_t ns = 7 * SECOND_NS; ns <= 17 * SECOND_NS; ns += 12345678) {
        assert_int_equal(iwi_clock_bridge_ticks(&bridge, zero_ns + ns), ticks_at(zero_ns, zero_ns + ns));
    }
}

static void instants_outside_follow_the_rate_between_ties(void **state)
{
    const struct iwi_clock clock = {.ops = &exact_ops, .hz = BELIEVED_HZ};
    const int64_t zero_ns = HOUR_NS;
    const struct iwi_clock_bridge bridge = {.clock = &clock,
                                            .earlier = exact_tie(zero_ns, zero_ns + 7 * SECOND_NS),
                                            .later = exact_tie(zero_ns, zero_ns + 17 * SECOND_NS)};

    (void)state;
    assert_int_equal(iwi_clock_bridge_ticks(&bridge, zero_ns + 2), TICKS_AT_ZERO + 5);
    assert_int_equal(iwi_clock_bridge_ticks(&bridge, zero_ns + 100 * SECOND_NS),
                     TICKS_AT_ZERO + 100 * UINT64_C(2500000000));
    assert_int_equal(iwi_clock_bridge_ticks(&bridge, 0), 0); /* before the clock began */
}

static void a_single_tie_is_extended_by_the_believed_rate(void **state)
{
    const struct iwi_clock clock = {.ops = &exact_ops, .hz = BELIEVED_HZ};
    const struct iwi_tie tie = exact_tie(HOUR_NS, HOUR_NS);
    const struct iwi_clock_bridge bridge = {.clock = &clock, .earlier = tie, .later = tie};

    (void)state;
    /* 1 s at 2 ppm: 2 us */
    assert_true(fabs(error_ns(&bridge, HOUR_NS, HOUR_NS + SECOND_NS) - 2000.0) < 1.0);
}

/* The last tie is two hours old: extrapolated by the believed rate now would be off by 14 ms. */
static void two_hours_are_mended_by_renewing(void **state)
{
    int64_t zero_ns = raw_ns() - 3 * HOUR_NS;
    const struct iwi_clock clock = {.ops = &exact_ops, .hz = BELIEVED_HZ, .state = &zero_ns};
    const struct iwi_tie old = exact_tie(zero_ns, raw_ns() - 2 * HOUR_NS);
    struct iwi_clock_bridge bridge = {.clock = &clock, .earlier = old, .later = old};
    const int64_t now_ns = raw_ns();
    double bound_ns;

    (void)state;
    assert_true(error_ns(&bridge, zero_ns, now_ns) > 1e6);
    iwi_clock_bridge_renew(&bridge);
    bound_ns = (double)bridge.later.width_ticks / 2.5 + 2.0;
    assert_true(bound_ns < 1e5);
    assert_true(error_ns(&bridge, zero_ns, now_ns) <= bound_ns);
    assert_true(error_ns(&bridge, zero_ns, now_ns - HOUR_NS) <= bound_ns);
    assert_true(error_ns(&bridge, zero_ns, old.raw_ns) <= 1.0);
}

static void ties_close_to_each_other_make_no_rate(void **state)
{
    int64_t zero_ns = raw_ns() - HOUR_NS;
    const struct iwi_clock clock = {.ops = &exact_ops, .hz = 2.5e9, .state = &zero_ns};
    struct iwi_clock_bridge bridge;
    struct iwi_tie first;

    (void)state;
    iwi_clock_bridge_begin(&bridge, &clock);
    first = bridge.earlier;
    for (int i = 0; i < 3; i++) {
        const int64_t before_ns = bridge.later.raw_ns;

        iwi_clock_bridge_renew(&bridge);
        if (bridge.later.raw_ns - before_ns < 10000000) {
            assert_int_equal(bridge.earlier.raw_ns, first.raw_ns);
        }
        first = bridge.earlier;
        /* a second on: bad rates of ties of some us would be off by far more */
        assert_true(error_ns(&bridge, zero_ns, bridge.later.raw_ns + SECOND_NS) < 1e5);
    }
}

static void the_same_clock_needs_no_bridge(void **state)
{
    const struct iwi_clock clock = {.ops = &iwi_clock_monotonic_raw, .hz = 1e9};
    struct iwi_clock_bridge bridge;

    (void)state;
    iwi_clock_bridge_begin(&bridge, &clock);
    iwi_clock_bridge_renew(&bridge);
    assert_int_equal(iwi_clock_bridge_ticks(&bridge, INT64_C(123456789012345)), INT64_C(123456789012345));
    assert_int_equal(iwi_clock_bridge_ticks(&bridge, 0), 0);
}

/* Tightest of several, since others interrupt between the two readings. */
static void the_real_clock_agrees(void **state)
{
    const struct timespec pause = {.tv_nsec = 30000000};
    struct iwi_clock clock;
    struct iwi_clock_bridge bridge;
    double best_ns = INFINITY;

    (void)state;
    iwi_clock_open("", &clock);
    iwi_clock_bridge_begin(&bridge, &clock);
    for (int i = 0; i < 10; i++) {
        struct iwi_tie tie;

        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        tie = iwi_clock_tie(&clock);
        iwi_clock_bridge_renew(&bridge);
        best_ns = fmin(
            best_ns, fabs(iwi_clock_ns(&clock, (double)(int64_t)(iwi_clock_bridge_ticks(&bridge, tie.raw_ns) -
                                                                 tie.ticks))));
    }
    assert_true(best_ns < 2000.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instants_between_ties_are_right_to_the_tick),
        cmocka_unit_test(instants_outside_follow_the_rate_between_ties),
        cmocka_unit_test(a_single_tie_is_extended_by_the_believed_rate),
        cmocka_unit_test(two_hours_are_mended_by_renewing),
        cmocka_unit_test(ties_close_to_each_other_make_no_rate),
        cmocka_unit_test(the_same_clock_needs_no_bridge),
        cmocka_unit_test(the_real_clock_agrees),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
