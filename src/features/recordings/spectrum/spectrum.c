/* Which frequencies the noise of a recording has, and which sources they come from.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/spectrum/spectrum.h"

#include <idlewave/analysis.h>

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/numeric/numeric.h"
#include "kit/facts/recording_stats.h"

/* ---- what pictures show: far fewer points than it has ---- */

enum { POINTS = 600 };

static double power_near(const iw_noise_spectrum *spectrum, double frequency_hz)
{
    const size_t last = spectrum->count - 1;
    const size_t bin = (size_t)fmin(round(frequency_hz / spectrum->step_hz), (double)last);

    return fmax(spectrum->power[bin],
                fmax(spectrum->power[bin > 0 ? bin - 1 : 0], spectrum->power[bin < last ? bin + 1 : last]));
}

static iw_spectral_point point_of(const iw_noise_spectrum *spectrum, size_t number)
{
    const double range = log(spectrum->opts.max_frequency_hz / spectrum->lowest_hz);
    const double low_hz = spectrum->lowest_hz * exp(range * (double)number / POINTS);
    const double high_hz = spectrum->lowest_hz * exp(range * (double)(number + 1) / POINTS);
    const size_t last = spectrum->count - 1;
    const size_t begin = (size_t)fmin(ceil(low_hz / spectrum->step_hz - 0.5), (double)last);
    const size_t end = (size_t)fmin(ceil(high_hz / spectrum->step_hz - 0.5), (double)last);
    iw_spectral_point point = {sqrt(low_hz * high_hz), spectrum->power[begin],
                               spectrum->floor[(begin + end) / 2]};

    for (size_t i = begin + 1; i < end; i++) {
        point.power = fmax(point.power, spectrum->power[i]);
    }
    return point;
}

/* spectrum->points, and the power of the lines. */
static iw_status find_points(const iw_log *log, iw_noise_spectrum *spectrum)
{
    spectrum->points = iwi_new_array(log, POINTS, sizeof *spectrum->points);
    if (spectrum->points == NULL) {
        return IW_ERR_NOMEM;
    }
    spectrum->point_count = POINTS;
    for (size_t i = 0; i < POINTS; i++) {
        spectrum->points[i] = point_of(spectrum, i);
    }
    for (size_t i = 0; i < spectrum->line_count; i++) {
        spectrum->lines[i].power = power_near(spectrum, spectrum->lines[i].frequency_hz);
    }
    return IW_OK;
}

/* ---- combs whose teeth hardly stand out one by one, but do so together ---- */

/* A daemon that wakes up once a second spreads its power over thousands of multiples. A few of them rise
 * above the limit by chance, as lines without relation. Each is tried as multiple m of f = peak / m: the mean
 * of power / floor over the other multiples, in units of its deviation, is largest for the true f (half of it
 * has half the excess on twice as many multiples, double of it the same excess on half as many).
 */

enum { FIRST_MULTIPLES = 16, LEAST_SPACING = 4 };

/* ---- frequencies ---- */

/* A source carries a line if their frequencies are the same up to this, or to what the spectrum resolves. */
static const double SAME_FREQUENCY = 0.01;

/* A line is the tick if their frequencies are the same up to this. */
static const double SAME_TICK = 0.005;

/* No matter here: the facts want a limit for long detours. */

/* Reduces `view`, a copy of a recording's head, to the wanted CPU. */
static iw_status choose_cpu(const iw_log *log, int64_t cpu, iw_recording *view)
{
    for (size_t c = 0; c < view->cpu_count && cpu >= 0; c++) {
        if (view->cpus[c].cpu == cpu) {
            view->cpus = &view->cpus[c];
            view->cpu_count = 1;
            return IW_OK;
        }
    }
    return cpu < 0 ? IW_OK : iwi_fail(log, IW_ERR_RANGE, "the recording has no CPU %" PRId64, cpu);
}

/* The line that a source of this frequency carries: none that is slower, a tick does not beat at 10 Hz. */
static size_t line_of(const iw_noise_spectrum *spectrum, double frequency_hz)
{
    size_t nearest = spectrum->line_count;
    double best_hz = fmax(SAME_FREQUENCY * frequency_hz, spectrum->resolution_hz);

    for (size_t i = 0; i < spectrum->line_count; i++) {
        const double apart_hz = fabs(spectrum->lines[i].frequency_hz - frequency_hz);

        if (apart_hz <= best_hz) {
            nearest = i;
            best_hz = apart_hz;
        }
    }
    return nearest;
}

static iw_status find_sources(const iw_log *log, const iw_recording *recording, iw_noise_spectrum *spectrum)
{
    iw_noise_facts *facts = NULL;

    spectrum->sources = iwi_new_array(log, recording->source_count, sizeof *spectrum->sources);
    if (spectrum->sources == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iw_noise_facts_new(log, recording, &facts));
    for (size_t s = 0; s < facts->source_count; s++) {
        const iw_noise_row *row = &facts->sources[s].row;

        if (row->period_ns > 0.0) {
            const size_t line = line_of(spectrum, 1e9 / row->period_ns);

            spectrum->sources[spectrum->source_count++] =
                (iw_spectral_source){facts->sources[s].source, row->period_ns, row->share,
                                     line < spectrum->line_count ? line + 1 : 0};
        }
    }
    iw_noise_facts_free(facts);
    return IW_OK;
}

/* Which lines may be the kernel's tick: of the rate that the recording says, or else of a usual one. */
static void find_tick(const iw_recording *recording, iw_noise_spectrum *spectrum)
{
    static const double usual_hz[] = {100.0, 250.0, 300.0, 1000.0};
    const char *said = iw_recording_get(recording, "tick_hz");
    const double said_hz = said != NULL ? strtod(said, NULL) : 0.0;

    spectrum->is_tick_known = said_hz > 0.0;
    for (size_t i = 0; i < spectrum->line_count; i++) {
        iw_spectral_line *line = &spectrum->lines[i];

        for (size_t k = 0; k < (spectrum->is_tick_known ? 1 : sizeof usual_hz / sizeof usual_hz[0]); k++) {
            const double tick_hz = spectrum->is_tick_known ? said_hz : usual_hz[k];

            line->tick_hz = fabs(line->frequency_hz / tick_hz - 1.0) <= SAME_TICK ? tick_hz : line->tick_hz;
        }
    }
}

static iw_status analyse(const iw_log *log, const iw_recording *detours, iw_noise_spectrum *spectrum)
{
    struct iwi_peak *peaks;
    size_t peak_count;
    iw_status status;

    IW_TRY(iwi_welch(log, detours, spectrum));
    IW_TRY(iwi_find_floor(log, spectrum));
    IW_TRY(iwi_find_peaks(log, spectrum, &peaks, &peak_count));
    status = iwi_group_peaks(log, peaks, peak_count, spectrum);
    free(peaks);
    return status == IW_OK ? find_points(log, spectrum) : status;
}

static iw_status describe(const iw_log *log, const iw_recording *recording, iw_noise_spectrum *spectrum)
{
    iw_recording *losses = NULL;
    iw_status status;

    if (!iw_probe_has_quanta(recording->probe)) {
        IW_TRY(analyse(log, recording, spectrum));
        return find_sources(log, recording, spectrum);
    }
    IW_TRY(iwi_losses_new(log, recording, &losses));
    status = analyse(log, losses, spectrum);
    iwi_losses_free(losses);
    return status;
}

iw_status iw_noise_spectrum_new(const iw_log *log, const iw_recording *recording,
                                const iw_spectrum_opts *given, iw_noise_spectrum **spectrum_p)
{
    iw_spectrum_opts known = IW_SPECTRUM_OPTS_INIT;
    const iw_spectrum_opts *opts = &known;
    iw_recording view = *recording;
    iw_noise_spectrum *spectrum;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_SPECTRUM_OPTS_INIT", given, &known));
    if (!(opts->max_frequency_hz >= 0.0) || isinf(opts->max_frequency_hz)) {
        return iwi_fail(log, IW_ERR_RANGE, "invalid highest frequency: %g Hz", opts->max_frequency_hz);
    }
    IW_TRY(choose_cpu(log, opts->cpu, &view));
    spectrum = iwi_new_array(log, 1, sizeof *spectrum);
    if (spectrum == NULL) {
        return IW_ERR_NOMEM;
    }
    spectrum->opts = *opts;
    spectrum->probe = recording->probe;
    spectrum->host = iw_recording_get(recording, "host");
    iw_caveats_of_recording(recording, opts->name != NULL ? opts->name : "the recording", &spectrum->caveats);
    status = describe(log, &view, spectrum);
    if (status != IW_OK) {
        iw_noise_spectrum_free(spectrum);
        return status;
    }
    find_tick(recording, spectrum);
    *spectrum_p = spectrum;
    return IW_OK;
}

void iw_noise_spectrum_free(iw_noise_spectrum *spectrum)
{
    if (spectrum != NULL) {
        free(spectrum->power);
        free(spectrum->floor);
        free(spectrum->lines);
        free(spectrum->sources);
        free(spectrum->points);
        free(spectrum);
    }
}
