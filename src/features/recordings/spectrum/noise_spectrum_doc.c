/* Which frequencies the noise of a recording has.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/recordings/noise_report.h"
#include "features/tables.h"
#include "kit/figure/figure.h"
#include "kit/text/words.h"

/* ---- power and floor over frequency, lines named ---- */

enum { ROWS_PER_DECADE = 5 };

/* What lies further below the highest power is rounding. */
static const double MOST_DECADES = 12.0;

/* The highest power of some points, and the floor in their middle. */
static iw_spectral_point highest_of(const iw_spectral_point *points, size_t count)
{
    iw_spectral_point highest = points[count / 2];

    for (size_t i = 0; i < count; i++) {
        highest.power = fmax(highest.power, points[i].power);
    }
    return highest;
}

/* Powers of ten around all points. False: there is no power. */
static bool find_decades(const iw_noise_spectrum *spectrum, double *low_p, double *high_p)
{
    double lowest = INFINITY, highest = 0.0;

    for (size_t i = 0; i < spectrum->point_count; i++) {
        highest = fmax(highest, spectrum->points[i].power);
        lowest = spectrum->points[i].floor > 0.0 ? fmin(lowest, spectrum->points[i].floor) : lowest;
    }
    if (!(highest > 0.0) || isinf(highest)) {
        return false;
    }
    *high_p = ceil(log10(highest));
    *low_p = fmax(floor(log10(fmin(lowest, highest))), *high_p - MOST_DECADES);
    *high_p = fmax(*high_p, *low_p + 1.0);
    return true;
}

static void add_curves(struct iwi_figure *figure, const iw_noise_spectrum *spectrum)
{
    struct iwi_mark *power = iwi_figure_mark(figure, IWI_MARK_LINE, IWI_INK_NOISE, "power");
    struct iwi_mark *floor = iwi_figure_mark(figure, IWI_MARK_LINE, IWI_INK_FAINT, "floor");

    power->is_thin = power->is_filled = floor->is_filled = true;
    for (size_t i = 0; i < spectrum->point_count; i++) {
        const iw_spectral_point *point = &spectrum->points[i];

        iwi_mark_add(figure, power, (double[]){point->frequency_hz, point->power > 0.0 ? point->power : NAN});
        iwi_mark_add(figure, floor, (double[]){point->frequency_hz, point->floor > 0.0 ? point->floor : NAN});
    }
}

static const char *frequency_text(const iw_noise_spectrum *spectrum, double frequency_hz,
                                  char buf[IWI_NUMBER_SIZE]);

/* The lines that the axis has. */
static void add_lines(struct iwi_figure *figure, const iw_noise_spectrum *spectrum)
{
    struct iwi_mark *pins = iwi_figure_mark(figure, IWI_MARK_PIN, IWI_INK_TEXT, NULL);
    char frequency[IWI_NUMBER_SIZE];

    for (size_t i = 0; i < spectrum->line_count; i++) {
        const double hz = spectrum->lines[i].frequency_hz, power = spectrum->lines[i].power;

        if (hz >= spectrum->lowest_hz && hz <= spectrum->opts.max_frequency_hz && power > 0.0) {
            iwi_mark_add_named(figure, pins, (double[]){hz, power, hz, hz},
                               frequency_text(spectrum, hz, frequency), false);
        }
    }
}

static const char *ratio_text(double ratio, char buf[IWI_NUMBER_SIZE]);

/* A coarse spectrum: of each stretch of frequencies the highest power. */
static void add_table(struct iwi_figure *figure, const iw_noise_spectrum *spectrum)
{
    const double decades = log10(spectrum->opts.max_frequency_hz / spectrum->lowest_hz);
    const size_t count = spectrum->point_count;
    const size_t rows = (size_t)fmin(fmax(ceil(decades * ROWS_PER_DECADE), 1.0), (double)count);
    char number[IWI_NUMBER_SIZE];

    iwi_figure_table(figure, "Highest power by frequency");
    iwi_figure_head(figure, false, "Around");
    iwi_figure_head(figure, false, "Highest power [1/Hz]");
    iwi_figure_head(figure, false, "Floor [1/Hz]");
    iwi_figure_head(figure, false, "Times the floor");
    for (size_t i = 0; i < rows; i++) {
        const size_t begin = i * count / rows, end = (i + 1) * count / rows;
        const iw_spectral_point column = highest_of(&spectrum->points[begin], end - begin);

        iwi_figure_cell(figure, "%.3g Hz", column.frequency_hz);
        iwi_figure_cell(figure, "%.3g", column.power);
        iwi_figure_cell(figure, "%.3g", column.floor);
        iwi_figure_cell(figure, "%s",
                        column.floor > 0.0 ? ratio_text(column.power / column.floor, number) : "-");
    }
}

/* Power and floor over frequency, lines named; *figure_p is NULL where there is no power. */
static iw_status spectrum_figure(const iw_log *log, const iw_noise_spectrum *spectrum,
                                 struct iwi_figure **figure_p)
{
    struct iwi_figure *figure;
    double low, high;

    *figure_p = NULL;
    if (!find_decades(spectrum, &low, &high)) {
        return IW_OK;
    }
    IW_TRY(iwi_figure_new(log, "Spectrum", &figure));
    figure->is_wide = true;
    figure->message = "Power of the share of time that is lost, over frequency. Peaks above the floor are "
                      "noise at regular intervals; triangles mark the lines. Both axes are logarithmic.";
    figure->x = (struct iwi_figure_axis){.label = "Frequency",
                                         .unit = IWI_AXIS_HZ,
                                         .is_log = true,
                                         .low = spectrum->lowest_hz,
                                         .high = spectrum->opts.max_frequency_hz};
    figure->y = (struct iwi_figure_axis){.label = "Power of the share of time lost [1/Hz]",
                                         .unit = IWI_AXIS_POWER,
                                         .is_log = true,
                                         .low = pow(10.0, low),
                                         .high = pow(10.0, high)};
    add_curves(figure, spectrum);
    add_lines(figure, spectrum);
    add_table(figure, spectrum);
    *figure_p = figure;
    return IW_OK;
}

/* ---- the document ---- */

enum { MOST_CARRIERS = 3 };

/* ---- the table ---- */

IWI_OF(bool, is_tick, iw_spectral_line, it->tick_hz > 0.0)

static const struct iwi_field line_fields[] = {
    IWI_VALUE(iw_spectral_line, frequency_hz),
    IWI_VALUE(iw_spectral_line, ratio, .about = "to the floor"),
    IWI_VALUE(iw_spectral_line, share),
    IWI_VALUE(iw_spectral_line, harmonics),
    IWI_VALUE(iw_spectral_line, power, .about = "1/Hz"),
    IWI_VALUE(iw_spectral_line, tick_hz, .is_there = is_tick,
              .about = "tick of the kernel, if the line may be it"),
};
static const struct iwi_schema line_schema = IWI_SCHEMA(iw_spectral_line, line_fields);

IWI_OF(bool, has_line, iw_spectral_source, it->line > 0)

static const struct iwi_field carrier_fields[] = {
    IWI_INLINE(iw_spectral_source, source, iwi_source_schema),
    IWI_VALUE(iw_spectral_source, period_ns),
    IWI_VALUE(iw_spectral_source, share),
    IWI_VALUE(iw_spectral_source, line, .is_there = has_line,
              .about = "its line, counted from 1; null: none"),
};
static const struct iwi_schema carrier_schema = IWI_SCHEMA(iw_spectral_source, carrier_fields);

static const struct iwi_field point_fields[] = {
    IWI_VALUE(iw_spectral_point, frequency_hz),
    IWI_VALUE(iw_spectral_point, power, .about = "1/Hz"),
    IWI_VALUE(iw_spectral_point, floor, .about = "1/Hz: power without lines"),
};
static const struct iwi_schema point_schema = IWI_SCHEMA(iw_spectral_point, point_fields);

IWI_OF(bool, is_one_cpu, iw_noise_spectrum, it->opts.cpu >= 0)
IWI_OF(bool, has_quanta, iw_noise_spectrum, it->quanta_hz > 0.0)

static const struct iwi_field spectrum_fields[] = {
    IWI_VALUE_AS(iw_noise_spectrum, opts.name, "name"),
    IWI_VALUE(iw_noise_spectrum, host, .may_be_null = true),
    IWI_ENUM(iw_noise_spectrum, probe, "probe", iwi_probe_at),
    IWI_VALUE_AS(iw_noise_spectrum, opts.cpu, "cpu", .is_there = is_one_cpu, .about = "`--cpu`"),
    IWI_VALUE_AS(iw_noise_spectrum, cpu_count, "cpus", .about = "number of CPUs recorded long enough"),
    IWI_VALUE(iw_noise_spectrum, lowest_hz),
    IWI_VALUE_AS(iw_noise_spectrum, opts.max_frequency_hz, "max_frequency_hz"),
    IWI_VALUE(iw_noise_spectrum, step_hz, .about = "distance between frequencies"),
    IWI_VALUE(iw_noise_spectrum, resolution_hz, .about = "smallest distance between lines"),
    IWI_VALUE(iw_noise_spectrum, quanta_hz, .is_there = has_quanta,
              .about = "quanta per second: noise faster than half of this appears at a lower frequency; null "
                       "for detours"),
    IWI_VALUE(iw_noise_spectrum, window_ns),
    IWI_VALUE(iw_noise_spectrum, windows, .about = "transformed, of all CPUs"),
    IWI_VALUE(iw_noise_spectrum, possible_windows, .about = "available"),
    IWI_VALUE(iw_noise_spectrum, least_ratio, .about = "least ratio of a line to the floor"),
    IWI_VALUE(iw_noise_spectrum, false_alarm, .about = "probability that noise without lines exceeds it"),
    IWI_VALUE(iw_noise_spectrum, highest_ratio, .about = "of all frequencies"),
    IWI_VALUE(iw_noise_spectrum, is_tick_known,
              .about = "the recording has the rate of the kernel's tick; otherwise usual rates are tried"),
    IWI_OBJECTS(iw_noise_spectrum, lines, line_count, line_schema, .about = "strongest first"),
    IWI_OBJECTS(iw_noise_spectrum, sources, source_count, carrier_schema, .about = "periodic ones"),
    IWI_OBJECTS(iw_noise_spectrum, points, point_count, point_schema, .about = "data of the picture"),
};
/* As a report of the recording has it, which has the recording's caveats. */
const struct iwi_schema iwi_spectrum_schema = IWI_SCHEMA(iw_noise_spectrum, spectrum_fields);

/* A spectrum by itself has them too. */
static const struct iwi_field whole_fields[] = {
    {.key = "spectrum", /* of the same object */
     .type = IWI_T_OBJECT,
     .holder = IWI_INLINED,
     .size = sizeof(iw_noise_spectrum),
     .of = &iwi_spectrum_schema},
    IWI_INLINE(iw_noise_spectrum, caveats, iwi_caveats_schema),
};
static const struct iwi_schema whole_schema = IWI_SCHEMA(iw_noise_spectrum, whole_fields);

iw_status iwi_spectrum_check(const iw_log *log, const char *name, const iw_noise_spectrum *spectrum)
{
    if (!(spectrum->lowest_hz > 0.0 && spectrum->opts.max_frequency_hz > spectrum->lowest_hz &&
          spectrum->opts.max_frequency_hz < HUGE_VAL && spectrum->step_hz > 0.0)) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': lowest_hz, max_frequency_hz and step_hz: not a range",
                        name);
    }
    for (size_t i = 0; i < spectrum->source_count; i++) {
        if (spectrum->sources[i].line > spectrum->line_count) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s': sources[%zu].line: no such line", name, i);
        }
    }
    return IW_OK;
}

static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    return iwi_spectrum_check(log, name, subject);
}

/* ---- words ---- */

/* "1000.00 Hz": with as many decimals as the spectrum can tell. */
static const char *frequency_text(const iw_noise_spectrum *spectrum, double frequency_hz,
                                  char buf[IWI_NUMBER_SIZE])
{
    const int decimals = (int)fmin(fmax(ceil(-log10(spectrum->step_hz)), 0.0), 6.0);

    snprintf(buf, IWI_NUMBER_SIZE, "%.*f Hz", decimals, frequency_hz);
    return buf;
}

/* "1385", "12.5"; over a million only that it is. */
static const char *ratio_text(double ratio, char buf[IWI_NUMBER_SIZE])
{
    if (ratio >= 1e6) {
        snprintf(buf, IWI_NUMBER_SIZE, ">10^6");
    } else {
        snprintf(buf, IWI_NUMBER_SIZE, ratio < 99.5 ? "%.1f" : "%.0f", ratio);
    }
    return buf;
}

static const char *frequency(struct iwi_document *doc, const iw_noise_spectrum *spectrum, double hz)
{
    return iwi_doc_printf(doc, "%s", frequency_text(spectrum, hz, (char[IWI_NUMBER_SIZE]){0}));
}

static const char *ratio(struct iwi_document *doc, double value)
{
    return iwi_doc_printf(doc, "%s", ratio_text(value, (char[IWI_NUMBER_SIZE]){0}));
}

static const char *host_of(const iw_noise_spectrum *spectrum)
{
    const char *name = spectrum->opts.name != NULL ? spectrum->opts.name : "the recording";

    return spectrum->host != NULL && spectrum->host[0] != '\0' ? spectrum->host : name;
}

/* "The noise of node07 beats at 1000.0 Hz ...": the strongest line. */
static const char *say_strongest(struct iwi_document *doc, const iw_noise_spectrum *spectrum)
{
    const iw_spectral_line *line = spectrum->lines;
    const char *harmonics = "", *tick = "", *more = "";

    if (line->harmonics > 0) {
        harmonics =
            iwi_doc_printf(doc, " (+ %zu harmonic%s)", line->harmonics, iwi_plural_s(line->harmonics));
    }
    if (line->tick_hz > 0.0) {
        tick = iwi_doc_printf(doc, ", %s the timer tick (CONFIG_HZ %g)",
                              spectrum->is_tick_known ? "likely" : "perhaps", line->tick_hz);
    }
    if (spectrum->line_count > 1) {
        more = iwi_doc_printf(doc, " %zu more line%s out.", spectrum->line_count - 1,
                              spectrum->line_count == 2 ? " stands" : "s stand");
    }
    return iwi_doc_printf(doc, "The strongest periodic noise of %s is at %s%s, about %s of the time%s.%s",
                          host_of(spectrum), frequency(doc, spectrum, line->frequency_hz), harmonics,
                          iwi_percent_short(doc, line->share), tick, more);
}

const char *iwi_spectrum_verdict(struct iwi_document *doc, const iw_noise_spectrum *spectrum)
{
    if (!(spectrum->highest_ratio > 0.0)) {
        return iwi_doc_printf(doc, "%s shows no noise and thus no lines.", host_of(spectrum));
    }
    if (spectrum->line_count == 0) {
        return iwi_doc_printf(
            doc, "No periodic noise in %s: no line above %.1fx the floor (the highest reaches %s).",
            host_of(spectrum), spectrum->least_ratio, ratio(doc, spectrum->highest_ratio));
    }
    return say_strongest(doc, spectrum);
}

static const char *source_of(struct iwi_document *doc, const iw_source *source)
{
    return iwi_doc_printf(doc, "%s%s%s", iw_class_name(source->kind), source->name[0] != '\0' ? " " : "",
                          source->name);
}

/* "irq local_timer, softirq TIMER, .." */
static const char *carriers_of(struct iwi_document *doc, const iw_noise_spectrum *spectrum, size_t line)
{
    const char *text = "";
    size_t count = 0;

    for (size_t i = 0; i < spectrum->source_count; i++) {
        if (spectrum->sources[i].line == line + 1 && count++ < MOST_CARRIERS) {
            text = iwi_doc_printf(doc, "%s%s%s", text, count > 1 ? ", " : "",
                                  source_of(doc, &spectrum->sources[i].source));
        }
    }
    return iwi_doc_printf(doc, count > MOST_CARRIERS ? "%s, .." : "%s", count > 0 ? text : "-");
}

void iwi_spectrum_show(struct iwi_document *doc, const iw_noise_spectrum *spectrum)
{
    struct iwi_figure *figure = NULL;
    iw_status status;

    if (spectrum->line_count > 0) {
        IWI_TABLE(doc, "Lines, strongest first", {"frequency", IWI_NUMBER}, {"period", IWI_NUMBER},
                  {"x floor", IWI_NUMBER}, {"harmonics", IWI_NUMBER}, {"share", IWI_NUMBER},
                  {"carried by", IWI_WORDS});
    }
    for (size_t i = 0; i < spectrum->line_count; i++) {
        const iw_spectral_line *line = &spectrum->lines[i];

        iwi_row(doc, frequency(doc, spectrum, line->frequency_hz),
                iwi_ns_short(doc, 1e9 / line->frequency_hz), ratio(doc, line->ratio),
                iwi_doc_printf(doc, "%zu", line->harmonics), iwi_percent_short(doc, line->share),
                carriers_of(doc, spectrum, i));
    }
    status = spectrum_figure(doc->log, spectrum, &figure);
    iwi_show_figure(doc, status, figure);
}

/* Periodic sources that show no line, and why. */
static void note_silent_sources(struct iwi_document *doc, const iw_noise_spectrum *spectrum)
{
    for (size_t i = 0; i < spectrum->source_count; i++) {
        const iw_spectral_source *source = &spectrum->sources[i];
        const double frequency_hz = 1e9 / source->period_ns;

        if (source->line == 0) {
            iwi_item(doc, "%s comes every %s, but has no line: %s.", source_of(doc, &source->source),
                     iwi_ns_round(doc, source->period_ns),
                     frequency_hz < spectrum->lowest_hz ? "too slow for a recording of this length"
                     : frequency_hz > spectrum->opts.max_frequency_hz
                         ? "too fast, above the highest frequency shown"
                         : "its period drifts, it is too weak, or it falls on multiples of another line");
        }
    }
}

void iwi_spectrum_notes(struct iwi_document *doc, const iw_noise_spectrum *spectrum)
{
    note_silent_sources(doc, spectrum);
    iwi_item(doc,
             "Lines must exceed %.1fx the floor; noise without lines does so once in %.0f recordings. Shares "
             "are rough where beats vary or CPUs differ.",
             spectrum->least_ratio, 1.0 / spectrum->false_alarm);
    iwi_item(doc, "Mean of %zu windows of %s, on %zu CPU%s", spectrum->windows,
             iwi_ns_round(doc, spectrum->window_ns), spectrum->cpu_count, iwi_plural_s(spectrum->cpu_count));
    if (spectrum->windows < spectrum->possible_windows) {
        iwi_doc_append(doc, " (of %zu possible ones)", spectrum->possible_windows);
    }
    iwi_doc_append(doc, ": from %.3g Hz to %.5g Hz, resolution %.2g Hz.", spectrum->lowest_hz,
                   spectrum->opts.max_frequency_hz, spectrum->resolution_hz);
    if (spectrum->quanta_hz > 0.0) {
        iwi_item(doc,
                 "With %.4g quanta per second, noise faster than %.4g Hz appears at a lower frequency. Use "
                 "shorter quanta, or the selfish probe.",
                 spectrum->quanta_hz, 0.5 * spectrum->quanta_hz);
    }
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_noise_spectrum *spectrum = subject;

    iwi_title(doc, "Spectrum of the noise of %s", host_of(spectrum));
    if (spectrum->opts.name != NULL) {
        iwi_subtitle(doc, "Recording %s, %zu CPU%s", spectrum->opts.name, spectrum->cpu_count,
                     iwi_plural_s(spectrum->cpu_count));
    }
    iwi_say_caveats(doc, &spectrum->caveats, NULL);
    iwi_verdict(doc, "%s", iwi_spectrum_verdict(doc, spectrum));
    iwi_spectrum_show(doc, spectrum);
    iwi_section(doc, "certainty", "How sure");
    iwi_spectrum_notes(doc, spectrum);
}

/* Files have the points that are drawn only. */
IWI_OF(bool, has_csv, iw_noise_spectrum, it->power != NULL)

static iw_status write_csv(const iw_log *log, const void *subject, FILE *out)
{
    const iw_noise_spectrum *spectrum = subject;

    (void)fputs("frequency_hz,power\n", out);
    for (size_t i = 0; i < spectrum->count; i++) {
        iwi_write_real(out, (double)i * spectrum->step_hz);
        (void)fputc(',', out);
        iwi_write_real(out, spectrum->power[i]);
        (void)fputc('\n', out);
    }
    return iwi_check_written(log, out, "the spectrum");
}

const struct iwi_kind iwi_noise_spectrum_kind = {
    .name = "noise-spectrum",
    .schema_id = "idlewave.noise-spectrum/2",
    .about = "Frequencies of a recording's noise, from `idlewave noise spectrum --format json`. CSV has "
             "`frequency_hz,power`: the one-sided density, in 1/Hz",
    .schema = &whole_schema,
    .write_doc = write_doc,
    .check = check,
    .has_csv = has_csv,
    .write_csv = write_csv,
};

IWI_DOC(iw_noise_spectrum_doc, iw_noise_spectrum, spectrum, iwi_noise_spectrum_kind)
