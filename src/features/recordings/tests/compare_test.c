/* Comparisons find differences that are there, and no others.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/made_recording.h"
#include "support/support.h"
#include "support/synthetic.h"

static const int64_t SECOND_NS = 1000000000;

enum { NO_SOURCE = 0 };

static iw_noise_comparison *compared(const iw_recording *a, const iw_recording *b,
                                     const iw_compare_opts *opts)
{
    static const iw_compare_opts usual = IW_COMPARE_OPTS_INIT;
    iw_noise_comparison *comparison = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    assert_ok(iw_noise_compare(&l.log, a, b, opts != NULL ? opts : &usual, &comparison));
    assert_string_equal(l.text, "");
    return comparison;
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fmax(fabs(expected), 1e-6))) {
        fail_msg("%.12g instead of %.12g", value, expected);
    }
}

/* One CPU, 4 s, `count` detours of that duration every 10 ms. */
static iw_recording *regular(size_t count, int64_t duration_ns)
{
    iw_recording *recording = iwt_recording(1, 4 * SECOND_NS);

    for (size_t i = 0; i < count; i++) {
        iwt_detour(recording, 0, (int64_t)i * 10000000, duration_ns, NO_SOURCE);
    }
    return recording;
}

static void numbers_are_those_that_one_counts_by_hand(void **state)
{
    iw_recording *a = regular(400, 1000), *b = regular(200, 3000);
    iw_noise_comparison *c = compared(a, b, NULL);

    (void)state;
    assert_near(c->metrics[IW_COMPARE_SHARE].a, 1e-4); /* 400 x 1 us in 4 s */
    assert_near(c->metrics[IW_COMPARE_SHARE].b, 1.5e-4);
    assert_near(c->metrics[IW_COMPARE_RATE].a, 100.0);
    assert_near(c->metrics[IW_COMPARE_RATE].b, 50.0);
    assert_near(c->metrics[IW_COMPARE_MEDIAN].a, 1000.0);
    assert_near(c->metrics[IW_COMPARE_P99].b, 3000.0);
    assert_near(c->metrics[IW_COMPARE_LONGEST].b, 3000.0);
    assert_true(isnan(c->metrics[IW_COMPARE_LONGEST].difference.low));
    assert_near(c->ks.distance, 1.0);
    assert_near(c->wasserstein_ns.distance, 2000.0);
    assert_near(c->metrics[IW_COMPARE_MEDIAN].difference.low, 2000.0); /* all durations are the same */
    assert_near(c->metrics[IW_COMPARE_MEDIAN].difference.high, 2000.0);
    assert_true(c->ks.p < 0.001);
    assert_int_equal(c->a.block_count, 40); /* of 100 ms */
    assert_int_equal(c->a.block_ns, 100000000);
    iw_noise_comparison_free(c);
    iw_recording_free(a);
    iw_recording_free(b);
}

static void distances_of_mixed_durations_are_exact(void **state)
{
    static const int64_t in_a[] = {10, 20, 30, 40}, in_b[] = {20, 20, 50};
    iw_recording *a = iwt_recording(1, SECOND_NS), *b = iwt_recording(1, SECOND_NS);
    iw_noise_comparison *c;

    (void)state;
    for (int64_t i = 0; i < 4; i++) {
        iwt_detour(a, 0, i * 100000000, in_a[i], NO_SOURCE);
    }
    for (int64_t i = 0; i < 3; i++) {
        iwt_detour(b, 0, i * 100000000, in_b[i], NO_SOURCE);
    }
    c = compared(a, b, NULL);
    /* |Fa - Fb|: [10,20) 1/4; [20,30) 1/2 - 2/3; [30,40) 3/4 - 2/3; [40,50) 1 - 2/3 */
    assert_near(c->ks.distance, 1.0 / 3.0);
    assert_near(c->wasserstein_ns.distance, 10.0 * (1.0 / 4 + 1.0 / 6 + 1.0 / 12 + 1.0 / 3));
    iw_noise_comparison_free(c);
    iw_recording_free(a);
    iw_recording_free(b);
}

static void a_recording_is_not_worse_than_itself(void **state)
{
    iw_recording *a = regular(300, 1000);
    iw_noise_comparison *c = compared(a, a, NULL);

    (void)state;
    assert_int_equal(c->verdict, IW_COMPARE_SAME);
    assert_true(c->metrics[IW_COMPARE_SHARE].difference.low <= 0.0 &&
                c->metrics[IW_COMPARE_SHARE].difference.high >= 0.0);
    assert_true(c->ks.distance == 0.0 && c->ks.p == 1.0);
    iw_noise_comparison_free(c);
    iw_recording_free(a);
}

static void the_seed_decides_alone(void **state)
{
    iw_compare_opts opts = IW_COMPARE_OPTS_INIT;
    struct synthetic s = {.seed = 5, .length_ns = 4e9};
    iw_recording *a = iwt_recording(1, 4 * SECOND_NS);
    iw_recording *b = regular(100, 2000);
    iw_noise_comparison *first, *again, *other;

    (void)state;
    synthetic_poisson(&s, 100.0, 2000.0, NO_SOURCE);
    synthetic_put(&s, a, 0);
    first = compared(a, b, &opts);
    again = compared(a, b, &opts);
    opts.seed = 2;
    other = compared(a, b, &opts);
    assert_memory_equal(first->metrics, again->metrics, sizeof first->metrics);
    assert_true(first->metrics[IW_COMPARE_SHARE].difference.low !=
                other->metrics[IW_COMPARE_SHARE].difference.low);
    iw_noise_comparison_free(first);
    iw_noise_comparison_free(again);
    iw_noise_comparison_free(other);
    iw_recording_free(a);
    iw_recording_free(b);
}

static void tolerance_and_metric_decide_the_verdict(void **state)
{
    iw_compare_opts opts = IW_COMPARE_OPTS_INIT;
    iw_recording *a = regular(400, 1000), *b = regular(400, 3000);
    iw_noise_comparison *c;
    static const struct {
        iw_compare_metric metric;
        double tolerance;
        iw_compare_verdict verdict;
    } cases[] = {
        {IW_COMPARE_SHARE, 0.0, IW_COMPARE_WORSE},     {IW_COMPARE_SHARE, 1.9e-4, IW_COMPARE_WORSE},
        {IW_COMPARE_SHARE, 2.1e-4, IW_COMPARE_SLIGHT}, {IW_COMPARE_RATE, 0.0, IW_COMPARE_SAME},
        {IW_COMPARE_P99, 1.9, IW_COMPARE_WORSE},       {IW_COMPARE_P99, 2.1, IW_COMPARE_SLIGHT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        opts.metric = cases[i].metric;
        opts.tolerance = cases[i].tolerance;
        c = compared(a, b, &opts);
        assert_int_equal(c->verdict, cases[i].verdict);
        iw_noise_comparison_free(c);
    }
    c = compared(b, a, NULL);
    assert_int_equal(c->verdict, IW_COMPARE_BETTER);
    iw_noise_comparison_free(c);
    iw_recording_free(a);
    iw_recording_free(b);
}

static void sources_are_matched_by_class_and_name(void **state)
{
    iw_recording *a = iwt_recording(1, 4 * SECOND_NS), *b = iwt_recording(1, 4 * SECOND_NS);
    const uint32_t tick_a = iwt_source(a, IW_CLASS_IRQ, "tick"),
                   gone = iwt_source(a, IW_CLASS_THREAD, "gone");
    const uint32_t come = iwt_source(b, IW_CLASS_THREAD, "tick"),
                   tick_b = iwt_source(b, IW_CLASS_IRQ, "tick");
    iw_noise_comparison *c;

    (void)state;
    (void)iwt_source(a, IW_CLASS_THREAD, "idle"); /* takes no time: no row */
    for (int64_t i = 0; i < 400; i++) {
        iwt_detour(a, 0, i * 10000000, 1000, tick_a);
        iwt_detour(b, 0, i * 10000000, 5000, come);
        iwt_part(b, 0, tick_b, 1000); /* the rest is come's */
    }
    iwt_detour(a, 0, 3995000000, 40000, gone);
    c = compared(a, b, NULL);
    assert_true(c->has_sources);
    assert_int_equal(c->source_count, 3);
    assert_string_equal(c->sources[0].source.name, "tick");
    assert_int_equal(c->sources[0].source.kind, IW_CLASS_THREAD);
    assert_false(c->sources[0].is_in_a);
    assert_near(c->sources[0].share.b, 4e-4);
    assert_true(c->sources[0].share.difference.low > 3.9e-4);
    assert_string_equal(c->sources[1].source.name, "gone");
    assert_false(c->sources[1].is_in_b);
    assert_true(c->sources[1].share.difference.high >= 0.0); /* a single detour may be chance */
    assert_near(c->sources[2].share.a, 1e-4);
    assert_near(c->sources[2].share.b, 1e-4);
    iw_noise_comparison_free(c);
    iw_recording_free(a);
    iw_recording_free(b);
}

static void sources_told_by_different_means_are_not_compared(void **state)
{
    iw_recording *a = regular(400, 1000), *b = regular(400, 1000);
    iw_noise_comparison *c;

    (void)state;
    b->attribution = IW_ATTRIBUTION_LEVEL_PERF;
    c = compared(a, b, NULL);
    assert_false(c->has_sources);
    assert_int_equal(c->source_count, 0);
    iw_noise_comparison_free(c);
    iw_recording_free(a);
    iw_recording_free(b);
}

static void the_coarser_threshold_counts_for_both(void **state)
{
    iw_recording *a = regular(400, 1000), *b = regular(400, 1000);
    const uint32_t tick = iwt_source(a, IW_CLASS_IRQ, "tick");
    iw_noise_comparison *c;

    (void)state;
    for (int64_t i = 0; i < 100; i++) {
        iwt_detour(a, 0, 3995000000 + i * 1000, 200, tick);
        iwt_part(a, 0, tick, 200);
    }
    iwt_detour(a, 0, 3999000000, 500, tick);
    iwt_part(a, 0, tick, 300);
    b->cpus[0].threshold_ns = 250.0;
    c = compared(a, b, NULL);
    assert_near(c->threshold_ns, 250.0);
    assert_int_equal(c->a.left_out, 100);
    assert_int_equal(c->a.count, 401);
    assert_int_equal(c->b.left_out, 0);
    assert_near(c->metrics[IW_COMPARE_SHARE].a, (400 * 1000 + 500) / 4e9);
    assert_int_equal(c->source_count, 2);
    assert_near(fmax(c->sources[0].share.a, c->sources[1].share.a), 1e-4);
    assert_near(fmin(c->sources[0].share.a, c->sources[1].share.a), 500 / 4e9);
    iw_noise_comparison_free(c);
    iw_recording_free(a);
    iw_recording_free(b);
}

static void equal_thresholds_leave_nothing_out(void **state)
{
    iw_recording *a = regular(10, 100); /* below the threshold of 180 ns all the same */
    iw_noise_comparison *c = compared(a, a, NULL);

    (void)state;
    assert_near(c->threshold_ns, 0.0);
    assert_int_equal(c->a.left_out, 0);
    assert_int_equal(c->a.count, 10);
    iw_noise_comparison_free(c);
    iw_recording_free(a);
}

static void quanta_compare_with_quanta_only(void **state)
{
    iw_recording *detours = regular(400, 50000), *fwq, *ftq;
    iw_noise_comparison *c = NULL;
    const iw_compare_opts opts = IW_COMPARE_OPTS_INIT,
                          by_rate = {.size = sizeof by_rate, .metric = IW_COMPARE_RATE, .replicates = 9};
    struct iwt_log l;

    (void)state;
    fwq = synthetic_quanta(detours, IW_PROBE_FWQ, 1000000);
    ftq = synthetic_quanta(detours, IW_PROBE_FTQ, 1000000);
    c = compared(fwq, ftq, NULL);
    assert_true(fabs(c->metrics[IW_COMPARE_SHARE].a - 0.005) < 1e-4);
    assert_true(fabs(c->metrics[IW_COMPARE_SHARE].b - 0.005) < 1e-4);
    assert_true(isnan(c->metrics[IW_COMPARE_RATE].a));
    assert_false(c->has_sources);
    iw_noise_comparison_free(c);
    iwt_log_init(&l);
    assert_status(iw_noise_compare(&l.log, fwq, detours, &opts, &c), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&l, "one recording is by fwq, the other by selfish");
    assert_status(iw_noise_compare(&l.log, fwq, ftq, &by_rate, &c), IW_ERR_RANGE);
    iwt_assert_logged(&l, "quanta cannot judge by 'rate'");
    iw_recording_free(detours);
    iw_recording_free(fwq);
    iw_recording_free(ftq);
}

static void silence_can_be_compared(void **state)
{
    iw_recording *quiet = iwt_recording(1, 4 * SECOND_NS), *noisy = regular(400, 1000);
    iw_noise_comparison *c = compared(quiet, noisy, NULL);

    (void)state;
    assert_int_equal(c->verdict, IW_COMPARE_WORSE);
    assert_true(isnan(c->ks.distance));
    assert_true(isnan(c->metrics[IW_COMPARE_P99].a));
    assert_near(c->metrics[IW_COMPARE_P99].b, 1000.0);
    iw_noise_comparison_free(c);
    c = compared(quiet, quiet, NULL);
    assert_int_equal(c->verdict, IW_COMPARE_SAME);
    iw_noise_comparison_free(c);
    iw_recording_free(quiet);
    iw_recording_free(noisy);
}

static void percentiles_of_nothing_are_judged_by_who_has_detours(void **state)
{
    iw_recording *quiet = iwt_recording(1, 4 * SECOND_NS), *noisy = regular(400, 1000),
                 *once = regular(1, 1000);
    const struct {
        const iw_recording *a, *b;
        iw_compare_verdict verdict;
    } cases[] = {{quiet, noisy, IW_COMPARE_WORSE},
                 {noisy, quiet, IW_COMPARE_UNKNOWN},
                 {quiet, quiet, IW_COMPARE_UNKNOWN},
                 {once, noisy, IW_COMPARE_UNKNOWN}}; /* draws without any detour */
    iw_compare_opts opts = IW_COMPARE_OPTS_INIT;

    (void)state;
    opts.metric = IW_COMPARE_P99;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        iw_noise_comparison *c = compared(cases[i].a, cases[i].b, &opts);

        assert_int_equal(c->verdict, cases[i].verdict);
        iw_noise_comparison_free(c);
    }
    iw_recording_free(quiet);
    iw_recording_free(noisy);
    iw_recording_free(once);
}

static void one_detour_proves_nothing(void **state)
{
    iw_recording *quiet = iwt_recording(1, 4 * SECOND_NS), *once = regular(1, 100000000);
    iw_noise_comparison *c = compared(quiet, once, NULL);

    (void)state;
    assert_int_equal(c->verdict, IW_COMPARE_SAME);
    iw_noise_comparison_free(c);
    c = compared(once, once, NULL); /* replicates without any detour have no quantiles */
    assert_true(isnan(c->metrics[IW_COMPARE_MEDIAN].difference.low));
    assert_true(isinf(c->ks.by_chance));
    iw_noise_comparison_free(c);
    iw_recording_free(quiet);
    iw_recording_free(once);
}

static void nothing_watched_is_refused(void **state)
{
    iw_recording *a = regular(4, 1000), *b = iwt_recording(1, 0);
    const iw_compare_opts opts = IW_COMPARE_OPTS_INIT;
    iw_noise_comparison *c = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_status(iw_noise_compare(&l.log, a, b, &opts, &c), IW_ERR_RANGE);
    iwt_assert_logged(&l, "the second recording has length zero: nothing");
    assert_null(c);
    iw_recording_free(a);
    iw_recording_free(b);
}

/* Both CPUs lose at the same instants: as one, they say no more than one does. */
static void cpus_are_drawn_together(void **state)
{
    iw_recording *one = iwt_recording(1, 4 * SECOND_NS), *two = iwt_recording(2, 4 * SECOND_NS);
    iw_recording *quiet = iwt_recording(1, 4 * SECOND_NS);
    struct synthetic s = {.seed = 3, .length_ns = 4e9};
    iw_noise_comparison *from_one, *from_two;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        synthetic_poisson(&s, 50.0, 20000.0, NO_SOURCE);
        synthetic_put(&s, i == 0 ? one : two, i == 0 ? 0 : i - 1);
    }
    from_one = compared(quiet, one, NULL);
    from_two = compared(quiet, two, NULL);
    assert_near(from_two->metrics[IW_COMPARE_SHARE].difference.low,
                from_one->metrics[IW_COMPARE_SHARE].difference.low);
    assert_near(from_two->metrics[IW_COMPARE_SHARE].difference.high,
                from_one->metrics[IW_COMPARE_SHARE].difference.high);
    iw_noise_comparison_free(from_one);
    iw_noise_comparison_free(from_two);
    iw_recording_free(one);
    iw_recording_free(two);
    iw_recording_free(quiet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_that_one_counts_by_hand),
        cmocka_unit_test(distances_of_mixed_durations_are_exact),
        cmocka_unit_test(a_recording_is_not_worse_than_itself),
        cmocka_unit_test(the_seed_decides_alone),
        cmocka_unit_test(tolerance_and_metric_decide_the_verdict),
        cmocka_unit_test(sources_are_matched_by_class_and_name),
        cmocka_unit_test(sources_told_by_different_means_are_not_compared),
        cmocka_unit_test(the_coarser_threshold_counts_for_both),
        cmocka_unit_test(equal_thresholds_leave_nothing_out),
        cmocka_unit_test(quanta_compare_with_quanta_only),
        cmocka_unit_test(silence_can_be_compared),
        cmocka_unit_test(percentiles_of_nothing_are_judged_by_who_has_detours),
        cmocka_unit_test(one_detour_proves_nothing),
        cmocka_unit_test(nothing_watched_is_refused),
        cmocka_unit_test(cpus_are_drawn_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
