/* Power spectrum of detours: Welch's mean over windows that overlap.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A train of short pulses has harmonics far above any frequency of interest, and a histogram of the time lost
 * would fold them back as lines that are not there. So each detour is spread over ORDER bins by a B-spline,
 * whose transform sinc^ORDER keeps them out, and the spectrum is divided by that afterwards. With bins four
 * times as fast as the highest frequency f (twice what the sampling theorem asks for), what folds back onto f
 * comes from 3 f and is down by sinc(3/4)^12 = 5e-7, and for lower frequencies by more.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "core/stats/select.h"
#include "features/recordings/spectrum/spectrum.h"

static const double USUAL_MOST_HZ = 5000.0;

enum {
    ORDER = 6,
    OVERSAMPLING = 4,
    LEAST_LOG2 = 8, /* bins of a window */
    MOST_LOG2 = 19,
    LEAST_PARTS = 4,       /* a recording is so many windows long: 7 that overlap */
    MOST_SAMPLES = 1 << 25 /* that are transformed: some seconds of work */
};

struct welch {
    const iw_recording *detours;
    double bin_ns;
    size_t bins; /* of a window, a power of two */
    double *hann, *turns, *signal, *window_power, *power;
    double *offset_ns; /* by CPU: the loss that is usual for a quantum */
};

/* Weights of the B-spline that is centred at `x`, in bins, at the bins from *first_p on. */
static void spline_weights(double x, double weights[ORDER], int64_t *first_p)
{
    const double shifted = x - (ORDER / 2.0 - 1.0);
    const double whole = floor(shifted), u = shifted - whole;

    weights[0] = 1.0;
    for (int k = 1; k < ORDER; k++) { /* de Boor's recursion on uniform knots */
        double carried = 0.0;

        for (int i = 0; i < k; i++) {
            const double part = weights[i] / k;

            weights[i] = carried + (i + 1 - u) * part;
            carried = (u + k - 1 - i) * part;
        }
        weights[k] = carried;
    }
    *first_p = (int64_t)whole;
}

/* Adds `lost_ns` around one instant of the window. */
static void deposit(const struct welch *w, double time_ns, double lost_ns)
{
    double weights[ORDER];
    int64_t first;

    spline_weights(time_ns / w->bin_ns, weights, &first);
    for (int64_t i = 0; i < ORDER; i++) {
        if (first + i >= 0 && first + i < (int64_t)w->bins) {
            w->signal[first + i] += weights[i] * lost_ns;
        }
    }
}

/* Adds a detour; long ones in pieces no longer than a bin. */
static void deposit_long(const struct welch *w, double start_ns, double duration_ns)
{
    const double window_ns = (double)w->bins * w->bin_ns;
    const double begin_ns = fmax(start_ns, 0.0), end_ns = fmin(start_ns + duration_ns, window_ns);
    const int64_t pieces = (int64_t)ceil((end_ns - begin_ns) / w->bin_ns);

    for (int64_t i = 0; i < pieces; i++) {
        const double piece_ns = (end_ns - begin_ns) / (double)pieces;

        deposit(w, begin_ns + ((double)i + 0.5) * piece_ns, piece_ns);
    }
}

/* The first detour that ends behind `time_ns`. */
static size_t first_behind(const iw_detours *cpu, double time_ns)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, cpu->count, (double)(cpu->start_ns[at] + cpu->duration_ns[at]) <= time_ns);
    return at;
}

/* Quanta do not say when in them time was lost: in their middle. Losses below the usual one count as less
 * than nothing, or else the quanta themselves would be the strongest line. */
static void fill_signal(const struct welch *w, size_t c, double begin_ns)
{
    const iw_detours *cpu = &w->detours->cpus[c];
    const bool is_quanta = iw_probe_has_quanta(w->detours->probe);
    const double end_ns = begin_ns + (double)w->bins * w->bin_ns;
    const double half_ns = 0.5 * (double)w->detours->quantum_ns;

    memset(w->signal, 0, w->bins * sizeof *w->signal);
    for (size_t i = first_behind(cpu, begin_ns); i < cpu->count; i++) {
        const double start_ns = (double)cpu->start_ns[i] - begin_ns;

        if (start_ns + begin_ns >= end_ns) {
            break;
        }
        if (!is_quanta) {
            deposit_long(w, start_ns, (double)cpu->duration_ns[i]);
        } else if (start_ns + half_ns >= 0.0) {
            deposit(w, start_ns + half_ns, (double)cpu->duration_ns[i] - w->offset_ns[c]);
        }
    }
}

/* Adds the power of one window. */
static void transform(const struct welch *w, size_t c, double begin_ns)
{
    double mean = 0.0;

    fill_signal(w, c, begin_ns);
    for (size_t i = 0; i < w->bins; i++) {
        mean += w->signal[i] / (double)w->bins;
    }
    for (size_t i = 0; i < w->bins; i++) {
        w->signal[i] = (w->signal[i] - mean) * w->hann[i];
    }
    iwi_fourier_power(w->signal, w->bins, w->turns, w->window_power);
    for (size_t k = 1; k < w->bins / OVERSAMPLING; k++) {
        w->power[k] += w->window_power[k];
    }
}

static size_t windows_of(const struct welch *w, const iw_detours *cpu)
{
    const double window_ns = (double)w->bins * w->bin_ns;
    const double parts = (double)cpu->length_ns / window_ns;

    return parts < 1.0 ? 0 : 1 + (size_t)(2.0 * (parts - 1.0));
}

/* Sums up the power of all windows, or of as many as time allows, evenly from all CPUs. */
static void transform_all(const struct welch *w, iw_noise_spectrum *spectrum)
{
    const size_t affordable = MOST_SAMPLES / w->bins / spectrum->cpu_count;
    const size_t most = affordable > 0 ? affordable : 1;

    for (size_t c = 0; c < w->detours->cpu_count; c++) {
        const size_t possible = windows_of(w, &w->detours->cpus[c]);
        const size_t taken = possible < most ? possible : most;

        for (size_t i = 0; i < taken; i++) {
            const size_t number = i * possible / taken;

            transform(w, c, 0.5 * (double)(number * w->bins) * w->bin_ns);
        }
        spectrum->windows += taken;
        spectrum->possible_windows += possible;
    }
}

/* To one-sided density of the share of time: 1/Hz. */
static void scale_power(const struct welch *w, iw_noise_spectrum *spectrum)
{
    double window_square = 0.0;

    for (size_t i = 0; i < w->bins; i++) {
        window_square += w->hann[i] * w->hann[i];
    }
    for (size_t k = 0; k < spectrum->count; k++) {
        const double kept = pow(iwi_sinc((double)k / (double)w->bins), 2 * ORDER);

        spectrum->power[k] = 2.0 * w->power[k] * w->bin_ns * 1e-9 /
                             (w->bin_ns * w->bin_ns * window_square * (double)spectrum->windows * kept);
    }
}

static iw_status usual_losses(const iw_log *log, struct welch *w)
{
    for (size_t c = 0; c < w->detours->cpu_count && iw_probe_has_quanta(w->detours->probe); c++) {
        const iw_detours *cpu = &w->detours->cpus[c];
        double *losses = iwi_new_array(log, cpu->count, sizeof *losses);

        if (losses == NULL) {
            return IW_ERR_NOMEM;
        }
        for (size_t i = 0; i < cpu->count; i++) {
            losses[i] = (double)cpu->duration_ns[i];
        }
        w->offset_ns[c] = cpu->count > 0 ? iwi_select_quantile(losses, cpu->count, 0.5) : 0.0;
        free(losses);
    }
    return IW_OK;
}

static iw_status run(const iw_log *log, struct welch *w, iw_noise_spectrum *spectrum)
{
    w->hann = iwi_new_array(log, w->bins, sizeof *w->hann);
    w->turns = iwi_new_array(log, 2 * w->bins, sizeof *w->turns);
    w->signal = iwi_new_array(log, w->bins, sizeof *w->signal);
    w->window_power = iwi_new_array(log, w->bins / 2, sizeof *w->window_power);
    w->power = iwi_new_array(log, w->bins / OVERSAMPLING, sizeof *w->power);
    w->offset_ns = iwi_new_array(log, w->detours->cpu_count, sizeof *w->offset_ns);
    spectrum->count = w->bins / OVERSAMPLING;
    spectrum->power = iwi_new_array(log, spectrum->count, sizeof *spectrum->power);
    if (w->hann == NULL || w->turns == NULL || w->signal == NULL || w->window_power == NULL ||
        w->power == NULL || w->offset_ns == NULL || spectrum->power == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(usual_losses(log, w));
    for (size_t i = 0; i < w->bins; i++) {
        w->hann[i] = 0.5 - 0.5 * cos(2.0 * M_PI * (double)i / (double)w->bins);
    }
    iwi_fourier_turns(w->bins, w->turns);
    transform_all(w, spectrum);
    scale_power(w, spectrum);
    return IW_OK;
}

/* The highest frequency that can be had: quanta allow half of their rate. */
static double highest_frequency(const iw_recording *detours, double wanted_hz)
{
    const bool is_quanta = iw_probe_has_quanta(detours->probe) && detours->quantum_ns > 0;
    const double limit_hz = is_quanta ? 0.5e9 / (double)detours->quantum_ns : INFINITY;

    return fmin(wanted_hz > 0.0 ? wanted_hz : USUAL_MOST_HZ, limit_hz);
}

/* How often quanta really came, over all CPUs. */
static double rate_of_quanta(const iw_recording *detours)
{
    double quanta = 0.0, time_ns = 0.0;

    for (size_t c = 0; c < detours->cpu_count; c++) {
        const iw_detours *cpu = &detours->cpus[c];

        if (iw_probe_has_quanta(detours->probe) && cpu->count > 1) {
            quanta += (double)(cpu->count - 1);
            time_ns += (double)(cpu->start_ns[cpu->count - 1] - cpu->start_ns[0]);
        }
    }
    return time_ns > 0.0 ? quanta / time_ns * 1e9 : 0.0;
}

/* The longest windows of which the shortest CPU that has one at all still has enough. */
static iw_status choose_windows(const iw_log *log, struct welch *w, iw_noise_spectrum *spectrum)
{
    double shortest_ns = INFINITY, longest_ns = 0.0;
    unsigned log2_bins = LEAST_LOG2;

    spectrum->opts.max_frequency_hz = highest_frequency(w->detours, spectrum->opts.max_frequency_hz);
    w->bin_ns = 1e9 / OVERSAMPLING / spectrum->opts.max_frequency_hz;
    w->bins = (size_t)1 << LEAST_LOG2;
    for (size_t c = 0; c < w->detours->cpu_count; c++) {
        const iw_detours *cpu = &w->detours->cpus[c];

        longest_ns = fmax(longest_ns, (double)cpu->length_ns);
        if (windows_of(w, cpu) > 0) {
            shortest_ns = fmin(shortest_ns, (double)cpu->length_ns);
            spectrum->cpu_count++;
        }
    }
    if (spectrum->cpu_count == 0) {
        return iwi_fail(
            log, IW_ERR_RANGE,
            "too short for a spectrum up to %g Hz: %g ms instead of at least %g ms; record longer",
            spectrum->opts.max_frequency_hz, longest_ns * 1e-6, (double)w->bins * w->bin_ns * 1e-6);
    }
    while (log2_bins < MOST_LOG2 && (double)(w->bins * 2 * LEAST_PARTS) * w->bin_ns <= shortest_ns) {
        w->bins *= 2;
        log2_bins++;
    }
    return IW_OK;
}

iw_status iwi_welch(const iw_log *log, const iw_recording *detours, iw_noise_spectrum *spectrum)
{
    struct welch w = {.detours = detours};
    iw_status status;

    IW_TRY(choose_windows(log, &w, spectrum));
    spectrum->window_ns = (double)w.bins * w.bin_ns;
    spectrum->step_hz = 1e9 / spectrum->window_ns;
    spectrum->resolution_hz = 2.0 * spectrum->step_hz; /* half width of Hann's main lobe */
    spectrum->lowest_hz = IWI_LOWEST_BIN * spectrum->step_hz;
    spectrum->quanta_hz = rate_of_quanta(detours);
    status = run(log, &w, spectrum);
    free(w.hann);
    free(w.turns);
    free(w.signal);
    free(w.window_power);
    free(w.power);
    free(w.offset_ns);
    return status;
}
