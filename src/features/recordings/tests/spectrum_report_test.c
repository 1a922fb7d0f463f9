/* Spectra in words, in a plot of characters, and for programs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/made_recording.h"
#include "support/support.h"

static const int64_t SECOND_NS = 1000000000;

/* Exact pulses of 10 us at a rate, for 10 s. */
static iw_recording *ticking(int64_t period_ns)
{
    iw_recording *recording = iwt_recording(1, 10 * SECOND_NS);
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "local_timer");

    for (int64_t start_ns = 1000; start_ns < 10 * SECOND_NS - 20000; start_ns += period_ns) {
        iwt_detour(recording, 0, start_ns, 10000, tick);
    }
    return recording;
}

static char *written(const iw_recording *recording, double max_frequency_hz, iw_doc_format format)
{
    iw_spectrum_opts opts = IW_SPECTRUM_OPTS_INIT;
    iw_noise_spectrum *spectrum = NULL;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct iwt_log l;

    iwt_log_init(&l);
    assert_non_null(out);
    opts.name = "node.h5";
    opts.max_frequency_hz = max_frequency_hz;
    assert_ok(iw_noise_spectrum_new(&l.log, recording, &opts, &spectrum));
    assert_ok(iw_doc_write(&l.log, iw_noise_spectrum_doc(spectrum), format, NULL, out));
    iw_noise_spectrum_free(spectrum);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(l.text, "");
    return text;
}

/* Line breaks count as spaces. */
static void assert_says(const iw_recording *recording, double max_frequency_hz, const char *part)
{
    char *text = written(recording, max_frequency_hz, IW_DOC_TEXT), *line = text;

    while ((line = strchr(line, '\n')) != NULL) {
        *line = ' ';
    }
    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
    free(text);
}

static void the_recorded_rate_of_the_tick_tells_it(void **state)
{
    iw_recording *recording = ticking(1000000);

    (void)state;
    assert_says(recording, 0.0,
                "is at 1000.0 Hz (+ 3 harmonics), about 1.00 % of the time, perhaps the timer tick");
    iwt_attribute(recording, "tick_hz", "1000");
    assert_says(recording, 0.0, "likely the timer tick (CONFIG_HZ 1000).");
    iwt_attribute(recording, "tick_hz", "250");
    assert_says(recording, 0.0, "about 1.00 % of the time.");
    iw_recording_free(recording);
}

static void other_rates_are_no_tick(void **state)
{
    iw_recording *recording = ticking(1234567);

    (void)state;
    assert_says(recording, 0.0, "is at 810.0 Hz (+ 5 harmonics), about 0.81 % of the time.");
    iw_recording_free(recording);
}

static void sources_without_a_line_are_explained(void **state)
{
    iw_recording *recording = ticking(1000000);

    (void)state;
    assert_says(recording, 100.0, "- irq local_timer comes every 1 ms, but has no line: too fast");
    iw_recording_free(recording);
    recording = ticking(800 * 1000000);
    assert_says(recording, 0.0, "- irq local_timer comes every 800 ms, but has no line: too slow");
    iw_recording_free(recording);
}

static void silence_is_said_to_be_so(void **state)
{
    iw_recording *recording = iwt_recording(1, SECOND_NS);

    (void)state;
    assert_says(recording, 0.0, "node.h5 shows no noise");
    iw_recording_free(recording);
}

static size_t columns_of(const char *line)
{
    size_t columns = 0;

    for (; *line != '\0'; line++) {
        columns += ((unsigned char)*line & 0xc0) != 0x80;
    }
    return columns;
}

static void lines_have_80_columns_at_most(void **state)
{
    static const double limits_hz[] = {10.0, 50.0, 5000.0, 99999.0, 1e6};
    iw_recording *recording = ticking(1234567);

    (void)state;
    iwt_detour(recording, 0, 10 * SECOND_NS - 5000, 4000, iwt_source(recording, IW_CLASS_NMI, "other"));
    for (size_t i = 0; i < sizeof limits_hz / sizeof limits_hz[0]; i++) {
        char *text = written(recording, limits_hz[i], IW_DOC_TEXT);

        for (const char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
            if (columns_of(line) > 80) {
                fail_msg("%zu columns at %g Hz: %s", columns_of(line), limits_hz[i], line);
            }
        }
        free(text);
    }
    iw_recording_free(recording);
}

static void the_plot_marks_lines_on_its_axis(void **state)
{
    iw_recording *recording = ticking(1000000);
    char *text = written(recording, 0.0, IW_DOC_TEXT);
    const char *axis = strstr(text, "\xe2\x94\x94"), *mark;

    (void)state;
    assert_non_null(axis);
    mark = strstr(axis, "\xe2\x96\xb2");
    assert_non_null(mark);
    assert_null(strstr(mark + 1, "\xe2\x96\xb2"));
    assert_non_null(strstr(mark, "1 kHz"));
    free(text);
    iw_recording_free(recording);
}

static void csv_has_a_line_for_each_frequency(void **state)
{
    iw_recording *recording = ticking(1000000);
    char *text = written(recording, 0.0, IW_DOC_CSV);
    size_t lines = 0;

    (void)state;
    for (const char *c = text; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    assert_int_equal(strncmp(text, "frequency_hz,power\n0,", 21), 0);
    assert_int_equal(lines, 1 + 8192); /* a quarter of windows of 2^15 bins: 1.6 s of 10 s */
    free(text);
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_recorded_rate_of_the_tick_tells_it),
        cmocka_unit_test(other_rates_are_no_tick),
        cmocka_unit_test(sources_without_a_line_are_explained),
        cmocka_unit_test(silence_is_said_to_be_so),
        cmocka_unit_test(lines_have_80_columns_at_most),
        cmocka_unit_test(the_plot_marks_lines_on_its_axis),
        cmocka_unit_test(csv_has_a_line_for_each_frequency),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
