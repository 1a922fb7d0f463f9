/* Spectra drawn with characters, and what a column of any picture of one shows.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "base/base.h"
#include "report/figure/spectrum_figure.h"

/* What lies further below the highest power is rounding. */
static const double MOST_DECADES = 12.0;

struct iwi_spectrum_column iwi_spectrum_column(const iw_noise_spectrum *spectrum, size_t column,
                                               size_t columns)
{
    const double range = log(spectrum->opts.max_frequency_hz / spectrum->lowest_hz);
    const double low_hz = spectrum->lowest_hz * exp(range * (double)column / (double)columns);
    const double high_hz = spectrum->lowest_hz * exp(range * (double)(column + 1) / (double)columns);
    const size_t last = spectrum->count - 1;
    const size_t begin = (size_t)fmin(ceil(low_hz / spectrum->step_hz - 0.5), (double)last);
    const size_t end = (size_t)fmin(ceil(high_hz / spectrum->step_hz - 0.5), (double)last);
    const size_t middle = (begin + end) / 2;
    struct iwi_spectrum_column c = {sqrt(low_hz * high_hz), spectrum->power[begin], spectrum->floor[middle]};

    for (size_t i = begin + 1; i < end; i++) {
        c.power = fmax(c.power, spectrum->power[i]);
    }
    return c;
}

bool iwi_spectrum_decades(const iw_noise_spectrum *spectrum, size_t columns, double *low_p, double *high_p)
{
    double lowest = INFINITY, highest = 0.0;

    for (size_t i = 0; i < columns; i++) {
        const struct iwi_spectrum_column column = iwi_spectrum_column(spectrum, i, columns);

        highest = fmax(highest, column.power);
        if (column.floor > 0.0) {
            lowest = fmin(lowest, column.floor);
        }
    }
    if (highest <= 0.0) {
        return false;
    }
    *high_p = ceil(log10(highest));
    *low_p = fmax(floor(log10(fmin(lowest, highest))), *high_p - MOST_DECADES);
    *high_p = fmax(*high_p, *low_p + 1.0);
    return true;
}

void iwi_write_spectrum_plot(FILE *out, const iw_noise_spectrum *spectrum)
{
    enum { COLUMNS = 72 }; /* of a terminal's 80, without the labels */
    struct iwi_figure *figure;

    if (iwi_spectrum_figure(NULL, spectrum, COLUMNS, &figure) == IW_OK && figure != NULL) {
        iwi_figure_write_text(figure, NULL, out);
        iwi_figure_free(figure);
    }
}
