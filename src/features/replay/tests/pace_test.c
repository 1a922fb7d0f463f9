/* The walk through a plan: where nodes and phases begin, what comes next, clocks, pauses, the end.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/injector.h"

#include <stdlib.h>

#include "support/support.h"

enum { EVENTS = 3 };

static struct iwt_log l;
static iw_inject_opts opts;
static const int64_t LENGTH_NS = 10000000; /* 10 ms */
static const int64_t start_ns[EVENTS] = {1000000, 4000000, 9000000},
                     duration_ns[EVENTS] = {100000, 200000, 300000};

static int begin(void **state)
{
    const iw_inject_opts usual = IW_INJECT_OPTS_INIT;

    (void)state;
    iwt_log_init(&l);
    opts = usual;
    opts.most_share = 0;
    return 0;
}

static iw_inject_plan *plan_with(double floor_ns)
{
    const iw_inject_costs costs = {.floor_ns = floor_ns};
    const iw_inject_facts facts = {.made_count = EVENTS, .length_ns = LENGTH_NS};
    iw_inject_plan *plan;

    assert_ok(iwi_plan_new(&l.log, &opts, &costs, &facts, start_ns, duration_ns, EVENTS, &plan));
    return plan;
}

/* The instant from `after_ns` on at which the trace begins. */
static int64_t lap_from(int64_t after_ns)
{
    int64_t place_ns = (after_ns + iwi_pace_offset(&opts, LENGTH_NS) - iwi_pace_skew(&opts)) % LENGTH_NS;

    place_ns += place_ns < 0 ? LENGTH_NS : 0;
    return after_ns + (LENGTH_NS - place_ns) % LENGTH_NS;
}

static void assert_next(struct iwi_pace *pace, int64_t free_ns, int64_t deadline, int64_t duration)
{
    struct iwi_detour detour = {0};

    assert_true(iwi_pace_next(pace, free_ns, &detour));
    assert_int_equal(detour.deadline_ns, deadline);
    assert_int_equal(detour.duration_ns, duration);
}

static void the_trace_repeats(void **state)
{
    iw_inject_plan *plan = plan_with(0);
    const int64_t lap = lap_from(INT64_C(5000000000));
    struct iwi_pace pace;

    (void)state;
    iwi_pace_begin(&pace, plan, lap);
    for (int64_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < EVENTS; i++) {
            const int64_t deadline = lap + k * LENGTH_NS + start_ns[i];

            assert_next(&pace, deadline - 1, deadline, duration_ns[i]);
        }
    }
    assert_int_equal(pace.skipped_count, 0);
    iw_inject_plan_free(plan);
}

static void who_comes_later_meets_the_same_detours(void **state)
{
    iw_inject_plan *plan = plan_with(0);
    const int64_t lap = lap_from(INT64_C(5000000000));
    struct iwi_pace pace;

    (void)state;
    iwi_pace_begin(&pace, plan, lap + 2000000);
    assert_next(&pace, lap + 2000000, lap + start_ns[1], duration_ns[1]);
    iwi_pace_begin(&pace, plan, lap + 9500000); /* after the last one: the next passage */
    assert_next(&pace, lap + 9500000, lap + LENGTH_NS + start_ns[0], duration_ns[0]);
    iw_inject_plan_free(plan);
}

static void the_rest_of_a_detour_under_way_comes_at_once(void **state)
{
    iw_inject_plan *plan = plan_with(50000);
    const int64_t lap = lap_from(INT64_C(5000000000));
    struct iwi_pace pace;

    (void)state;
    iwi_pace_begin(&pace, plan, lap + 4120000);
    assert_next(&pace, lap + 4120000, lap + 4120000, 80000);
    assert_next(&pace, lap + 4200000, lap + start_ns[2], duration_ns[2]);
    iwi_pace_begin(&pace, plan, lap + 4180000); /* 20 us are left: below the floor */
    assert_next(&pace, lap + 4180000, lap + start_ns[2], duration_ns[2]);
    iw_inject_plan_free(plan);
}

static void detours_over_a_millisecond_late_are_skipped(void **state)
{
    iw_inject_plan *plan = plan_with(0);
    const int64_t lap = lap_from(INT64_C(5000000000));
    struct iwi_pace pace;

    (void)state;
    iwi_pace_begin(&pace, plan, lap);
    assert_next(&pace, lap + start_ns[0] + IWI_LATE_MOST_NS, lap + start_ns[0], duration_ns[0]);
    assert_next(&pace, lap + LENGTH_NS, lap + start_ns[2], duration_ns[2]);
    assert_int_equal(pace.skipped_count, 1);
    assert_true(pace.skipped_ns == 200000);
    iw_inject_plan_free(plan);
}

static void it_ends_when_its_share_of_the_trace_is_used(void **state)
{
    struct iwi_detour detour;
    struct iwi_pace pace;
    iw_inject_plan *plan;
    int64_t lap;

    (void)state;
    opts.most_share = 0.5;
    plan = plan_with(0);
    lap = lap_from(INT64_C(5000000000));
    iwi_pace_begin(&pace, plan, lap);
    assert_next(&pace, lap, lap + start_ns[0], duration_ns[0]);
    assert_next(&pace, lap, lap + start_ns[1], duration_ns[1]);
    assert_false(iwi_pace_next(&pace, lap, &detour)); /* at 9 ms; 5 are used */
    iwi_pace_go_on(&pace, lap + 8500000, 4500000);    /* a pause is not use: 9.5 ms now */
    assert_next(&pace, lap + 8500000, lap + start_ns[2], duration_ns[2]);
    assert_false(iwi_pace_next(&pace, lap, &detour));
    iw_inject_plan_free(plan);
}

static void a_plan_without_detours_is_silent(void **state)
{
    const iw_inject_costs costs = {0};
    const iw_inject_facts facts = {.length_ns = LENGTH_NS};
    struct iwi_detour detour;
    struct iwi_pace pace;
    iw_inject_plan *plan;

    (void)state;
    assert_ok(iwi_plan_new(&l.log, &opts, &costs, &facts, NULL, NULL, 0, &plan));
    iwi_pace_begin(&pace, plan, 12345);
    assert_false(iwi_pace_next(&pace, 12345, &detour));
    iw_inject_plan_free(plan);
}

static void nodes_begin_apart_unless_synchronised(void **state)
{
    size_t equal = 0;
    int64_t first;

    (void)state;
    first = iwi_pace_offset(&opts, LENGTH_NS);
    assert_int_equal(iwi_pace_offset(&opts, LENGTH_NS), first);
    for (opts.node = 1; opts.node <= 100; opts.node++) {
        equal += iwi_pace_offset(&opts, LENGTH_NS) == first;
    }
    assert_int_equal(equal, 0);
    opts.node = UINT64_C(1) << 32; /* its upper half counts too */
    assert_int_not_equal(iwi_pace_offset(&opts, LENGTH_NS), first);
    opts.sync = IW_SYNC_START;
    first = iwi_pace_offset(&opts, LENGTH_NS);
    for (opts.node = 1; opts.node <= 100; opts.node++) {
        assert_int_equal(iwi_pace_offset(&opts, LENGTH_NS), first);
    }
    opts.seed = 2;
    assert_int_not_equal(iwi_pace_offset(&opts, LENGTH_NS), first);
}

/* Counts in 10 equal parts of [0, length) within 5 standard deviations: 1000 +- 150 of 10000. */
static void assert_uniform(int64_t (*draw)(uint64_t))
{
    size_t counts[10] = {0};

    for (uint64_t i = 0; i < 10000; i++) {
        const int64_t value = draw(i);

        assert_true(value >= 0 && value < LENGTH_NS);
        counts[value / (LENGTH_NS / 10)]++;
    }
    for (size_t i = 0; i < 10; i++) {
        assert_in_range(counts[i], 850, 1150);
    }
}

static int64_t offset_of(uint64_t node)
{
    opts.node = node;
    return iwi_pace_offset(&opts, LENGTH_NS);
}

static int64_t phase_offset_of(uint64_t phase)
{
    return iwi_pace_phase_offset(&opts, phase, LENGTH_NS);
}

static int64_t skew_of(uint64_t node)
{
    opts.node = node;
    return iwi_pace_skew(&opts);
}

static void offsets_and_skews_are_uniform(void **state)
{
    (void)state;
    assert_uniform(offset_of);
    opts.sync = IW_SYNC_PHASE;
    assert_uniform(phase_offset_of);
    opts.skew_ns = LENGTH_NS;
    assert_uniform(skew_of);
    opts.sync = IW_SYNC_NONE;
    assert_int_equal(iwi_pace_skew(&opts), 0);
}

/* Two nodes that begin phases at different times of their clocks meet the same detours after them. */
static void phases_are_the_same_on_all_nodes(void **state)
{
    iw_inject_plan *plans[2];
    struct iwi_pace paces[2];
    const int64_t began[2] = {5000000000, 7123456789};

    (void)state;
    opts.sync = IW_SYNC_PHASE;
    for (size_t node = 0; node < 2; node++) {
        opts.node = node;
        plans[node] = plan_with(0);
        iwi_pace_begin(&paces[node], plans[node], began[node]);
    }
    for (int64_t k = 0; k < 20; k++) {
        struct iwi_detour detours[2];

        for (size_t node = 0; node < 2; node++) {
            const int64_t now = began[node] + k * 1000000;

            iwi_pace_phase(&paces[node], now);
            assert_true(iwi_pace_next(&paces[node], now, &detours[node]));
        }
        assert_int_equal(detours[0].deadline_ns - began[0], detours[1].deadline_ns - began[1]);
        assert_int_equal(detours[0].duration_ns, detours[1].duration_ns);
    }
    iw_inject_plan_free(plans[0]);
    iw_inject_plan_free(plans[1]);
}

static void skew_makes_a_node_late(void **state)
{
    struct iwi_detour early, late;
    struct iwi_pace pace;
    iw_inject_plan *plan;
    int64_t skew;

    (void)state;
    opts.sync = IW_SYNC_PHASE;
    plan = plan_with(0);
    iwi_pace_begin(&pace, plan, 1000000000);
    iwi_pace_phase(&pace, 1000000000);
    assert_true(iwi_pace_next(&pace, 1000000000, &early));
    iw_inject_plan_free(plan);
    opts.skew_ns = 50000;
    skew = iwi_pace_skew(&opts);
    assert_true(skew > 0 && skew < 50000);
    plan = plan_with(0);
    iwi_pace_begin(&pace, plan, 1000000000);
    iwi_pace_phase(&pace, 1000000000);
    assert_true(iwi_pace_next(&pace, 1000000000, &late));
    assert_int_equal(late.deadline_ns - early.deadline_ns, skew);
    iw_inject_plan_free(plan);
}

static void hosts_with_different_clocks_meet_the_same_instant(void **state)
{
    iw_inject_plan *plan = plan_with(0);
    const struct iwi_clock_map map = {.offset_ns = -123456789, .at_ns = 4000000000, .drift = 2e-5};
    struct iwi_detour here, there;
    struct iwi_pace pace;
    const int64_t now = 5000000000;

    (void)state;
    iwi_pace_begin(&pace, plan, iwi_reference(&map, now)); /* a host whose clock is the reference */
    assert_true(iwi_pace_next(&pace, 0, &here));
    iwi_pace_begin(&pace, plan, now);
    iwi_pace_set_clock(&pace, map, now);
    assert_true(iwi_pace_next(&pace, 0, &there));
    assert_true(llabs(iwi_reference(&map, there.deadline_ns) - here.deadline_ns) <= 1);
    assert_true(llabs(iwi_from_reference(&map, iwi_reference(&map, now)) - now) <= 1);
    iw_inject_plan_free(plan);
}

static void a_new_clock_does_not_move_a_phase(void **state)
{
    const struct iwi_clock_map map = {.offset_ns = 987654321};
    struct iwi_detour before, after;
    struct iwi_pace pace;
    iw_inject_plan *plan;

    (void)state;
    opts.sync = IW_SYNC_PHASE;
    plan = plan_with(0);
    iwi_pace_begin(&pace, plan, 1000000000);
    iwi_pace_phase(&pace, 1000000000);
    assert_true(iwi_pace_next(&pace, 1000000000, &before));
    iwi_pace_set_clock(&pace, map, 1000000000);
    assert_true(iwi_pace_next(&pace, 1000000000, &after));
    assert_int_equal(before.deadline_ns, after.deadline_ns);
    iw_inject_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_trace_repeats, begin),
        cmocka_unit_test_setup(who_comes_later_meets_the_same_detours, begin),
        cmocka_unit_test_setup(the_rest_of_a_detour_under_way_comes_at_once, begin),
        cmocka_unit_test_setup(detours_over_a_millisecond_late_are_skipped, begin),
        cmocka_unit_test_setup(it_ends_when_its_share_of_the_trace_is_used, begin),
        cmocka_unit_test_setup(a_plan_without_detours_is_silent, begin),
        cmocka_unit_test_setup(nodes_begin_apart_unless_synchronised, begin),
        cmocka_unit_test_setup(offsets_and_skews_are_uniform, begin),
        cmocka_unit_test_setup(phases_are_the_same_on_all_nodes, begin),
        cmocka_unit_test_setup(skew_makes_a_node_late, begin),
        cmocka_unit_test_setup(hosts_with_different_clocks_meet_the_same_instant, begin),
        cmocka_unit_test_setup(a_new_clock_does_not_move_a_phase, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
