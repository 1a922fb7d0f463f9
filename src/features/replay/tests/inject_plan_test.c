/* Plans: what becomes of detours that can be made, cannot be made, or are too close; limits.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/inject_plan.h"

#include <math.h>
#include <string.h>

#include "core/base/rng.h"
#include "support/made_recording.h"
#include "support/support.h"

static struct iwt_log l;
static const iw_inject_costs costs = {
    .overhead_ns = 8000, .late_p50_ns = 4000, .late_p99_ns = 9000, .floor_ns = 10000, .gap_ns = 3000};

static int begin(void **state)
{
    (void)state;
    iwt_log_init(&l);
    return 0;
}

static iw_inject_plan *plan_of(const iw_recording *recording, const iw_inject_opts *opts)
{
    iw_inject_plan *plan = NULL;

    assert_ok(iw_inject_plan_make(&l.log, recording, 0, opts, &costs, &plan));
    return plan;
}

static void assert_detour(const iw_inject_plan *plan, size_t i, int64_t start_ns, int64_t duration_ns)
{
    assert_true(i < plan->count);
    assert_int_equal(plan->start_ns[i], start_ns);
    assert_int_equal(plan->duration_ns[i], duration_ns);
}

static void detours_above_the_floor_stay_as_recorded(void **state)
{
    const iw_inject_opts opts = IW_INJECT_OPTS_INIT;
    iw_recording *recording = iwt_recording(1, 1000000);
    iw_inject_plan *plan;

    (void)state;
    iwt_detour(recording, 0, 100000, 10000, 0);
    iwt_detour(recording, 0, 113000, 50000, 0); /* begins gap_ns after the end of the first */
    plan = plan_of(recording, &opts);
    assert_int_equal(plan->count, 2);
    assert_detour(plan, 0, 100000, 10000);
    assert_detour(plan, 1, 113000, 50000);
    assert_int_equal(iw_inject_plan_facts(plan)->as_recorded_count, 2);
    assert_true(iw_inject_plan_facts(plan)->made_ns == 60000);
    assert_int_equal(iw_inject_plan_facts(plan)->length_ns, 1000000);
    iw_inject_plan_free(plan);
    iw_recording_free(recording);
}

static void detours_below_the_floor_wait_for_each_other(void **state)
{
    const iw_inject_opts opts = IW_INJECT_OPTS_INIT;
    iw_recording *recording = iwt_recording(1, 1000000);
    iw_inject_plan *plan;

    (void)state;
    iwt_detour(recording, 0, 100000, 4000, 0);
    iwt_detour(recording, 0, 200000, 4000, 0);
    iwt_detour(recording, 0, 300000, 20000, 0);
    iwt_detour(recording, 0, 400000, 4000, 0); /* the third of them: 12 us are enough */
    iwt_detour(recording, 0, 500000, 9999, 0); /* never made */
    plan = plan_of(recording, &opts);
    assert_int_equal(plan->count, 2);
    assert_detour(plan, 0, 300000, 20000);
    assert_detour(plan, 1, 400000, 12000);
    assert_int_equal(plan->facts.event_count, 5);
    assert_int_equal(plan->facts.as_recorded_count, 1);
    assert_true(plan->facts.as_recorded_ns == 20000);
    assert_true(plan->facts.noise_ns == 41999);
    assert_true(plan->facts.made_ns == 32000);
    iw_inject_plan_free(plan);
    iw_recording_free(recording);
}

static void detours_too_close_become_one(void **state)
{
    const iw_inject_opts opts = IW_INJECT_OPTS_INIT;
    iw_recording *recording = iwt_recording(1, 1000000);
    iw_inject_plan *plan;

    (void)state;
    iwt_detour(recording, 0, 100000, 20000, 0);
    iwt_detour(recording, 0, 122999, 30000, 0); /* 1 ns less than gap_ns after its end */
    iwt_detour(recording, 0, 160000, 40000, 0); /* the two end at 150000 now */
    plan = plan_of(recording, &opts);
    assert_int_equal(plan->count, 2);
    assert_detour(plan, 0, 100000, 50000);
    assert_detour(plan, 1, 160000, 40000);
    assert_int_equal(plan->facts.as_recorded_count, 1);
    iw_inject_plan_free(plan);
    iw_recording_free(recording);
}

static void scaling_lifts_detours_above_the_floor(void **state)
{
    iw_inject_opts opts = IW_INJECT_OPTS_INIT;
    iw_recording *recording = iwt_recording(1, 1000000);
    iw_inject_plan *plan;

    (void)state;
    iwt_detour(recording, 0, 100000, 4000, 0);
    iwt_detour(recording, 0, 105000, 5000, 0); /* 1 us after it: 3 us when scaled, enough */
    opts.time_scale = 3;
    plan = plan_of(recording, &opts);
    assert_int_equal(plan->count, 2);
    assert_detour(plan, 0, 300000, 12000);
    assert_detour(plan, 1, 315000, 15000);
    assert_int_equal(plan->facts.length_ns, 3000000);
    assert_int_equal(plan->facts.as_recorded_count, 2);
    iw_inject_plan_free(plan);
    iw_recording_free(recording);
}

static void uncompensated_plans_have_every_detour(void **state)
{
    iw_inject_opts opts = IW_INJECT_OPTS_INIT;
    iw_recording *recording = iwt_recording(1, 1000000);
    iw_inject_plan *plan;

    (void)state;
    iwt_detour(recording, 0, 100000, 400, 0);
    iwt_detour(recording, 0, 100400, 500, 0);
    iwt_detour(recording, 0, 300000, 600, 0);
    opts.is_uncompensated = true;
    plan = plan_of(recording, &opts);
    assert_int_equal(plan->count, 3);
    assert_detour(plan, 1, 100400, 500);
    assert_true(plan->costs.overhead_ns == 0);
    assert_true(plan->facts.noise_ns == plan->facts.made_ns);
    iw_inject_plan_free(plan);
    iw_recording_free(recording);
}

/* Traces that are random in everything: many or few below the floor, close or far. */
static iw_recording *random_recording(uint64_t seed)
{
    const struct iwi_draw_id draw = {.seed = seed, .purpose = IWI_DRAW_TEST};
    const int64_t spacing_ns = 2000 + (int64_t)iwi_draw_below(draw, 0, 200000);
    const int64_t longest_ns = 500 + (int64_t)iwi_draw_below(draw, 1, 60000);
    iw_recording *recording = iwt_recording(1, 50000000);
    int64_t at_ns = 0;

    for (uint64_t i = 2;; i += 2) {
        const int64_t duration_ns = 1 + (int64_t)iwi_draw_below(draw, i, (uint64_t)longest_ns);

        at_ns += (int64_t)iwi_draw_below(draw, i + 1, (uint64_t)spacing_ns);
        if (at_ns + duration_ns >= 50000000) {
            return recording;
        }
        iwt_detour(recording, 0, at_ns, duration_ns, 0);
        at_ns += duration_ns;
    }
}

static double sum_of(const iw_inject_plan *plan)
{
    double sum = 0;

    for (size_t i = 0; i < plan->count; i++) {
        sum += (double)plan->duration_ns[i];
    }
    return sum;
}

static void noise_power_is_kept_to_less_than_a_floor(void **state)
{
    size_t made = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        iw_inject_opts opts = IW_INJECT_OPTS_INIT;
        iw_recording *recording = random_recording(seed);
        iw_inject_plan *plan = NULL;

        opts.time_scale = 1 + (double)(seed % 3) / 2;
        if (iw_inject_plan_make(&l.log, recording, 0, &opts, &costs, &plan) == IW_OK) { /* else over 90 % */
            const iw_inject_facts *facts = iw_inject_plan_facts(plan);

            assert_int_equal(facts->event_count, recording->cpus[0].count);
            assert_true(facts->made_ns <= facts->noise_ns &&
                        facts->noise_ns - facts->made_ns < costs.floor_ns);
            assert_true(fabs(facts->made_ns - sum_of(plan)) < 0.5);
            for (size_t i = 0; i < plan->count; i++) {
                assert_true((double)plan->duration_ns[i] >= costs.floor_ns);
                assert_true(i == 0 || plan->start_ns[i] - plan->start_ns[i - 1] - plan->duration_ns[i - 1] >=
                                          (int64_t)costs.gap_ns);
            }
            made++;
        }
        iw_inject_plan_free(plan);
        iw_recording_free(recording);
    }
    assert_true(made > 100);
}

static void assert_refused(const iw_recording *recording, size_t cpu, const iw_inject_opts *opts,
                           const char *part)
{
    iw_inject_plan *plan = NULL;

    iwt_log_init(&l);
    assert_status(iw_inject_plan_make(&l.log, recording, cpu, opts, &costs, &plan), IW_ERR_RANGE);
    assert_null(plan);
    iwt_assert_logged(&l, part);
}

static void what_is_out_of_range_is_refused(void **state)
{
    const iw_inject_opts usual = IW_INJECT_OPTS_INIT;
    iw_inject_opts opts = usual;
    iw_recording *recording = iwt_recording(1, 1000000000);

    (void)state;
    iwt_detour(recording, 0, 100000, 4000, 0);
    assert_refused(recording, 1, &usual, "so there is no CPU 1");
    opts.time_scale = 0.5;
    assert_refused(recording, 0, &opts, "time scale 0.5");
    opts.time_scale = NAN;
    assert_refused(recording, 0, &opts, "time scale");
    opts = usual;
    opts.most_share = -1;
    assert_refused(recording, 0, &opts, "share of the trace");
    opts = usual;
    opts.skew_ns = -1;
    assert_refused(recording, 0, &opts, "skew");
    iwt_detour(recording, 0, 50000, 4000, 0);
    assert_refused(recording, 0, &usual, "out of order");
    iw_recording_free(recording);
}

static void too_long_or_too_much_is_refused(void **state)
{
    iw_inject_opts opts = IW_INJECT_OPTS_INIT;
    iw_recording *recording = iwt_recording(1, INT64_C(100000000000));
    iw_inject_plan *plan = NULL;

    (void)state;
    iwt_detour(recording, 0, 0, IW_INJECT_MOST_NS, 0);
    assert_ok(iw_inject_plan_make(&l.log, recording, 0, &opts, &costs, &plan));
    iw_inject_plan_free(plan);
    opts.time_scale = 1.01;
    assert_refused(recording, 0, &opts, "would last 10.1 s");
    opts.time_scale = 1;
    iwt_detour(recording, 0, IW_INJECT_MOST_NS, 1000000, 0); /* joins it */
    assert_refused(recording, 0, &opts, "a group of detours");
    iw_recording_free(recording);

    recording = iwt_recording(1, 1000000);
    iwt_detour(recording, 0, 0, 950000, 0);
    assert_refused(recording, 0, &opts, "95 %");
    iw_recording_free(recording);
}

static void nothing_gives_an_empty_plan(void **state)
{
    const iw_inject_opts opts = IW_INJECT_OPTS_INIT;
    iw_recording *recording = iwt_recording(1, 1000000);
    iw_inject_plan *plan = plan_of(recording, &opts);

    (void)state;
    assert_int_equal(plan->count, 0);
    assert_int_equal(iw_inject_plan_facts(plan)->made_count, 0);
    iw_inject_plan_free(plan);
    iw_recording_free(recording);
    iw_inject_plan_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(detours_above_the_floor_stay_as_recorded, begin),
        cmocka_unit_test_setup(detours_below_the_floor_wait_for_each_other, begin),
        cmocka_unit_test_setup(detours_too_close_become_one, begin),
        cmocka_unit_test_setup(scaling_lifts_detours_above_the_floor, begin),
        cmocka_unit_test_setup(uncompensated_plans_have_every_detour, begin),
        cmocka_unit_test_setup(noise_power_is_kept_to_less_than_a_floor, begin),
        cmocka_unit_test_setup(what_is_out_of_range_is_refused, begin),
        cmocka_unit_test_setup(too_long_or_too_much_is_refused, begin),
        cmocka_unit_test_setup(nothing_gives_an_empty_plan, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
