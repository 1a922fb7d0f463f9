/* Back end timer on this machine: detours happen to the thread, when and as long as planned.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "injecting.h"
#include "support/support.h"

static const int64_t MS = 1000000;
static struct iwt_log l;

static int begin(void **state)
{
    (void)state;
    iwt_log_init(&l);
    return 0;
}

static iw_injector *start(const iw_inject_plan *plan)
{
    iw_injector *injector = NULL;

    assert_ok(iw_injector_start(&l.log, plan, IW_BACK_END_TIMER, &injector));
    return injector;
}

/* What is counted holds on any machine; that the thread loses as much only if it runs. */
static void each_detour_whose_time_came_is_made_or_counted(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 100000);
    bool is_met = false;

    (void)state;
    for (int attempt = 0; attempt < 10 && !is_met; attempt++) {
        const int64_t began = iwi_now_ns();
        iw_injector *injector = start(plan);
        const struct iwt_seen seen = iwt_watch(500 * MS, 95000);
        iw_inject_counts counts;
        int64_t came;

        iw_injector_stop(injector, &counts);
        came = (iwi_now_ns() - began) / MS;
        assert_in_range(counts.made_count + counts.skipped_count + 1, came, came + 3);
        assert_true(counts.made_ns <= 1e5 * (double)counts.made_count); /* the first may be a rest */
        assert_true(counts.made_ns >= 1e5 * ((double)counts.made_count - 1));
        assert_true(counts.late_max_ns <= (double)IWI_LATE_MOST_NS);
        assert_false(counts.has_ended);
        is_met = counts.made_count > 0 && seen.sum_ns >= 0.9 * counts.made_ns;
    }
    assert_true(is_met);
    iw_inject_plan_free(plan);
}

static void what_is_too_late_is_skipped(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, 20 * MS, 10 * MS);
    iw_injector *injector = start(plan);
    iw_inject_counts counts;

    (void)state;
    for (int i = 0; i < 5; i++) {
        const uint64_t skipped = injector->pace.skipped_count;

        iwt_keep_out_too_long(injector); /* the handler runs before it returns */
        assert_true(injector->pace.skipped_count > skipped);
    }
    assert_true(iwt_meet_more(injector, injector->counts.made_count));
    iw_injector_stop(injector, &counts);
    assert_true(counts.late_max_ns <= (double)IWI_LATE_MOST_NS);
    iw_inject_plan_free(plan);
}

static void pauses_are_silent(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 10000);
    iw_injector *injector = start(plan);
    uint64_t made;

    (void)state;
    assert_true(iwt_meet_more(injector, 0));
    iw_injector_pause(injector);
    iw_injector_pause(injector);
    made = injector->counts.made_count;
    (void)iwt_watch(50 * MS, 1000);
    iw_injector_phase(injector); /* of another sync: nothing */
    assert_int_equal(injector->counts.made_count, made);
    iw_injector_go_on(injector);
    iw_injector_go_on(injector);
    assert_true(iwt_meet_more(injector, made));
    iw_injector_stop(injector, NULL);
    iw_inject_plan_free(plan);
}

/* Phases of 2 ms, one detour every 4 ms and a new place each time: about every second phase has one. Those
 * that took longer, because others had the CPU, say nothing. */
static void phases_begin_at_new_places(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_PHASE, 4 * MS, 20000);
    iw_injector *injector = start(plan);
    size_t count = 0, with = 0;
    int phase = 0;

    (void)state;
    for (; phase < 2000 && count < 200; phase++) {
        const uint64_t before = injector->counts.made_count;

        iw_injector_phase(injector);
        if (iwt_watch(2 * MS, 1000).elapsed_ns < 3 * MS) {
            count++;
            with += injector->counts.made_count > before;
        }
    }
    assert_int_equal(injector->pace.phase, phase);
    iw_injector_stop(injector, NULL);
    assert_true(count >= 20); /* else nothing can be said of this machine */
    assert_in_range(with, count / 5, count * 9 / 10);
    iw_inject_plan_free(plan);
}

static void it_ends_after_its_share(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 10000);
    iw_inject_counts counts;
    iw_injector *injector;

    (void)state;
    plan->opts.most_share = 0.5; /* of 100 ms */
    injector = start(plan);
    (void)iwt_watch(150 * MS, 1000);
    iw_injector_stop(injector, &counts);
    assert_true(counts.has_ended);
    assert_in_range(counts.made_count + counts.skipped_count, 49, 51);
    iw_inject_plan_free(plan);
}

static void compensated_detours_last_as_long_as_planned(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 100000);
    struct iwt_seen seen = {0};

    (void)state;
    plan->opts.is_uncompensated = false;
    for (int attempt = 0; attempt < 10 && !(seen.median_ns > 90000 && seen.median_ns < 110000); attempt++) {
        iw_injector *injector;

        if (iw_inject_calibrate(&l.log, IW_BACK_END_TIMER, IW_INJECT_CALIBRATE_NS, &plan->costs) != IW_OK) {
            continue; /* too busy */
        }
        injector = start(plan);
        seen = iwt_watch(300 * MS, 60000);
        iw_injector_stop(injector, NULL);
    }
    assert_true(seen.median_ns > 90000 && seen.median_ns < 110000);
    iw_inject_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_detour_whose_time_came_is_made_or_counted, begin),
        cmocka_unit_test_setup(what_is_too_late_is_skipped, begin),
        cmocka_unit_test_setup(pauses_are_silent, begin),
        cmocka_unit_test_setup(phases_begin_at_new_places, begin),
        cmocka_unit_test_setup(it_ends_after_its_share, begin),
        cmocka_unit_test_setup(compensated_detours_last_as_long_as_planned, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
