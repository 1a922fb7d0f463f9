/* Detours that overlap are recorded as one; fits find the single ones.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include <idlewave/recording.h>

#include "features/recordings/fit/fit.h"
#include "support/support.h"

struct truth {
    const char *spec;
    iw_fit_law law;
    double rate_hz, scale_ns, shape;
    double free_share; /* exp(-rate x mean) */
};

/* Means: lognormal 1 ms x exp(0.7^2 / 2) = 1.278 ms, Pareto 1 ms x 3 / 2. */
static const struct truth truths[] = {
    {"poisson:500Hz,exp:200us", IW_FIT_EXP, 500.0, 2e5, NAN, 0.9048},
    {"poisson:500Hz,fixed:200us", IW_FIT_FIXED, 500.0, 2e5, 0.0, 0.9048},
    {"poisson:100Hz,exp:5ms", IW_FIT_EXP, 100.0, 5e6, NAN, 0.6065},
    {"poisson:300Hz,fixed:1ms", IW_FIT_FIXED, 300.0, 1e6, 0.0, 0.7408},
    {"poisson:300Hz,lognormal:1ms,0.7", IW_FIT_LOGNORMAL, 300.0, 1e6, 0.7, 0.6816},
    {"poisson:300Hz,pareto:3,1ms", IW_FIT_PARETO, 300.0, 1e6, 3.0, 0.6376},
};
enum { TRUTHS = sizeof truths / sizeof truths[0] };

static iw_noise_fit *fit_of(const char *spec)
{
    const iw_fit_opts fit_opts = {.size = sizeof fit_opts, .seed = 1, .replicates = 0};
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_recording *recording = NULL;
    iw_noise_fit *fit = NULL;
    iw_edit edit;

    opts.specs = &spec;
    opts.spec_count = 1;
    opts.cpu_count = 4;
    opts.duration_ns = INT64_C(30000000000);
    opts.seed = 1; /* an end of the recording cuts one of the Pareto law, which must not become its MIN */
    assert_ok(iw_recording_synth(NULL, &opts, &recording, &edit));
    assert_ok(iw_noise_fit_new(NULL, recording, &fit_opts, &fit));
    iw_recording_free(recording);
    return fit;
}

/* 24,000 to 120,000 detours: four standard errors of what is fitted are at most 3 %. As recorded, rates are
 * lower by the busy share, 10 to 39 %, and lengths longer. */
static void single_detours_are_told_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < TRUTHS; i++) {
        const struct truth *t = &truths[i];
        iw_noise_fit *fit = fit_of(t->spec);
        const iw_fit_spec *spec = &fit->specs[0];

        print_message("%s: %s\n", t->spec, spec->text);
        assert_int_equal(fit->spec_count, 1);
        assert_int_equal(spec->law, t->law);
        assert_true(!spec->is_by_mean);
        assert_true(fabs(spec->rate_hz / t->rate_hz - 1.0) < 0.03);
        assert_true(fabs(spec->scale_ns / t->scale_ns - 1.0) < 0.03);
        assert_true(!(fabs(spec->shape - t->shape) > 0.03 * t->shape));
        assert_true(fabs(spec->overlapping - (1.0 - t->free_share)) < 0.02);
        iw_noise_fit_free(fit);
    }
}

/* 1 - share = exp(-r m), n = r (1 - share): with r m = 0.1 the recorded mean is share / n, m / that =
 * 0.1 x 0.904837 / 0.095163 = 0.950833. */
static void the_mean_follows_from_the_share(void **state)
{
    (void)state;
    assert_true(iwi_overlap_mean_factor(0.0) == 1.0);
    assert_true(fabs(iwi_overlap_mean_factor(1.0 - exp(-0.1)) - 0.950833) < 1e-6);
}

/* A detour each microsecond, recorded as 1 ms: seven of them overlap at any time, and their busy periods grow
 * so fast with the mean that the search for it leaps to and fro. */
static void where_no_law_is_found_the_mean_is_right(void **state)
{
    const iw_fit_opts opts = {.size = sizeof opts, .seed = 1, .replicates = 0};
    iw_durations d = {.count = 1000, .is_fitted = true, .best = IW_FIT_EXP};
    struct iwi_single_law single;

    (void)state;
    d.laws[IW_FIT_EXP] = (iw_duration_fit){.scale_ns = {1e6, NAN, NAN}, .shape = {NAN, NAN, NAN}};
    assert_ok(iwi_fit_overlap(NULL, &opts, &d, 1e7, 0.9, &single));
    assert_true(single.is_by_mean);
    assert_true(fabs(single.scale_ns / (1e6 * iwi_overlap_mean_factor(0.9)) - 1.0) < 1e-12);
}

/* 1 in 10^4 of the time: as recorded. */
static void without_overlap_nothing_changes(void **state)
{
    const iw_fit_opts opts = {.size = sizeof opts, .seed = 1, .replicates = 0};
    iw_durations d = {.count = 100, .is_fitted = true, .best = IW_FIT_LOGNORMAL};
    struct iwi_single_law single;

    (void)state;
    d.laws[IW_FIT_LOGNORMAL] = (iw_duration_fit){.scale_ns = {1e4, NAN, NAN}, .shape = {0.5, NAN, NAN}};
    assert_ok(iwi_fit_overlap(NULL, &opts, &d, 1e10, 1e-4, &single));
    assert_true(!single.is_by_mean && single.scale_ns == 1e4 && single.shape == 0.5);
}

/* 30 % of the detours take 5 ms, and all of them 30 % of the time. Overlap of 200 us would make most of
 * these 30 % shorter than 400 us. */
static void long_detours_are_no_overlap_of_short_ones(void **state)
{
    enum { COUNT = 1000 };
    const iw_fit_opts opts = {.size = sizeof opts, .seed = 1, .replicates = 0};
    const struct iwi_fit_above above = {.random_share = 0.3};
    int64_t values_ns[COUNT];
    iw_durations d;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        values_ns[i] = i % 10 < 3 ? 5000000 : 200000;
    }
    assert_ok(iwi_fit_durations(NULL, &opts, above, values_ns, COUNT, &d));
    assert_int_not_equal(d.best, IW_FIT_FIXED);
    iwi_durations_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_detours_are_told_apart),
        cmocka_unit_test(the_mean_follows_from_the_share),
        cmocka_unit_test(where_no_law_is_found_the_mean_is_right),
        cmocka_unit_test(without_overlap_nothing_changes),
        cmocka_unit_test(long_detours_are_no_overlap_of_short_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
