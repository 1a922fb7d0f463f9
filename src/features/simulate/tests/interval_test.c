/* Intervals: against numbers worked out by hand, and by how often they cover the truth.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include <gsl/gsl_cdf.h>

#include "core/base/rng.h"
#include "features/simulate/simulate.h"
#include "support/support.h"

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.9g is not %.9g", value, expected);
    }
}

/* As `simulate` has it of the same trials. */
static void trials_alone_have_the_interval_of_their_mean(void **state)
{
    const double trials[] = {1.0, 2.0, 4.0, 8.0, 16.0, 32.0};
    const iw_estimate e = iwi_paired_interval(&(struct iwi_sample){.trials = trials, .trial_count = 6});
    iw_summary s;

    (void)state;
    assert_ok(iw_summarize(NULL, trials, 6, &s));
    assert_true(e.value == s.mean && e.low == s.mean_low && e.high == s.mean_high);
}

static void the_recording_adds_its_variance(void **state)
{
    const double trials[] = {1.0, 3.0}, redraws[] = {1.0, 3.0, 2.0, 4.0, 6.0, 8.0};
    const iw_estimate e = iwi_paired_interval(&(struct iwi_sample){.trials = trials,
                                                                   .trial_count = 2,
                                                                   .redraws = redraws,
                                                                   .redraw_count = 3,
                                                                   .per_redraw = 2,
                                                                   .blocks = 5});

    (void)state;
    /* within: (2 + 2 + 2 + 2) / (1 + 3) = 2, V1 = 2/2 = 1; means of the redraws 2, 3, 7 about 4: MSB =
     * 2 (4 + 1 + 9) / 2 = 14, V2 = (14 - 2)/2 x 5/4 = 7.5; df = 8.5^2 / (1/4 + 7.5^2/2) = 2.5463,
     * t = 3.52862, half width 3.52862 sqrt(8.5) = 10.28761 */
    assert_near(e.value, 2.0, 1e-12);
    assert_near(e.high - e.value, 10.28761, 1e-3);
    assert_near(e.value - e.low, 10.28761, 1e-3);
}

/* Redraws that differ less than trials do prove nothing, but help to tell how much trials differ. */
static void a_recording_that_adds_nothing_leaves_the_trials(void **state)
{
    const double trials[] = {1.0, 3.0}, redraws[] = {1.0, 3.0, 3.0, 1.0, 1.0, 3.0};
    const iw_estimate e = iwi_paired_interval(&(struct iwi_sample){.trials = trials,
                                                                   .trial_count = 2,
                                                                   .redraws = redraws,
                                                                   .redraw_count = 3,
                                                                   .per_redraw = 2,
                                                                   .blocks = 5});

    (void)state;
    /* V1 = 2/2; e = 2/2 sqrt(2/2 + 2/4) = 1.22474, V2 = 0.15 e 5/4 = 0.22964; df = 1.22964^2 / (1/4 +
     * 0.22964^2/2) = 5.4710 */
    assert_near(e.high - e.value, 2.778238, 1e-4);
}

static void a_variance_that_is_known_is_added(void **state)
{
    const double trials[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
    const iw_estimate e = iwi_paired_interval(&(struct iwi_sample){
        .trials = trials, .trial_count = 6, .file_variance = 5.0 / 12.0, .file_freedom = 9.0});

    (void)state;
    /* Student's half width of the trials is 2.570582 sqrt(3.5/6) = 1.963316, that of the recording t(97.5 %,
     * 9) sqrt(5/12) = 2.262157 x 0.645497 = 1.460216, above 3.5 (exp(1.95996 x 0.645497/3.5) - 1) = 1.524038
     */
    assert_near(e.value - e.low, hypot(1.963316, 1.460216), 1e-4);
    assert_near(e.high - e.value, hypot(1.963316, 1.524038), 1e-4);
}

static void what_never_varies_is_exact(void **state)
{
    const double trials[] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, redraws[] = {0.5, 0.5, 0.5, 0.5};
    struct iwi_sample sample = {.trials = trials, .trial_count = 6, .one_hit = 0.5, .most_unmet = 9.0};
    iw_estimate e = iwi_paired_interval(&sample);

    (void)state;
    assert_true(e.low == 0.5 && e.value == 0.5 && e.high == 0.5);
    sample.redraws = redraws;
    sample.redraw_count = sample.per_redraw = 2;
    sample.blocks = 20;
    e = iwi_paired_interval(&sample);
    assert_true(e.low == 0.5 && e.value == 0.5 && e.high == 0.5);
}

/* 3 trials and 4 of redraws without a hit: at most 3 in 7 have one, with 95 % confidence. */
static void no_hit_at_all_does_not_prove_that_there_is_none(void **state)
{
    const double zeros[4] = {0.0};
    struct iwi_sample sample = {.trials = zeros,
                                .trial_count = 3,
                                .redraws = zeros,
                                .redraw_count = 2,
                                .per_redraw = 2,
                                .blocks = 20,
                                .one_hit = 0.7,
                                .most_unmet = INFINITY};
    iw_estimate e = iwi_paired_interval(&sample);

    (void)state;
    assert_near(e.value, 0.0, 0.0);
    assert_near(e.low, 0.0, 0.0);
    assert_near(e.high, 0.3, 1e-12);
    sample.most_unmet = 0.02; /* so rare that they cannot add more, were each of them to count */
    e = iwi_paired_interval(&sample);
    assert_near(e.high, 0.02, 1e-12);
}

/* Squares of such variances are 0, and what is no number stays so: neither may stop the program. */
static void tiny_and_missing_numbers_have_intervals(void **state)
{
    const double tiny[] = {1e-90, 3e-90}, redraws[] = {1e-90, 3e-90, 2e-90, 4e-90}, none[] = {NAN, NAN};
    struct iwi_sample sample = {.trials = tiny,
                                .trial_count = 2,
                                .redraws = redraws,
                                .redraw_count = 2,
                                .per_redraw = 2,
                                .blocks = 5};
    iw_estimate e = iwi_paired_interval(&sample);

    (void)state;
    assert_true(e.low < e.value && e.value < e.high && isfinite(e.high));
    sample.trials = none;
    e = iwi_paired_interval(&sample);
    assert_true(isnan(e.value) && isnan(e.low) && isnan(e.high));
}

/* ---- coverage ---- */

enum { REPETITIONS = 2000, TRIALS = 20, REDRAWS = 24, PER_REDRAW = 4, BLOCKS = 100 };

struct normals {
    uint64_t seed, index;
};

static double normal(struct normals *n, double deviation)
{
    const struct iwi_draw_id id = {.seed = n->seed, .purpose = IWI_DRAW_TEST};

    return deviation * gsl_cdf_ugaussian_Pinv(iwi_draw_unit(id, n->index++));
}

/* Truth 0: the recording errs by `file`, and bootstrap recordings by a little less about it; trials by 1. */
static double coverage(double file, uint64_t seed)
{
    size_t covered = 0;

    for (uint64_t repetition = 0; repetition < REPETITIONS; repetition++) {
        struct normals n = {seed + repetition, 0};
        const double recorded = normal(&n, file);
        double trials[TRIALS], redraws[REDRAWS * PER_REDRAW];
        iw_estimate e;

        for (size_t i = 0; i < TRIALS; i++) {
            trials[i] = recorded + normal(&n, 1.0);
        }
        for (size_t k = 0; k < REDRAWS; k++) {
            const double drawn = recorded + normal(&n, file * sqrt(1.0 - 1.0 / BLOCKS));

            for (size_t j = 0; j < PER_REDRAW; j++) {
                redraws[k * PER_REDRAW + j] = drawn + normal(&n, 1.0);
            }
        }
        e = iwi_paired_interval(&(struct iwi_sample){.trials = trials,
                                                     .trial_count = TRIALS,
                                                     .redraws = redraws,
                                                     .redraw_count = REDRAWS,
                                                     .per_redraw = PER_REDRAW,
                                                     .blocks = BLOCKS});
        covered += e.low <= 0.0 && 0.0 <= e.high;
    }
    return (double)covered / REPETITIONS;
}

/* With a recording that errs as much as the mean of the trials or less, the difference of the variances is
 * noise and often positive: such intervals are wide rather than narrow. */
static void intervals_cover_as_often_as_they_say(void **state)
{
    static const double files[] = {0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0};

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const double share = coverage(files[i], 1 + i * REPETITIONS);

        print_message("recording %.1f of a trial's deviation: %.1f %% covered\n", files[i], 100.0 * share);
        assert_true(share >= 0.91 && share <= 0.993);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trials_alone_have_the_interval_of_their_mean),
        cmocka_unit_test(the_recording_adds_its_variance),
        cmocka_unit_test(a_recording_that_adds_nothing_leaves_the_trials),
        cmocka_unit_test(a_variance_that_is_known_is_added),
        cmocka_unit_test(what_never_varies_is_exact),
        cmocka_unit_test(no_hit_at_all_does_not_prove_that_there_is_none),
        cmocka_unit_test(tiny_and_missing_numbers_have_intervals),
        cmocka_unit_test(intervals_cover_as_often_as_they_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
