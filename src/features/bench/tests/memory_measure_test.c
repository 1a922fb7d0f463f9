/* The threads that move data: which CPUs, how many windows, and that each has its part of the arrays.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/memory_bench.h>

#include <math.h>
#include <sched.h>

#include "features/bench/memory_measure.h"
#include "support/support.h"

enum { MIB = 1 << 20 };
static const int64_t SHORT_NS = 1000000;

static void the_triad_is_the_triad(void **state)
{
    double a[5] = {0}, b[5] = {1, 2, 3, 4, 5}, c[5] = {10, 20, 30, 40, 50};

    (void)state;
    iwi_triad(a, b, c, 4);
    assert_true(a[0] == 31 && a[3] == 124);
    assert_true(a[4] == 0);
}

static void by_default_the_cores_of_one_numa_node_are_taken(void **state)
{
    struct iwi_memory_domain domain;
    cpu_set_t own;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof own, &own), 0);
    assert_ok(iwi_memory_domain_find(NULL, NULL, 0, &domain));
    assert_true(domain.cpus.count >= 1 && domain.cpus.count <= (size_t)CPU_COUNT(&own));
    assert_int_equal(iw_cpu_set_count(&domain.set), domain.cpus.count);
    for (size_t i = 0; i < domain.cpus.count; i++) {
        assert_true(CPU_ISSET(domain.cpus.numbers[i], &own));
    }
    iwi_memory_domain_release(&domain);
}

static void cpus_that_may_not_be_used_are_refused(void **state)
{
    const uint32_t nowhere[] = {4000};
    const iw_memory_plan plan = {.cpus = nowhere, .cpu_count = 1, .seconds = 0.01};
    iw_memory_samples *samples = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_status(iw_memory_measure(&l.log, &plan, &samples), IW_ERR_RANGE);
    iwt_assert_logged(&l, "CPU 4000 is not");
    assert_null(samples);
}

/* In a window each active thread writes a whole part of `a`, beginning at the cursor; nobody else writes. */
static void active_threads_share_the_arrays_out(void **state)
{
    struct iwi_memory_domain domain;
    struct iwi_memory_crew crew;
    iw_memory_window window;
    size_t cursor;

    (void)state;
    assert_ok(iwi_memory_domain_find(NULL, NULL, 0, &domain));
    assert_ok(iwi_memory_crew_start(NULL, &domain.cpus, 6 * MIB, &crew));
    assert_true(crew.a[0] == 0 && crew.b[0] == 1 && crew.c[0] == 2);
    window = iwi_memory_crew_move(&crew, 1, SHORT_NS);
    assert_true(window.bytes_per_s > 0 && window.held_share > 0 && window.held_share <= 1);
    assert_true(crew.a[0] == 7); /* 1 + 3 * 2 */
    cursor = crew.cursor;
    assert_int_equal(cursor, crew.movers[0].chunks % crew.chunk_count);
    (void)iwi_memory_crew_move(&crew, crew.count, SHORT_NS);
    assert_int_equal(crew.cursor, (cursor + crew.movers[0].chunks) % crew.chunk_count);
    for (size_t i = 0; i < crew.count; i++) {
        assert_true(crew.movers[i].chunks > 0);
    }
    iwi_memory_crew_release(&crew);
    iwi_memory_domain_release(&domain);
}

/* Rounds have a window of each number of cores, from 1 to all. */
static void every_round_has_all_numbers_of_cores(void **state)
{
    const iw_memory_plan plan = {.seconds = 0.1, .array_bytes = 6 * MIB};
    iw_memory_samples *samples;

    (void)state;
    assert_ok(iw_memory_measure(NULL, &plan, &samples));
    assert_int_equal(samples->cores_of[0], 1);
    assert_int_equal(samples->cores_of[samples->kinds - 1], samples->cores);
    for (size_t i = 1; i < samples->kinds; i++) {
        assert_true(samples->cores_of[i] > samples->cores_of[i - 1]);
    }
    for (size_t i = 0; i < samples->rounds * samples->kinds; i++) {
        assert_true(samples->windows[i].bytes_per_s >= 0 && samples->windows[i].held_share <= 1);
    }
    assert_int_equal(samples->array_bytes, 6 * MIB);
    assert_true(samples->rounds >= 12 && samples->seconds > 0);
    iw_memory_samples_free(samples);
}

static bool end_at_once(void *arg, const iw_progress_now *now)
{
    (void)arg;
    (void)now;
    return false;
}

static void it_can_be_ended(void **state)
{
    const iw_memory_plan plan = {.seconds = 10, .array_bytes = 6 * MIB, .progress = {end_at_once, NULL}};
    iw_memory_samples *samples = NULL;

    (void)state;
    assert_status(iw_memory_measure(NULL, &plan, &samples), IW_ERR_CANCELLED);
    assert_null(samples);
}

static void arrays_beyond_the_free_memory_are_refused(void **state)
{
    const iw_memory_plan plan = {.seconds = 1, .array_bytes = UINT64_C(1) << 46};
    iw_memory_samples *samples = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_status(iw_memory_measure(&l.log, &plan, &samples), IW_ERR_NOMEM);
    iwt_assert_logged(&l, "half of the free memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_triad_is_the_triad),
        cmocka_unit_test(by_default_the_cores_of_one_numa_node_are_taken),
        cmocka_unit_test(cpus_that_may_not_be_used_are_refused),
        cmocka_unit_test(active_threads_share_the_arrays_out),
        cmocka_unit_test(every_round_has_all_numbers_of_cores),
        cmocka_unit_test(it_can_be_ended),
        cmocka_unit_test(arrays_beyond_the_free_memory_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
