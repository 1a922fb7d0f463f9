/* Back end fifo on this machine: it takes the CPU, leaves nothing, and is kept from taking it for good.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/injector.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/sysfile.h"
#include "injecting.h"
#include "support/support.h"

static const int64_t MS = 1000000;
static struct iwt_log l;
static cpu_set_t cpus_before;

/* On one CPU, where the detours are. */
static int begin(void **state)
{
    cpu_set_t here;

    (void)state;
    iwt_log_init(&l);
    assert_int_equal(sched_getaffinity(0, sizeof cpus_before, &cpus_before), 0);
    CPU_ZERO(&here);
    CPU_SET((size_t)sched_getcpu(), &here);
    return sched_setaffinity(0, sizeof here, &here);
}

static int end(void **state)
{
    (void)state;
    return sched_setaffinity(0, sizeof cpus_before, &cpus_before);
}

/* Skips the test where the right is missing. */
static iw_injector *start(iw_inject_plan *plan, const struct iwi_back_end_ops *ops)
{
    iw_injector *injector = NULL;
    const iw_status status = iwi_injector_start_logged(&l.log, plan, ops, NULL, &injector);

    if (status == IW_ERR_UNSUPPORTED) {
        iw_inject_plan_free(plan);
        skip();
    }
    assert_ok(status);
    return injector;
}

static void it_counts_what_came_and_leaves_nothing(void **state)
{
    static const char *const path = "/proc/sys/kernel/sched_rt_runtime_us";
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 100000);
    char limit_before[32], limit_after[32];
    struct rlimit rttime_before, rttime_after;
    const size_t threads = iwt_thread_count(1);
    const int64_t began = iwi_now_ns();
    iw_inject_counts counts;
    iw_injector *injector;
    int64_t came;

    (void)state;
    (void)iwi_sysfile_line("", path, limit_before, sizeof limit_before);
    assert_int_equal(getrlimit(RLIMIT_RTTIME, &rttime_before), 0);
    injector = start(plan, &iwi_back_end_fifo);
    assert_int_equal(iwt_thread_count(threads + 2), threads + 2);
    (void)iwt_watch(1000 * MS, 95000);
    iw_injector_stop(injector, &counts);
    came = (iwi_now_ns() - began) / MS;
    assert_int_equal(iwt_thread_count(threads), threads);
    assert_in_range(counts.made_count + counts.skipped_count + 1, came, came + 3);
    assert_true(counts.made_count > 0);
    assert_false(counts.is_cut_short);
    (void)iwi_sysfile_line("", path, limit_after, sizeof limit_after);
    assert_string_equal(limit_before, limit_after);
    assert_int_equal(getrlimit(RLIMIT_RTTIME, &rttime_after), 0);
    assert_memory_equal(&rttime_before, &rttime_after, sizeof rttime_before);
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
    iw_inject_plan_free(plan);
}

static void what_is_too_late_is_skipped(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, 20 * MS, 5 * MS);
    iw_injector *injector = start(plan, &iwi_back_end_fifo);
    iw_inject_counts counts;

    (void)state;
    for (int i = 0; i < 5; i++) {
        iwt_keep_out_too_long(injector);
        (void)iwt_watch(MS, 1000);
    }
    assert_true(iwt_meet_more(injector, 0));
    iw_injector_stop(injector, &counts);
    assert_true(counts.skipped_count >= 5);
    assert_true(counts.late_max_ns <= (double)IWI_LATE_MOST_NS);
    iw_inject_plan_free(plan);
}

/* Without a limit of the kernel or with the usual one: 0.855 s. */
static void what_is_too_long_for_it_is_told(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, 4000 * MS, 3000 * MS);

    (void)state;
    iw_injector_stop(start(plan, &iwi_back_end_fifo), NULL);
    iwt_assert_logged(&l, "fifo skips 100 of the plan's 100 detours");
    assert_int_equal(l.warnings, CPU_COUNT(&cpus_before) > 1 ? 1 : l.warnings);
    iw_inject_plan_free(plan);
}

/* Of the detours in the book, those in which this thread did not read the clock. */
static size_t count_unseen(const struct iwi_logbook *book, const int64_t (*gaps)[2], size_t gap_count)
{
    size_t count = 0, at = 0;

    for (size_t i = 0; i < book->count; i++) {
        while (at < gap_count && gaps[at][1] < book->made[i].end_ns) {
            at++;
        }
        count += at < gap_count && gaps[at][0] <= book->made[i].entry_ns;
    }
    return count;
}

/* Holds however busy the CPU is: whoever has it, this thread does not. */
static void it_takes_the_cpu_from_the_thread(void **state)
{
    enum { ROOM = 5000 };
    static int64_t gaps[ROOM][2];
    static struct iwi_made made[ROOM];
    struct iwi_logbook book = {.made = made, .room = ROOM};
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 100000);
    iw_injector *injector = start(plan, &iwi_back_end_fifo); /* or skips */
    size_t gap_count = 0;

    (void)state;
    iw_injector_stop(injector, NULL);
    assert_ok(iwi_injector_start_logged(&l.log, plan, &iwi_back_end_fifo, &book, &injector));
    for (int64_t last = iwi_now_ns(), until = last + 500 * MS, now; last < until; last = now) {
        now = iwi_now_ns();
        if (now - last > 50000 && gap_count < ROOM) {
            gaps[gap_count][0] = last;
            gaps[gap_count++][1] = now;
        }
    }
    iw_injector_stop(injector, NULL);
    assert_true(book.count > 50);
    assert_true(count_unseen(&book, gaps, gap_count) >= book.count * 9 / 10); /* not the last, or a rest */
    iw_inject_plan_free(plan);
}

static void it_stops_at_once_however_long_the_detour(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, 1000 * MS, 700 * MS);
    const size_t threads = iwt_thread_count(1);

    (void)state;
    assert_int_equal(sched_setaffinity(0, sizeof cpus_before, &cpus_before), 0); /* may go elsewhere */
    for (int round = 0; round < 5; round++) {
        iw_injector_stop(start(plan, &iwi_back_end_fifo), NULL);
        assert_int_equal(iwt_thread_count(threads), threads);
    }
    iw_inject_plan_free(plan);
}

static void pauses_and_phases_are_obeyed(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_PHASE, MS, 50000);
    iw_injector *injector = start(plan, &iwi_back_end_fifo);
    uint64_t made;

    (void)state;
    for (int phase = 0; phase < 100; phase++) {
        iw_injector_phase(injector);
        (void)iwt_watch(MS, 1000);
    }
    assert_true(iwt_meet_more(injector, 0));
    iw_injector_pause(injector);
    made = injector->counts.made_count; /* nobody else touches it in a pause */
    (void)iwt_watch(50 * MS, 1000);
    iw_injector_pause(injector);
    assert_int_equal(injector->counts.made_count, made);
    iw_injector_go_on(injector);
    assert_true(iwt_meet_more(injector, made));
    iw_injector_stop(injector, NULL);
    iw_inject_plan_free(plan);
}

/* 89 % of the time is more than 90 % of what the kernel allows real-time threads. */
static void it_stays_below_the_kernels_limit(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, 10 * MS, 8900000);
    iw_injector *injector = start(plan, &iwi_back_end_fifo);
    const int64_t began = iwi_now_ns();
    iw_inject_counts counts;

    (void)state;
    while (iwi_now_ns() < began + 2000 * MS) {
    }
    iw_injector_stop(injector, &counts);
    assert_true(counts.skipped_count > 0);
    assert_true(counts.made_ns <= 0.9 * 0.95 * (double)(iwi_now_ns() - began + 1000 * MS));
    iw_inject_plan_free(plan);
}

static iw_status open_with_dead_watchdog(const iw_log *log, iw_injector *injector)
{
    const struct iwi_fifo_limits limits = {
        .heartbeat_ns = INT64_C(3600000000000), .silence_ns = 100000000, .overrun_ns = 1000000000};

    return iwi_fifo_open(log, injector, &limits);
}

/* Made in the first 100 ms after the watchdog began, whenever it could. */
static void without_the_watchdog_no_detour_is_made(void **state)
{
    struct iwi_back_end_ops ops = iwi_back_end_fifo;
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 50000);
    bool is_seen = false;

    (void)state;
    ops.open = open_with_dead_watchdog;
    for (int attempt = 0; attempt < 10 && !is_seen; attempt++) {
        iw_injector *injector = start(plan, &ops);
        iw_inject_counts counts;

        (void)iwt_watch(500 * MS, 1000);
        iw_injector_stop(injector, &counts);
        is_seen = counts.made_count >= 1 && counts.made_count <= 200 && counts.skipped_count >= 290;
    }
    assert_true(is_seen);
    iw_inject_plan_free(plan);
}

/* The watchdog takes a detour of 300 ms for overdue after 100 ms. */
static iw_status open_with_strict_watchdog(const iw_log *log, iw_injector *injector)
{
    const struct iwi_fifo_limits limits = {
        .heartbeat_ns = 10000000, .silence_ns = 2000000000, .overrun_ns = -200000000};

    return iwi_fifo_open(log, injector, &limits);
}

/* Although who starts it is bound to the CPU of the detours. */
static void the_watchdog_ends_what_does_not_end(void **state)
{
    struct iwi_back_end_ops ops = iwi_back_end_fifo;
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, 400 * MS, 300 * MS);
    bool is_seen = false;

    (void)state;
    if (CPU_COUNT(&cpus_before) < 2) { /* it needs a CPU of its own for that */
        iw_inject_plan_free(plan);
        skip();
    }
    ops.open = open_with_strict_watchdog;
    for (int attempt = 0; attempt < 10 && !is_seen; attempt++) {
        iw_injector *injector = start(plan, &ops);
        iw_inject_counts counts;

        for (const int64_t until = iwi_now_ns() + 1500 * MS; iwi_now_ns() < until;) {
            (void)usleep(1000);
        }
        iw_injector_stop(injector, &counts);
        is_seen = counts.is_cut_short && counts.made_count >= 1 && counts.skipped_count >= 1;
    }
    assert_true(is_seen);
    iw_inject_plan_free(plan);
}

/* 0: there is no thread of that name yet. */
static pid_t thread_named(const char *name)
{
    DIR *tasks = opendir("/proc/self/task");
    pid_t found = 0;

    assert_non_null(tasks);
    for (const struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks)) {
        char path[64], comm[32];

        (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", entry->d_name);
        if (iwi_sysfile_line("", path, comm, sizeof comm) && strcmp(comm, name) == 0) {
            found = (pid_t)strtol(entry->d_name, NULL, 10);
        }
    }
    (void)closedir(tasks);
    return found;
}

static void the_watchdog_is_on_other_cpus(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 10000);
    cpu_set_t cpus;
    iw_injector *injector;
    pid_t watchdog = 0;

    (void)state;
    if (CPU_COUNT(&cpus_before) < 2) {
        iw_inject_plan_free(plan);
        skip();
    }
    injector = start(plan, &iwi_back_end_fifo);
    for (int i = 0; i < 5000 && watchdog == 0; i++) {
        (void)usleep(1000);
        watchdog = thread_named("iw-watchdog");
    }
    assert_true(watchdog != 0);
    assert_int_equal(sched_getaffinity(watchdog, sizeof cpus, &cpus), 0);
    iw_injector_stop(injector, NULL);
    assert_true(CPU_COUNT(&cpus) > 0);
    assert_false(CPU_ISSET((size_t)sched_getcpu(), &cpus)); /* this thread is bound to the detours' */
    iw_inject_plan_free(plan);
}

static void who_has_no_right_is_told(void **state)
{
    const struct rlimit none = {0};
    pid_t child;
    int how = 0;

    (void)state;
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 10000);
        iw_injector *injector = NULL;
        iw_status status;

        if (setrlimit(RLIMIT_RTPRIO, &none) != 0 || (geteuid() == 0 && setuid(65534) != 0)) {
            _exit(77);
        }
        status = iw_injector_start(&l.log, plan, IW_BACK_END_FIFO, &injector);
        _exit(status == IW_ERR_UNSUPPORTED && strstr(l.text, "CAP_SYS_NICE") != NULL &&
                      iwt_thread_count(1) == 1
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    if (WEXITSTATUS(how) == 77) { /* rights cannot be given up here */
        skip();
    }
    assert_int_equal(WEXITSTATUS(how), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_counts_what_came_and_leaves_nothing, begin, end),
        cmocka_unit_test_setup_teardown(what_is_too_late_is_skipped, begin, end),
        cmocka_unit_test_setup_teardown(what_is_too_long_for_it_is_told, begin, end),
        cmocka_unit_test_setup_teardown(it_takes_the_cpu_from_the_thread, begin, end),
        cmocka_unit_test_setup_teardown(it_stops_at_once_however_long_the_detour, begin, end),
        cmocka_unit_test_setup_teardown(pauses_and_phases_are_obeyed, begin, end),
        cmocka_unit_test_setup_teardown(it_stays_below_the_kernels_limit, begin, end),
        cmocka_unit_test_setup_teardown(without_the_watchdog_no_detour_is_made, begin, end),
        cmocka_unit_test_setup_teardown(the_watchdog_ends_what_does_not_end, begin, end),
        cmocka_unit_test_setup_teardown(the_watchdog_is_on_other_cpus, begin, end),
        cmocka_unit_test_setup_teardown(who_has_no_right_is_told, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
