/* Specs: what is accepted, and that every refusal names the spec and says what to write instead.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include <idlewave/noise.h>

#include "support/support.h"

static void expect_accepted(const char *spec)
{
    struct iwt_log log;
    iw_noise *noise = NULL;

    iwt_log_init(&log);
    assert_ok(iw_noise_new(&log.log, &noise));
    if (iw_noise_add(&log.log, noise, spec) != IW_OK) {
        fail_msg("'%s' was refused:\n%s", spec, log.text);
    }
    assert_int_equal(iw_noise_source_count(noise), 1);
    assert_string_equal(iw_noise_source_name(noise, 0), spec);
    iw_noise_free(noise);
}

static void expect_refused(const char *spec, iw_status status, const char *advice)
{
    struct iwt_log log;
    iw_noise *noise = NULL;

    iwt_log_init(&log);
    assert_ok(iw_noise_new(&log.log, &noise));
    assert_status(iw_noise_add(&log.log, noise, spec), status);
    assert_int_equal(log.errors, 1);
    iwt_assert_logged(&log, spec);
    iwt_assert_logged(&log, advice);
    assert_int_equal(iw_noise_source_count(noise), 0);
    iw_noise_free(noise);
}

static void every_documented_spec_is_accepted(void **unused)
{
    (void)unused;
    expect_accepted("periodic:1000Hz,100us");
    expect_accepted("periodic:0.375Hz,5.6ms");
    expect_accepted("periodic:10Hz, 220us");
    expect_accepted("periodic:1kHz,0");
    expect_accepted("poisson:10Hz,fixed:5us");
    expect_accepted("poisson:10Hz,exp:5us");
    expect_accepted("poisson:10Hz,pareto:1.5,1us");
    expect_accepted("poisson:10Hz,lognormal:5us,0.8");
    expect_accepted("poisson:10Hz,lognormal:5us,0");
    expect_accepted("phase-exp:0.5%");
    expect_accepted("phase-pareto:0.5%,1.5");
    expect_accepted("bernoulli:0,1s");
    expect_accepted("bernoulli:100%,1s");
}

static void incomplete_specs_are_refused_with_an_example(void **unused)
{
    (void)unused;
    expect_refused("periodic:", IW_ERR_FORMAT, "for example 'periodic:10Hz,220us'");
    expect_refused("periodic:10Hz", IW_ERR_FORMAT, "write periodic:RATE,DURATION");
    expect_refused("periodic:10Hz,", IW_ERR_FORMAT, "write periodic:RATE,DURATION");
    expect_refused("periodic:,1us", IW_ERR_FORMAT, "write periodic:RATE,DURATION");
    expect_refused("poisson:10Hz", IW_ERR_FORMAT, "write poisson:RATE,DIST");
    expect_refused("poisson:10Hz,pareto:1.5", IW_ERR_FORMAT, "write pareto:A,MIN");
    expect_refused("phase-exp:", IW_ERR_FORMAT, "write phase-exp:SHARE");
    expect_refused("phase-pareto:1%", IW_ERR_FORMAT, "write phase-pareto:SHARE,A");
    expect_refused("phase-pareto:1%,1", IW_ERR_RANGE, "A is '1', not a number above 1");
    expect_refused("phase-pareto:1%,2%", IW_ERR_RANGE, "A is '2%', not a number above 1");
    expect_refused("bernoulli:0.5", IW_ERR_FORMAT, "write bernoulli:P,T");
}

static void wrong_units_are_refused_with_the_right_ones(void **unused)
{
    (void)unused;
    expect_refused("periodic:10,220us", IW_ERR_FORMAT, "10Hz");
    expect_refused("periodic:10Hz,220", IW_ERR_FORMAT, "220us");
    expect_refused("periodic:10Hz,220us,3", IW_ERR_FORMAT, "220us");
    expect_refused("poisson:10Hz,exp:5", IW_ERR_FORMAT, "220us");
    expect_refused("phase-exp:5us", IW_ERR_FORMAT, "0.5%");
    expect_refused("bernoulli:0.5,-1us", IW_ERR_RANGE, "negative");
}

static void unknown_distributions_are_refused_with_the_known_ones(void **unused)
{
    (void)unused;
    expect_refused("poisson:10Hz,5us", IW_ERR_FORMAT,
                   "fixed:T, exp:MEAN, pareto:A,MIN, lognormal:MEDIAN,SIGMA");
    expect_refused("poisson:10Hz,gauss:5us", IW_ERR_FORMAT, "'gauss:5us' is not a distribution");
}

static void detours_that_fill_the_period_are_refused(void **unused)
{
    (void)unused;
    expect_refused("periodic:1kHz,1ms", IW_ERR_RANGE, "no time is left to work");
    expect_refused("periodic:1kHz,2ms", IW_ERR_RANGE, "or a lower rate");
    expect_accepted("periodic:1kHz,0.999999999ms");
}

static void random_detours_that_leave_no_time_are_refused(void **unused)
{
    (void)unused;
    expect_accepted("poisson:1kHz,exp:6.9ms");
    expect_refused("poisson:1kHz,exp:7ms", IW_ERR_RANGE, "a lower rate or shorter durations");
    expect_refused("poisson:1kHz,lognormal:1us,50", IW_ERR_RANGE, "a lower rate or shorter durations");
    expect_refused("poisson:1kHz,lognormal:1us,5000", IW_ERR_RANGE, "a lower rate or shorter durations");
}

/* E min(D, 10 days) of pareto:A,1us is 6.9 ms, which leaves 0.1 % at 1 kHz, for A = 0.7255. */
static void heavy_tails_that_leave_no_time_within_ten_days_are_refused(void **unused)
{
    (void)unused;
    expect_accepted("poisson:1kHz,pareto:0.73,1us");
    expect_refused("poisson:1kHz,pareto:0.72,1us", IW_ERR_RANGE, "write a larger A");
    expect_refused("poisson:1kHz,pareto:0.0001,1us", IW_ERR_RANGE, "none is longer than ten days");
    expect_refused("poisson:1kHz,pareto:1,900us", IW_ERR_RANGE, "write a larger A");
    expect_accepted("poisson:1kHz,pareto:1,100us");
    expect_accepted("poisson:1kHz,pareto:1.0001,100us");
    expect_accepted("poisson:1mHz,pareto:0.6,1us");
}

static void shapes_out_of_range_are_refused(void **unused)
{
    (void)unused;
    expect_refused("poisson:10Hz,pareto:0,1us", IW_ERR_RANGE, "A is '0', not a number above 0");
    expect_refused("poisson:10Hz,pareto:-1,1us", IW_ERR_RANGE, "pareto:1.5,1us");
    expect_refused("poisson:10Hz,pareto:nan,1us", IW_ERR_RANGE, "pareto:1.5,1us");
    expect_refused("poisson:10Hz,lognormal:1us,x", IW_ERR_RANGE, "SIGMA is 'x'");
    expect_refused("poisson:10Hz,lognormal:1us,50%", IW_ERR_RANGE, "SIGMA is '50%'");
}

static void probabilities_above_one_are_refused(void **unused)
{
    (void)unused;
    expect_refused("bernoulli:1.01,1us", IW_ERR_RANGE, "from 0 to 1");
    expect_refused("bernoulli:101%,1us", IW_ERR_RANGE, "0% to 100%");
}

static void a_pareto_tail_without_mean_is_accepted_with_a_warning(void **unused)
{
    struct iwt_log log;
    iw_noise *noise = NULL;

    (void)unused;
    iwt_log_init(&log);
    assert_ok(iw_noise_new(&log.log, &noise));
    assert_ok(iw_noise_add(&log.log, noise, "poisson:10Hz,pareto:1,1us"));
    assert_int_equal(log.warnings, 1);
    iwt_assert_logged(&log, "write A > 1");
    assert_ok(iw_noise_add(&log.log, noise, "poisson:10Hz,pareto:1.01,1us"));
    assert_int_equal(log.warnings, 1);
    iw_noise_free(noise);
}

static void what_is_neither_file_nor_spec_is_refused_with_the_specs(void **unused)
{
    const char *all =
        "periodic:RATE,DURATION, poisson:RATE,DIST, phase-exp:SHARE, phase-pareto:SHARE,A, bernoulli:P,T";

    (void)unused;
    expect_refused("perodic:10Hz,1us", IW_ERR_IO, all);
    expect_refused("periodic", IW_ERR_IO, all);
    expect_refused("no/such/file.noise", IW_ERR_IO, "No such file or directory");
}

static void a_spec_of_any_length_is_refused_without_harm(void **unused)
{
    static char spec[5000];
    iw_noise *noise = NULL;
    int length = snprintf(spec, sizeof spec, "periodic:");

    (void)unused;
    memset(spec + length, '1', sizeof spec - (size_t)length - 1);
    assert_ok(iw_noise_new(NULL, &noise));
    assert_status(iw_noise_add(NULL, noise, spec), IW_ERR_FORMAT);
    spec[4000] = ',';
    assert_status(iw_noise_add(NULL, noise, spec), IW_ERR_FORMAT);
    spec[0] = 'x';
    assert_status(iw_noise_add(NULL, noise, spec), IW_ERR_IO);
    iw_noise_free(noise);
}

static void at_most_eight_sources_add_up(void **unused)
{
    const iw_time start = 0, duration = 1;
    struct iwt_log log;
    iw_noise *noise = NULL;

    (void)unused;
    iwt_log_init(&log);
    assert_ok(iw_noise_new(&log.log, &noise));
    for (int i = 0; i < IW_NOISE_MAX_SOURCES; i++) {
        assert_ok(iw_noise_add(&log.log, noise, "periodic:10Hz,1us"));
    }
    assert_status(iw_noise_add(&log.log, noise, "phase-exp:1%"), IW_ERR_RANGE);
    assert_status(iw_noise_add_trace(&log.log, noise, "t", &start, &duration, 1, 9), IW_ERR_RANGE);
    iwt_assert_logged(&log, "'phase-exp:1%' is one noise source too many: at most 8");
    assert_int_equal(iw_noise_source_count(noise), IW_NOISE_MAX_SOURCES);
    iw_noise_free(noise);
}

static void questions_about_sources_that_are_not_there_are_harmless(void **unused)
{
    iw_noise *noise = NULL;

    (void)unused;
    assert_ok(iw_noise_new(NULL, &noise));
    assert_null(iw_noise_source_name(noise, 0));
    assert_true(iw_noise_source_share(noise, 0) == 0);
    iw_noise_free(noise);
    iw_noise_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_documented_spec_is_accepted),
        cmocka_unit_test(incomplete_specs_are_refused_with_an_example),
        cmocka_unit_test(wrong_units_are_refused_with_the_right_ones),
        cmocka_unit_test(unknown_distributions_are_refused_with_the_known_ones),
        cmocka_unit_test(detours_that_fill_the_period_are_refused),
        cmocka_unit_test(random_detours_that_leave_no_time_are_refused),
        cmocka_unit_test(heavy_tails_that_leave_no_time_within_ten_days_are_refused),
        cmocka_unit_test(shapes_out_of_range_are_refused),
        cmocka_unit_test(probabilities_above_one_are_refused),
        cmocka_unit_test(a_pareto_tail_without_mean_is_accepted_with_a_warning),
        cmocka_unit_test(what_is_neither_file_nor_spec_is_refused_with_the_specs),
        cmocka_unit_test(a_spec_of_any_length_is_refused_without_harm),
        cmocka_unit_test(at_most_eight_sources_add_up),
        cmocka_unit_test(questions_about_sources_that_are_not_there_are_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
