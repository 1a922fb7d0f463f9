/* Fixed work and fixed time on a scripted clock: samples, and the detours read off them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scripted_clock.h"

/* Each piece of work takes 1000 ticks; the window is [1000, end). t_min of the clock 10, tolerance 90. */
static void begin_fwq(struct bench *bench, uint64_t end, size_t room, const struct jump *jumps, size_t count)
{
    bench_init(bench, &iwi_probe_fwq, 1000, end, room);
    bench->script.step = 1000;
    bench->script.jumps = jumps;
    bench->script.jump_count = count;
    bench->probe.threshold = 9.0;
    bench->probe.t_min = 10.0;
    bench->probe.work = 1;
}

static void fwq_samples_are_the_times_of_the_work(void **state)
{
    const struct jump jumps[] = {{3, 500}, {5, 90}}; /* readings 1000, 2000, 3500, 4500, 5590, 6590, ... */
    struct bench bench;

    (void)state;
    begin_fwq(&bench, 7000, 16, jumps, 2);
    bench_run(&bench);
    assert_int_equal(bench.detours.sample_count, 6);
    assert_int_equal(bench.detours.sample_start_ns[0], 0);
    assert_int_equal(bench.detours.sample_start_ns[1], 1000);
    assert_int_equal(bench.detours.sample_start_ns[2], 2500);
    assert_int_equal(bench.detours.sample_start_ns[5], 5590);
    assert_true(bench.detours.sample[0] == 1000.0);
    assert_true(bench.detours.sample[1] == 1500.0);
    assert_true(bench.detours.sample[3] == 1090.0);
    assert_int_equal(bench.detours.length_ns, 6590);
    bench_release(&bench);
}

static void fwq_detours_are_what_is_above_the_minimum(void **state)
{
    const struct jump jumps[] = {{3, 500}, {5, 90}, {6, 91}}; /* 90 is within the tolerance, 91 is not */
    struct bench bench;

    (void)state;
    begin_fwq(&bench, 9000, 16, jumps, 3);
    bench_run(&bench);
    assert_int_equal(bench.detours.count, 2);
    assert_int_equal(bench.detours.start_ns[0], 1000);
    assert_int_equal(bench.detours.duration_ns[0], 500);
    assert_int_equal(bench.detours.start_ns[1], 4590);
    assert_int_equal(bench.detours.duration_ns[1], 91);
    assert_true(bench.detours.t_min_ns == 1000.0);
    assert_true(bench.detours.threshold_ns == 1090.0);
    assert_int_equal(bench.detours.dropped, 0);
    bench_release(&bench);
}

static void fwq_ends_where_its_room_does(void **state)
{
    struct bench bench;

    (void)state;
    begin_fwq(&bench, 100000, 5, NULL, 0);
    bench_run(&bench);
    assert_int_equal(bench.detours.sample_count, 5);
    assert_int_equal(bench.detours.length_ns, 5000);
    bench_release(&bench);
}

static void fwq_ends_early_when_told_so(void **state)
{
    struct bench bench;

    (void)state;
    begin_fwq(&bench, 100000, 50, NULL, 0);
    bench.script.stop_at = 4;
    bench_run(&bench);
    assert_int_equal(bench.detours.sample_count, 3);
    bench_release(&bench);
}

/* A unit takes 10 ticks, a quantum 1000; the window is [100, end). */
static void begin_ftq(struct bench *bench, uint64_t end, size_t room, const struct jump *jumps, size_t count)
{
    bench_init(bench, &iwi_probe_ftq, 100, end, room);
    bench->script.step = 10;
    bench->script.jumps = jumps;
    bench->script.jump_count = count;
    bench->probe.threshold = 9.0;
    bench->probe.quantum = 1000;
    bench->probe.work = 1;
}

static void ftq_counts_the_work_of_each_quantum(void **state)
{
    const struct jump jumps[] = {{150, 250}}; /* within the second quantum */
    struct bench bench;

    (void)state;
    begin_ftq(&bench, 4100, 16, jumps, 1);
    bench_run(&bench);
    assert_int_equal(bench.detours.sample_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(bench.detours.sample_start_ns[i], 1000 * (int64_t)i);
        assert_true(bench.detours.sample[i] == (i == 1 ? 75.0 : 100.0));
    }
    assert_int_equal(bench.detours.length_ns, 4000);
    assert_true(bench.detours.t_min_ns == 10.0);
    assert_true(bench.detours.threshold_ns == 90.0);
    bench_release(&bench);
}

static void ftq_detours_are_the_time_of_the_work_that_lacks(void **state)
{
    const struct jump jumps[] = {{150, 250}, {250, 90}}; /* 25 units lack, then 9: within the tolerance */
    struct bench bench;

    (void)state;
    begin_ftq(&bench, 4100, 16, jumps, 2);
    bench_run(&bench);
    assert_int_equal(bench.detours.count, 1);
    assert_int_equal(bench.detours.start_ns[0], 1000);
    assert_int_equal(bench.detours.duration_ns[0], 250);
    bench_release(&bench);
}

static void ftq_quanta_within_a_long_detour_have_no_work(void **state)
{
    const struct jump jumps[] = {{110, 3000}}; /* from 1090, the end of the first quantum, until 4100 */
    struct bench bench;

    (void)state;
    begin_ftq(&bench, 6100, 16, jumps, 1);
    bench_run(&bench);
    assert_int_equal(bench.detours.sample_count, 6);
    assert_true(bench.detours.sample[0] == 100.0);
    assert_true(bench.detours.sample[1] == 0.0);
    assert_true(bench.detours.sample[2] == 0.0);
    assert_true(bench.detours.sample[3] == 0.0);
    assert_true(bench.detours.sample[4] == 100.0);
    assert_int_equal(bench.detours.count, 3);
    assert_int_equal(bench.detours.start_ns[2], 3000);
    assert_int_equal(bench.detours.duration_ns[2], 1000);
    bench_release(&bench);
}

static void ftq_ends_where_its_room_does(void **state)
{
    struct bench bench;

    (void)state;
    begin_ftq(&bench, 1000000, 3, NULL, 0);
    bench_run(&bench);
    assert_int_equal(bench.detours.sample_count, 3);
    assert_int_equal(bench.detours.length_ns, 3000);
    bench_release(&bench);
}

static void there_is_room_for_all_quanta_of_the_duration(void **state)
{
    iw_measure_opts opts = IW_MEASURE_OPTS_INIT;

    (void)state;
    opts.duration_ns = 1000000000;
    opts.quantum_ns = 1000000;
    assert_true(iwi_probe_fwq.room(&opts) >= 2000);
    assert_true(iwi_probe_ftq.room(&opts) > 1000);
}

/* The time of work is known only to the real clock. */
static void fwq_is_calibrated_to_the_quantum(void **state)
{
    struct iwi_clock clock;
    struct iwi_probe_run probe = {.ops = &iwi_probe_fwq, .clock = &clock, .threshold = 9.0};
    double calibrated;

    (void)state;
    iwi_clock_open("", &clock);
    probe.quantum = iwi_clock_ticks(&clock, 200000);
    probe.ops->prepare(&probe);
    calibrated = (double)probe.work;
    probe.quantum *= 4;
    probe.ops->prepare(&probe);
    /* other work on the machine may make either calibration wrong, but not much: each is a minimum */
    assert_true((double)probe.work > 2.0 * calibrated && (double)probe.work < 8.0 * calibrated);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fwq_samples_are_the_times_of_the_work),
        cmocka_unit_test(fwq_detours_are_what_is_above_the_minimum),
        cmocka_unit_test(fwq_ends_where_its_room_does),
        cmocka_unit_test(fwq_ends_early_when_told_so),
        cmocka_unit_test(ftq_counts_the_work_of_each_quantum),
        cmocka_unit_test(ftq_detours_are_the_time_of_the_work_that_lacks),
        cmocka_unit_test(ftq_quanta_within_a_long_detour_have_no_work),
        cmocka_unit_test(ftq_ends_where_its_room_does),
        cmocka_unit_test(there_is_room_for_all_quanta_of_the_duration),
        cmocka_unit_test(fwq_is_calibrated_to_the_quantum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
