/* The stack of interrupts above a thread: time goes to what is innermost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/attribution/method.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "support/support.h"

enum { THREAD = 1, TICK = 2, SOFTIRQ = 3 };

struct bench {
    struct iwi_shares shares;
    struct iwi_method method;
    struct iwi_nesting nesting;
};

static void begin(struct bench *bench)
{
    *bench = (struct bench){.method = {.count = 1}};
    bench->method.shares = &bench->shares;
    iwi_nesting_begin(&bench->nesting, &bench->method, 0);
}

static void expect_share(const struct bench *bench, size_t i, uint64_t at, uint64_t ticks, uint32_t source)
{
    assert_true(i < bench->shares.count);
    assert_int_equal(bench->shares.array[i].at, at);
    assert_int_equal(bench->shares.array[i].ticks, ticks);
    assert_int_equal(bench->shares.array[i].source, source);
}

static void an_interrupt_takes_the_time_from_entry_to_exit(void **state)
{
    struct bench bench;

    (void)state;
    begin(&bench);
    assert_ok(iwi_nesting_enter(&bench.nesting, 100, TICK));
    assert_ok(iwi_nesting_leave(&bench.nesting, 130));
    assert_int_equal(bench.shares.count, 1);
    expect_share(&bench, 0, 100, 30, TICK);
    free(bench.shares.array);
}

static void nested_time_is_not_counted_twice(void **state)
{
    struct bench bench;

    (void)state;
    begin(&bench);
    assert_ok(iwi_nesting_switch(&bench.nesting, 100, THREAD));
    assert_ok(iwi_nesting_enter(&bench.nesting, 110, SOFTIRQ));
    assert_ok(iwi_nesting_enter(&bench.nesting, 115, TICK));
    assert_ok(iwi_nesting_leave(&bench.nesting, 118));
    assert_ok(iwi_nesting_leave(&bench.nesting, 140));
    assert_ok(iwi_nesting_switch(&bench.nesting, 200, IWI_NO_SOURCE));
    assert_int_equal(bench.shares.count, 5);
    expect_share(&bench, 0, 100, 10, THREAD);
    expect_share(&bench, 1, 110, 5, SOFTIRQ);
    expect_share(&bench, 2, 115, 3, TICK);
    expect_share(&bench, 3, 118, 22, SOFTIRQ);
    expect_share(&bench, 4, 140, 60, THREAD);
    free(bench.shares.array);
}

static void the_measuring_thread_takes_nothing(void **state)
{
    struct bench bench;

    (void)state;
    begin(&bench);
    assert_ok(iwi_nesting_switch(&bench.nesting, 100, THREAD));
    assert_ok(iwi_nesting_switch(&bench.nesting, 150, IWI_NO_SOURCE));
    assert_ok(iwi_nesting_switch(&bench.nesting, 900, THREAD));
    assert_int_equal(bench.shares.count, 1);
    expect_share(&bench, 0, 100, 50, THREAD);
    free(bench.shares.array);
}

static void an_exit_without_entry_changes_nothing(void **state)
{
    struct bench bench;

    (void)state;
    begin(&bench);
    assert_ok(iwi_nesting_leave(&bench.nesting, 50)); /* tracing began inside of an interrupt */
    assert_ok(iwi_nesting_enter(&bench.nesting, 100, TICK));
    assert_ok(iwi_nesting_leave(&bench.nesting, 130));
    assert_int_equal(bench.shares.count, 1);
    expect_share(&bench, 0, 100, 30, TICK);
    free(bench.shares.array);
}

static void after_lost_events_nothing_is_assumed(void **state)
{
    struct bench bench;

    (void)state;
    begin(&bench);
    assert_ok(iwi_nesting_enter(&bench.nesting, 100, TICK));
    assert_ok(iwi_nesting_reset(&bench.nesting, 5000));
    assert_ok(iwi_nesting_enter(&bench.nesting, 6000, SOFTIRQ));
    assert_ok(iwi_nesting_leave(&bench.nesting, 6010));
    assert_int_equal(bench.shares.count, 2);
    expect_share(&bench, 0, 100, 4900, IWI_NO_SOURCE);
    expect_share(&bench, 1, 6000, 10, SOFTIRQ);
    free(bench.shares.array);
}

static void entries_without_exits_do_not_overflow(void **state)
{
    struct bench bench;

    (void)state;
    begin(&bench);
    for (uint64_t at = 1; at < 1000; at++) {
        assert_ok(iwi_nesting_enter(&bench.nesting, at, TICK));
    }
    assert_ok(iwi_nesting_switch(&bench.nesting, 1000, IWI_NO_SOURCE));
    assert_int_equal(bench.nesting.depth, 0);
    free(bench.shares.array);
}

static void stamps_that_run_backwards_give_no_time(void **state)
{
    struct bench bench;

    (void)state;
    begin(&bench);
    assert_ok(iwi_nesting_enter(&bench.nesting, 100, TICK));
    assert_ok(iwi_nesting_leave(&bench.nesting, 90));
    assert_ok(iwi_nesting_enter(&bench.nesting, 95, TICK));
    assert_ok(iwi_nesting_leave(&bench.nesting, 130));
    assert_int_equal(bench.shares.count, 1);
    expect_share(&bench, 0, 100, 30, TICK);
    free(bench.shares.array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interrupt_takes_the_time_from_entry_to_exit),
        cmocka_unit_test(nested_time_is_not_counted_twice),
        cmocka_unit_test(the_measuring_thread_takes_nothing),
        cmocka_unit_test(an_exit_without_entry_changes_nothing),
        cmocka_unit_test(after_lost_events_nothing_is_assumed),
        cmocka_unit_test(entries_without_exits_do_not_overflow),
        cmocka_unit_test(stamps_that_run_backwards_give_no_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
