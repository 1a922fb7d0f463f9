/* Spectra for programs: one JSON object, schema "idlewave.noise-spectrum/1", or all powers as CSV.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <jansson.h>

#include <idlewave/idlewave.h>

#include "base/base.h"
#include "report/kinds/spectrum_report.h"
#include "schema/json_util.h"

static json_t *source_object(const iw_recording *recording, const iw_spectral_source *source)
{
    const iw_source *s = &recording->sources[source->source];

    return json_pack("{s:s, s:o, s:o, s:o}", "class", iw_class_name(s->kind), "name", iwi_json_text(s->name),
                     "period_ns", iwi_json_number(source->period_ns), "share",
                     iwi_json_number(source->share));
}

/* The periodic sources with that line; line_count: those with none. */
static json_t *sources_array(const iw_recording *recording, const iw_noise_spectrum *spectrum, size_t line)
{
    json_t *array = json_array();

    for (size_t i = 0; i < spectrum->source_count; i++) {
        if (spectrum->sources[i].line == line) {
            (void)json_array_append_new(array, source_object(recording, &spectrum->sources[i]));
        }
    }
    return array;
}

static json_t *line_object(const iw_recording *recording, const iw_noise_spectrum *spectrum, size_t number)
{
    const iw_spectral_line *line = &spectrum->lines[number];
    bool is_known = false;
    const double tick_hz = iwi_tick_of(recording, line, &is_known);

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "frequency_hz", iwi_json_number(line->frequency_hz),
                     "ratio", iwi_json_number(line->ratio), "share", iwi_json_number(line->share),
                     "harmonics", iwi_json_count(line->harmonics), "tick_hz",
                     tick_hz > 0.0 ? iwi_json_number(tick_hz) : json_null(), "sources",
                     sources_array(recording, spectrum, number));
}

static json_t *lines_array(const iw_recording *recording, const iw_noise_spectrum *spectrum)
{
    json_t *array = json_array();

    for (size_t i = 0; i < spectrum->line_count; i++) {
        (void)json_array_append_new(array, line_object(recording, spectrum, i));
    }
    return array;
}

static json_t *spectrum_object(const iw_recording *recording, const iw_noise_spectrum *spectrum,
                               const char *name)
{
    return json_pack(
        "{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}",
        "schema", "idlewave.noise-spectrum/1", "name", iwi_json_text(name), "probe",
        iw_probe_name(recording->probe), "cpu",
        spectrum->opts.cpu >= 0 ? json_integer(spectrum->opts.cpu) : json_null(), "cpus",
        iwi_json_count(spectrum->cpu_count), "lowest_hz", iwi_json_number(spectrum->lowest_hz),
        "max_frequency_hz", iwi_json_number(spectrum->opts.max_frequency_hz), "step_hz",
        iwi_json_number(spectrum->step_hz), "resolution_hz", iwi_json_number(spectrum->resolution_hz),
        "quanta_hz", spectrum->quanta_hz > 0.0 ? iwi_json_number(spectrum->quanta_hz) : json_null(),
        "window_ns", iwi_json_number(spectrum->window_ns), "windows", iwi_json_count(spectrum->windows),
        "possible_windows", iwi_json_count(spectrum->possible_windows), "least_ratio",
        iwi_json_number(spectrum->least_ratio), "false_alarm", iwi_json_number(spectrum->false_alarm),
        "highest_ratio", iwi_json_number(spectrum->highest_ratio), "lines", lines_array(recording, spectrum),
        "sources_without_line", sources_array(recording, spectrum, spectrum->line_count), "version",
        iw_version());
}

iw_status iw_spectrum_write_json(const iw_log *log, const iw_recording *recording,
                                 const iw_noise_spectrum *spectrum, const char *name, FILE *out)
{
    return iwi_json_write(log, spectrum_object(recording, spectrum, name), out, "the JSON report");
}

iw_status iw_spectrum_write_csv(const iw_log *log, const iw_noise_spectrum *spectrum, FILE *out)
{
    (void)fputs("frequency_hz,power\n", out);
    for (size_t i = 0; i < spectrum->count; i++) {
        iwi_write_real(out, (double)i * spectrum->step_hz);
        (void)fputc(',', out);
        iwi_write_real(out, spectrum->power[i]);
        (void)fputc('\n', out);
    }
    return iwi_check_written(log, out, "the spectrum");
}
