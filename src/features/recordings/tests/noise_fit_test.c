/* Recordings of known noise, fitted: sources, beats, specs that make the same noise again.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/fit.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/recording.h>

#include "support/made_recording.h"
#include "support/support.h"

static const int64_t SECOND_NS = 1000000000;

static iw_recording *made(const char *const *specs, size_t count, size_t cpus, int64_t length_ns,
                          double threshold_ns)
{
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_recording *recording = NULL;
    iw_edit edit;

    opts.specs = specs;
    opts.spec_count = count;
    opts.cpu_count = cpus;
    opts.duration_ns = length_ns;
    opts.threshold_ns = threshold_ns;
    assert_ok(iw_recording_synth(NULL, &opts, &recording, &edit));
    return recording;
}

/* As recorded where nothing tells the sources. */
static void forget_sources(iw_recording *recording)
{
    for (size_t c = 0; c < recording->cpu_count; c++) {
        iw_detours *cpu = &recording->cpus[c];

        memset(cpu->source, 0, cpu->count * sizeof *cpu->source);
        cpu->part_count = 0;
    }
}

static iw_noise_fit *fitted(const iw_recording *recording)
{
    const iw_fit_opts opts = {.size = sizeof opts, .seed = 1, .replicates = 99};
    iw_noise_fit *fit = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    assert_ok(iw_noise_fit_new(&l.log, recording, &opts, &fit));
    assert_string_equal(l.text, "");
    return fit;
}

static const iw_fit_group *group_of(const iw_noise_fit *fit, const iw_recording *recording, const char *name)
{
    for (size_t i = 1; i < fit->group_count; i++) {
        if (strcmp(recording->sources[fit->groups[i].source].name, name) == 0) {
            return &fit->groups[i];
        }
    }
    fail_msg("no group '%s'", name);
    return NULL;
}

static void sources_are_fitted_one_by_one(void **state)
{
    static const char *const specs[] = {"irq/tick=periodic:250Hz,2us", "thread/daemon=poisson:30Hz,exp:20us",
                                        "hardware/smi=poisson:5Hz,pareto:2.5,50us"};
    iw_recording *recording = made(specs, 3, 2, 30 * SECOND_NS, 0.0);
    iw_noise_fit *fit = fitted(recording);
    const iw_fit_group *tick = group_of(fit, recording, "tick");
    const iw_fit_group *daemon = group_of(fit, recording, "daemon");
    const iw_fit_group *smi = group_of(fit, recording, "smi");

    (void)state;
    assert_int_equal(fit->group_count, 4);
    assert_int_equal(fit->groups[0].kind, IW_FIT_ALL);
    assert_true(fabs(tick->arrivals.period_ns / 4e6 - 1.0) < 1e-4);
    assert_int_equal(tick->durations.best, IW_FIT_FIXED);
    assert_true(daemon->arrivals.period_ns == 0.0 && daemon->arrivals.gap_p > 0.01);
    assert_int_equal(daemon->durations.best, IW_FIT_EXP);
    assert_true(fabs(daemon->durations.laws[IW_FIT_EXP].scale_ns.value / 20000.0 - 1.0) < 0.1);
    assert_int_equal(smi->durations.best, IW_FIT_PARETO);
    assert_true(fabs(smi->durations.laws[IW_FIT_PARETO].shape.value / 2.5 - 1.0) < 0.3);
    iw_noise_fit_free(fit);
    iw_recording_free(recording);
}

static void specs_make_the_same_noise_again(void **state)
{
    static const char *const specs[] = {"irq/tick=periodic:1kHz,3us",
                                        "thread/a=poisson:50Hz,lognormal:20us,0.7"};
    iw_recording *recording = made(specs, 2, 2, 20 * SECOND_NS, 0.0);
    iw_noise_fit *fit = fitted(recording);
    const iw_fit_agreement *a = &fit->agreement;

    (void)state;
    assert_int_equal(fit->spec_count, 2);
    assert_true(a->is_known);
    assert_true(fabs(a->made / a->recorded - 1.0) < 0.1);
    assert_true(a->difference.low <= 0.0 && a->difference.high >= 0.0);
    assert_true(fabs(a->made_hz / a->recorded_hz - 1.0) < 0.1);
    assert_true(a->durations.distance < 0.02);
    iw_noise_fit_free(fit);
    iw_recording_free(recording);
}

/* The spectrum finds the tick among three times as many others. */
static void beats_are_found_among_others_without_names(void **state)
{
    static const char *const specs[] = {"periodic:100Hz,2us", "poisson:300Hz,lognormal:5us,0.5"};
    iw_recording *recording = made(specs, 2, 1, 30 * SECOND_NS, 0.0);
    iw_noise_fit *fit;
    const iw_fit_group *all;

    (void)state;
    forget_sources(recording);
    fit = fitted(recording);
    all = &fit->groups[0];
    assert_int_equal(fit->group_count, 1);
    assert_true(all->has_parts);
    assert_true(fabs(all->arrivals.period_ns / 1e7 - 1.0) < 1e-4);
    assert_in_range(all->arrivals.beats, 2950, 3010);
    assert_int_equal(all->beats.best, IW_FIT_FIXED);
    assert_int_equal(all->others.best, IW_FIT_LOGNORMAL);
    assert_true(fabs(all->others.laws[IW_FIT_LOGNORMAL].scale_ns.value / 5000.0 - 1.0) < 0.05);
    assert_int_equal(fit->spec_count, 2);
    assert_true(fit->specs[0].is_periodic && !fit->specs[1].is_periodic);
    assert_true(fabs(fit->specs[1].rate_hz / 300.0 - 1.0) < 0.05);
    iw_noise_fit_free(fit);
    iw_recording_free(recording);
}

static void random_arrivals_have_no_period(void **state)
{
    static const char *const specs[] = {"poisson:300Hz,exp:5us"};
    iw_recording *recording = made(specs, 1, 2, 20 * SECOND_NS, 0.0);
    iw_noise_fit *fit;

    (void)state;
    forget_sources(recording);
    fit = fitted(recording);
    assert_int_equal(fit->groups[0].arrivals.beats, 0);
    assert_true(fabs(fit->groups[0].arrivals.gap_variation - 1.0) < 0.05);
    assert_int_equal(fit->spec_count, 1);
    assert_memory_equal(fit->specs[0].text, "poisson:", 8);
    iw_noise_fit_free(fit);
    iw_recording_free(recording);
}

static void bursts_are_told_from_random_arrivals(void **state)
{
    iw_recording *recording = iwt_recording(1, 100 * SECOND_NS);
    iw_noise_fit *fit;

    (void)state;
    for (int64_t burst = 0; burst < 40; burst++) {
        for (int64_t i = 0; i < 20; i++) {
            iwt_detour(recording, 0, (burst * burst + burst) * 50000000 + i * i * 10000 + i * 7000,
                       500 + 37 * i, 0);
        }
    }
    fit = fitted(recording);
    assert_int_equal(fit->groups[0].arrivals.beats, 0);
    assert_true(fit->groups[0].arrivals.gap_variation > 2.0);
    assert_true(fit->groups[0].arrivals.gap_p < 0.02);
    iw_noise_fit_free(fit);
    iw_recording_free(recording);
}

/* Three quarters of the detours were not recorded; rate and median are those of all of them. */
static void what_is_below_the_threshold_is_inferred(void **state)
{
    static const char *const specs[] = {"poisson:200Hz,lognormal:2us,0.8"};
    iw_recording *recording = made(specs, 1, 4, 40 * SECOND_NS, 3400.0);
    iw_noise_fit *fit = fitted(recording);
    const iw_fit_spec *spec = &fit->specs[0];

    (void)state;
    assert_int_equal(spec->law, IW_FIT_LOGNORMAL);
    assert_true(fabs(spec->seen / 0.253 - 1.0) < 0.5);
    assert_true(fabs(spec->rate_hz / 200.0 - 1.0) < 0.5);
    assert_true(fabs(spec->shape / 0.8 - 1.0) < 0.2);
    assert_true(fabs(fit->agreement.made_hz / fit->agreement.recorded_hz - 1.0) < 0.1);
    iw_noise_fit_free(fit);
    iw_recording_free(recording);
}

/* Overlapping detours are one; half of the time is theirs. */
static void much_noise_keeps_its_share(void **state)
{
    static const char *const specs[] = {"poisson:100Hz,exp:5ms"};
    iw_recording *recording = made(specs, 1, 4, 60 * SECOND_NS, 0.0);
    iw_noise_fit *fit = fitted(recording);

    (void)state;
    assert_true(fit->agreement.recorded > 0.3);
    assert_true(fabs(fit->agreement.made / fit->agreement.recorded - 1.0) < 0.1);
    iw_noise_fit_free(fit);
    iw_recording_free(recording);
}

/* Ticks that stop now and then: the period stays, the spec has their rate. */
static void missing_beats_lower_the_rate(void **state)
{
    iw_recording *recording = iwt_recording(1, 20 * SECOND_NS);
    iw_noise_fit *fit;

    (void)state;
    for (int64_t i = 0; i < 2000; i++) {
        if (i % 10 != 3) {
            iwt_detour(recording, 0, i * 10000000 + 5000, 2000, 0);
        }
    }
    fit = fitted(recording);
    assert_true(fabs(fit->groups[0].arrivals.period_ns / 1e7 - 1.0) < 1e-6);
    assert_true(fabs(fit->groups[0].arrivals.missing - 0.1) < 0.001);
    assert_string_equal(fit->specs[0].text, "periodic:90Hz,2us");
    iw_noise_fit_free(fit);
    iw_recording_free(recording);
}

static void the_smallest_of_many_sources_are_one_group(void **state)
{
    iw_recording *recording = iwt_recording(1, 10 * SECOND_NS);
    iw_noise_fit *fit;
    uint32_t source[12];

    (void)state;
    for (int s = 0; s < 12; s++) {
        char name[] = {'s', (char)('a' + s), '\0'};

        source[s] = iwt_source(recording, IW_CLASS_THREAD, name);
    }
    for (int64_t i = 0; i < 1200; i++) {
        iwt_detour(recording, 0, i * 8000000 + i * i % 977 * 5000, 1000 * (12 - i % 12) + i % 400,
                   source[i % 12]);
    }
    fit = fitted(recording);
    assert_int_equal(fit->group_count, 1 + IW_NOISE_MAX_SOURCES);
    assert_int_equal(fit->groups[8].kind, IW_FIT_OTHERS);
    assert_int_equal(fit->groups[8].source_count, 5);
    assert_int_equal(fit->groups[8].durations.count, 500);
    assert_true(fit->spec_count <= IW_NOISE_MAX_SOURCES);
    for (size_t i = 2; i + 1 < fit->group_count; i++) {
        assert_true(fit->groups[i].share <= fit->groups[i - 1].share);
    }
    iw_noise_fit_free(fit);
    iw_recording_free(recording);
}

/* What is taken apart by source still has all detours of parts, also those shorter than the threshold. */
static void parts_below_the_threshold_are_left_out_but_counted(void **state)
{
    iw_recording *recording = iwt_recording(1, 10 * SECOND_NS);
    const uint32_t thread = iwt_source(recording, IW_CLASS_THREAD, "t");
    const uint32_t irq = iwt_source(recording, IW_CLASS_IRQ, "i");
    iw_noise_fit *fit;
    const iw_fit_group *group;

    (void)state;
    for (int64_t i = 0; i < 100; i++) {
        iwt_detour(recording, 0, 1000 + i * 90000000 + i * i % 71 * 100000, 5000 + 31 * i, thread);
        iwt_part(recording, 0, thread, 4900 + 31 * i);
        iwt_part(recording, 0, irq, 100);
    }
    fit = fitted(recording);
    group = group_of(fit, recording, "i");
    assert_int_equal(group->durations.count, 0);
    assert_int_equal(group->durations.left_out, 100);
    assert_true(group->durations.left_out_ns == 10000.0);
    iw_noise_fit_free(fit);
    iw_recording_free(recording);
}

static void silence_has_no_specs(void **state)
{
    iw_recording *recording = iwt_recording(2, SECOND_NS);
    iw_noise_fit *fit = fitted(recording);

    (void)state;
    assert_int_equal(fit->group_count, 1);
    assert_int_equal(fit->spec_count, 0);
    assert_false(fit->agreement.is_known);
    assert_true(iw_noise_fit_above(fit, 1000.0) == 0.0);
    iw_noise_fit_free(fit);
    iw_recording_free(recording);
}

static void one_detour_is_a_fixed_length_at_random(void **state)
{
    iw_recording *recording = iwt_recording(1, 10 * SECOND_NS);
    iw_noise_fit *fit;

    (void)state;
    iwt_detour(recording, 0, SECOND_NS, 5000, 0);
    fit = fitted(recording);
    assert_int_equal(fit->spec_count, 1);
    assert_string_equal(fit->specs[0].text, "poisson:0.1Hz,fixed:5us");
    iw_noise_fit_free(fit);
    iw_recording_free(recording);
}

static void quanta_and_empty_recordings_are_refused(void **state)
{
    const iw_fit_opts opts = IW_FIT_OPTS_INIT;
    iw_recording *recording = iwt_recording(1, 0);
    iw_noise_fit *fit = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_status(iw_noise_fit_new(&l.log, recording, &opts, &fit), IW_ERR_RANGE);
    iwt_assert_logged(&l, "has length zero");
    recording->probe = IW_PROBE_FWQ;
    assert_status(iw_noise_fit_new(&l.log, recording, &opts, &fit), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&l, "record with the probe selfish");
    assert_null(fit);
    iw_recording_free(recording);
}

static void assert_taken(const char *spec)
{
    iw_noise *noise = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    assert_ok(iw_noise_new(&l.log, &noise));
    if (iw_noise_add(&l.log, noise, spec) != IW_OK) {
        fail_msg("'%s': %s", spec, l.text);
    }
    iw_noise_free(noise);
}

/* Extreme lengths and rates: no exponents, which specs do not know. */
static void specs_of_any_size_are_taken(void **state)
{
    static const int64_t scales_ns[] = {200, 999960, 3600000000000};

    (void)state;
    for (size_t s = 0; s < 3; s++) {
        for (int narrow = 0; narrow < 2; narrow++) {
            iw_recording *recording = iwt_recording(1, 240 * 3600 * SECOND_NS);
            iw_noise_fit *fit;

            for (int64_t i = 0; i < 30; i++) {
                const int64_t wide_ns = scales_ns[s] * i * i / 50, narrow_ns = i * 2;

                iwt_detour(recording, 0, i * 8 * 3600 * SECOND_NS + i * i % 13 * SECOND_NS,
                           scales_ns[s] / 2 + 190 + (narrow != 0 ? narrow_ns : wide_ns / 3), 0);
            }
            fit = fitted(recording);
            assert_int_equal(fit->spec_count, 1);
            assert_null(strstr(fit->specs[0].text, "e+"));
            assert_null(strstr(fit->specs[0].text, "e-"));
            assert_taken(fit->specs[0].text);
            iw_noise_fit_free(fit);
            iw_recording_free(recording);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_are_fitted_one_by_one),
        cmocka_unit_test(specs_make_the_same_noise_again),
        cmocka_unit_test(beats_are_found_among_others_without_names),
        cmocka_unit_test(random_arrivals_have_no_period),
        cmocka_unit_test(bursts_are_told_from_random_arrivals),
        cmocka_unit_test(what_is_below_the_threshold_is_inferred),
        cmocka_unit_test(much_noise_keeps_its_share),
        cmocka_unit_test(missing_beats_lower_the_rate),
        cmocka_unit_test(the_smallest_of_many_sources_are_one_group),
        cmocka_unit_test(parts_below_the_threshold_are_left_out_but_counted),
        cmocka_unit_test(silence_has_no_specs),
        cmocka_unit_test(one_detour_is_a_fixed_length_at_random),
        cmocka_unit_test(quanta_and_empty_recordings_are_refused),
        cmocka_unit_test(specs_of_any_size_are_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
