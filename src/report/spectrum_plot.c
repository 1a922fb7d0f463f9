/* Spectra drawn with characters: power over frequency.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/spectrum_parts.h"

enum { ROWS = 14, LABEL_COLUMNS = 7, COLUMNS = IWI_TEXT_COLUMNS - LABEL_COLUMNS - 1, EIGHTHS = 8 };

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

struct axes {
    double low, high; /* logarithms of power */
    struct iwi_spectrum_column columns[COLUMNS];
};

static bool find_axes(const iw_noise_spectrum *spectrum, struct axes *axes)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        axes->columns[i] = iwi_spectrum_column(spectrum, i, COLUMNS);
    }
    return iwi_spectrum_decades(spectrum, COLUMNS, &axes->low, &axes->high);
}

/* Height on the axis in rows. */
static double height_of(const struct axes *axes, double power)
{
    return power > 0.0 ? fmax((log10(power) - axes->low) / (axes->high - axes->low), 0.0) * ROWS : 0.0;
}

/* One cell, `row` rows above the axis: shaded up to the floor, solid above it. */
static void write_cell(FILE *out, double power, double floor, double row)
{
    const double filled = power - row;

    if (filled >= 1.0) {
        (void)fputs(floor > row + 0.5 ? "\xe2\x96\x91" : "\xe2\x96\x88", out);
    } else if (filled * EIGHTHS < 1.0) {
        (void)fputc(' ', out);
    } else if (floor > row) {
        (void)fputs("\xe2\x96\x91", out);
    } else {
        (void)fprintf(out, "\xe2\x96%c", 0x80 + (int)(filled * EIGHTHS)); /* U+2580 + eighths */
    }
}

static void write_rows(FILE *out, const struct axes *axes)
{
    const double decades = axes->high - axes->low;
    char label[IWI_NUMBER_SIZE];

    for (int row = ROWS - 1; row >= 0; row--) {
        const double begin = axes->low + decades * row / ROWS, end = axes->low + decades * (row + 1) / ROWS;
        const double decade = ceil(begin - 1e-9);
        size_t columns = COLUMNS;

        if (decade < end - 1e-9) {
            snprintf(label, sizeof label, "1e%.0f", decade);
            (void)fprintf(out, "%*s \xe2\x94\xa4", LABEL_COLUMNS - 1, label);
        } else {
            (void)fprintf(out, "%*s\xe2\x94\x82", LABEL_COLUMNS, "");
        }
        while (columns > 0 && (height_of(axes, axes->columns[columns - 1].power) - row) * EIGHTHS < 1.0) {
            columns--; /* nothing but blanks follows */
        }
        for (size_t i = 0; i < columns; i++) {
            write_cell(out, height_of(axes, axes->columns[i].power), height_of(axes, axes->columns[i].floor),
                       row);
        }
        (void)fputc('\n', out);
    }
}

/* Where a frequency is on the axis; COLUMNS if it is not. */
static size_t column_of(const iw_noise_spectrum *spectrum, double frequency_hz)
{
    const double share =
        log(frequency_hz / spectrum->lowest_hz) / log(spectrum->opts.max_frequency_hz / spectrum->lowest_hz);

    return share >= -1e-9 && share < 1.0 ? (size_t)(fmax(share, 0.0) * COLUMNS) : COLUMNS;
}

static bool has_line(const iw_noise_spectrum *spectrum, size_t column)
{
    for (size_t i = 0; i < spectrum->line_count; i++) {
        if (column_of(spectrum, spectrum->lines[i].frequency_hz) == column) {
            return true;
        }
    }
    return false;
}

static void write_frequency_axis(FILE *out, const iw_noise_spectrum *spectrum)
{
    char labels[COLUMNS + 1], number[IWI_NUMBER_SIZE];
    const int first = (int)ceil(log10(spectrum->lowest_hz)),
              last = (int)floor(log10(spectrum->opts.max_frequency_hz));
    bool is_tick[COLUMNS + 1] = {false};
    size_t used = 0;

    memset(labels, ' ', sizeof labels);
    for (int decade = first; decade <= last; decade++) {
        const size_t column = column_of(spectrum, pow(10.0, decade));
        size_t length;

        snprintf(number, sizeof number, decade < 3 ? "%g Hz" : "%g kHz",
                 pow(10.0, decade < 3 ? decade : decade - 3));
        is_tick[column] = true;
        length = strlen(number);
        if (column + length <= COLUMNS) {
            memcpy(&labels[column], number, length);
            used = column + length;
        }
    }
    (void)fprintf(out, "%*s\xe2\x94\x94", LABEL_COLUMNS, "");
    for (size_t i = 0; i < COLUMNS; i++) {
        (void)fputs(has_line(spectrum, i) ? "\xe2\x96\xb2" : (is_tick[i] ? "\xe2\x94\xac" : "\xe2\x94\x80"),
                    out);
    }
    (void)fprintf(out, "\n%*s%.*s\n", LABEL_COLUMNS + 1, "", (int)used, labels);
}

void iwi_write_spectrum_plot(FILE *out, const iw_noise_spectrum *spectrum)
{
    struct axes axes = {.low = 0.0};

    if (find_axes(spectrum, &axes)) {
        write_rows(out, &axes);
        write_frequency_axis(out, spectrum);
    }
}
