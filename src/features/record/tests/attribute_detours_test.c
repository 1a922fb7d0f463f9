/* Shares laid upon detours: every detour gets its sources, and their times add up to it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "features/record/attribution/attribution.h"
#include "support/support.h"

static const uint64_t ZERO = 1000000;

/* One tick a nanosecond, one CPU; sources: 0 unknown, 1 unseen, 2 tick, 3 softirq, 4 thread. */
struct bench {
    struct iwi_clock clock;
    struct iwi_method_ops ops;
    struct iwi_attributor attribution;
    iw_recording *recording;
};

static void begin(struct bench *bench, size_t count, const int64_t detours[][2])
{
    uint32_t number;
    iw_detours *cpu;

    *bench = (struct bench){.clock = {.hz = 1e9}, .ops = {.sees_all = true}};
    assert_ok(iw_recording_new(NULL, 1, &bench->recording));
    assert_ok(iw_recording_source(NULL, bench->recording, IW_CLASS_HARDWARE, "unseen", &number));
    assert_ok(iw_recording_source(NULL, bench->recording, IW_CLASS_IRQ, "tick", &number));
    assert_ok(iw_recording_source(NULL, bench->recording, IW_CLASS_SOFTIRQ, "TIMER", &number));
    assert_ok(iw_recording_source(NULL, bench->recording, IW_CLASS_THREAD, "daemon", &number));
    cpu = &bench->recording->cpus[0];
    cpu->start_ns = calloc(count, sizeof *cpu->start_ns);
    cpu->duration_ns = calloc(count, sizeof *cpu->duration_ns);
    cpu->source = calloc(count, sizeof *cpu->source);
    cpu->t_min_ns = 10;
    cpu->count = count;
    for (size_t i = 0; i < count; i++) {
        cpu->start_ns[i] = detours[i][0];
        cpu->duration_ns[i] = detours[i][1];
    }
    bench->attribution.unseen = 1;
    bench->attribution.part_capacity = calloc(1, sizeof *bench->attribution.part_capacity);
    bench->attribution.blind_until_ns = calloc(1, sizeof *bench->attribution.blind_until_ns);
    bench->attribution.method = (struct iwi_method){.ops = &bench->ops,
                                                    .clock = &bench->clock,
                                                    .count = 1,
                                                    .recording = bench->recording,
                                                    .shares = calloc(1, sizeof(struct iwi_shares))};
}

static void end(struct bench *bench)
{
    free(bench->attribution.method.shares[0].array);
    free(bench->attribution.method.shares);
    free(bench->attribution.part_capacity);
    free(bench->attribution.blind_until_ns);
    free(bench->attribution.takers);
    iw_recording_free(bench->recording);
}

static void add(struct bench *bench, uint64_t at_ns, uint64_t ns, uint32_t source)
{
    assert_ok(iwi_method_add(&bench->attribution.method, 0, ZERO + at_ns, ns, source));
}

static void lay(struct bench *bench, size_t first, size_t end_of)
{
    assert_ok(iwi_attribute_detours(&bench->attribution, 0, ZERO, first, end_of));
}

static void expect_part(const struct bench *bench, size_t i, uint64_t detour, uint32_t source, int64_t ns)
{
    const iw_detours *cpu = &bench->recording->cpus[0];

    assert_true(i < cpu->part_count);
    assert_int_equal(cpu->part_detour[i], detour);
    assert_int_equal(cpu->part_source[i], source);
    assert_int_equal(cpu->part_ns[i], ns);
}

static void a_single_source_takes_the_detour_with_its_entry(void **state)
{
    const int64_t detours[][2] = {{1000, 5000}};
    struct bench bench;

    (void)state;
    begin(&bench, 1, detours);
    add(&bench, 1200, 4000, 2); /* 1,000 ns remain: entry and exit */
    lay(&bench, 0, 1);
    assert_int_equal(bench.recording->cpus[0].source[0], 2);
    assert_int_equal(bench.recording->cpus[0].part_count, 0);
    end(&bench);
}

static void nested_sources_get_their_shares(void **state)
{
    const int64_t detours[][2] = {{1000, 5000}};
    struct bench bench;

    (void)state;
    begin(&bench, 1, detours);
    add(&bench, 1100, 1500, 2);
    add(&bench, 2700, 2500, 3);
    add(&bench, 5300, 500, 2);
    lay(&bench, 0, 1);
    assert_int_equal(bench.recording->cpus[0].source[0], 3);
    assert_int_equal(bench.recording->cpus[0].part_count, 2);
    expect_part(&bench, 0, 0, 2, 2000);
    expect_part(&bench, 1, 0, 3, 3000); /* 2,500 and the 500 of entries */
    end(&bench);
}

static void what_nobody_explains_is_a_source_of_its_own(void **state)
{
    const int64_t detours[][2] = {{1000, 4000000}, {9000000, 7000}};
    struct bench bench;

    (void)state;
    begin(&bench, 2, detours);
    add(&bench, 2000, 50000, 2); /* a tick in 4 ms that the host took */
    lay(&bench, 0, 2);
    assert_int_equal(bench.recording->cpus[0].source[0], 1);
    expect_part(&bench, 0, 0, 2, 52000);
    expect_part(&bench, 1, 0, 1, 3948000);
    assert_int_equal(bench.recording->cpus[0].source[1], 1); /* nothing was reported at all */
    assert_int_equal(bench.recording->cpus[0].part_count, 2);
    end(&bench);
}

static void where_not_all_is_reported_the_rest_is_unknown(void **state)
{
    const int64_t detours[][2] = {{1000, 90000}};
    struct bench bench;

    (void)state;
    begin(&bench, 1, detours);
    bench.ops.sees_all = false;
    bench.attribution.unseen = 0;
    lay(&bench, 0, 1);
    assert_int_equal(bench.recording->cpus[0].source[0], 0);
    end(&bench);
}

static void where_events_were_lost_the_rest_is_unknown(void **state)
{
    const int64_t detours[][2] = {{1000, 9000}, {20000, 9000}, {40000, 9000}};
    struct bench bench;

    (void)state;
    begin(&bench, 3, detours);
    add(&bench, 19000, 5000, IWI_NO_SOURCE); /* up to the middle of the second */
    add(&bench, 27000, 1000, 2);
    lay(&bench, 0, 3);
    assert_int_equal(bench.recording->cpus[0].source[0], 1);
    assert_int_equal(bench.recording->cpus[0].source[1], 0);
    expect_part(&bench, 0, 1, 2, 3000);
    expect_part(&bench, 1, 1, 0, 6000);
    assert_int_equal(bench.recording->cpus[0].source[2], 1);
    assert_int_equal(bench.attribution.shares, 1);
    end(&bench);
}

static void shares_meet_their_detour_in_any_batching(void **state)
{
    const int64_t detours[][2] = {{1000, 5000}, {20000, 3000}, {30000, 3000}};
    struct bench bench;

    (void)state;
    begin(&bench, 3, detours);
    add(&bench, 1500, 4000, 2);
    add(&bench, 12000, 50, 2); /* too short to be a detour */
    add(&bench, 20100, 2800, 4);
    lay(&bench, 0, 1);
    lay(&bench, 1, 2);
    add(&bench, 33005, 2000, 3); /* within the reading that ends the detour */
    add(&bench, 33011, 100, 2);  /* behind it */
    lay(&bench, 2, 3);
    assert_int_equal(bench.recording->cpus[0].source[0], 2);
    assert_int_equal(bench.recording->cpus[0].source[1], 4);
    assert_int_equal(bench.recording->cpus[0].source[2], 3);
    assert_int_equal(bench.attribution.shares, 4);
    assert_int_equal(bench.attribution.matched, 3);
    end(&bench);
}

static void shares_before_the_recording_do_not_count(void **state)
{
    const int64_t detours[][2] = {{0, 5000}};
    struct bench bench;

    (void)state;
    begin(&bench, 1, detours);
    assert_ok(iwi_method_add(&bench.attribution.method, 0, ZERO - 400, 100, 2));
    add(&bench, 100, 4000, 3);
    lay(&bench, 0, 1);
    assert_int_equal(bench.recording->cpus[0].source[0], 3);
    assert_int_equal(bench.attribution.shares, 1);
    end(&bench);
}

static void shares_longer_than_their_detour_are_scaled(void **state)
{
    const int64_t detours[][2] = {{1000, 3000}};
    struct bench bench;

    (void)state;
    begin(&bench, 1, detours);
    add(&bench, 1000, 4000, 2);
    add(&bench, 1100, 2000, 3);
    lay(&bench, 0, 1);
    expect_part(&bench, 0, 0, 2, 2000);
    expect_part(&bench, 1, 0, 3, 1000);
    end(&bench);
}

/* Of three detours the first is the recorder's alone, the second partly. */
static void the_recorders_own_time_is_left_out(void **state)
{
    const int64_t detours[][2] = {{1000, 5000}, {20000, 9000}, {40000, 3000}};
    struct bench bench;
    const iw_detours *cpu;

    (void)state;
    begin(&bench, 3, detours);
    cpu = &bench.recording->cpus[0];
    bench.recording->cpus[0].threshold_ns = 100;
    add(&bench, 1100, 4000, IWI_RECORDER_SOURCE);
    add(&bench, 20100, 6000, IWI_RECORDER_SOURCE);
    add(&bench, 26100, 2500, 4);
    add(&bench, 40100, 2800, 2);
    lay(&bench, 0, 2);
    lay(&bench, 1, 2);
    assert_int_equal(cpu->count, 2);
    assert_int_equal(cpu->part_count, 0);
    assert_int_equal(cpu->start_ns[0], 20000);
    assert_int_equal(cpu->duration_ns[0], 2500); /* 500 of entries go to the larger part */
    assert_int_equal(cpu->source[0], 4);
    assert_int_equal(cpu->start_ns[1], 40000);
    assert_int_equal(cpu->duration_ns[1], 3000);
    assert_int_equal(cpu->source[1], 2);
    assert_float_equal(bench.attribution.recorder_ns, 11500.0, 1e-9);
    end(&bench);
}

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

/* Random detours and shares: parts are ascending, and those of each detour add up to it. */
static void parts_always_add_up(void **state)
{
    enum { COUNT = 2000 };
    static int64_t detours[COUNT][2];
    struct bench bench;
    const iw_detours *cpu;
    uint64_t at = 0, dice = 7;
    size_t part = 0;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        at += 1000 + draw(&dice, 50000);
        detours[i][0] = (int64_t)at;
        detours[i][1] = 100 + (int64_t)draw(&dice, 40000);
        at += (uint64_t)detours[i][1];
    }
    begin(&bench, COUNT, detours);
    for (uint64_t t = 0; t < at; t += 1 + draw(&dice, 8000)) {
        add(&bench, t, draw(&dice, 9000), 2 + (uint32_t)draw(&dice, 3));
    }
    for (size_t i = 0; i < COUNT; i += 50) {
        lay(&bench, i, i + 50);
    }
    cpu = &bench.recording->cpus[0];
    for (size_t i = 0; i < COUNT; i++) {
        int64_t sum_ns = 0, main_ns = -1, most_ns = -1;

        for (; part < cpu->part_count && cpu->part_detour[part] == i; part++) {
            sum_ns += cpu->part_ns[part];
            most_ns = iwi_max(most_ns, cpu->part_ns[part]);
            main_ns = cpu->part_source[part] == cpu->source[i] ? cpu->part_ns[part] : main_ns;
        }
        assert_true(sum_ns == 0 || sum_ns == cpu->duration_ns[i]);
        assert_true(main_ns >= most_ns - 1); /* rounding */
    }
    assert_int_equal(part, cpu->part_count);
    assert_true(part > COUNT);
    end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_source_takes_the_detour_with_its_entry),
        cmocka_unit_test(nested_sources_get_their_shares),
        cmocka_unit_test(what_nobody_explains_is_a_source_of_its_own),
        cmocka_unit_test(where_not_all_is_reported_the_rest_is_unknown),
        cmocka_unit_test(where_events_were_lost_the_rest_is_unknown),
        cmocka_unit_test(shares_meet_their_detour_in_any_batching),
        cmocka_unit_test(shares_before_the_recording_do_not_count),
        cmocka_unit_test(shares_longer_than_their_detour_are_scaled),
        cmocka_unit_test(the_recorders_own_time_is_left_out),
        cmocka_unit_test(parts_always_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
