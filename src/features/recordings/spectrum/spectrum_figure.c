/* A spectrum: power and floor over frequency, lines named.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/spectrum/spectrum_figure.h"

#include <math.h>

#include "core/base/base.h"

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

/* The lines that the axis has. */
static void add_lines(struct iwi_figure *figure, const iw_noise_spectrum *spectrum)
{
    struct iwi_mark *pins = iwi_figure_mark(figure, IWI_MARK_PIN, IWI_INK_TEXT, NULL);
    char frequency[IWI_NUMBER_SIZE];

    for (size_t i = 0; i < spectrum->line_count; i++) {
        const double hz = spectrum->lines[i].frequency_hz, power = spectrum->lines[i].power;

        if (hz >= spectrum->lowest_hz && hz <= spectrum->opts.max_frequency_hz && power > 0.0) {
            iwi_mark_add_named(figure, pins, (double[]){hz, power, hz, hz},
                               iwi_frequency_text(spectrum, hz, frequency), false);
        }
    }
}

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
                        column.floor > 0.0 ? iwi_ratio_text(column.power / column.floor, number) : "-");
    }
}

iw_status iwi_spectrum_figure(const iw_log *log, const iw_noise_spectrum *spectrum,
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
    figure->message =
        "Power of the share of time that is lost, over frequency. Peaks above the floor are noise that comes "
        "at regular intervals; triangles mark the lines. Both axes are logarithmic.";
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
