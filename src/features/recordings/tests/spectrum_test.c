/* Lines that are there are found where they are; noise without lines shows none.
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

enum { BACKGROUND = 1, TICK = 2, DAEMON = 3 };

static iw_recording *empty(size_t cpu_count, double seconds)
{
    iw_recording *recording = iwt_recording(cpu_count, (int64_t)(seconds * 1e9));

    assert_int_equal(iwt_source(recording, IW_CLASS_HARDWARE, ""), BACKGROUND);
    assert_int_equal(iwt_source(recording, IW_CLASS_IRQ, "local_timer"), TICK);
    assert_int_equal(iwt_source(recording, IW_CLASS_THREAD, "daemon"), DAEMON);
    return recording;
}

static iw_noise_spectrum *spectrum_of(const iw_recording *recording, double max_frequency_hz)
{
    iw_spectrum_opts opts = IW_SPECTRUM_OPTS_INIT;
    iw_noise_spectrum *spectrum = NULL;
    struct iwt_log l;

    opts.max_frequency_hz = max_frequency_hz;
    iwt_log_init(&l);
    assert_ok(iw_noise_spectrum_new(&l.log, recording, &opts, &spectrum));
    assert_string_equal(l.text, "");
    return spectrum;
}

static void assert_lines(const iw_noise_spectrum *spectrum, size_t count)
{
    for (size_t i = 0; i < spectrum->line_count && spectrum->line_count != count; i++) {
        print_message("line %zu: %g Hz, %g x, %g %%, %zu harmonics\n", i, spectrum->lines[i].frequency_hz,
                      spectrum->lines[i].ratio, 100.0 * spectrum->lines[i].share,
                      spectrum->lines[i].harmonics);
    }
    assert_int_equal(spectrum->line_count, count);
}

/* The number of the line at that frequency, or fails. */
static size_t line_at(const iw_noise_spectrum *spectrum, double frequency_hz, double tolerance)
{
    for (size_t i = 0; i < spectrum->line_count; i++) {
        if (fabs(spectrum->lines[i].frequency_hz - frequency_hz) <= tolerance * frequency_hz) {
            return i;
        }
    }
    fail_msg("no line at %g Hz among %zu", frequency_hz, spectrum->line_count);
    return 0;
}

/* Pulses of 20 us every ms with jitter, 10 % missing, and a Poisson background. */
static iw_recording *ticking(uint64_t seed, double seconds)
{
    iw_recording *recording = empty(1, seconds);
    struct synthetic s = {.seed = seed, .length_ns = seconds * 1e9};

    synthetic_beats(&s, 1e6, 20000.0, 0.01, 0.1, TICK);
    synthetic_poisson(&s, 200.0, 15000.0, BACKGROUND);
    synthetic_put(&s, recording, 0);
    return recording;
}

static void a_tick_is_found_with_its_share_and_harmonics(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        iw_recording *recording = ticking(seed, 5.0);
        iw_noise_spectrum *spectrum = spectrum_of(recording, 0.0);

        assert_int_equal(line_at(spectrum, 1000.0, 0.001), 0);
        assert_lines(spectrum, 1);
        assert_int_equal(spectrum->lines[0].harmonics, 3);           /* 5000 Hz is the end */
        assert_true(fabs(spectrum->lines[0].share - 0.018) < 0.002); /* 20 us of a ms, a tenth missing */
        iw_noise_spectrum_free(spectrum);
        iw_recording_free(recording);
    }
}

/* Whatever the highest frequency, any multiple may happen to be the strongest. */
static void the_fundamental_is_reported_not_a_multiple(void **state)
{
    static const double limits_hz[] = {1500.0, 2500.0, 3500.0, 10000.0, 30000.0};
    iw_recording *recording = ticking(77, 4.0);

    (void)state;
    for (size_t i = 0; i < sizeof limits_hz / sizeof limits_hz[0]; i++) {
        iw_noise_spectrum *spectrum = spectrum_of(recording, limits_hz[i]);

        assert_int_equal(line_at(spectrum, 1000.0, 0.001), 0);
        assert_lines(spectrum, 1);
        assert_true(spectrum->lines[0].harmonics + 1 == (size_t)(limits_hz[i] / 1001.0) ||
                    spectrum->lines[0].harmonics >= 19); /* jitter blurs the highest ones */
        iw_noise_spectrum_free(spectrum);
    }
    iw_recording_free(recording);
}

static void sources_that_carry_a_line_are_named(void **state)
{
    iw_recording *recording = ticking(5, 4.0);
    iw_noise_spectrum *spectrum = spectrum_of(recording, 0.0);

    (void)state;
    assert_int_equal(spectrum->source_count, 1);
    assert_string_equal(spectrum->sources[0].source.name, recording->sources[TICK].name);
    assert_int_equal(spectrum->sources[0].line, 1);
    iw_noise_spectrum_free(spectrum);
    iw_recording_free(recording);
}

/* Multiples of 300 Hz beyond the highest frequency must not come back as lines at 4900 Hz, 4600 Hz, ... */
static void nothing_folds_back_from_beyond(void **state)
{
    static const double periods_ns[] = {1e9 / 300.0, 1e9 / 170.3, 1e9 / 1234.5};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (int has_background = 0; has_background <= 1; has_background++) {
            iw_recording *recording = empty(1, 10.0);
            struct synthetic s = {.seed = 9, .length_ns = 1e10};
            iw_noise_spectrum *spectrum;

            synthetic_beats(&s, periods_ns[i], 5000.0, 0.0, 0.0, TICK);
            if (has_background) {
                synthetic_poisson(&s, 20.0, 500.0, BACKGROUND);
            }
            synthetic_put(&s, recording, 0);
            spectrum = spectrum_of(recording, 0.0);
            (void)line_at(spectrum, 1e9 / periods_ns[i], 0.001);
            assert_lines(spectrum, 1);
            iw_noise_spectrum_free(spectrum);
            iw_recording_free(recording);
        }
    }
}

/* Daemons of 100 us raise the floor below some kHz: of the low multiples few stand out, the highest peak is a
 * high one. */
static void a_beat_whose_low_multiples_are_hidden_is_one_line(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        iw_recording *recording = empty(2, 20.0);
        iw_noise_spectrum *spectrum;

        for (size_t cpu = 0; cpu < 2; cpu++) {
            struct synthetic s = {.seed = 2 * seed + cpu, .length_ns = 20e9};

            synthetic_beats(&s, 1e7, 5000.0, 0.0, 0.0, TICK);
            synthetic_poisson(&s, 20.0, 100000.0, DAEMON);
            synthetic_put(&s, recording, cpu);
        }
        spectrum = spectrum_of(recording, 5000.0);
        assert_lines(spectrum, 1);
        (void)line_at(spectrum, 100.0, 0.001);
        iw_noise_spectrum_free(spectrum);
        iw_recording_free(recording);
    }
}

/* 125 Hz, give or take 0.1 %, anew every few seconds. */
static void a_beat_that_wanders_is_one_line(void **state)
{
    static const double wanders[] = {0.0, 0.0009, -0.0011, 0.0004, -0.0006, 0.0011, -0.0002, 0.0007};
    iw_recording *recording = empty(1, 60.0);
    double at_ns = 0.0;
    iw_noise_spectrum *spectrum;

    (void)state;
    for (size_t i = 0; at_ns < 6e10 - 1e7; i++) {
        iwt_detour(recording, 0, (int64_t)at_ns, 5000, TICK);
        at_ns += 8e6 * (1.0 + wanders[i / 900 % 8]);
    }
    spectrum = spectrum_of(recording, 600.0);
    (void)line_at(spectrum, 125.0, 0.003);
    assert_lines(spectrum, 1);
    assert_int_equal(spectrum->sources[0].line, 1);
    iw_noise_spectrum_free(spectrum);
    iw_recording_free(recording);
}

/* Of six seconds the lines are wide. */
static void a_tick_does_not_carry_the_line_of_a_slow_daemon(void **state)
{
    iw_recording *recording = empty(1, 6.0);
    struct synthetic s = {.seed = 3, .length_ns = 6e9};
    iw_noise_spectrum *spectrum;

    (void)state;
    synthetic_beats(&s, 4e6, 3000.0, 0.0, 0.0, TICK);
    synthetic_beats(&s, 1e8, 200000.0, 0.0, 0.0, DAEMON);
    synthetic_put(&s, recording, 0);
    spectrum = spectrum_of(recording, 1000.0);
    assert_int_equal(spectrum->source_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const iw_spectral_source *source = &spectrum->sources[i];

        if (strcmp(source->source.name, "daemon") == 0) {
            assert_true(source->line > 0);
            assert_true(fabs(spectrum->lines[source->line - 1].frequency_hz - 10.0) < 0.1);
        } else if (source->line > 0) {
            assert_true(fabs(spectrum->lines[source->line - 1].frequency_hz - 250.0) < 1.0);
        }
    }
    iw_noise_spectrum_free(spectrum);
    iw_recording_free(recording);
}

/* A minute of two CPUs; the tick of each has a phase of its own. */
static iw_recording *tick_and_daemon(double daemon_ns)
{
    iw_recording *recording = empty(2, 60.0);

    for (size_t cpu = 0; cpu < 2; cpu++) {
        struct synthetic s = {.seed = 40 + cpu, .length_ns = 6e10};

        synthetic_beats(&s, 4e6, 3000.0, 0.001, 0.01, TICK);
        synthetic_beats(&s, 1e9, daemon_ns, 0.0001, 0.0, DAEMON);
        synthetic_poisson(&s, 20.0, 4000.0, BACKGROUND);
        synthetic_put(&s, recording, cpu);
    }
    return recording;
}

static void a_tick_and_a_daemon_are_both_found(void **state)
{
    static const double daemons_ns[] = {100000.0, 250000.0};

    (void)state;
    for (size_t i = 0; i < sizeof daemons_ns / sizeof daemons_ns[0]; i++) {
        iw_recording *recording = tick_and_daemon(daemons_ns[i]);
        iw_noise_spectrum *spectrum = spectrum_of(recording, 1000.0);

        (void)line_at(spectrum, 250.0, 0.001);
        (void)line_at(spectrum, 1.0, 0.005);
        assert_int_equal(spectrum->source_count, 2);
        assert_true(spectrum->sources[0].line > 0);
        assert_true(spectrum->sources[1].line > 0);
        assert_lines(spectrum, 2);
        iw_noise_spectrum_free(spectrum);
        iw_recording_free(recording);
    }
}

/* Each of its thousands of multiples is about as strong as the floor. */
static void a_weak_daemon_is_found_by_all_its_multiples_together(void **state)
{
    iw_recording *recording = empty(2, 60.0);
    iw_noise_spectrum *spectrum;

    (void)state;
    for (size_t cpu = 0; cpu < 2; cpu++) {
        struct synthetic s = {.seed = 90 + cpu, .length_ns = 6e10};

        synthetic_beats(&s, 5e8, 30000.0, 0.0, 0.3, DAEMON);
        synthetic_poisson(&s, 60.0, 6000.0, BACKGROUND);
        synthetic_put(&s, recording, cpu);
    }
    spectrum = spectrum_of(recording, 0.0);
    assert_lines(spectrum, 1);
    (void)line_at(spectrum, 2.0, 0.001);
    assert_true(spectrum->lines[0].ratio < 3.0 * spectrum->least_ratio);
    assert_true(fabs(spectrum->lines[0].share / (0.7 * 6e-5) - 1.0) < 0.3);
    iw_noise_spectrum_free(spectrum);
    iw_recording_free(recording);
}

/* How many of 100 recordings without any period show lines. In every other one about a detour a second takes
 * 100 times as long, so that few of them have most of the power. */
static unsigned false_alarms(double seconds, double rate_hz, double mean_ns, iw_probe probe)
{
    unsigned count = 0;

    for (uint64_t seed = 0; seed < 100; seed++) {
        iw_recording *recording = empty(1, seconds), *quanta = NULL;
        struct synthetic s = {.seed = 1000 + seed, .length_ns = seconds * 1e9};
        iw_noise_spectrum *spectrum;

        synthetic_poisson(&s, rate_hz, mean_ns, BACKGROUND);
        if (seed % 2 == 0) {
            synthetic_poisson(&s, 1.0, 100.0 * mean_ns, DAEMON);
        }
        synthetic_put(&s, recording, 0);
        if (probe != IW_PROBE_SELFISH) {
            quanta = synthetic_quanta(recording, probe, 1000000);
        }
        spectrum = spectrum_of(quanta != NULL ? quanta : recording, 0.0);
        count += spectrum->line_count > 0;
        iw_noise_spectrum_free(spectrum);
        iw_recording_free(quanta);
        iw_recording_free(recording);
    }
    return count;
}

static void noise_without_lines_shows_none(void **state)
{
    static const struct {
        double seconds, rate_hz, mean_ns;
    } cases[] = {{2.0, 500.0, 20000.0}, {2.0, 20.0, 500000.0}, {1.0, 3.0, 20000.0}, {0.1, 1000.0, 1000.0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const unsigned alarms =
            false_alarms(cases[i].seconds, cases[i].rate_hz, cases[i].mean_ns, IW_PROBE_SELFISH);

        if (alarms > 5) {
            fail_msg("%u of 100 for %g detours a second", alarms, cases[i].rate_hz);
        }
    }
}

static void quanta_without_lines_show_none(void **state)
{
    (void)state;
    assert_true(false_alarms(4.0, 100.0, 50000.0, IW_PROBE_FTQ) <= 5);
    assert_true(false_alarms(4.0, 100.0, 50000.0, IW_PROBE_FWQ) <= 5);
}

/* 100 Hz, well below the 500 Hz that quanta of 1 ms allow. */
static void quanta_show_lines_too(void **state)
{
    static const iw_probe probes[] = {IW_PROBE_FTQ, IW_PROBE_FWQ};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        iw_recording *recording = empty(2, 20.0), *quanta;
        iw_noise_spectrum *spectrum;

        for (size_t cpu = 0; cpu < 2; cpu++) {
            struct synthetic s = {.seed = 60 + cpu, .length_ns = 2e10};

            synthetic_beats(&s, 1e7, 50000.0, 0.01, 0.1, TICK);
            synthetic_poisson(&s, 50.0, 40000.0, BACKGROUND);
            synthetic_put(&s, recording, cpu);
        }
        quanta = synthetic_quanta(recording, probes[i], 1000000);
        spectrum = spectrum_of(quanta, 0.0);
        assert_int_equal(line_at(spectrum, 100.0, 0.001), 0);
        assert_true(fabs(spectrum->opts.max_frequency_hz - 500.0) < 1e-9);
        assert_true(fabs(spectrum->lines[0].share - 0.0045) < 0.001);
        assert_lines(spectrum, 1);
        assert_int_equal(spectrum->source_count, 0);
        iw_noise_spectrum_free(spectrum);
        iw_recording_free(quanta);
        iw_recording_free(recording);
    }
}

/* White: a Poisson process of rate r with exponential durations d has the one-sided density 2 r E[d^2]. */
static void the_floor_of_a_poisson_process_is_known(void **state)
{
    iw_recording *recording = empty(4, 10.0);
    iw_noise_spectrum *spectrum;
    double sum = 0.0;

    (void)state;
    for (size_t cpu = 0; cpu < 4; cpu++) {
        struct synthetic s = {.seed = 80 + cpu, .length_ns = 1e10};

        synthetic_poisson(&s, 500.0, 10000.0, BACKGROUND);
        synthetic_put(&s, recording, cpu);
    }
    spectrum = spectrum_of(recording, 0.0);
    for (size_t i = 3; i < spectrum->count; i++) {
        sum += spectrum->power[i] / (double)(spectrum->count - 3);
    }
    assert_true(fabs(sum / (2.0 * 500.0 * 2.0 * 1e-10) - 1.0) < 0.1);
    iw_noise_spectrum_free(spectrum);
    iw_recording_free(recording);
}

static void one_cpu_can_be_chosen(void **state)
{
    iw_recording *recording = empty(2, 4.0);
    struct synthetic s = {.seed = 1, .length_ns = 4e9};
    iw_spectrum_opts opts = IW_SPECTRUM_OPTS_INIT;
    iw_noise_spectrum *spectrum = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    synthetic_beats(&s, 1e6, 20000.0, 0.0, 0.0, TICK);
    synthetic_put(&s, recording, 1);
    recording->cpus[1].cpu = 7;
    opts.cpu = 0;
    assert_ok(iw_noise_spectrum_new(&l.log, recording, &opts, &spectrum));
    assert_lines(spectrum, 0);
    assert_true(spectrum->highest_ratio == 0.0);
    iw_noise_spectrum_free(spectrum);
    opts.cpu = 7;
    assert_ok(iw_noise_spectrum_new(&l.log, recording, &opts, &spectrum));
    (void)line_at(spectrum, 1000.0, 0.001);
    iw_noise_spectrum_free(spectrum);
    opts.cpu = 1;
    assert_status(iw_noise_spectrum_new(&l.log, recording, &opts, &spectrum), IW_ERR_RANGE);
    iwt_assert_logged(&l, "no CPU 1");
    iw_recording_free(recording);
}

static void what_cannot_be_is_refused(void **state)
{
    iw_recording *recording = empty(1, 0.001);
    iw_spectrum_opts opts = IW_SPECTRUM_OPTS_INIT;
    iw_noise_spectrum *spectrum = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_status(iw_noise_spectrum_new(&l.log, recording, &opts, &spectrum), IW_ERR_RANGE);
    iwt_assert_logged(&l, "too short for a spectrum up to 5000 Hz: 1 ms instead of at least 12.8 ms");
    opts.max_frequency_hz = -1.0;
    assert_status(iw_noise_spectrum_new(&l.log, recording, &opts, &spectrum), IW_ERR_RANGE);
    assert_null(spectrum);
    iw_recording_free(recording);
}

static void cpus_that_were_cut_short_are_left_out(void **state)
{
    iw_recording *recording = ticking(3, 4.0);
    iw_noise_spectrum *spectrum;

    (void)state;
    iw_recording_free(recording);
    recording = empty(2, 4.0);
    recording->cpus[1].length_ns = SECOND_NS / 1000;
    spectrum = spectrum_of(recording, 0.0);
    assert_int_equal(spectrum->cpu_count, 1);
    assert_int_equal(spectrum->windows, spectrum->possible_windows);
    iw_noise_spectrum_free(spectrum);
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tick_is_found_with_its_share_and_harmonics),
        cmocka_unit_test(the_fundamental_is_reported_not_a_multiple),
        cmocka_unit_test(sources_that_carry_a_line_are_named),
        cmocka_unit_test(nothing_folds_back_from_beyond),
        cmocka_unit_test(a_beat_whose_low_multiples_are_hidden_is_one_line),
        cmocka_unit_test(a_beat_that_wanders_is_one_line),
        cmocka_unit_test(a_tick_does_not_carry_the_line_of_a_slow_daemon),
        cmocka_unit_test(a_tick_and_a_daemon_are_both_found),
        cmocka_unit_test(a_weak_daemon_is_found_by_all_its_multiples_together),
        cmocka_unit_test(noise_without_lines_shows_none),
        cmocka_unit_test(quanta_without_lines_show_none),
        cmocka_unit_test(quanta_show_lines_too),
        cmocka_unit_test(the_floor_of_a_poisson_process_is_known),
        cmocka_unit_test(one_cpu_can_be_chosen),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(cpus_that_were_cut_short_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
