/* Calibration on this machine: costs that are possible, and the thread as it was before.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/inject.h>

#include <sched.h>
#include <string.h>

#include "support/support.h"

static struct iwt_log l;

static int begin(void **state)
{
    (void)state;
    iwt_log_init(&l);
    return 0;
}

static void assert_possible(const iw_inject_costs *costs)
{
    /* an interrupt, or two switches of context, and back: not below 0.2 us, not above 1 ms anywhere */
    assert_true(costs->overhead_ns > 200 && costs->overhead_ns < 1e6);
    assert_true(costs->floor_ns > 200 && costs->floor_ns < 1e6);
    assert_true(costs->gap_ns > 0 && costs->gap_ns < 1e6);
    assert_true(costs->late_share >= 0 && costs->late_share <= 1.5);
    assert_true(costs->late_p50_ns >= 0 && costs->late_p50_ns <= costs->late_p99_ns);
}

static void calibrate(iw_back_end back_end)
{
    iw_inject_costs costs = {0};
    cpu_set_t before, after;
    iw_status status;

    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    status = iw_inject_calibrate(&l.log, back_end, IW_INJECT_CALIBRATE_NS, &costs);
    for (int i = 0; i < 4 && status == IW_ERR_UNSUPPORTED && strstr(l.text, "too busy") != NULL; i++) {
        iwt_log_init(&l);
        status = iw_inject_calibrate(&l.log, back_end, IW_INJECT_CALIBRATE_NS, &costs);
    }
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    if (status == IW_ERR_UNSUPPORTED && back_end == IW_BACK_END_FIFO) {
        iwt_assert_logged(&l, "SCHED_FIFO");
        skip();
    }
    assert_ok(status);
    assert_possible(&costs);
}

static void the_timers_costs_are_possible(void **state)
{
    (void)state;
    calibrate(IW_BACK_END_TIMER);
}

static void the_fifo_threads_costs_are_possible(void **state)
{
    (void)state;
    calibrate(IW_BACK_END_FIFO);
}

static void too_short_and_too_long_are_refused(void **state)
{
    iw_inject_costs costs;

    (void)state;
    assert_status(iw_inject_calibrate(&l.log, IW_BACK_END_TIMER, 1000000, &costs), IW_ERR_RANGE);
    assert_status(iw_inject_calibrate(&l.log, IW_BACK_END_TIMER, INT64_MAX, &costs), IW_ERR_RANGE);
    assert_status(iw_inject_calibrate(&l.log, IW_BACK_ENDS, IW_INJECT_CALIBRATE_NS, &costs), IW_ERR_RANGE);
}

static void back_ends_have_names(void **state)
{
    (void)state;
    assert_string_equal(iw_back_end_name(IW_BACK_END_TIMER), "timer");
    assert_string_equal(iw_back_end_name(IW_BACK_END_FIFO), "fifo");
    assert_string_equal(iw_back_end_name(IW_BACK_END_SLEEP), "sleep");
    assert_string_equal(iw_back_end_name(IW_BACK_ENDS), "?");
}

static void sleeping_has_known_costs(void **state)
{
    iw_inject_costs costs;

    (void)state;
    assert_ok(iw_inject_calibrate(&l.log, IW_BACK_END_SLEEP, IW_INJECT_CALIBRATE_NS, &costs));
    assert_true(costs.floor_ns == 1e6 && costs.overhead_ns == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_timers_costs_are_possible, begin),
        cmocka_unit_test_setup(the_fifo_threads_costs_are_possible, begin),
        cmocka_unit_test_setup(too_short_and_too_long_are_refused, begin),
        cmocka_unit_test_setup(back_ends_have_names, begin),
        cmocka_unit_test_setup(sleeping_has_known_costs, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
