/* Context switches of a thread that others preempt, as perf tells them to anyone.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include "preempted.h"

/* What one run found. */
struct found {
    bool is_refused, is_done;
    size_t count;
    int64_t expected;
    struct gap_sums gaps;
    double away_ms, elapsed_ms;
    bool is_in_order;
    uint64_t lost;
    char reason[IWI_REASON_SIZE];
};

static bool is_in_order(const struct method_bench *bench, uint64_t first, uint64_t last)
{
    const struct iwi_share *array = bench->shares.array;

    for (size_t i = 0; i < bench->shares.count; i++) {
        const uint64_t earliest = i > 0 ? array[i - 1].at + array[i - 1].ticks : first;

        if (array[i].at < earliest || array[i].at + array[i].ticks > last) {
            return false;
        }
    }
    return true;
}

/* Watches the spinner while it is preempted, with a drain in between. Runs also in children, so it does not
 * assert. */
static void watch_preemptions(void *arg)
{
    struct found *found = arg;
    const uint32_t cpu = some_cpu();
    struct spinner spinner;
    struct method_bench bench;
    uint64_t first, last;
    iw_status status;

    *found = (struct found){0};
    if (!method_bench_init(&bench, cpu, 0) || !spinner_start(&spinner, cpu, &bench.clock)) {
        return;
    }
    bench.watched.tid = spinner.tid;
    first = iwi_clock_now(&bench.clock);
    status = iwi_method_switches.open(&bench.method);
    atomic_store(&spinner.phase, 1);
    if (status == IW_OK) {
        (void)run_burner(cpu);
        status = iwi_method_switches.drain(&bench.method);
        (void)run_burner(cpu);
        spinner_stop(&spinner);
        last = iwi_clock_now(&bench.clock);
        status = status == IW_OK ? iwi_method_switches.drain(&bench.method) : status;
        found->lost = bench.method.lost;
        iwi_method_switches.close(&bench.method);
        found->is_done = status == IW_OK;
        found->expected = spinner.forced_switches;
        found->gaps = sum_of_gaps(&bench, &spinner);
        found->count = shares_of(&bench, "preemption", &found->away_ms);
        found->elapsed_ms = iwi_clock_ns(&bench.clock, (double)(last - first)) / 1e6;
        found->is_in_order = is_in_order(&bench, first, last);
    } else {
        spinner_stop(&spinner);
        found->is_refused = true;
        snprintf(found->reason, sizeof found->reason, "%s", bench.method.reason);
    }
    method_bench_release(&bench);
}

static void skip_if_refused(const struct found *found)
{
    if (found->is_refused) {
        print_message("refused here: %s\n", found->reason);
        skip();
    }
}

/* Some burns may run while the thread is away for another reason; 95 % of the switches must be there, and
 * most of the burnt time; the hypervisor may make gaps of its own. */
static bool is_good(const struct found *found)
{
    const double burnt_ms = 2.0 * BURNS * BURN_NS / 1e6;

    print_message("%zu of %lld preemptions, away %.1f of %.1f ms; %zu of %zu gaps explained\n", found->count,
                  (long long)found->expected, found->away_ms, found->elapsed_ms, found->gaps.explained,
                  found->gaps.with_share);
    return found->is_done && found->expected >= BURNS && found->lost == 0 &&
           (double)found->count >= 0.95 * (double)found->expected &&
           (double)found->count <= 1.05 * (double)found->expected + 5.0 && found->away_ms >= 0.8 * burnt_ms &&
           found->away_ms < found->elapsed_ms && found->gaps.explained >= BURNS &&
           2 * found->gaps.explained >= found->gaps.with_share;
}

static void preemptions_are_found(void **state)
{
    struct found found = {0};
    bool has_passed = false;

    (void)state;
    for (int i = 0; i < TRIES && !has_passed; i++) {
        watch_preemptions(&found);
        skip_if_refused(&found);
        has_passed = is_good(&found);
        assert_true(found.is_in_order);
    }
    assert_true(has_passed);
}

static void nobody_finds_them_too(void **state)
{
    struct found found;
    bool has_passed = false;

    (void)state;
    skip_unless_root();
    for (int i = 0; i < TRIES && !has_passed; i++) {
        in_child(watch_preemptions, true, &found, sizeof found);
        skip_if_refused(&found);
        has_passed = is_good(&found);
    }
    assert_true(has_passed);
}

/* ---- waiting ---- */

struct waiter {
    int pipe[2];
    _Atomic pid_t tid;
    _Atomic bool is_watched;
};

static void *wait_for_byte(void *arg)
{
    struct waiter *waiter = arg;
    char byte;

    atomic_store(&waiter->tid, gettid());
    while (!atomic_load(&waiter->is_watched)) {
    }
    (void)!read(waiter->pipe[0], &byte, 1);
    return NULL;
}

static void a_wait_across_a_drain_is_one_share_of_its_whole_length(void **state)
{
    struct waiter waiter = {.pipe = {-1, -1}};
    iw_status status = IW_OK;
    struct method_bench bench;
    size_t early = 0;
    pthread_t thread;
    double ms;

    (void)state;
    assert_int_equal(pipe(waiter.pipe), 0);
    /* nothing is asserted while the thread runs: it uses this stack frame */
    assert_int_equal(pthread_create(&thread, NULL, wait_for_byte, &waiter), 0);
    while (atomic_load(&waiter.tid) == 0) {
        pause_ns(PAUSE_NS);
    }
    (void)method_bench_init(&bench, 0, waiter.tid);
    if (iwi_method_switches.open(&bench.method) != IW_OK) {
        print_message("refused here: %s\n", bench.method.reason);
        atomic_store(&waiter.is_watched, true);
    } else {
        atomic_store(&waiter.is_watched, true);
        pause_ns(50000000);
        status = iwi_method_switches.drain(&bench.method);
        early = shares_of(&bench, "wait", &ms);
        pause_ns(50000000);
    }
    (void)close(waiter.pipe[1]); /* ends the read */
    (void)pthread_join(thread, NULL);
    assert_ok(status);
    assert_int_equal(early, 0);
    if (bench.method.state != NULL) {
        assert_ok(iwi_method_switches.drain(&bench.method));
        assert_int_equal(shares_of(&bench, "wait", &ms), 1);
        assert_true(ms > 50.0);
        iwi_method_switches.close(&bench.method);
    }
    method_bench_release(&bench);
    (void)close(waiter.pipe[0]);
}

static int64_t all_switches_now(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw + usage.ru_nvcsw : 0;
}

/* A ring holds 8 Ki switches. The kernel tells of lost ones with the next that finds room. */
static void too_many_switches_are_counted_as_lost(void **state)
{
    const uint32_t cpu = some_cpu();
    struct method_bench bench;
    int64_t before, records;
    size_t kept;

    (void)state;
    assert_true(method_bench_init(&bench, cpu, gettid()));
    if (iwi_method_switches.open(&bench.method) != IW_OK) {
        print_message("refused here: %s\n", bench.method.reason);
        method_bench_release(&bench);
        skip();
    }
    before = all_switches_now();
    switch_often(cpu, 12000);
    assert_ok(iwi_method_switches.drain(&bench.method));
    assert_int_equal(bench.method.lost, 0);
    assert_true(bench.shares.count <= 8192);
    switch_often(cpu, 1000);
    assert_ok(iwi_method_switches.drain(&bench.method));
    records = 2 * (all_switches_now() - before);
    kept = bench.shares.count;
    print_message("%zu of %lld switches kept, %llu records lost\n", kept, (long long)records / 2,
                  (unsigned long long)bench.method.lost);
    assert_true(bench.method.lost > 1000);
    assert_true(kept > 8192);
    assert_true(2.0 * (double)kept + (double)bench.method.lost > 0.95 * (double)records);
    assert_true(2.0 * (double)kept + (double)bench.method.lost < 1.05 * (double)records);
    iwi_method_switches.close(&bench.method);
    method_bench_release(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preemptions_are_found),
        cmocka_unit_test(nobody_finds_them_too),
        cmocka_unit_test(a_wait_across_a_drain_is_one_share_of_its_whole_length),
        cmocka_unit_test(too_many_switches_are_counted_as_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
