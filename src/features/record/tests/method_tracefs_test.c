/* Kernel events of a private tracefs instance: who ran on the CPU of a thread that others preempt.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include "tracefs_instances.h"

static struct bench {
    struct spinner spinner;
    struct method_bench method;
} benches[2];

static struct bench *begin(struct bench *bench, const struct iwi_clock_ops *clock)
{
    assert_true(method_bench_init(&bench->method, some_cpu(), 0));
    if (clock != NULL) {
        bench->method.clock = (struct iwi_clock){.ops = clock, .hz = 1e9};
    }
    assert_true(spinner_start(&bench->spinner, bench->method.watched.cpu, &bench->method.clock));
    bench->method.watched.tid = bench->spinner.tid;
    if (iwi_method_tracefs.open(&bench->method.method) != IW_OK) {
        fail_msg("refused: %s", bench->method.method.reason);
    }
    return bench;
}

static void end(struct bench *bench)
{
    iwi_method_tracefs.close(&bench->method.method);
    spinner_stop(&bench->spinner);
    method_bench_release(&bench->method);
}

/* What a failed test leaves. */
static int end_all(void **state)
{
    (void)state;
    end(&benches[0]);
    end(&benches[1]);
    return 0;
}

static size_t shares_of_class(const struct method_bench *bench, iw_class kind, const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < bench->shares.count; i++) {
        const iw_source *source = source_of(bench, &bench->shares.array[i]);

        count += source->kind == kind && (name == NULL || strcmp(source->name, name) == 0);
    }
    return count;
}

static void expect_shares_between(const struct method_bench *bench, uint64_t before, uint64_t after)
{
    for (size_t i = 0; i < bench->shares.count; i++) {
        const struct iwi_share *share = &bench->shares.array[i];

        assert_true(i == 0 || share->at >= bench->shares.array[i - 1].at);
        if (strcmp(source_of(bench, share)->name, BURNER_NAME) == 0) {
            assert_true(share->at >= before && share->at <= after);
        }
    }
}

static bool names_burner(const struct iwi_clock_ops *clock)
{
    struct bench *bench;
    struct gap_sums gaps;
    uint64_t before, after;
    size_t count;
    bool is_complete;
    double ms;

    bench = begin(&benches[0], clock);
    atomic_store(&bench->spinner.phase, 1);
    before = iwi_clock_now(&bench->method.clock);
    assert_true(run_burner(bench->spinner.cpu));
    after = iwi_clock_now(&bench->method.clock);
    spinner_stop(&bench->spinner);
    assert_ok(iwi_method_tracefs.drain(&bench->method.method));
    iwi_method_tracefs.close(&bench->method.method);
    count = shares_of(&bench->method, BURNER_NAME, &ms);
    gaps = sum_of_gaps(&bench->method, &bench->spinner);
    expect_shares_between(&bench->method, before, after);
    is_complete = bench->method.method.lost == 0;
    method_bench_release(&bench->method);
    return is_complete && is_burner(count, ms, &gaps);
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
    struct bench *bench;
    size_t ticks = 0, softirqs = 0;

    (void)state;
    assert_int_equal(close(open_tracefs_or_skip()), 0);
    bench = begin(&benches[0], NULL);
    for (int i = 0; i < 10 && (ticks < 10 || softirqs == 0); i++) {
        pause_ns(500000000);
        assert_ok(iwi_method_tracefs.drain(&bench->method.method));
        ticks = shares_of_class(&bench->method, IW_CLASS_IRQ, NULL);
        softirqs = shares_of_class(&bench->method, IW_CLASS_SOFTIRQ, NULL);
    }
    print_message("%zu interrupts, %zu softirqs\n", ticks, softirqs);
    assert_true(ticks >= 10); /* a tick of 100 Hz at least */
    assert_true(softirqs > 0);
#if defined(__x86_64__)
    assert_true(shares_of_class(&bench->method, IW_CLASS_IRQ, "local_timer") > 0);
#endif
    end(bench);
}

/* Far less than a page of events is there: those in a page that the kernel still fills must be seen. */
static void the_last_events_are_seen(void **state)
{
    struct bench *bench;
    size_t before;
    double ms;

    (void)state;
    assert_int_equal(close(open_tracefs_or_skip()), 0);
    bench = begin(&benches[0], NULL);
    for (int i = 0; i < 3; i++) {
        assert_ok(iwi_method_tracefs.drain(&bench->method.method));
        before = shares_of(&bench->method, "iw-last", &ms);
        if (fork() == 0) {
            (void)prctl(PR_SET_NAME, "iw-last");
            pin_to(bench->spinner.cpu);
            pause_ns(PAUSE_NS);
            _exit(0);
        }
        assert_true(wait(NULL) > 0);
        assert_ok(iwi_method_tracefs.drain(&bench->method.method));
        assert_true(shares_of(&bench->method, "iw-last", &ms) > before);
    }
    end(bench);
}

static void two_methods_of_one_process_do_not_disturb_each_other(void **state)
{
    const int tracing = open_tracefs_or_skip();
    struct bench *first, *second;
    double ms;

    (void)state;
    first = begin(&benches[0], NULL);
    second = begin(&benches[1], NULL);
    end(first);
    assert_true(run_burner(second->spinner.cpu));
    assert_ok(iwi_method_tracefs.drain(&second->method.method));
    assert_true(shares_of(&second->method, BURNER_NAME, &ms) >= BURNS / 2);
    end(second);
    assert_false(has_instance(tracing, getpid()));
    assert_int_equal(close(tracing), 0);
}

/* A buffer holds some ten thousand events. */
static void after_lost_events_it_goes_on(void **state)
{
    struct bench *bench;
    double ms;

    (void)state;
    assert_int_equal(close(open_tracefs_or_skip()), 0);
    bench = begin(&benches[0], NULL);
    spinner_stop(&bench->spinner);
    for (int i = 0; i < 10 && bench->method.method.lost <= 1000; i++) {
        switch_often(bench->spinner.cpu, 40000);
        assert_ok(iwi_method_tracefs.drain(&bench->method.method));
    }
    print_message("%llu events lost\n", (unsigned long long)bench->method.method.lost);
    assert_true(bench->method.method.lost > 1000);
    assert_true(run_burner(bench->spinner.cpu));
    assert_ok(iwi_method_tracefs.drain(&bench->method.method));
    assert_true(shares_of(&bench->method, BURNER_NAME, &ms) >= BURNS / 2);
    iwi_method_tracefs.close(&bench->method.method);
    method_bench_release(&bench->method);
}

struct refusal {
    bool is_refused, is_clean;
    char reason[IWI_REASON_SIZE];
};

static void try_to_open(void *arg)
{
    struct refusal *refusal = arg;
    struct method_bench bench;

    if (method_bench_init(&bench, some_cpu(), gettid())) {
        refusal->is_refused = iwi_method_tracefs.open(&bench.method) == IW_ERR_IO;
        refusal->is_clean = bench.method.state == NULL;
        snprintf(refusal->reason, sizeof refusal->reason, "%s", bench.method.reason);
        method_bench_release(&bench);
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
        cmocka_unit_test_teardown(who_preempts_is_named, end_all),
        cmocka_unit_test_teardown(another_clock_than_the_kernels_counter_does, end_all),
        cmocka_unit_test_teardown(ticks_and_softirqs_are_named, end_all),
        cmocka_unit_test_teardown(the_last_events_are_seen, end_all),
        cmocka_unit_test_teardown(two_methods_of_one_process_do_not_disturb_each_other, end_all),
        cmocka_unit_test_teardown(after_lost_events_it_goes_on, end_all),
        cmocka_unit_test(nobody_is_refused_with_a_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
