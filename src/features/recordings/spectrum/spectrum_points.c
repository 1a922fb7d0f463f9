/* What pictures show of a spectrum: far fewer points than it has.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/spectrum/spectrum.h"

#include <math.h>

#include "core/base/base.h"

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

iw_status iwi_find_points(const iw_log *log, iw_noise_spectrum *spectrum)
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
