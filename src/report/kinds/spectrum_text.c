/* Spectra for people: the strongest line, all lines and their sources, a plot, how sure.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/spectrum_report.h"

/* A line is the tick if their frequencies are the same up to this. */
static const double SAME_TICK = 0.005;

enum { HOST_COLUMNS = 40, NAME_COLUMNS = 24, CARRIER_COLUMNS = 26, MOST_CARRIERS = 3 };

const char *iwi_frequency_text(const iw_noise_spectrum *spectrum, double frequency_hz,
                               char buf[IWI_NUMBER_SIZE])
{
    const int decimals = (int)fmin(fmax(ceil(-log10(spectrum->step_hz)), 0.0), 6.0);

    snprintf(buf, IWI_NUMBER_SIZE, "%.*f Hz", decimals, frequency_hz);
    return buf;
}

double iwi_tick_of(const iw_recording *recording, const iw_spectral_line *line, bool *is_known_p)
{
    static const double usual_hz[] = {100.0, 250.0, 300.0, 1000.0};
    const char *said = iw_recording_get(recording, "tick_hz");
    const double tick_hz = said != NULL ? strtod(said, NULL) : 0.0;

    *is_known_p = tick_hz > 0.0;
    if (*is_known_p) {
        return fabs(line->frequency_hz / tick_hz - 1.0) <= SAME_TICK ? tick_hz : 0.0;
    }
    for (size_t i = 0; i < sizeof usual_hz / sizeof usual_hz[0]; i++) {
        if (fabs(line->frequency_hz / usual_hz[i] - 1.0) <= SAME_TICK) {
            return usual_hz[i];
        }
    }
    return 0.0;
}

const char *iwi_ratio_text(double ratio, char buf[IWI_NUMBER_SIZE])
{
    if (ratio >= 1e6) {
        snprintf(buf, IWI_NUMBER_SIZE, ">10^6");
    } else {
        snprintf(buf, IWI_NUMBER_SIZE, ratio < 99.5 ? "%.1f" : "%.0f", ratio);
    }
    return buf;
}

/* "The noise of node07 beats at 1000.0 Hz ...": the strongest line. */
static void append_strongest(char *text, const iw_recording *recording, const iw_noise_spectrum *spectrum,
                             const char *host)
{
    const iw_spectral_line *line = spectrum->lines;
    bool is_known = false;
    const double tick_hz = iwi_tick_of(recording, line, &is_known);
    char number[IWI_NUMBER_SIZE];

    iwi_append(text, "The noise of %s beats at %s", host,
               iwi_frequency_text(spectrum, line->frequency_hz, number));
    if (line->harmonics > 0) {
        iwi_append(text, " (+ %zu harmonic%s)", line->harmonics, line->harmonics == 1 ? "" : "s");
    }
    iwi_append(text, ", about %s of the time", iwi_share_text(line->share, number));
    if (tick_hz > 0.0) {
        iwi_append(text, ", %s the timer tick (CONFIG_HZ %g)", is_known ? "likely" : "perhaps", tick_hz);
    }
    iwi_append(text, ".");
    if (spectrum->line_count > 1) {
        iwi_append(text, " %zu more line%s out.", spectrum->line_count - 1,
                   spectrum->line_count == 2 ? " stands" : "s stand");
    }
}

void iwi_spectrum_verdict(const iw_recording *recording, const iw_noise_spectrum *spectrum, const char *name,
                          char text[IWI_PARAGRAPH_SIZE])
{
    char host[IWI_NAME_SIZE], number[IWI_NUMBER_SIZE];

    iwi_plain_name(iwi_host_name(recording, name), HOST_COLUMNS, host);
    if (spectrum->highest_ratio <= 0.0) {
        iwi_append(text, "%s shows no noise at all, so there is no line either.", host);
    } else if (spectrum->line_count == 0) {
        iwi_append(text, "No line stands out of the noise of %s: none above %.1f times the floor", host,
                   spectrum->least_ratio);
        iwi_append(text, " (the highest has %s).", iwi_ratio_text(spectrum->highest_ratio, number));
    } else {
        append_strongest(text, recording, spectrum, host);
    }
}

static void append_source(char *text, const iw_recording *recording, const iw_spectral_source *source)
{
    const iw_source *s = &recording->sources[source->source];
    char plain[IWI_NAME_SIZE];

    iwi_append(text, "%s%s%s", iw_class_name(s->kind), s->name[0] != '\0' ? " " : "",
               iwi_plain_name(s->name, NAME_COLUMNS, plain));
}

void iwi_spectrum_carriers(const iw_recording *recording, const iw_noise_spectrum *spectrum, size_t line,
                           char text[IWI_PARAGRAPH_SIZE])
{
    size_t count = 0;

    for (size_t i = 0; i < spectrum->source_count; i++) {
        if (spectrum->sources[i].line == line && count++ < MOST_CARRIERS) {
            iwi_append(text, "%s", count > 1 ? ", " : "");
            append_source(text, recording, &spectrum->sources[i]);
        }
    }
    iwi_append(text, "%s", count > MOST_CARRIERS ? ", .." : "");
}

static void write_lines(FILE *out, const iw_recording *recording, const iw_noise_spectrum *spectrum)
{
    char frequency[IWI_NUMBER_SIZE], period[IWI_NUMBER_SIZE], ratio[IWI_NUMBER_SIZE], share[IWI_NUMBER_SIZE];

    if (spectrum->line_count == 0) {
        return;
    }
    (void)fprintf(out, "\n%14s %8s %8s %9s %8s%s\n", "line", "period", "x floor", "harmonics", "share",
                  spectrum->source_count > 0 ? "  carried by" : "");
    for (size_t i = 0; i < spectrum->line_count; i++) {
        const iw_spectral_line *line = &spectrum->lines[i];
        char carriers[IWI_PARAGRAPH_SIZE] = "", plain[IWI_NAME_SIZE];

        iwi_spectrum_carriers(recording, spectrum, i, carriers);
        (void)fprintf(out, "%14s %8s %8s %9zu %8s",
                      iwi_frequency_text(spectrum, line->frequency_hz, frequency),
                      iwi_ns_short_text(1e9 / line->frequency_hz, period), iwi_ratio_text(line->ratio, ratio),
                      line->harmonics, iwi_share_text(line->share, share));
        if (carriers[0] != '\0') {
            (void)fprintf(out, "  %s", iwi_plain_name(carriers, CARRIER_COLUMNS, plain));
        }
        (void)fputc('\n', out);
    }
}

/* Periodic sources that show no line, and why. */
static void note_silent_sources(const iw_recording *recording, const iw_noise_spectrum *spectrum,
                                iwi_warning_fn note, void *arg)
{
    for (size_t i = 0; i < spectrum->source_count; i++) {
        const iw_spectral_source *source = &spectrum->sources[i];
        const double frequency_hz = 1e9 / source->period_ns;
        char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];

        if (source->line < spectrum->line_count) {
            continue;
        }
        append_source(text, recording, source);
        iwi_append(text, " comes every %s, but makes no line of its own: ",
                   iwi_ns_round_text(source->period_ns, number));
        if (frequency_hz < spectrum->lowest_hz) {
            iwi_append(text, "too slow for so short a recording.");
        } else if (frequency_hz > spectrum->opts.max_frequency_hz) {
            iwi_append(text, "too fast, see --max-frequency of noise spectrum.");
        } else {
            iwi_append(text, "its period drifts, it is too weak, or it falls on multiples of another line.");
        }
        note(arg, text);
    }
}

static void note_windows(const iw_noise_spectrum *spectrum, iwi_warning_fn note, void *arg)
{
    char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];

    iwi_append(text, "Mean of %zu windows of %s, on %zu CPU%s", spectrum->windows,
               iwi_ns_round_text(spectrum->window_ns, number), spectrum->cpu_count,
               spectrum->cpu_count == 1 ? "" : "s");
    if (spectrum->windows < spectrum->possible_windows) {
        iwi_append(text, " (of %zu that there are)", spectrum->possible_windows);
    }
    iwi_append(text, ": from %.3g Hz to %.5g Hz, resolution %.2g Hz.", spectrum->lowest_hz,
               spectrum->opts.max_frequency_hz, spectrum->resolution_hz);
    note(arg, text);
}

void iwi_spectrum_notes(const iw_recording *recording, const iw_noise_spectrum *spectrum, iwi_warning_fn note,
                        void *arg)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    note_silent_sources(recording, spectrum, note, arg);
    iwi_append(text,
               "Lines must rise %.1f times above the floor; noise without lines does so once in %.0f "
               "recordings. Shares are rough where beats vary or CPUs differ.",
               spectrum->least_ratio, 1.0 / spectrum->false_alarm);
    note(arg, text);
    note_windows(spectrum, note, arg);
    if (spectrum->quanta_hz > 0.0) {
        text[0] = '\0';
        iwi_append(text,
                   "There are %.4g quanta a second: what is faster than %.4g Hz shows up at a lower "
                   "frequency. Use shorter quanta, or the selfish probe.",
                   spectrum->quanta_hz, 0.5 * spectrum->quanta_hz);
        note(arg, text);
    }
}

static void write_note(void *arg, const char *text)
{
    iwi_write_item(arg, text);
}

iw_status iw_spectrum_write_text(const iw_log *log, const iw_recording *recording,
                                 const iw_noise_spectrum *spectrum, const char *name, FILE *out)
{
    char verdict[IWI_PARAGRAPH_SIZE] = "";

    iwi_spectrum_verdict(recording, spectrum, name, verdict);
    iwi_write_wrapped(out, verdict);
    write_lines(out, recording, spectrum);
    if (spectrum->highest_ratio > 0.0) {
        (void)fputs("\nPower of the time lost, 1/Hz (\xe2\x96\x91 floor, \xe2\x96\x88 above it), over "
                    "frequency (\xe2\x96\xb2 lines)\n",
                    out);
        iwi_write_spectrum_plot(out, spectrum);
    }
    (void)fputs("\nHow sure:\n", out);
    iwi_spectrum_notes(recording, spectrum, write_note, out);
    return iwi_check_written(log, out, "the spectrum");
}
