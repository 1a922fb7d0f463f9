/* Distributions with their fits, drawn with characters: the share of detours that last longer.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/fit_parts.h"

enum { ROWS = 14, LABEL_COLUMNS = 7, COLUMNS = IWI_TEXT_COLUMNS - LABEL_COLUMNS - 1 };

/* Recorded below, fits above it. */
enum mark { EMPTY, RECORDED, ALONE, TOGETHER };
static const char *const marks[] = {" ", "\xe2\x96\x91", "+", "\xe2\x97\x8f"};

struct axes {
    double low_ns, high_ns; /* of the durations */
    double decades;         /* of shares, downwards from 1 */
};

struct canvas {
    struct axes axes;
    uint8_t cells[ROWS][COLUMNS]; /* row 0 is the top; holds enum mark */
};

static bool find_axes(const iw_durations *d, struct axes *axes)
{
    if (d->point_count < 2) {
        return false;
    }
    axes->low_ns = fmax(d->cut_ns, d->point_ns[0] / 2.0);
    axes->high_ns = d->longest_ns * 1.5;
    axes->decades = fmax(ceil(log10((double)d->count)), 1.0);
    return true;
}

static double column_ns(const struct axes *axes, size_t column)
{
    return axes->low_ns * pow(axes->high_ns / axes->low_ns, ((double)column + 0.5) / COLUMNS);
}

/* Rows below the top; ROWS: below the axis. */
static size_t row_of(const struct axes *axes, double above)
{
    const double row = above > 0.0 ? -log10(above) / axes->decades * ROWS : ROWS;

    return row < ROWS ? (size_t)fmax(row, 0.0) : ROWS;
}

/* The recorded share that lasts at least so long. */
static double recorded_above(const iw_durations *d, double ns)
{
    size_t i = 0;

    while (i < d->point_count && d->point_ns[i] < ns) {
        i++;
    }
    return i < d->point_count ? d->point_above[i] : 0.0;
}

static double fitted_above(const iw_noise_fit *fit, enum mark mark, double ns)
{
    const iw_durations *d = &fit->groups[0].durations;

    return mark == TOGETHER ? iw_noise_fit_above(fit, ns) : iw_durations_above(d, d->best, ns);
}

/* A curve that falls by several rows is drawn as a column of marks. */
static void draw_curve(struct canvas *canvas, const iw_noise_fit *fit, enum mark mark)
{
    size_t last = 0;

    for (size_t x = 0; x < COLUMNS; x++) {
        const size_t row = row_of(&canvas->axes, fitted_above(fit, mark, column_ns(&canvas->axes, x)));

        for (size_t y = row > last + 1 ? last + 1 : row; y <= row && y < ROWS; y++) {
            canvas->cells[y][x] = (uint8_t)mark;
        }
        last = row;
    }
}

static void draw_recorded(struct canvas *canvas, const iw_durations *d)
{
    for (size_t x = 0; x < COLUMNS; x++) {
        const double above = recorded_above(d, column_ns(&canvas->axes, x));

        for (size_t y = row_of(&canvas->axes, above); y < ROWS; y++) {
            canvas->cells[y][x] = RECORDED;
        }
    }
}

static void write_rows(FILE *out, const struct canvas *canvas)
{
    for (size_t row = 0; row < ROWS; row++) {
        const double begin = canvas->axes.decades * (double)row / ROWS;
        const double end = canvas->axes.decades * (double)(row + 1) / ROWS;
        const double decade = ceil(begin - 1e-9);
        size_t columns = COLUMNS;
        char label[IWI_NUMBER_SIZE];

        if (decade < end - 1e-9) {
            snprintf(label, sizeof label, decade > 0.0 ? "1e-%.0f" : "1", decade);
            (void)fprintf(out, "%*s \xe2\x94\xa4", LABEL_COLUMNS - 1, label);
        } else {
            (void)fprintf(out, "%*s\xe2\x94\x82", LABEL_COLUMNS, "");
        }
        while (columns > 0 && canvas->cells[row][columns - 1] == EMPTY) {
            columns--; /* nothing but blanks follows */
        }
        for (size_t x = 0; x < columns; x++) {
            (void)fputs(marks[canvas->cells[row][x]], out);
        }
        (void)fputc('\n', out);
    }
}

/* Ticks at 1, 2, 5 times powers of ten; labels where there is room. */
static void write_axis(FILE *out, const struct axes *axes)
{
    static const double factors[] = {1.0, 2.0, 5.0};
    const double width = log(axes->high_ns / axes->low_ns);
    char labels[COLUMNS + 1], label[IWI_NUMBER_SIZE];
    bool is_tick[COLUMNS] = {false};
    size_t used = 0;

    memset(labels, ' ', sizeof labels);
    for (int i = 3 * (int)floor(log10(axes->low_ns)); i <= 3 * (int)ceil(log10(axes->high_ns)); i++) {
        const int decade = (int)floor(i / 3.0);
        const double ns = factors[i - 3 * decade] * pow(10.0, decade);
        const double column = floor(log(ns / axes->low_ns) / width * COLUMNS);
        const size_t length = strlen(iwi_ns_round_text(ns, label));

        if (column < 0.0 || column >= COLUMNS) {
            continue;
        }
        is_tick[(size_t)column] = true;
        if ((used == 0 || (size_t)column >= used + 2) && (size_t)column + length <= COLUMNS) {
            memcpy(&labels[(size_t)column], label, length);
            used = (size_t)column + length;
        }
    }
    (void)fprintf(out, "%*s\xe2\x94\x94", LABEL_COLUMNS, "");
    for (size_t x = 0; x < COLUMNS; x++) {
        (void)fputs(is_tick[x] ? "\xe2\x94\xac" : "\xe2\x94\x80", out);
    }
    (void)fprintf(out, "\n%*s%.*s\n", LABEL_COLUMNS + 1, "", (int)used, labels);
}

void iwi_write_fit_plot(FILE *out, const iw_noise_fit *fit)
{
    const iw_durations *d = &fit->groups[0].durations;
    struct canvas canvas = {.axes = {0.0, 0.0, 0.0}};
    const bool has_law = d->is_fitted && d->best != IW_FIT_FIXED, has_mixture = iwi_fit_has_mixture(fit);

    if (!find_axes(d, &canvas.axes)) {
        return;
    }
    draw_recorded(&canvas, d);
    if (has_law) {
        draw_curve(&canvas, fit, ALONE);
    }
    if (has_mixture) {
        draw_curve(&canvas, fit, TOGETHER);
    }
    (void)fputs("\nShare of detours that last longer (\xe2\x96\x91 recorded", out);
    if (has_law) {
        (void)fprintf(out, ", + %s", iw_fit_law_name(d->best));
    }
    (void)fputs(has_mixture ? ", \xe2\x97\x8f specs together)\n" : ")\n", out);
    write_rows(out, &canvas);
    write_axis(out, &canvas.axes);
}
