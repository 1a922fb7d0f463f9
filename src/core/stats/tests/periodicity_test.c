/* Ticks are periodic, whatever disturbs them within reason; what only looks regular is not.
 * SPDX-License-Identifier: BSD-3-Clause
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/support.h"

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/rng.h"
#include "core/stats/periodicity.h"

enum { MOST = 4000 };
static const double PERIOD_NS = 4e6; /* 250 Hz */

/* Uniform in (0, 1): draw `index` of a seed. */
static double unit(uint64_t seed, uint64_t index)
{
    return iwi_draw_unit((struct iwi_draw_id){seed, 0, IWI_DRAW_TEST, 0, 0}, index);
}

/* Normal by Box and Muller, from draws 2 `index` and the next of a seed. */
static double normal(uint64_t seed, uint64_t index)
{
    return sqrt(-2.0 * log(unit(seed, 2 * index))) * cos(2.0 * M_PI * unit(seed, 2 * index + 1));
}

static double period_of(const int64_t *times, size_t count)
{
    static double scratch[IWI_PERIOD_SCRATCH];

    return iwi_find_period(times, count, scratch);
}

struct series {
    int64_t times[MOST];
    size_t count;
};

/* Ticks with normal jitter; each is missing with that probability. */
static void make_ticks(struct series *s, size_t count, double jitter, double missing, uint64_t seed)
{
    s->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (unit(seed + 1000, i) >= missing) {
            s->times[s->count++] = llround(((double)i + 1.0 + jitter * normal(seed, i)) * PERIOD_NS);
        }
    }
}

/* Random events in between, so many for each tick. */
static void add_extras(struct series *s, double share, uint64_t seed)
{
    const size_t extras = (size_t)(share * (double)s->count);
    const double last = (double)s->times[s->count - 1];

    for (size_t i = 0; i < extras; i++) {
        s->times[s->count++] = llround(last * unit(seed + 2000, i));
    }
    iwi_sort(s->times, s->count, iwi_compare_i64);
}

static void assert_period(const struct series *s, double tolerance)
{
    const double period_ns = period_of(s->times, s->count);

    if (fabs(period_ns - PERIOD_NS) > tolerance * PERIOD_NS) {
        fail_msg("period %g instead of %g from %zu events", period_ns, PERIOD_NS, s->count);
    }
}

static void exact_ticks_have_their_exact_period(void **state)
{
    struct series s;

    (void)state;
    make_ticks(&s, 1000, 0.0, 0.0, 1);
    assert_true(period_of(s.times, s.count) == PERIOD_NS);
    make_ticks(&s, 11, 0.0, 0.0, 1);
    assert_true(period_of(s.times, s.count) == PERIOD_NS);
}

static void ticks_with_jitter_are_periodic(void **state)
{
    struct series s;

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        make_ticks(&s, 200, 0.04, 0.0, seed);
        assert_period(&s, 0.01);
    }
}

static void missing_beats_do_not_matter(void **state)
{
    struct series s;

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        make_ticks(&s, 500, 0.01, 0.2, seed);
        assert_period(&s, 0.01);
    }
}

static void events_between_the_beats_do_not_matter(void **state)
{
    struct series s;

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        make_ticks(&s, 500, 0.01, 0.05, seed);
        add_extras(&s, 0.3, seed);
        assert_period(&s, 0.01);
    }
}

static void timers_that_drift_are_periodic(void **state)
{
    struct series s = {.count = 500};
    double now = 0.0;

    (void)state;
    for (size_t i = 0; i < s.count; i++) {
        now += PERIOD_NS * (1.0 + 0.03 * normal(3, i)); /* sleep, work, sleep */
        s.times[i] = llround(now);
    }
    assert_period(&s, 0.01);
}

static void silence_in_between_does_not_matter(void **state)
{
    struct series s;

    (void)state;
    make_ticks(&s, 100, 0.0, 0.0, 1);
    for (size_t i = 50; i < s.count; i++) {
        s.times[i] += llround(1000.3 * PERIOD_NS);
    }
    assert_period(&s, 0.001);
}

static void too_few_events_say_nothing(void **state)
{
    struct series s;

    (void)state;
    make_ticks(&s, 10, 0.0, 0.0, 1);
    for (size_t count = 0; count <= s.count; count++) {
        assert_true(period_of(s.times, count) == 0.0);
    }
}

static void simultaneous_events_have_no_period(void **state)
{
    static const int64_t same[100];

    (void)state;
    assert_true(period_of(same, 100) == 0.0);
}

/* Gaps are exponential for shape 1, the sum of `shape` exponentials else. */
static unsigned false_alarms(size_t count, unsigned shape)
{
    struct series s = {.count = count};
    unsigned alarms = 0;

    for (uint64_t seed = 0; seed < 500; seed++) {
        double now = 0.0;

        for (size_t i = 0; i < count; i++) {
            for (unsigned k = 0; k < shape; k++) {
                now -= PERIOD_NS / shape * log(unit(seed, i * shape + k));
            }
            s.times[i] = llround(now);
        }
        alarms += period_of(s.times, s.count) > 0.0;
    }
    return alarms;
}

static void poisson_processes_are_not_periodic(void **state)
{
    static const size_t counts[] = {11, 12, 15, 20, 50, 200, 1000};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const unsigned alarms = false_alarms(counts[i], 1);

        if (alarms > 5) {
            fail_msg("%u of 500 Poisson processes of %zu events were called periodic", alarms, counts[i]);
        }
    }
}

static void gaps_of_one_size_but_wide_spread_are_not_periodic(void **state)
{
    (void)state;
    assert_true(false_alarms(200, 4) <= 5); /* coefficient of variation 0.5 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_ticks_have_their_exact_period),
        cmocka_unit_test(ticks_with_jitter_are_periodic),
        cmocka_unit_test(missing_beats_do_not_matter),
        cmocka_unit_test(events_between_the_beats_do_not_matter),
        cmocka_unit_test(timers_that_drift_are_periodic),
        cmocka_unit_test(silence_in_between_does_not_matter),
        cmocka_unit_test(too_few_events_say_nothing),
        cmocka_unit_test(simultaneous_events_have_no_period),
        cmocka_unit_test(poisson_processes_are_not_periodic),
        cmocka_unit_test(gaps_of_one_size_but_wide_spread_are_not_periodic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
