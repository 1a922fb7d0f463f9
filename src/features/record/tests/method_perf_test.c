/* Kernel tracepoints through perf: who ran on the CPU of a thread that others preempt.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include "preempted.h"

static struct spinner spinner;

static int stop_spinner(void **state)
{
    (void)state;
    spinner_stop(&spinner);
    return 0;
}

static void open_or_skip(struct method_bench *bench)
{
    if (iwi_method_perf.open(&bench->method) != IW_OK) {
        print_message("refused here: %s\n", bench->method.reason);
        assert_null(bench->method.state);
        assert_true(bench->method.reason[0] != '\0');
        method_bench_release(bench);
        skip();
    }
}

static bool names_burner(void)
{
    const uint32_t cpu = some_cpu();
    struct method_bench bench;
    struct gap_sums gaps;
    size_t count;
    double ms;

    assert_true(method_bench_init(&bench, cpu, 0));
    assert_true(spinner_start(&spinner, cpu, &bench.clock));
    bench.watched.tid = spinner.tid;
    if (iwi_method_perf.open(&bench.method) != IW_OK) {
        spinner_stop(&spinner);
    } else {
        atomic_store(&spinner.phase, 1);
        assert_true(run_burner(cpu));
        spinner_stop(&spinner);
        assert_ok(iwi_method_perf.drain(&bench.method));
        iwi_method_perf.close(&bench.method);
    }
    if (bench.method.reason[0] != '\0') {
        print_message("refused here: %s\n", bench.method.reason);
        method_bench_release(&bench);
        skip();
    }
    count = shares_of(&bench, BURNER_NAME, &ms);
    gaps = sum_of_gaps(&bench, &spinner);
    for (size_t i = 1; i < bench.shares.count; i++) {
        assert_true(bench.shares.array[i].at >= bench.shares.array[i - 1].at);
    }
    method_bench_release(&bench);
    return is_burner(count, ms, &gaps) && gaps.explained >= BURNS / 2;
}

static void who_preempts_is_named(void **state)
{
    bool has_passed = false;

    (void)state;
    for (int i = 0; i < TRIES && !has_passed; i++) {
        has_passed = names_burner();
    }
    assert_true(has_passed);
}

static void interrupts_are_named(void **state)
{
    struct method_bench bench;
    size_t interrupts = 0;

    (void)state;
    assert_true(method_bench_init(&bench, some_cpu(), 0));
    open_or_skip(&bench);
    iwi_method_perf.close(&bench.method);
    assert_true(spinner_start(&spinner, bench.watched.cpu, &bench.clock));
    bench.watched.tid = spinner.tid;
    assert_ok(iwi_method_perf.open(&bench.method));
    pause_ns(200000000);
    spinner_stop(&spinner);
    assert_ok(iwi_method_perf.drain(&bench.method));
    iwi_method_perf.close(&bench.method);
    for (size_t i = 0; i < bench.shares.count; i++) {
        const iw_source *source = source_of(&bench, &bench.shares.array[i]);

        interrupts += source->kind == IW_CLASS_IRQ || source->kind == IW_CLASS_SOFTIRQ;
    }
    print_message("%zu of %zu shares are interrupts\n", interrupts, bench.shares.count);
    assert_true(interrupts >= 10); /* a tick of 100 Hz at least */
    method_bench_release(&bench);
}

/* A ring holds some ten thousand records. */
static void after_lost_records_it_goes_on(void **state)
{
    const uint32_t cpu = some_cpu();
    struct method_bench bench;
    double ms;

    (void)state;
    assert_true(method_bench_init(&bench, cpu, gettid()));
    open_or_skip(&bench);
    switch_often(cpu, 20000);
    assert_ok(iwi_method_perf.drain(&bench.method));
    assert_true(run_burner(cpu));
    assert_ok(iwi_method_perf.drain(&bench.method));
    print_message("%llu records lost\n", (unsigned long long)bench.method.lost);
    assert_true(bench.method.lost > 1000);
    assert_true(shares_of(&bench, BURNER_NAME, &ms) >= BURNS / 2);
    iwi_method_perf.close(&bench.method);
    method_bench_release(&bench);
}

struct refusal {
    bool is_refused, is_clean;
    char reason[IWI_REASON_SIZE];
};

static void try_to_open(void *arg)
{
    struct refusal *refusal = arg;
    struct method_bench bench;

    if (method_bench_init(&bench, 0, gettid())) {
        refusal->is_refused = iwi_method_perf.open(&bench.method) == IW_ERR_IO;
        refusal->is_clean = bench.method.state == NULL;
        snprintf(refusal->reason, sizeof refusal->reason, "%s", bench.method.reason);
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
    assert_true(refusal.reason[0] != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(who_preempts_is_named, stop_spinner),
        cmocka_unit_test_teardown(interrupts_are_named, stop_spinner),
        cmocka_unit_test(after_lost_records_it_goes_on),
        cmocka_unit_test(nobody_is_refused_with_a_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
