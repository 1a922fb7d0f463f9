/* A spectrum: power and floor over frequency, lines named.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/figure/spectrum_figure.h"

#include <math.h>

#include "base/base.h"

enum { ROWS_PER_DECADE = 5 };

static double power_near(const iw_noise_spectrum *spectrum, double frequency_hz)
{
    const size_t last = spectrum->count - 1;
    const size_t bin = (size_t)fmin(round(frequency_hz / spectrum->step_hz), (double)last);

    return fmax(spectrum->power[bin],
                fmax(spectrum->power[bin > 0 ? bin - 1 : 0], spectrum->power[bin < last ? bin + 1 : last]));
}

static void add_curves(struct iwi_figure *figure, const iw_noise_spectrum *spectrum, size_t points)
{
    struct iwi_mark *power = iwi_figure_mark(figure, IWI_MARK_LINE, IWI_INK_NOISE, "power");
    struct iwi_mark *floor = iwi_figure_mark(figure, IWI_MARK_LINE, IWI_INK_FAINT, "floor");

    power->is_thin = power->is_filled = floor->is_filled = true;
    for (size_t i = 0; i < points; i++) {
        const struct iwi_spectrum_column column = iwi_spectrum_column(spectrum, i, points);

        iwi_mark_add(figure, power, (double[]){column.frequency_hz, column.power > 0.0 ? column.power : NAN});
        iwi_mark_add(figure, floor, (double[]){column.frequency_hz, column.floor > 0.0 ? column.floor : NAN});
    }
}

/* The lines that the axis has. */
static void add_lines(struct iwi_figure *figure, const iw_noise_spectrum *spectrum)
{
    struct iwi_mark *pins = iwi_figure_mark(figure, IWI_MARK_PIN, IWI_INK_TEXT, NULL);
    char frequency[IWI_NUMBER_SIZE];

    for (size_t i = 0; i < spectrum->line_count; i++) {
        const double hz = spectrum->lines[i].frequency_hz, power = power_near(spectrum, hz);

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
    const size_t rows = (size_t)fmax(ceil(decades * ROWS_PER_DECADE), 1.0);
    char number[IWI_NUMBER_SIZE];

    iwi_figure_table(figure, "Highest power by frequency");
    iwi_figure_head(figure, false, "Around");
    iwi_figure_head(figure, false, "Highest power [1/Hz]");
    iwi_figure_head(figure, false, "Floor [1/Hz]");
    iwi_figure_head(figure, false, "Times the floor");
    for (size_t i = 0; i < rows; i++) {
        const struct iwi_spectrum_column column = iwi_spectrum_column(spectrum, i, rows);
        iwi_figure_cell(figure, "%.3g Hz", column.frequency_hz);
        iwi_figure_cell(figure, "%.3g", column.power);
        iwi_figure_cell(figure, "%.3g", column.floor);
        iwi_figure_cell(figure, "%s",
                        column.floor > 0.0 ? iwi_ratio_text(column.power / column.floor, number) : "-");
    }
}

iw_status iwi_spectrum_figure(const iw_log *log, const iw_noise_spectrum *spectrum, size_t points,
                              struct iwi_figure **figure_p)
{
    struct iwi_figure *figure;
    double low, high;

    *figure_p = NULL;
    if (!iwi_spectrum_decades(spectrum, points, &low, &high)) {
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
    add_curves(figure, spectrum, points);
    add_lines(figure, spectrum);
    add_table(figure, spectrum);
    *figure_p = figure;
    return IW_OK;
}
