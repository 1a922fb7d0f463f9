/* Detours drawn with characters: a scatter plot over time.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A cell with few detours shows each at its place, as dots of a Braille character (2 x 4 in a cell); one with
 * more shows how many by its shade, a step for each factor of ten. So single long detours stay visible beside
 * a hundred thousand ticks.
 */
#include "report/noise_parts.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

enum {
    ROWS = 16,
    LABEL_COLUMNS = 7, /* "100 us " */
    COLUMNS = IWI_TEXT_COLUMNS - LABEL_COLUMNS - 1,
    DOTS_ACROSS = 2,
    DOTS_DOWN = 4,
    MOST_DOTS = 4, /* detours that a cell shows one by one; beyond, shades begin at 5, 50, 500, 5000 */
    MOST_TICKS = 6,
    TICK_SIZE = 16
};

struct canvas {
    struct iwi_detour_axes axes;
    uint64_t count[ROWS][COLUMNS]; /* row 0 is the top */
    uint8_t dots[ROWS][COLUMNS];
};

bool iwi_detour_axes(const iw_recording *detours, struct iwi_detour_axes *axes)
{
    double shortest_ns = INFINITY, longest_ns = 0.0;

    axes->length_ns = 0.0;
    for (size_t c = 0; c < detours->cpu_count; c++) {
        const iw_detours *cpu = &detours->cpus[c];

        axes->length_ns = fmax(axes->length_ns, (double)cpu->length_ns);
        for (size_t i = 0; i < cpu->count; i++) {
            axes->length_ns = fmax(axes->length_ns, (double)cpu->start_ns[i]);
            longest_ns = fmax(longest_ns, (double)cpu->duration_ns[i]);
            if (cpu->duration_ns[i] > 0) {
                shortest_ns = fmin(shortest_ns, (double)cpu->duration_ns[i]);
            }
        }
    }
    if (longest_ns <= 0.0 || axes->length_ns <= 0.0) {
        return false;
    }
    axes->low_decade = floor(log10(shortest_ns));
    axes->high_decade = fmax(ceil(log10(longest_ns)), axes->low_decade + 1.0);
    return true;
}

/* Position on an axis of `steps` steps; what lies on its upper end belongs to the last one. */
static size_t step_of(double share, size_t steps)
{
    const double step = floor(share * (double)steps);

    return step < (double)steps ? (size_t)fmax(step, 0.0) : steps - 1;
}

static void mark(struct canvas *canvas, int64_t start_ns, int64_t duration_ns)
{
    /* bits of U+2800 + bits, by [row of dots from the top][column of dots] */
    static const uint8_t bits[DOTS_DOWN][DOTS_ACROSS] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const double height = (log10((double)duration_ns) - canvas->axes.low_decade) /
                          (canvas->axes.high_decade - canvas->axes.low_decade);
    const size_t x = step_of((double)start_ns / canvas->axes.length_ns, (size_t)COLUMNS * DOTS_ACROSS);
    const size_t y = (size_t)ROWS * DOTS_DOWN - 1 - step_of(height, (size_t)ROWS * DOTS_DOWN);

    canvas->count[y / DOTS_DOWN][x / DOTS_ACROSS]++;
    canvas->dots[y / DOTS_DOWN][x / DOTS_ACROSS] |= bits[y % DOTS_DOWN][x % DOTS_ACROSS];
}

static void write_cell(FILE *out, uint64_t count, uint8_t dots)
{
    static const char *const shades[] = {"\xe2\x96\x91", "\xe2\x96\x92", "\xe2\x96\x93", "\xe2\x96\x88"};
    size_t shade = 0;

    if (count == 0) {
        (void)fputc(' ', out);
    } else if (count <= MOST_DOTS) {
        (void)fprintf(out, "\xe2%c%c", 0xa0 + (dots >> 6), 0x80 + (dots & 0x3f)); /* U+2800 + dots */
    } else {
        for (count /= 10; count > MOST_DOTS && shade < 3; count /= 10) {
            shade++;
        }
        (void)fputs(shades[shade], out);
    }
}

/* The decade that begins in this row, seen from below, or NAN. The uppermost ends the axis. */
static double decade_at(const struct canvas *canvas, size_t row_from_below)
{
    const double decades = canvas->axes.high_decade - canvas->axes.low_decade;

    for (size_t decade = 0; (double)decade <= decades; decade++) {
        if (step_of((double)decade / decades, ROWS) == row_from_below) {
            return canvas->axes.low_decade + (double)decade;
        }
    }
    return NAN;
}

static void write_rows(FILE *out, const struct canvas *canvas)
{
    char label[IWI_NUMBER_SIZE];

    for (size_t row = 0; row < ROWS; row++) {
        const double decade = decade_at(canvas, ROWS - 1 - row);
        size_t columns = COLUMNS;

        if (isnan(decade)) {
            (void)fprintf(out, "%*s\xe2\x94\x82", LABEL_COLUMNS, "");
        } else {
            (void)fprintf(out, "%*s \xe2\x94\xa4", LABEL_COLUMNS - 1,
                          iwi_ns_round_text(pow(10.0, decade), label));
        }
        while (columns > 0 && canvas->count[row][columns - 1] == 0) {
            columns--; /* nothing but blanks follows */
        }
        for (size_t column = 0; column < columns; column++) {
            write_cell(out, canvas->count[row][column], canvas->dots[row][column]);
        }
        (void)fputc('\n', out);
    }
}

/* The smallest of 1, 2, 5 times a power of ten that gives at most MOST_TICKS steps. */
static double tick_step(double length)
{
    static const double factors[] = {1.0, 2.0, 5.0, 10.0};
    const double power = pow(10.0, floor(log10(length / MOST_TICKS)));

    for (size_t i = 0; i < 3; i++) {
        if (power * factors[i] * MOST_TICKS >= length * (1.0 - 1e-9)) {
            return power * factors[i];
        }
    }
    return power * factors[3];
}

static void write_time_axis(FILE *out, double length_ns)
{
    const double step_ns = tick_step(length_ns);
    char labels[COLUMNS + TICK_SIZE + 1], label[IWI_NUMBER_SIZE];
    size_t next_tick = 0, used = 0, length;

    (void)fprintf(out, "%*s\xe2\x94\x94", LABEL_COLUMNS, "");
    memset(labels, ' ', sizeof labels);
    for (size_t column = 0; column < COLUMNS; column++) {
        if (column < step_of((double)next_tick * step_ns / length_ns, COLUMNS) ||
            (double)next_tick * step_ns > length_ns) {
            (void)fputs("\xe2\x94\x80", out);
            continue;
        }
        (void)fputs("\xe2\x94\xac", out);
        iwi_ns_round_text((double)next_tick * step_ns, label);
        if (next_tick == 0) {
            snprintf(label, sizeof label, "0");
        }
        next_tick++;
        length = strlen(label);
        used = column + length <= COLUMNS ? column + length : COLUMNS;
        memcpy(&labels[used - length], label, length);
    }
    (void)fprintf(out, "\n%*s%.*s\n", LABEL_COLUMNS + 1, "", (int)used, labels);
}

void iwi_write_scatter(FILE *out, const iw_recording *detours)
{
    struct canvas canvas = {.axes = {0.0, 0.0, 0.0}};

    if (!iwi_detour_axes(detours, &canvas.axes)) {
        return;
    }
    for (size_t c = 0; c < detours->cpu_count; c++) {
        const iw_detours *cpu = &detours->cpus[c];

        for (size_t i = 0; i < cpu->count; i++) {
            if (cpu->duration_ns[i] > 0) {
                mark(&canvas, cpu->start_ns[i], cpu->duration_ns[i]);
            }
        }
    }
    write_rows(out, &canvas);
    write_time_axis(out, canvas.axes.length_ns);
}
