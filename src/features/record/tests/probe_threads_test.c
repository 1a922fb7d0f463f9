/* The measuring threads: whether they stayed on their CPUs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/probe/probe.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "support/support.h"

enum { ROOM = 1 << 16 };

/* Static: threads that a failed test leaves must not lose what they work on. */
static struct bench {
    struct iwi_clock clock;
    struct iwi_cpus cpus;
    struct iwi_probe_threads probe_threads;
    struct iwt_log log;
} bench;

static void begin(void)
{
    const iw_measure_opts opts = IW_MEASURE_OPTS_INIT;
    const struct iwi_probe_run probe = {.ops = &iwi_probe_selfish, .clock = &bench.clock, .threshold = 9.0};

    iwt_log_init(&bench.log);
    iwi_clock_open("", &bench.clock);
    assert_ok(iwi_cpus_choose(&bench.log.log, NULL, 0, &bench.cpus));
    assert_ok(
        iwi_probe_threads_start(&bench.log.log, &opts, &bench.cpus, &probe, ROOM, &bench.probe_threads));
    assert_ok(iwi_probe_threads_prepare(&bench.log.log, &opts, &bench.probe_threads));
}

static void measure_and_warn(void)
{
    (void)iwi_probe_threads_open_window(&bench.probe_threads, &bench.clock, 10000000);
    iwi_probe_threads_join(&bench.probe_threads);
    iwi_probe_threads_warn_of_moved(&bench.log.log, &bench.probe_threads);
}

static void end(void)
{
    iwi_probe_threads_release(&bench.probe_threads);
    iwi_cpus_release(&bench.cpus);
}

/* As the kernel does when a CPU goes offline. */
static bool move(const struct iwi_worker *worker, uint32_t cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(worker->tid, sizeof one, &one) == 0;
}

static void threads_that_stay_are_not_mentioned(void **state)
{
    (void)state;
    begin();
    measure_and_warn();
    end();
    assert_string_equal(bench.log.text, "");
}

static void a_thread_that_was_moved_is_named(void **state)
{
    char expected[80];
    bool is_moved;

    (void)state;
    begin();
    if (bench.probe_threads.count < 2) {
        end();
        print_message("one CPU only\n");
        skip();
    }
    snprintf(expected, sizeof expected,
             "warning: the thread of CPU %u ended on CPU %u:", (unsigned)bench.cpus.numbers[0],
             (unsigned)bench.cpus.numbers[1]);
    is_moved = move(&bench.probe_threads.workers[0], bench.cpus.numbers[1]);
    measure_and_warn();
    end();
    assert_true(is_moved);
    assert_int_equal(bench.log.warnings, 1);
    iwt_assert_logged(&bench.log, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_stay_are_not_mentioned),
        cmocka_unit_test(a_thread_that_was_moved_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
