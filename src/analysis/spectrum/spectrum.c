/* Which frequencies the noise of a recording has, and which sources they come from.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "analysis/spectrum/spectrum.h"

#include <math.h>
#include <stdlib.h>

#include <idlewave/analysis.h>

#include "analysis/recording_stats.h"
#include "base/base.h"
#include "base/opts.h"

/* A source carries a line if their frequencies are the same up to this. */
static const double SAME_FREQUENCY = 0.01;

/* No matter here: the facts want a limit for long detours. */
static const double LONG_NS = 20000.0;

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

static size_t nearest_line(const iw_noise_spectrum *spectrum, double frequency_hz)
{
    size_t nearest = spectrum->line_count;
    double best = SAME_FREQUENCY;

    for (size_t i = 0; i < spectrum->line_count; i++) {
        const double apart = fabs(spectrum->lines[i].frequency_hz / frequency_hz - 1.0);

        if (apart <= best) {
            nearest = i;
            best = apart;
        }
    }
    return nearest;
}

/* The line that a source of this frequency carries: its own, or else one that it is a multiple of. */
static size_t line_of(const iw_noise_spectrum *spectrum, double frequency_hz)
{
    size_t line = nearest_line(spectrum, frequency_hz);

    for (size_t i = 0; i < spectrum->line_count && line == spectrum->line_count; i++) {
        const double multiple = round(frequency_hz / spectrum->lines[i].frequency_hz);
        const double wanted_hz = multiple * spectrum->lines[i].frequency_hz;

        if (multiple >= 2.0 && multiple <= (double)spectrum->lines[i].harmonics + 1.0 &&
            fabs(wanted_hz / frequency_hz - 1.0) <= SAME_FREQUENCY / multiple) {
            line = i;
        }
    }
    return line;
}

/* Larger shares first. */
static int compare_sources(const void *x, const void *y)
{
    const iw_spectral_source *a = x, *b = y;

    if (a->share != b->share) {
        return a->share > b->share ? -1 : 1;
    }
    return (a->source > b->source) - (a->source < b->source);
}

static iw_status find_sources(const iw_log *log, const iw_recording *recording, iw_noise_spectrum *spectrum)
{
    iw_noise_facts *facts = NULL;

    spectrum->sources = iwi_new_array(log, recording->source_count, sizeof *spectrum->sources);
    if (spectrum->sources == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iw_noise_facts_new(log, recording, LONG_NS, &facts));
    for (size_t s = 0; s < recording->source_count; s++) {
        const iw_noise_row *row = &facts->by_source[s];

        if (row->period_ns > 0.0) {
            spectrum->sources[spectrum->source_count++] = (iw_spectral_source){
                (uint32_t)s, row->period_ns, row->share, line_of(spectrum, 1e9 / row->period_ns)};
        }
    }
    qsort(spectrum->sources, spectrum->source_count, sizeof *spectrum->sources, compare_sources);
    iw_noise_facts_free(facts);
    return IW_OK;
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
    return status;
}

static iw_status describe(const iw_log *log, const iw_recording *recording, iw_noise_spectrum *spectrum)
{
    iw_recording *losses = NULL;
    iw_status status;

    if (recording->probe == IW_PROBE_SELFISH) {
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
        return iwi_fail(log, IW_ERR_RANGE, "%g Hz is no highest frequency", opts->max_frequency_hz);
    }
    IW_TRY(choose_cpu(log, opts->cpu, &view));
    spectrum = iwi_new_array(log, 1, sizeof *spectrum);
    if (spectrum == NULL) {
        return IW_ERR_NOMEM;
    }
    spectrum->opts = *opts;
    status = describe(log, &view, spectrum);
    if (status != IW_OK) {
        iw_noise_spectrum_free(spectrum);
        return status;
    }
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
        free(spectrum);
    }
}
