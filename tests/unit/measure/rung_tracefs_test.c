/* Kernel events of a private tracefs instance: who ran on the CPU of a thread that others preempt.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "measure/tracefs.h"
#include "preempted.h"

enum { PATIENCE_STEPS = 1000, PATIENCE_STEP_MS = 10, SETTING_SIZE = 256 };

/* ---- tracefs as others see it ---- */

static int open_tracefs_or_skip(void)
{
    struct iwi_rung rung = {.root = ""};
    int fd;

    skip_unless_root();
    fd = iwi_tracefs_open(&rung);
    if (fd < 0) {
        print_message("no tracefs here: %s\n", rung.reason);
        skip();
    }
    return fd;
}

static bool has_instance(int tracing, pid_t pid)
{
    char path[64];

    snprintf(path, sizeof path, "instances/idlewave-%d", (int)pid);
    return faccessat(tracing, path, F_OK, 0) == 0;
}

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

/* ---- a thread and its rung ---- */

struct bench {
    struct spinner spinner;
    struct rung_bench rung;
};

static void begin(struct bench *bench, const struct iwi_clock_ops *clock)
{
    assert_true(rung_bench_init(&bench->rung, some_cpu(), 0));
    if (clock != NULL) {
        bench->rung.clock = (struct iwi_clock){.ops = clock, .hz = 1e9};
    }
    assert_true(spinner_start(&bench->spinner, bench->rung.watched.cpu, &bench->rung.clock));
    bench->rung.watched.tid = bench->spinner.tid;
    if (iwi_rung_tracefs.open(&bench->rung.rung) != IW_OK) {
        fail_msg("refused: %s", bench->rung.rung.reason);
    }
}

static void end(struct bench *bench)
{
    iwi_rung_tracefs.close(&bench->rung.rung);
    spinner_stop(&bench->spinner);
    rung_bench_release(&bench->rung);
}

static size_t shares_of_class(const struct rung_bench *bench, iw_class kind, const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < bench->shares.count; i++) {
        const iw_source *source = &bench->rung.recording->sources[bench->shares.array[i].source];

        count += source->kind == kind && (name == NULL || strcmp(source->name, name) == 0);
    }
    return count;
}

static void expect_shares_between(const struct rung_bench *bench, uint64_t before, uint64_t after)
{
    for (size_t i = 0; i < bench->shares.count; i++) {
        const struct iwi_share *share = &bench->shares.array[i];

        assert_true(i == 0 || share->at >= bench->shares.array[i - 1].at);
        if (strcmp(bench->rung.recording->sources[share->source].name, BURNER_NAME) == 0) {
            assert_true(share->at >= before && share->at <= after);
        }
    }
}

static bool names_burner(const struct iwi_clock_ops *clock)
{
    const double burnt_ms = BURNS * BURN_NS / 1e6;
    struct bench bench;
    uint64_t before, after;
    size_t count, gaps, explained;
    double ms;

    begin(&bench, clock);
    atomic_store(&bench.spinner.phase, 1);
    before = iwi_clock_now(&bench.rung.clock);
    assert_true(run_burner(bench.spinner.cpu));
    after = iwi_clock_now(&bench.rung.clock);
    spinner_stop(&bench.spinner);
    assert_ok(iwi_rung_tracefs.drain(&bench.rung.rung));
    iwi_rung_tracefs.close(&bench.rung.rung);
    count = shares_of(&bench.rung, BURNER_NAME, &ms);
    gaps = bench.spinner.gap_count;
    explained = explained_gaps(&bench.rung, &bench.spinner);
    print_message("%zu shares of %s, %.1f of %.1f ms; %zu of %zu gaps explained; %zu sources, %zu shares\n",
                  count, BURNER_NAME, ms, burnt_ms, explained, gaps, bench.rung.rung.recording->source_count,
                  bench.rung.shares.count);
    assert_int_equal(bench.rung.rung.lost, 0);
    expect_shares_between(&bench.rung, before, after);
    rung_bench_release(&bench.rung);
    /* on a busy machine others preempt the burner too, and the host takes its share of the gaps */
    return count >= BURNS * 95 / 100 && ms > 0.5 * burnt_ms && ms < 2.0 * burnt_ms && 2 * explained >= gaps;
}

static void expect_burner_is_named(const struct iwi_clock_ops *clock)
{
    bool has_passed = false;

    for (int i = 0; i < TRIES && !has_passed; i++) {
        has_passed = names_burner(clock);
    }
    assert_true(has_passed);
}

static void who_preempts_is_named(void **state)
{
    (void)state;
    assert_int_equal(close(open_tracefs_or_skip()), 0);
    expect_burner_is_named(NULL);
}

static void another_clock_than_the_kernels_counter_does(void **state)
{
    (void)state;
    assert_int_equal(close(open_tracefs_or_skip()), 0);
    expect_burner_is_named(&iwi_clock_monotonic_raw);
}

static void ticks_and_softirqs_are_named(void **state)
{
    struct bench bench;
    size_t ticks = 0, softirqs = 0;

    (void)state;
    assert_int_equal(close(open_tracefs_or_skip()), 0);
    begin(&bench, NULL);
    for (int i = 0; i < 10 && (ticks < 10 || softirqs == 0); i++) {
        pause_ns(500000000);
        assert_ok(iwi_rung_tracefs.drain(&bench.rung.rung));
        ticks = shares_of_class(&bench.rung, IW_CLASS_IRQ, NULL);
        softirqs = shares_of_class(&bench.rung, IW_CLASS_SOFTIRQ, NULL);
    }
    print_message("%zu interrupts, %zu softirqs\n", ticks, softirqs);
    assert_true(ticks >= 10); /* a tick of 100 Hz at least */
    assert_true(softirqs > 0);
#if defined(__x86_64__)
    assert_true(shares_of_class(&bench.rung, IW_CLASS_IRQ, "local_timer") > 0);
#endif
    end(&bench);
}

/* Far less than a page of events is there: those in a page that the kernel still fills must be seen. */
static void the_last_events_are_seen(void **state)
{
    struct bench bench;
    size_t before;
    double ms;

    (void)state;
    assert_int_equal(close(open_tracefs_or_skip()), 0);
    begin(&bench, NULL);
    for (int i = 0; i < 3; i++) {
        assert_ok(iwi_rung_tracefs.drain(&bench.rung.rung));
        before = shares_of(&bench.rung, "iw-last", &ms);
        if (fork() == 0) {
            (void)prctl(PR_SET_NAME, "iw-last");
            pin_to(bench.spinner.cpu);
            pause_ns(PAUSE_NS);
            _exit(0);
        }
        assert_true(wait(NULL) > 0);
        assert_ok(iwi_rung_tracefs.drain(&bench.rung.rung));
        assert_true(shares_of(&bench.rung, "iw-last", &ms) > before);
    }
    end(&bench);
}

static void the_instance_is_set_to_the_measured_cpu_and_gone_after_close(void **state)
{
    const int tracing = open_tracefs_or_skip();
    struct bench bench;
    char mask[64], clock_before[SETTING_SIZE], clock_after[SETTING_SIZE];

    (void)state;
    assert_true(iwi_tracefs_read(tracing, "trace_clock", clock_before, sizeof clock_before));
    begin(&bench, NULL);
    assert_true(has_instance(tracing, getpid()));
    expect_buffer_kb(tracing, bench.spinner.cpu, 4096, 4200);
    if (sysconf(_SC_NPROCESSORS_CONF) > 1) {
        expect_buffer_kb(tracing, bench.spinner.cpu > 0 ? 0 : 1, 1, 512);
    }
    snprintf(mask, sizeof mask, "%x", 1u << bench.spinner.cpu % 32);
    expect_setting(tracing, "tracing_cpumask", mask);
    expect_setting(tracing, "trace_clock",
                   strcmp(bench.rung.clock.ops->name, "tsc") == 0 ? "[x86-tsc]" : "[mono_raw]");
    expect_setting(tracing, "events/sched/sched_switch/enable", "1");
    expect_setting(tracing, "events/sched/sched_waking/enable", "0");
    expect_setting(tracing, "tracing_on", "1");
    assert_true(iwi_tracefs_read(tracing, "trace_clock", clock_after, sizeof clock_after));
    assert_string_equal(clock_after, clock_before);
    end(&bench);
    assert_false(has_instance(tracing, getpid()));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and the keeper with it */
    assert_int_equal(errno, ECHILD);
    assert_int_equal(close(tracing), 0);
}

static void two_rungs_of_one_process_do_not_disturb_each_other(void **state)
{
    const int tracing = open_tracefs_or_skip();
    struct bench first, second;
    double ms;

    (void)state;
    begin(&first, NULL);
    begin(&second, NULL);
    end(&first);
    assert_true(run_burner(second.spinner.cpu));
    assert_ok(iwi_rung_tracefs.drain(&second.rung.rung));
    assert_true(shares_of(&second.rung, BURNER_NAME, &ms) >= BURNS / 2);
    end(&second);
    assert_false(has_instance(tracing, getpid()));
    assert_int_equal(close(tracing), 0);
}

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
        struct bench bench;

        begin(&bench, NULL);
        (void)!write(ready[1], "", 1);
        for (;;) {
            (void)iwi_rung_tracefs.drain(&bench.rung.rung);
        }
    }
    assert_int_equal(close(ready[1]), 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(close(ready[0]), 0);
    assert_true(has_instance(tracing, pid));
    assert_int_equal(kill(pid, SIGKILL), 0);
    while (waitpid(-1, NULL, WNOHANG) >= 0 && steps++ < PATIENCE_STEPS) { /* it, and then its keeper */
        (void)poll(NULL, 0, PATIENCE_STEP_MS);
    }
    assert_true(steps < PATIENCE_STEPS);
    assert_false(has_instance(tracing, pid));
    assert_int_equal(close(tracing), 0);
}

/* Numbers that no kernel gives to processes. */
static void instances_of_the_dead_are_removed_unless_in_use(void **state)
{
    const int tracing = open_tracefs_or_skip();
    const pid_t dead = 800000000 + getpid(), used = 900000000 + getpid();
    struct bench bench;
    char path[64], pipe_path[128];
    int busy;

    (void)state;
    snprintf(path, sizeof path, "instances/idlewave-%d", (int)dead);
    assert_int_equal(mkdirat(tracing, path, 0700), 0);
    snprintf(path, sizeof path, "instances/idlewave-%d", (int)used);
    assert_int_equal(mkdirat(tracing, path, 0700), 0);
    snprintf(pipe_path, sizeof pipe_path, "%s/trace_pipe", path);
    busy = openat(tracing, pipe_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(busy >= 0);
    begin(&bench, NULL);
    assert_false(has_instance(tracing, dead));
    assert_true(has_instance(tracing, used));
    assert_int_equal(close(busy), 0);
    end(&bench);
    assert_int_equal(unlinkat(tracing, path, AT_REMOVEDIR), 0);
    assert_int_equal(close(tracing), 0);
}

/* A buffer holds some ten thousand events. */
static void after_lost_events_it_goes_on(void **state)
{
    struct bench bench;
    double ms;

    (void)state;
    assert_int_equal(close(open_tracefs_or_skip()), 0);
    begin(&bench, NULL);
    spinner_stop(&bench.spinner);
    for (int i = 0; i < 10 && bench.rung.rung.lost <= 1000; i++) {
        switch_often(bench.spinner.cpu, 40000);
        assert_ok(iwi_rung_tracefs.drain(&bench.rung.rung));
    }
    print_message("%llu events lost\n", (unsigned long long)bench.rung.rung.lost);
    assert_true(bench.rung.rung.lost > 1000);
    assert_true(run_burner(bench.spinner.cpu));
    assert_ok(iwi_rung_tracefs.drain(&bench.rung.rung));
    assert_true(shares_of(&bench.rung, BURNER_NAME, &ms) >= BURNS / 2);
    iwi_rung_tracefs.close(&bench.rung.rung);
    rung_bench_release(&bench.rung);
}

struct refusal {
    bool is_refused, is_clean;
    char reason[IWI_REASON_SIZE];
};

static void try_to_open(void *arg)
{
    struct refusal *refusal = arg;
    struct rung_bench bench;

    if (rung_bench_init(&bench, some_cpu(), gettid())) {
        refusal->is_refused = iwi_rung_tracefs.open(&bench.rung) == IW_ERR_IO;
        refusal->is_clean = bench.rung.state == NULL;
        snprintf(refusal->reason, sizeof refusal->reason, "%s", bench.rung.reason);
        rung_bench_release(&bench);
    }
}

static void nobody_is_refused_with_a_reason(void **state)
{
    struct refusal refusal;

    (void)state;
    skip_unless_root();
    in_child(try_to_open, true, &refusal, sizeof refusal);
    print_message("%s\n", refusal.reason);
    assert_true(refusal.is_refused && refusal.is_clean);
    assert_non_null(strstr(refusal.reason, "run as root"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_preempts_is_named),
        cmocka_unit_test(another_clock_than_the_kernels_counter_does),
        cmocka_unit_test(ticks_and_softirqs_are_named),
        cmocka_unit_test(the_last_events_are_seen),
        cmocka_unit_test(the_instance_is_set_to_the_measured_cpu_and_gone_after_close),
        cmocka_unit_test(two_rungs_of_one_process_do_not_disturb_each_other),
        cmocka_unit_test(what_a_killed_process_leaves_is_removed),
        cmocka_unit_test(instances_of_the_dead_are_removed_unless_in_use),
        cmocka_unit_test(after_lost_events_it_goes_on),
        cmocka_unit_test(nobody_is_refused_with_a_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
