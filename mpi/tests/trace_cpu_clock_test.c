/* The CPU clock agrees with the kernel's, whether the thread keeps its CPU or not.
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
    return (int64_t)iwi_cpu_ns(clock, iwi_wall_ns());
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_agrees_with_the_kernel),
        cmocka_unit_test(sleep_is_no_cpu_time),
        cmocka_unit_test(the_mark_is_cleared_when_the_thread_sleeps),
        cmocka_unit_test(without_the_mark_the_kernel_is_asked_each_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
