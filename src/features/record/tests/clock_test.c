/* This machine's clocks: usable, at the rate they say, and forward.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/clock/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/fake_root.h"
#include "support/support.h"

static int64_t raw_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void the_chosen_clock_follows_the_systems(void **state)
{
    struct iwi_clock clock;
    uint64_t first;
    int64_t first_ns, ns;

    (void)state;
    iwi_clock_open("", &clock);
    first_ns = raw_ns();
    first = iwi_clock_now(&clock);
    while ((ns = raw_ns() - first_ns) < 20000000) {
    }
    /* a preemption between the readings of both clocks may take some milliseconds */
    assert_true(llabs(iwi_clock_whole_ns(&clock, iwi_clock_now(&clock) - first) - ns) < 100000000);
    assert_true(clock.error_ppm >= 0.0 && clock.error_ppm < 1000.0);
}

static void refining_tightens_the_bound(void **state)
{
    struct iwi_clock clock;
    double first_hz;

    (void)state;
    iwi_clock_open("", &clock);
    first_hz = clock.hz;
    while (raw_ns() - clock.first.raw_ns < 100000000 && clock.ops->hz == NULL) {
    }
    iwi_clock_refine(&clock);
    assert_true(fabs(clock.hz / first_hz - 1.0) < 1e-3);
    assert_true(clock.error_ppm < 1000.0);
}

static void ticks_and_nanoseconds_convert_both_ways(void **state)
{
    const struct iwi_clock clock = {.hz = 2.5e9};

    (void)state;
    assert_int_equal(iwi_clock_ticks(&clock, 1000), 2500);
    assert_int_equal(iwi_clock_whole_ns(&clock, 2500), 1000);
    assert_int_equal(iwi_clock_whole_ns(&clock, 2), 1);
    assert_int_equal(iwi_clock_whole_ns(&clock, 1), 0);
    assert_true(iwi_clock_ns(&clock, 1.0) == 0.4);
    /* ten days */
    assert_int_equal(iwi_clock_whole_ns(&clock, iwi_clock_ticks(&clock, INT64_C(864000000000001))),
                     INT64_C(864000000000001));
}

static void the_fallback_is_usable_and_counts_nanoseconds(void **state)
{
    struct iwi_clock clock = {.ops = &iwi_clock_monotonic_raw};
    const int64_t before = raw_ns();
    uint64_t now;

    (void)state;
    assert_true(iwi_clock_monotonic_raw.is_usable(""));
    assert_true(iwi_clock_monotonic_raw.hz() == 1e9);
    now = iwi_clock_now(&clock);
    assert_true(now >= (uint64_t)before && now <= (uint64_t)raw_ns());
}

#if defined(__x86_64__)
static void a_counter_that_the_kernel_distrusts_is_not_used(void **state)
{
    static const char available[] = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    char root[FAKE_ROOT_SIZE];

    (void)state;
    fake_root_make(root);
    fake_root_file(root, available, "hpet acpi_pm \n");
    assert_false(iwi_clock_tsc.is_usable(root));
    fake_root_remove(root);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_chosen_clock_follows_the_systems),
        cmocka_unit_test(refining_tightens_the_bound),
        cmocka_unit_test(ticks_and_nanoseconds_convert_both_ways),
        cmocka_unit_test(the_fallback_is_usable_and_counts_nanoseconds),
#if defined(__x86_64__)
        cmocka_unit_test(a_counter_that_the_kernel_distrusts_is_not_used),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
