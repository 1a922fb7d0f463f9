/* The canvas of figures as characters: signs, axes, dots and curves.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/figure/figure_text.h"

enum {
    MOST_X_TICKS = 6,
    MOST_Y_TICKS = 8,
    DOTS_ACROSS = 2,
    DOTS_DOWN = 4,
    MOST_DOTS = 4, /* dots that a cell shows one by one; beyond, shades begin at 5, 50, 500, 5000 */
    EIGHTHS = 8
};

/* All that are drawn are ASCII or take two or three bytes. */
void iwi_write_sign(FILE *out, uint32_t sign)
{
    if (sign < 0x80) {
        (void)fputc((int)sign, out);
    } else if (sign < 0x800) {
        (void)fprintf(out, "%c%c", (int)(0xc0 | sign >> 6), (int)(0x80 | (sign & 0x3f)));
    } else {
        (void)fprintf(out, "%c%c%c", (int)(0xe0 | sign >> 12), (int)(0x80 | (sign >> 6 & 0x3f)),
                      (int)(0x80 | (sign & 0x3f)));
    }
}

size_t iwi_step_of(double share, size_t steps)
{
    const double step = floor(share * (double)steps + 1e-9); /* 0.75 by logarithms may be a little less */

    return step < (double)steps ? (size_t)fmax(step, 0.0) : steps - 1;
}

/* ---- axes ---- */

void iwi_canvas_y_label(const struct iwi_canvas *canvas, size_t row)
{
    double ticks[IWI_MOST_TICKS];
    const size_t count = iwi_scale_ticks(&canvas->y, MOST_Y_TICKS, ticks);
    char label[IWI_PHRASE_SIZE];

    for (size_t i = 0; i < count; i++) {
        if (canvas->rows - 1 - iwi_step_of(iwi_scale_at(&canvas->y, ticks[i]), canvas->rows) == row) {
            (void)fprintf(canvas->out, "%*s ", (int)canvas->label_columns - 1,
                          iwi_axis_text(&canvas->figure->y, ticks[i], label));
            iwi_write_sign(canvas->out, 0x2524);
            return;
        }
    }
    (void)fprintf(canvas->out, "%*s", (int)canvas->label_columns, "");
    iwi_write_sign(canvas->out, 0x2502);
}

/* Labels begin below their ticks, as far as there is room; the last may end at the border. */
static size_t place_labels(const struct iwi_canvas *canvas, const double *ticks, size_t count, char *labels,
                           bool *is_tick)
{
    char label[IWI_PHRASE_SIZE];
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        const size_t column = iwi_step_of(iwi_scale_at(&canvas->x, ticks[i]), canvas->columns);
        const size_t length = strlen(iwi_axis_text(&canvas->figure->x, ticks[i], label));
        const size_t start = column + length <= canvas->columns ? column : canvas->columns - length;

        is_tick[column] = true;
        if (length <= canvas->columns && (used == 0 || start >= used + 2)) {
            memcpy(&labels[start], label, length);
            used = start + length;
        }
    }
    return used;
}

void iwi_canvas_x_axis(const struct iwi_canvas *canvas)
{
    char *labels = malloc(canvas->columns + 1);
    bool *is_tick = calloc(canvas->columns, sizeof *is_tick);
    double ticks[IWI_MOST_TICKS];
    const size_t count = iwi_scale_ticks(
        &canvas->x,
        canvas->x.axis->is_log ? MOST_X_TICKS
                               : (size_t)fmax(fmin(MOST_X_TICKS, (double)canvas->columns / 12.0), 1.0),
        ticks);
    size_t used;

    if (labels != NULL && is_tick != NULL) {
        memset(labels, ' ', canvas->columns + 1);
        used = place_labels(canvas, ticks, count, labels, is_tick);
        (void)fprintf(canvas->out, "%*s", (int)canvas->label_columns, "");
        iwi_write_sign(canvas->out, 0x2514);
        for (size_t i = 0; i < canvas->columns; i++) {
            const bool is_pinned = canvas->is_pinned != NULL && canvas->is_pinned[i];

            iwi_write_sign(canvas->out, is_pinned ? 0x25b2 : is_tick[i] ? 0x252c : 0x2500);
        }
        (void)fprintf(canvas->out, "\n%*s%.*s\n", (int)canvas->label_columns + 1, "", (int)used, labels);
    }
    free(labels);
    free(is_tick);
}

/* ---- dots ---- */

struct crowd {
    uint64_t count;
    uint8_t dots;
};

static void add_dot(const struct iwi_canvas *canvas, struct crowd *crowds, const struct iwi_mark *mark,
                    size_t item)
{
    /* bits of U+2800 + bits, by [row of dots from the top][column of dots] */
    static const uint8_t bits[DOTS_DOWN][DOTS_ACROSS] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const double across = iwi_scale_at(&canvas->x, iwi_mark_item(mark, item)[0]);
    const double up = iwi_scale_at(&canvas->y, iwi_mark_item(mark, item)[1]);
    struct crowd *crowd;
    size_t x, y;

    if (isnan(across) || isnan(up)) {
        return;
    }
    x = iwi_step_of(across, canvas->columns * DOTS_ACROSS);
    y = canvas->rows * DOTS_DOWN - 1 - iwi_step_of(up, canvas->rows * DOTS_DOWN);
    crowd = &crowds[y / DOTS_DOWN * canvas->columns + x / DOTS_ACROSS];
    crowd->count += mark->stands_for > 0 ? mark->stands_for : 1;
    crowd->dots |= bits[y % DOTS_DOWN][x % DOTS_ACROSS];
}

static uint32_t crowd_sign(const struct crowd *crowd)
{
    static const uint16_t shades[] = {0x2591, 0x2592, 0x2593, 0x2588};
    uint64_t count = crowd->count / 10;
    size_t shade = 0;

    if (crowd->count <= MOST_DOTS) {
        return 0x2800u + crowd->dots;
    }
    for (; count > MOST_DOTS && shade < 3; count /= 10) {
        shade++;
    }
    return shades[shade];
}

void iwi_canvas_dots(struct iwi_canvas *canvas)
{
    const size_t cells = canvas->rows * canvas->columns;
    struct crowd *crowds = calloc(cells, sizeof *crowds);

    for (size_t m = 0; crowds != NULL && m < canvas->figure->mark_count; m++) {
        const struct iwi_mark *mark = canvas->figure->marks[m];

        for (size_t i = 0; mark->kind == IWI_MARK_DOTS && i < mark->count; i++) {
            add_dot(canvas, crowds, mark, i);
        }
    }
    for (size_t i = 0; crowds != NULL && i < cells; i++) {
        if (crowds[i].count > 0) {
            canvas->signs[i] = crowd_sign(&crowds[i]);
        }
    }
    free(crowds);
}

/* ---- curves ---- */

uint32_t iwi_curve_sign(size_t index)
{
    static const uint16_t signs[] = {'+', 0x25cf, 'x', 'o'};

    return signs[index % 4];
}

/* Thin ones are solid, so that peaks show; others are shaded. */
uint32_t iwi_fill_sign(const struct iwi_mark *mark)
{
    return mark->is_thin ? 0x2588 : 0x2591;
}

/* How high a curve is in a column, in rows; NaN where it is not. Of several items in the column the highest;
 * a step is what it is in the middle of the column; where there is none, a line goes straight on. */
static double height_at(const struct iwi_canvas *canvas, const struct iwi_mark *mark, size_t column,
                        size_t *next_p)
{
    const double begin = (double)column / (double)canvas->columns,
                 end = (double)(column + 1) / (double)canvas->columns;
    const double middle = (begin + end) / 2.0, until = mark->kind == IWI_MARK_STEP ? middle : end;
    double height = NAN;
    size_t i = *next_p;

    for (; i < mark->count && iwi_scale_at(&canvas->x, iwi_mark_item(mark, i)[0]) < until; i++) {
        const double y = iwi_scale_at(&canvas->y, iwi_mark_item(mark, i)[1]);

        height = mark->kind == IWI_MARK_STEP ? y : fmax(height, y);
    }
    *next_p = i;
    if (isnan(height) && i > 0 && mark->kind == IWI_MARK_STEP) {
        height = iwi_scale_at(&canvas->y, iwi_mark_item(mark, i - 1)[1]);
    } else if (isnan(height) && i > 0 && i < mark->count) {
        const double *a = iwi_mark_item(mark, i - 1), *b = iwi_mark_item(mark, i);
        const double from = iwi_scale_at(&canvas->x, a[0]), to = iwi_scale_at(&canvas->x, b[0]);

        height =
            iwi_scale_at(&canvas->y, a[1]) +
            (iwi_scale_at(&canvas->y, b[1]) - iwi_scale_at(&canvas->y, a[1])) * (middle - from) / (to - from);
    }
    return height * (double)canvas->rows;
}

/* Whole cells, and above them as many eighths as there are; shades have none. */
static void fill_column(struct iwi_canvas *canvas, const struct iwi_mark *mark, size_t column, double height)
{
    for (size_t row = 0; row < canvas->rows && (double)row < height; row++) {
        const double filled = height - (double)row;
        uint32_t *sign = &canvas->signs[(canvas->rows - 1 - row) * canvas->columns + column];

        if (filled >= (mark->is_thin ? 1.0 : 0.5)) {
            *sign = iwi_fill_sign(mark);
        } else if (mark->is_thin && filled * EIGHTHS >= 1.0) {
            *sign = 0x2580u + (uint32_t)(filled * EIGHTHS);
        }
    }
}

/* A curve that falls by several rows is drawn as a column of signs. */
static void draw_curve(struct iwi_canvas *canvas, const struct iwi_mark *mark, uint32_t sign)
{
    size_t next = 0, last = 0;
    bool is_begun = false;

    for (size_t column = 0; column < canvas->columns; column++) {
        const double height = height_at(canvas, mark, column, &next);
        const double from_top = (double)canvas->rows - height;
        const size_t row =
            isnan(height) || from_top >= (double)canvas->rows ? canvas->rows : (size_t)fmax(from_top, 0.0);

        for (size_t y = is_begun && row > last + 1 ? last + 1 : row; y <= row && y < canvas->rows; y++) {
            canvas->signs[y * canvas->columns + column] = sign;
        }
        last = row;
        is_begun = true;
    }
}

void iwi_canvas_curves(struct iwi_canvas *canvas)
{
    size_t curves = 0;

    for (size_t m = 0; m < canvas->figure->mark_count; m++) {
        const struct iwi_mark *mark = canvas->figure->marks[m];
        size_t next = 0;

        if (mark->kind != IWI_MARK_LINE && mark->kind != IWI_MARK_STEP) {
            continue;
        }
        if (!mark->is_filled) {
            draw_curve(canvas, mark, iwi_curve_sign(curves++));
            continue;
        }
        for (size_t column = 0; column < canvas->columns; column++) {
            fill_column(canvas, mark, column, height_at(canvas, mark, column, &next));
        }
    }
}
