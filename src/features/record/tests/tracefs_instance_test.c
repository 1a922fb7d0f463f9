/* The private instance of tracefs: how it is set, and who removes it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/kernel/tracefs_instance.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include "tracefs_instances.h"

enum { PATIENCE_STEPS = 1000, PATIENCE_STEP_MS = 10, SETTING_SIZE = 256, NAME_SIZE = 64 };

/* A method on this thread. */
static struct method_bench bench;

static void begin(void)
{
    assert_true(method_bench_init(&bench, some_cpu(), gettid()));
    if (iwi_method_tracefs.open(&bench.method) != IW_OK) {
        fail_msg("refused: %s", bench.method.reason);
    }
}

/* Also the teardown: what a failed test leaves. */
static int end(void **state)
{
    (void)state;
    iwi_method_tracefs.close(&bench.method);
    method_bench_release(&bench);
    return 0;
}

/* ---- how it is set ---- */

static void read_setting(int tracing, const char *path, char text[SETTING_SIZE])
{
    char whole[128];

    snprintf(whole, sizeof whole, "instances/idlewave-%d/%s", (int)getpid(), path);
    assert_true(iwi_tracefs_read(tracing, whole, text, SETTING_SIZE));
}

static void expect_setting(int tracing, const char *path, const char *part)
{
    char text[SETTING_SIZE];

    read_setting(tracing, path, text);
    assert_non_null(strstr(text, part));
}

/* The kernel rounds up to whole pages. */
static void expect_buffer_kb(int tracing, uint32_t cpu, long least, long most)
{
    char path[64], text[SETTING_SIZE];

    snprintf(path, sizeof path, "per_cpu/cpu%u/buffer_size_kb", (unsigned)cpu);
    read_setting(tracing, path, text);
    assert_in_range(strtol(text, NULL, 10), least, most);
}

static void the_instance_is_set_to_the_measured_cpu_and_gone_after_close(void **state)
{
    const int tracing = open_tracefs_or_skip();
    char mask[64], clock_before[SETTING_SIZE], clock_after[SETTING_SIZE];

    (void)state;
    assert_true(iwi_tracefs_read(tracing, "trace_clock", clock_before, sizeof clock_before));
    begin();
    assert_true(has_instance(tracing, getpid()));
    expect_buffer_kb(tracing, bench.watched.cpu, 4096, 4200);
    if (sysconf(_SC_NPROCESSORS_CONF) > 1) {
        expect_buffer_kb(tracing, bench.watched.cpu > 0 ? 0 : 1, 1, 512);
    }
    snprintf(mask, sizeof mask, "%x", 1u << bench.watched.cpu % 32);
    expect_setting(tracing, "tracing_cpumask", mask);
    expect_setting(tracing, "trace_clock",
                   strcmp(bench.clock.ops->name, "tsc") == 0 ? "[x86-tsc]" : "[mono_raw]");
    expect_setting(tracing, "events/sched/sched_switch/enable", "1");
    expect_setting(tracing, "events/sched/sched_waking/enable", "0");
    expect_setting(tracing, "tracing_on", "1");
    assert_true(iwi_tracefs_read(tracing, "trace_clock", clock_after, sizeof clock_after));
    assert_string_equal(clock_after, clock_before);
    (void)end(NULL);
    assert_false(has_instance(tracing, getpid()));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and the guard with it */
    assert_int_equal(errno, ECHILD);
    assert_int_equal(close(tracing), 0);
}

/* ---- what is left ---- */

static void what_a_killed_process_leaves_is_removed(void **state)
{
    const int tracing = open_tracefs_or_skip();
    int ready[2], steps = 0;
    char byte;
    pid_t pid;

    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        begin();
        (void)!write(ready[1], "", 1);
        for (;;) {
            (void)iwi_method_tracefs.drain(&bench.method);
        }
    }
    assert_int_equal(close(ready[1]), 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(close(ready[0]), 0);
    assert_true(has_instance(tracing, pid));
    assert_int_equal(kill(pid, SIGKILL), 0);
    while (waitpid(-1, NULL, WNOHANG) >= 0 && steps++ < PATIENCE_STEPS) { /* it, and then its guard */
        (void)poll(NULL, 0, PATIENCE_STEP_MS);
    }
    assert_true(steps < PATIENCE_STEPS);
    assert_false(has_instance(tracing, pid));
    assert_int_equal(close(tracing), 0);
}

static bool has_folder(int tracing, const char *name)
{
    char path[96];

    snprintf(path, sizeof path, "instances/%.*s", NAME_SIZE - 1, name);
    return faccessat(tracing, path, F_OK, 0) == 0;
}

/* `names` are instances to be made; those that stay, by their bits, are removed here. */
static void expect_that_stay(int tracing, char (*names)[NAME_SIZE], size_t count, unsigned staying)
{
    unsigned stayed = 0;
    char path[96];

    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "instances/%.*s", NAME_SIZE - 1, names[i]);
        assert_int_equal(mkdirat(tracing, path, 0700), 0);
    }
    begin();
    (void)end(NULL);
    for (size_t i = 0; i < count; i++) {
        stayed |= (unsigned)has_folder(tracing, names[i]) << i;
        snprintf(path, sizeof path, "instances/%.*s", NAME_SIZE - 1, names[i]);
        (void)unlinkat(tracing, path, AT_REMOVEDIR);
    }
    assert_int_equal(stayed, staying);
}

/* Numbers from 800000000 on are none that a kernel gives to processes. */
static void instances_of_the_dead_are_removed_and_no_others(void **state)
{
    const int tracing = open_tracefs_or_skip(), dead = 800000000 + getpid();
    char names[6][NAME_SIZE];

    (void)state;
    snprintf(names[0], NAME_SIZE, "idlewave-%d", dead);
    snprintf(names[1], NAME_SIZE, "idlewave-%d.7", dead);
    snprintf(names[2], NAME_SIZE, "idlewave-admin%d", dead);
    snprintf(names[3], NAME_SIZE, "idlewave-%d-admin", dead);
    snprintf(names[4], NAME_SIZE, "idlewave-%d.77", (int)getppid()); /* alive, and no idlewave */
    snprintf(names[5], NAME_SIZE, "idlewave-%d.", dead);
    expect_that_stay(tracing, names, 6, 0x3c);
    assert_int_equal(close(tracing), 0);
}

static void an_instance_in_use_stays(void **state)
{
    const int tracing = open_tracefs_or_skip();
    const pid_t used = 900000000 + getpid();
    char path[64], pipe_path[128];
    int busy;

    (void)state;
    snprintf(path, sizeof path, "instances/idlewave-%d", (int)used);
    assert_int_equal(mkdirat(tracing, path, 0700), 0);
    snprintf(pipe_path, sizeof pipe_path, "%s/trace_pipe", path);
    busy = openat(tracing, pipe_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(busy >= 0);
    begin();
    (void)end(NULL);
    assert_true(has_instance(tracing, used));
    assert_int_equal(close(busy), 0);
    assert_int_equal(unlinkat(tracing, path, AT_REMOVEDIR), 0);
    assert_int_equal(close(tracing), 0);
}

static void what_a_killed_keeper_leaves_is_removed_at_the_end(void **state)
{
    const int tracing = open_tracefs_or_skip();
    const struct iwi_tracefs_instance *instance;

    (void)state;
    begin();
    instance = bench.method.state;
    assert_int_equal(kill(instance->guard.pid, SIGKILL), 0);
    assert_true(has_instance(tracing, getpid()));
    (void)end(NULL);
    assert_false(has_instance(tracing, getpid()));
    assert_int_equal(close(tracing), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_instance_is_set_to_the_measured_cpu_and_gone_after_close, end),
        cmocka_unit_test(what_a_killed_process_leaves_is_removed),
        cmocka_unit_test_teardown(instances_of_the_dead_are_removed_and_no_others, end),
        cmocka_unit_test_teardown(an_instance_in_use_stays, end),
        cmocka_unit_test_teardown(what_a_killed_keeper_leaves_is_removed_at_the_end, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
