/* Spectra for people: the strongest line, all lines and their sources, a plot, how sure.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/spectrum_parts.h"

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

/* "1385x": over a million only that it is. */
static const char *ratio_text(double ratio, char buf[IWI_NUMBER_SIZE])
{
    if (ratio >= 1e6) {
        snprintf(buf, IWI_NUMBER_SIZE, ">10^6");
    } else {
        snprintf(buf, IWI_NUMBER_SIZE, ratio < 99.5 ? "%.1f" : "%.0f", ratio);
    }
    return buf;
}

static void write_verdict(FILE *out, const iw_recording *recording, const iw_noise_spectrum *spectrum,
                          const char *name)
{
    char text[IWI_PARAGRAPH_SIZE] = "", host[IWI_NAME_SIZE], number[IWI_NUMBER_SIZE];
    const iw_spectral_line *line = spectrum->lines;
    bool is_known = false;
    double tick_hz;

    iwi_plain_name(iwi_host_name(recording, name), HOST_COLUMNS, host);
    if (spectrum->highest_ratio <= 0.0) {
        iwi_append(text, "%s shows no noise at all, so there is no line either.", host);
        iwi_write_wrapped(out, text);
        return;
    }
    if (spectrum->line_count == 0) {
        iwi_append(text, "No line stands out of the noise of %s: none above %.1f times the floor", host,
                   spectrum->least_ratio);
        iwi_append(text, " (the highest has %s).", ratio_text(spectrum->highest_ratio, number));
        iwi_write_wrapped(out, text);
        return;
    }
    tick_hz = iwi_tick_of(recording, line, &is_known);
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
    iwi_write_wrapped(out, text);
}

static void append_source(char *text, const iw_recording *recording, const iw_spectral_source *source)
{
    const iw_source *s = &recording->sources[source->source];
    char plain[IWI_NAME_SIZE];

    iwi_append(text, "%s%s%s", iw_class_name(s->kind), s->name[0] != '\0' ? " " : "",
               iwi_plain_name(s->name, NAME_COLUMNS, plain));
}

/* "irq local_timer, softirq TIMER, ..": the periodic sources with that frequency. */
static void append_carriers(char *text, const iw_recording *recording, const iw_noise_spectrum *spectrum,
                            size_t line)
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

        append_carriers(carriers, recording, spectrum, i);
        (void)fprintf(out, "%14s %8s %8s %9zu %8s",
                      iwi_frequency_text(spectrum, line->frequency_hz, frequency),
                      iwi_ns_short_text(1e9 / line->frequency_hz, period), ratio_text(line->ratio, ratio),
                      line->harmonics, iwi_share_text(line->share, share));
        if (carriers[0] != '\0') {
            (void)fprintf(out, "  %s", iwi_plain_name(carriers, CARRIER_COLUMNS, plain));
        }
        (void)fputc('\n', out);
    }
}

/* Periodic sources that show no line, and why. */
static void write_silent_sources(FILE *out, const iw_recording *recording, const iw_noise_spectrum *spectrum)
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
            iwi_append(text, "too fast, see --max-frequency.");
        } else {
            iwi_append(text, "its period drifts, it is too weak, or it falls on multiples of another line.");
        }
        iwi_write_item(out, text);
    }
}

static void write_certainty(FILE *out, const iw_recording *recording, const iw_noise_spectrum *spectrum)
{
    char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];

    (void)fputs("\nHow sure:\n", out);
    write_silent_sources(out, recording, spectrum);
    iwi_append(text,
               "Lines must rise %.1f times above the floor; noise without lines does so once in %.0f "
               "recordings. Shares are rough where beats vary or CPUs differ.",
               spectrum->least_ratio, 1.0 / spectrum->false_alarm);
    iwi_write_item(out, text);
    text[0] = '\0';
    iwi_append(text, "Mean of %zu windows of %s, on %zu CPU%s", spectrum->windows,
               iwi_ns_round_text(spectrum->window_ns, number), spectrum->cpu_count,
               spectrum->cpu_count == 1 ? "" : "s");
    if (spectrum->windows < spectrum->possible_windows) {
        iwi_append(text, " (of %zu that there are)", spectrum->possible_windows);
    }
    iwi_append(text, ": from %.3g Hz to %.5g Hz, resolution %.2g Hz.", spectrum->lowest_hz,
               spectrum->opts.max_frequency_hz, spectrum->resolution_hz);
    iwi_write_item(out, text);
    if (spectrum->quanta_hz > 0.0) {
        text[0] = '\0';
        iwi_append(text,
                   "There are %.4g quanta a second: what is faster than %.4g Hz shows up at a lower "
                   "frequency. Use shorter quanta, or the selfish probe.",
                   spectrum->quanta_hz, 0.5 * spectrum->quanta_hz);
        iwi_write_item(out, text);
    }
}

iw_status iw_spectrum_write_text(const iw_log *log, const iw_recording *recording,
                                 const iw_noise_spectrum *spectrum, const char *name, FILE *out)
{
    write_verdict(out, recording, spectrum, name);
    write_lines(out, recording, spectrum);
    if (spectrum->highest_ratio > 0.0) {
        (void)fputs("\nPower of the time lost, 1/Hz (\xe2\x96\x91 floor, \xe2\x96\x88 above it), over "
                    "frequency (\xe2\x96\xb2 lines)\n",
                    out);
        iwi_write_spectrum_plot(out, spectrum);
    }
    write_certainty(out, recording, spectrum);
    return iwi_check_written(log, out, "the spectrum");
}
