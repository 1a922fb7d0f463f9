/* The selfish loop on a scripted clock: each detour with its exact start and duration, and nothing else.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scripted_clock.h"

/* Readings 10, 20, 30, ...; reading 10 is the first within the window [100, end). t_min 10, threshold 90. */
static void begin(struct bench *bench, uint64_t end, size_t room, const struct jump *jumps, size_t count)
{
    bench_init(bench, &iwi_probe_selfish, 100, end, room);
    bench->script.step = 10;
    bench->script.jumps = jumps;
    bench->script.jump_count = count;
    bench->probe.threshold = 9.0;
    bench->probe.t_min = 10.0;
    bench->probe.ops->prepare(&bench->probe);
}

static void jumps_are_found_with_exact_start_and_duration(void **state)
{
    /* reading 14 is 140; 15 is 150 + 500 = 650; 16 is 660; 17 is 670 + 81 = 751 */
    const struct jump jumps[] = {{15, 500}, {17, 81}};
    struct bench bench;

    (void)state;
    begin(&bench, 2000, 8, jumps, 2);
    bench_run(&bench);
    assert_int_equal(bench.detours.count, 2);
    assert_int_equal(bench.detours.start_ns[0], 40);
    assert_int_equal(bench.detours.duration_ns[0], 500);
    assert_int_equal(bench.detours.start_ns[1], 560);
    assert_int_equal(bench.detours.duration_ns[1], 81);
    assert_int_equal(bench.detours.source[0], 0);
    assert_int_equal(bench.detours.dropped, 0);
    assert_true(bench.detours.t_min_ns == 10.0);
    assert_true(bench.detours.threshold_ns == 90.0);
    bench_release(&bench);
}

static void gaps_up_to_the_threshold_are_not_kept(void **state)
{
    const struct jump jumps[] = {{12, 80}, {20, 79}, {30, 1}}; /* gaps of 90, 89 and 11 */
    struct bench bench;

    (void)state;
    begin(&bench, 2000, 8, jumps, 3);
    bench_run(&bench);
    assert_int_equal(bench.detours.count, 0);
    assert_int_equal(bench.detours.dropped, 0);
    bench_release(&bench);
}

static void ends_with_the_first_reading_at_the_end(void **state)
{
    const struct jump jumps[] = {{50, 700}}; /* reading 49 is 490, 50 is 1200 */
    struct bench bench;

    (void)state;
    begin(&bench, 1100, 8, NULL, 0);
    bench_run(&bench);
    assert_int_equal(bench.detours.length_ns, 1000);
    assert_int_equal(bench.script.readings, 110);
    bench_release(&bench);

    begin(&bench, 1100, 8, jumps, 1);
    bench_run(&bench);
    assert_int_equal(bench.detours.length_ns, 1100);
    assert_int_equal(bench.detours.count, 1);
    assert_int_equal(bench.detours.start_ns[0], 390);
    assert_int_equal(bench.detours.duration_ns[0], 700);
    bench_release(&bench);
}

static void detours_without_room_are_counted_and_end_what_is_known(void **state)
{
    const struct jump jumps[] = {{20, 100}, {30, 200}, {40, 300}, {50, 400}};
    struct bench bench;

    (void)state;
    begin(&bench, 5000, 2, jumps, 4);
    bench_run(&bench);
    assert_int_equal(bench.detours.count, 2);
    assert_int_equal(bench.detours.duration_ns[0], 100);
    assert_int_equal(bench.detours.duration_ns[1], 200);
    assert_int_equal(bench.detours.dropped, 2);
    /* the third began with reading 39: 390 + 300 after the start of the clock */
    assert_int_equal(bench.detours.length_ns, 590);
    assert_in_range(bench.script.now, 5000, 5010);
    bench_release(&bench);
}

static void a_detour_under_way_at_zero_counts_from_there(void **state)
{
    const struct jump jumps[] = {{6, 1000}}; /* reading 5 is 50, 6 is 1060: 960 after zero */
    struct bench bench;

    (void)state;
    begin(&bench, 2000, 8, jumps, 1);
    bench_run(&bench);
    assert_int_equal(bench.detours.count, 1);
    assert_int_equal(bench.detours.start_ns[0], 0);
    assert_int_equal(bench.detours.duration_ns[0], 950);
    bench_release(&bench);
}

static void an_early_end_is_obeyed_at_once(void **state)
{
    struct bench bench;

    (void)state;
    begin(&bench, 1000000, 8, NULL, 0);
    bench.script.stop_at = 30;
    bench_run(&bench);
    assert_int_equal(bench.script.readings, 30);
    assert_int_equal(bench.detours.length_ns, 200);
    bench_release(&bench);
}

/* 2.1 ticks a nanosecond: starts and ends are rounded, and must not cross. */
static void rounding_to_nanoseconds_makes_no_overlaps(void **state)
{
    enum { COUNT = 1000 };
    struct jump jumps[COUNT];
    struct bench bench;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        jumps[i] = (struct jump){20 + i, 81 + i * i % 97};
    }
    begin(&bench, 200000, COUNT, jumps, COUNT);
    bench.clock.hz = 2.1e9;
    bench_run(&bench);
    assert_int_equal(bench.detours.count, COUNT);
    for (size_t i = 1; i < bench.detours.count; i++) {
        assert_true(bench.detours.start_ns[i - 1] + bench.detours.duration_ns[i - 1] <=
                    bench.detours.start_ns[i]);
        assert_true(bench.detours.duration_ns[i] > 0);
    }
    assert_true(bench.detours.start_ns[COUNT - 1] + bench.detours.duration_ns[COUNT - 1] <=
                bench.detours.length_ns);
    bench_release(&bench);
}

static void preparing_finds_t_min_and_makes_room(void **state)
{
    const struct jump jumps[] = {{1000, 12345}, {2000, 7}};
    struct bench bench;

    (void)state;
    begin(&bench, 0, 0, jumps, 2);
    iwi_probe_release(&bench.probe);
    bench.script.step = 25;
    assert_ok(iwi_probe_prepare(&bench.probe, 10000));
    assert_true(bench.probe.t_min == 25.0);
    assert_true(bench.probe.least_read == 25.0);
    assert_int_equal(bench.probe.tolerance, 225);
    assert_int_equal(bench.probe.marks.room, 10000);
    bench_release(&bench);
}

static void t_min_of_a_coarse_clock_is_a_mean(void **state)
{
    struct bench bench;

    (void)state;
    begin(&bench, 0, 0, NULL, 0);
    iwi_probe_release(&bench.probe);
    bench.script.step = 1;
    bench.script.readings_per_step = 4;
    bench.clock.hz = 24e6;
    assert_ok(iwi_probe_prepare(&bench.probe, 1));
    assert_true(bench.probe.t_min > 0.2499 && bench.probe.t_min < 0.2501);
    assert_int_equal(bench.probe.tolerance, 3);
    bench_release(&bench);
}

static void room_grows_with_the_duration(void **state)
{
    iw_measure_opts opts = IW_MEASURE_OPTS_INIT;
    uint64_t short_room;

    (void)state;
    opts.duration_ns = 1000;
    short_room = iwi_probe_selfish.room(&opts);
    assert_true(short_room >= 10000);
    opts.duration_ns = INT64_C(60000000000);
    assert_true(iwi_probe_selfish.room(&opts) >= short_room + 60 * 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jumps_are_found_with_exact_start_and_duration),
        cmocka_unit_test(gaps_up_to_the_threshold_are_not_kept),
        cmocka_unit_test(ends_with_the_first_reading_at_the_end),
        cmocka_unit_test(detours_without_room_are_counted_and_end_what_is_known),
        cmocka_unit_test(a_detour_under_way_at_zero_counts_from_there),
        cmocka_unit_test(an_early_end_is_obeyed_at_once),
        cmocka_unit_test(rounding_to_nanoseconds_makes_no_overlaps),
        cmocka_unit_test(preparing_finds_t_min_and_makes_room),
        cmocka_unit_test(t_min_of_a_coarse_clock_is_a_mean),
        cmocka_unit_test(room_grows_with_the_duration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
