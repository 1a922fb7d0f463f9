/* Laws fitted to durations that were drawn from known ones: parameters, intervals, choice, goodness.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/rng.h"
#include "core/stats/sort_ns.h"
#include "features/recordings/compare/compare.h"
#include "features/recordings/fit/fit.h"
#include "support/support.h"

enum { MOST = 4000 };

static const iw_fit_opts quick = {.size = sizeof quick, .seed = 1, .replicates = 99};

/* A law and the threshold of the recording; scale and shape are those of the whole law. */
struct truth {
    iw_fit_law law;
    double scale_ns, shape, threshold_ns;
};

static const struct truth truths[] = {
    {IW_FIT_EXP, 20000.0, NAN, 0.0},         {IW_FIT_EXP, 2000.0, NAN, 1500.0},
    {IW_FIT_PARETO, 1000.0, 1.5, 0.0},       {IW_FIT_PARETO, 1000.0, 2.5, 180.0},
    {IW_FIT_LOGNORMAL, 5000.0, 0.8, 0.0},    {IW_FIT_LOGNORMAL, 3000.0, 0.6, 1000.0},
    {IW_FIT_LOGNORMAL, 3000.0, 0.6, 2500.0},
};
enum { TRUTHS = sizeof truths / sizeof truths[0] };

/* Durations that never overlap. */
static struct iwi_fit_above above(double threshold_ns)
{
    return (struct iwi_fit_above){.threshold_ns = threshold_ns};
}

/* `count` sorted durations above the threshold, rounded as recordings are. */
static void draw(const struct truth *truth, uint64_t trial, int64_t *values_ns, size_t count)
{
    const struct iwi_draw_id id = {.seed = 7, .trial = trial, .purpose = IWI_DRAW_TEST};
    iw_duration_fit whole = {.scale_ns = {truth->scale_ns, NAN, NAN}, .shape = {truth->shape, NAN, NAN}};
    int64_t scratch[MOST];

    for (size_t i = 0; i < count; i++) {
        values_ns[i] =
            llround(iwi_law_exceeded_ns(truth->law, &whole, truth->threshold_ns, iwi_draw_unit(id, i)));
    }
    iwi_sort_ns(values_ns, scratch, count);
}

static bool holds(const iw_estimate *estimate, double truth)
{
    return isnan(truth) || (truth >= estimate->low && truth <= estimate->high);
}

static void intervals_hold_the_truth_in_95_of_100_repetitions(void **state)
{
    enum { REPETITIONS = 400, COUNT = 500 };

    (void)state;
    for (size_t t = 0; t < TRUTHS; t++) {
        const struct truth *truth = &truths[t];
        size_t scale = 0, shape = 0;

        for (uint64_t trial = 0; trial < REPETITIONS; trial++) {
            int64_t values_ns[COUNT];
            struct iwi_fit_sample sample;
            iw_duration_fit fit;

            draw(truth, trial, values_ns, COUNT);
            sample = iwi_fit_sample(values_ns, COUNT, truth->threshold_ns);
            iwi_fit_one_law(truth->law, &sample, &fit);
            scale += holds(&fit.scale_ns, truth->scale_ns) || truth->law == IW_FIT_PARETO;
            shape += holds(&fit.shape, truth->shape);
        }
        assert_in_range(scale, REPETITIONS * 90 / 100, REPETITIONS);
        assert_in_range(shape, REPETITIONS * 90 / 100, REPETITIONS);
    }
}

static void large_samples_give_the_parameters_back(void **state)
{
    (void)state;
    for (size_t t = 0; t < TRUTHS; t++) {
        const struct truth *truth = &truths[t];
        int64_t values_ns[MOST];
        struct iwi_fit_sample sample;
        iw_duration_fit fit;

        draw(truth, 1, values_ns, MOST);
        sample = iwi_fit_sample(values_ns, MOST, truth->threshold_ns);
        iwi_fit_one_law(truth->law, &sample, &fit);
        assert_true(fabs(fit.scale_ns.value / truth->scale_ns - 1.0) < 0.1);
        assert_true(isnan(truth->shape) || fabs(fit.shape.value / truth->shape - 1.0) < 0.1);
        assert_true(fabs(fit.seen - iwi_law_above(truth->law, truth->scale_ns, truth->shape,
                                                  truth->threshold_ns)) < 0.05);
    }
}

/* But for a lognormal law of which 62 % are seen: a thousand detours look exponential. */
static void the_right_law_is_chosen_almost_always(void **state)
{
    enum { REPETITIONS = 40, COUNT = 1000 };
    const iw_fit_opts none = {.size = sizeof none, .seed = 1, .replicates = 1};

    (void)state;
    for (size_t t = 0; t + 1 < TRUTHS; t++) {
        size_t right = 0;

        for (uint64_t trial = 0; trial < REPETITIONS; trial++) {
            int64_t values_ns[COUNT];
            iw_durations d;

            draw(&truths[t], trial, values_ns, COUNT);
            assert_ok(iwi_fit_durations(NULL, &none, above(truths[t].threshold_ns), values_ns, COUNT, &d));
            right += d.is_fitted && d.best == truths[t].law;
            iwi_durations_release(&d);
        }
        if (right < REPETITIONS * 9 / 10) {
            fail_msg("law %zu chosen in %zu of %d", t, right, REPETITIONS);
        }
    }
}

/* With parameters that were estimated tables of Kolmogorov's law would hardly ever reject. */
static void the_true_law_is_rejected_as_often_as_p_says(void **state)
{
    enum { REPETITIONS = 120, COUNT = 200 };
    const size_t chosen[] = {1, 3, 5};

    (void)state;
    for (size_t t = 0; t < sizeof chosen / sizeof chosen[0]; t++) {
        const struct truth *truth = &truths[chosen[t]];
        size_t low = 0, half = 0;

        for (uint64_t trial = 0; trial < REPETITIONS; trial++) {
            int64_t values_ns[COUNT];
            const iw_fit_opts opts = {.size = sizeof opts, .seed = trial, .replicates = 99};
            struct iwi_fit_sample sample;
            iw_duration_fit fit;

            draw(truth, trial, values_ns, COUNT);
            sample = iwi_fit_sample(values_ns, COUNT, truth->threshold_ns);
            iwi_fit_one_law(truth->law, &sample, &fit);
            fit.distance = iwi_fit_distance(truth->law, &fit, truth->threshold_ns, values_ns, COUNT);
            assert_ok(iwi_fit_goodness(NULL, truth->law, &opts, truth->threshold_ns, COUNT, &fit));
            low += fit.p <= 0.1;
            half += fit.p <= 0.5;
        }
        assert_in_range(low, 3, 24);   /* 12 are expected */
        assert_in_range(half, 42, 78); /* 60 are expected */
    }
}

/* Samples of 500 stand for those of 4000. */
static void large_samples_are_not_rejected_more_often(void **state)
{
    enum { REPETITIONS = 60 };
    size_t half = 0;

    (void)state;
    for (uint64_t trial = 0; trial < REPETITIONS; trial++) {
        const iw_fit_opts opts = {.size = sizeof opts, .seed = trial, .replicates = 99};
        int64_t values_ns[MOST];
        struct iwi_fit_sample sample;
        iw_duration_fit fit;

        draw(&truths[0], trial, values_ns, MOST);
        sample = iwi_fit_sample(values_ns, MOST, 0.0);
        iwi_fit_one_law(IW_FIT_EXP, &sample, &fit);
        fit.distance = iwi_fit_distance(IW_FIT_EXP, &fit, 0.0, values_ns, MOST);
        assert_ok(iwi_fit_goodness(NULL, IW_FIT_EXP, &opts, 0.0, MOST, &fit));
        half += fit.p <= 0.5;
    }
    assert_in_range(half, 18, 42); /* 30 are expected */
}

static void a_wrong_law_is_far_and_rejected(void **state)
{
    int64_t values_ns[MOST];
    iw_durations d;

    (void)state;
    draw(&truths[4], 1, values_ns, MOST);
    assert_ok(iwi_fit_durations(NULL, &quick, above(0.0), values_ns, MOST, &d));
    assert_true(d.laws[IW_FIT_EXP].distance > 0.05);
    assert_true(d.laws[IW_FIT_EXP].p <= 0.011);
    assert_true(d.laws[IW_FIT_LOGNORMAL].p > 0.011);
    assert_true(d.laws[IW_FIT_LOGNORMAL].distance < 0.03);
    assert_true(d.laws[IW_FIT_EXP].bic > d.laws[IW_FIT_LOGNORMAL].bic);
    iwi_durations_release(&d);
}

/* Half of a law unseen: what is fitted without a cut is another law. */
static void the_threshold_is_taken_into_account(void **state)
{
    const struct truth *truth = &truths[1];
    int64_t values_ns[MOST];
    struct iwi_fit_sample sample;
    iw_duration_fit cut, whole;

    (void)state;
    draw(truth, 1, values_ns, MOST);
    sample = iwi_fit_sample(values_ns, MOST, truth->threshold_ns);
    iwi_fit_one_law(IW_FIT_EXP, &sample, &cut);
    sample.cut_ns = 0.0;
    iwi_fit_one_law(IW_FIT_EXP, &sample, &whole);
    assert_true(fabs(cut.scale_ns.value - 2000.0) < 150.0);
    assert_true(whole.scale_ns.value > 3300.0); /* threshold + mean = 3500 */
}

/* A Pareto tail looks like a lognormal law whose median runs away to 0. */
static void laws_do_not_rest_on_what_is_below_the_threshold(void **state)
{
    const struct truth pareto = {IW_FIT_PARETO, 1000.0, 1.0, 1000.0};
    int64_t values_ns[MOST];
    iw_durations d;

    (void)state;
    draw(&pareto, 1, values_ns, MOST);
    assert_ok(iwi_fit_durations(NULL, &quick, above(1000.0), values_ns, MOST, &d));
    assert_int_equal(d.best, IW_FIT_PARETO);
    assert_true(d.laws[IW_FIT_LOGNORMAL].is_at_limit);
    assert_true(fabs(d.laws[IW_FIT_LOGNORMAL].seen - 0.05) < 1e-6);
    assert_true(isnan(d.laws[IW_FIT_LOGNORMAL].scale_ns.low));
    iwi_durations_release(&d);
}

static void equal_durations_are_fixed(void **state)
{
    int64_t values_ns[1000];
    iw_durations d;

    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        values_ns[i] = 2000 + (int64_t)(i % 2);
    }
    assert_ok(iwi_fit_durations(NULL, &quick, above(180.0), values_ns, 1000, &d));
    assert_true(d.is_fitted);
    assert_int_equal(d.best, IW_FIT_FIXED);
    assert_true(d.laws[IW_FIT_FIXED].distance == 0.0 && d.laws[IW_FIT_FIXED].p == 1.0);
    assert_int_equal(d.point_count, 2);
    iwi_durations_release(&d);
    values_ns[0] = 9000; /* one other does not make it another law */
    assert_ok(iwi_fit_durations(NULL, &quick, above(180.0), values_ns, 1000, &d));
    assert_int_equal(d.best, IW_FIT_FIXED);
    assert_true(fabs(d.laws[IW_FIT_FIXED].distance - 0.001) < 1e-12);
    assert_true(d.laws[IW_FIT_FIXED].p < 0.05);
    iwi_durations_release(&d);
}

static void none_and_few_have_no_law(void **state)
{
    int64_t values_ns[] = {500, 900, 100, 5000};
    iw_durations d;

    (void)state;
    assert_ok(iwi_fit_durations(NULL, &quick, above(180.0), values_ns, 0, &d));
    assert_true(!d.is_fitted && d.count == 0 && d.point_count == 0);
    iwi_durations_release(&d);
    assert_ok(iwi_fit_durations(NULL, &quick, above(180.0), values_ns, 4, &d));
    assert_true(!d.is_fitted);
    assert_int_equal(d.count, 3);
    assert_int_equal(d.left_out, 1);
    assert_true(d.left_out_ns == 100.0 && d.total_ns == 6400.0 && d.longest_ns == 5000.0);
    iwi_durations_release(&d);
}

static void points_fall_from_all_to_one_detour(void **state)
{
    int64_t values_ns[MOST];
    iw_durations d;

    (void)state;
    draw(&truths[0], 1, values_ns, MOST);
    assert_ok(iwi_fit_durations(NULL, &quick, above(0.0), values_ns, MOST, &d));
    assert_in_range(d.point_count, 50, 1000);
    assert_true(d.points[0].above == 1.0);
    assert_true(fabs(d.points[d.point_count - 1].above - 1.0 / MOST) < 1e-12);
    assert_true(d.points[d.point_count - 1].ns == d.longest_ns);
    for (size_t i = 1; i < d.point_count; i++) {
        assert_true(d.points[i].ns > d.points[i - 1].ns && d.points[i].above < d.points[i - 1].above);
    }
    iwi_durations_release(&d);
}

static void the_tail_of_the_true_law_is_as_recorded(void **state)
{
    int64_t values_ns[MOST];
    iw_durations d;

    (void)state;
    draw(&truths[4], 2, values_ns, MOST);
    assert_ok(iwi_fit_durations(NULL, &quick, above(0.0), values_ns, MOST, &d));
    assert_true(fabs(d.tail_share - 10.0 / MOST) < 1e-12);
    assert_true(fabs(d.tail_fitted_ns / d.tail_recorded_ns - 1.0) < 0.25);
    assert_true(d.expected_as_long > 0.02 && d.expected_as_long < 20.0);
    iwi_durations_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_hold_the_truth_in_95_of_100_repetitions),
        cmocka_unit_test(large_samples_give_the_parameters_back),
        cmocka_unit_test(the_right_law_is_chosen_almost_always),
        cmocka_unit_test(the_true_law_is_rejected_as_often_as_p_says),
        cmocka_unit_test(large_samples_are_not_rejected_more_often),
        cmocka_unit_test(a_wrong_law_is_far_and_rejected),
        cmocka_unit_test(the_threshold_is_taken_into_account),
        cmocka_unit_test(laws_do_not_rest_on_what_is_below_the_threshold),
        cmocka_unit_test(equal_durations_are_fixed),
        cmocka_unit_test(none_and_few_have_no_law),
        cmocka_unit_test(points_fall_from_all_to_one_detour),
        cmocka_unit_test(the_tail_of_the_true_law_is_as_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
