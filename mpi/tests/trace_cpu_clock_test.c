/* The clocks agree with the kernel's, whether the thread keeps its CPU or not, whatever the counter does.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <stdlib.h>
#include <time.h>

#include "mpi/trace/cpu_clock.h"

static int64_t kernel_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t clock_ns(struct iwi_cpu_clock *clock)
{
    return (int64_t)iwi_cpu_ns(clock, iwi_thread_ns(clock));
}

static void work(int64_t for_ns)
{
    int64_t end = (int64_t)iwi_wall_ns() + for_ns;

    while ((int64_t)iwi_wall_ns() < end) {
    }
}

/* The best of many: on a shared machine the thread may lose its CPU between the two readings. */
static void it_agrees_with_the_kernel(void **state)
{
    struct iwi_cpu_clock clock;
    int64_t best = INT64_MAX;

    (void)state;
    iwi_cpu_clock_init(&clock);
    for (int i = 0; i < 200 && best > 20000; i++) {
        work(200000);
        int64_t difference = llabs(clock_ns(&clock) - kernel_ns());
        best = difference < best ? difference : best;
    }
    assert_true(best < 200000);
}

static void sleep_is_no_cpu_time(void **state)
{
    const struct timespec moment = {0, 20000000};
    struct iwi_cpu_clock clock;
    int64_t least = INT64_MAX;

    (void)state;
    iwi_cpu_clock_init(&clock);
    for (int i = 0; i < 50 && least >= 10000000; i++) { /* time that the host takes may count as ours */
        int64_t before = clock_ns(&clock);
        (void)nanosleep(&moment, NULL);
        int64_t used = clock_ns(&clock) - before;
        least = used < least ? used : least;
    }
    assert_true(least < 10000000);
}

/* What the tracer counts on: the mark does not survive a change of threads on the CPU. */
static void the_mark_is_cleared_when_the_thread_sleeps(void **state)
{
    const struct timespec moment = {0, 1000000};
    struct iwi_cpu_clock clock;

    (void)state;
    iwi_cpu_clock_init(&clock);
    if (clock.mark == NULL) {
        assert_string_equal(iwi_cpu_clock_name(&clock), "syscall");
        skip();
    }
    assert_string_equal(iwi_cpu_clock_name(&clock), "rseq");
    (void)iwi_cpu_clock_ask(&clock);
    (void)nanosleep(&moment, NULL);
    assert_true(*clock.mark != clock.armed);
}

static void without_the_mark_the_kernel_is_asked_each_time(void **state)
{
    struct iwi_cpu_clock clock;

    (void)state;
    iwi_cpu_clock_init(&clock);
    clock.mark = NULL;
    assert_string_equal(iwi_cpu_clock_name(&clock), "syscall");
    int64_t first = kernel_ns();
    int64_t between = clock_ns(&clock);
    int64_t last = kernel_ns();
    assert_true(first <= between && between <= last);
}

/* ---- wall time by the counter ---- */

static void wall_time_is_the_kernels_and_never_goes_back(void **state)
{
    struct iwi_cpu_clock clock;
    uint64_t begin = iwi_wall_ns();
    uint64_t last = begin;
    int outside = 0;
    int readings = 0;

    (void)state;
    iwi_cpu_clock_init(&clock);
    while (last < begin + 200000000) {
        uint64_t before = iwi_wall_ns();
        uint64_t now = iwi_thread_ns(&clock);
        uint64_t after = iwi_wall_ns();
        assert_true(now >= last);
        outside += now + 2000 < before || now > after + 2000;
        readings++;
        last = now;
    }
    assert_true(outside <= readings / 100); /* a virtual machine may lose its CPU between two counts */
}

/* A counter of 2 GHz that the kernel is asked about every 10 ms and a bit. */
enum { SPAN_TICKS = 20000000, LATE_TICKS = 2 };

static struct iwi_tick_clock measured_clock(uint64_t *ticks_p, uint64_t *now_ns_p)
{
    struct iwi_tick_clock clock = {.has_counter = true};

    *ticks_p = UINT64_C(1) << 60;
    *now_ns_p = UINT64_C(1) << 40;
    assert_int_equal(iwi_tick_clock_set(&clock, *ticks_p, *now_ns_p), *now_ns_p);
    assert_int_equal(clock.span_ticks, 0); /* one reading tells no rate */
    *ticks_p += SPAN_TICKS;
    *now_ns_p += SPAN_TICKS / 2;
    assert_int_equal(iwi_tick_clock_set(&clock, *ticks_p, *now_ns_p), *now_ns_p);
    assert_int_equal(clock.span_ticks, SPAN_TICKS);
    return clock;
}

static uint64_t time_at(const struct iwi_tick_clock *clock, uint64_t ticks)
{
    return clock->ns + ((ticks - clock->ticks) * clock->rate >> 32);
}

/* The kernel's time runs 10 ppm slower from now on: what the counter is ahead is made up for, not taken back. */
static void a_counter_that_runs_ahead_is_slowed_down(void **state)
{
    uint64_t ticks, now_ns;
    struct iwi_tick_clock clock = measured_clock(&ticks, &now_ns);

    (void)state;
    for (int i = 0; i < 20; i++) {
        uint64_t passed = clock.span_ticks + LATE_TICKS;
        uint64_t latest = time_at(&clock, ticks + clock.span_ticks - 1);
        ticks += passed;
        now_ns += passed / 2 - 100;
        uint64_t given = iwi_tick_clock_set(&clock, ticks, now_ns);
        assert_true(given >= latest);
        assert_true(given - now_ns <= 100);
        assert_true(clock.span_ticks > 0);
    }
    assert_true(clock.ns - now_ns <= 2);
}

static void a_counter_that_is_far_ahead_is_not_used_again(void **state)
{
    uint64_t ticks, now_ns;
    struct iwi_tick_clock clock = measured_clock(&ticks, &now_ns);

    (void)state;
    ticks += SPAN_TICKS;
    now_ns += SPAN_TICKS / 4;
    assert_int_equal(iwi_tick_clock_set(&clock, ticks, now_ns), now_ns);
    assert_false(clock.has_counter);
    assert_int_equal(clock.span_ticks, 0);
    assert_true(iwi_tick_clock_ask(&clock) <= iwi_wall_ns());
}

/* The counter went on, the kernel's time did not, or the other way round. */
static void a_rate_that_cannot_be_is_measured_again(void **state)
{
    uint64_t ticks, now_ns;
    struct iwi_tick_clock clock = measured_clock(&ticks, &now_ns);

    (void)state;
    ticks += 100 * (uint64_t)SPAN_TICKS;
    now_ns += SPAN_TICKS / 2;
    assert_int_equal(iwi_tick_clock_set(&clock, ticks, now_ns), now_ns);
    assert_int_equal(clock.span_ticks, 0);
    ticks += SPAN_TICKS;
    now_ns += SPAN_TICKS / 2;
    assert_int_equal(iwi_tick_clock_set(&clock, ticks, now_ns), now_ns);
    assert_int_equal(clock.span_ticks, SPAN_TICKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_agrees_with_the_kernel),
        cmocka_unit_test(sleep_is_no_cpu_time),
        cmocka_unit_test(the_mark_is_cleared_when_the_thread_sleeps),
        cmocka_unit_test(without_the_mark_the_kernel_is_asked_each_time),
        cmocka_unit_test(wall_time_is_the_kernels_and_never_goes_back),
        cmocka_unit_test(a_counter_that_runs_ahead_is_slowed_down),
        cmocka_unit_test(a_counter_that_is_far_ahead_is_not_used_again),
        cmocka_unit_test(a_rate_that_cannot_be_is_measured_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
