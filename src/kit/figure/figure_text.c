/* Figures drawn with characters: axes, dots and curves.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A cell with few dots shows each at its place, as dots of a Braille character (2 x 4 in a cell); one with
 * more shows how many by its shade, a step for each factor of ten. So single long detours stay visible beside
 * a hundred thousand ticks.
 */
#include "kit/figure/figure_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

enum {
    DOT_ROWS = 16,
    CURVE_ROWS = 14,
    LABEL_COLUMNS = 7, /* "100 us " */
    MOST_X_TICKS = 6,
    MOST_Y_TICKS = 8
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

static void write_rows(const struct iwi_canvas *canvas)
{
    for (size_t row = 0; row < canvas->rows; row++) {
        const uint32_t *signs = &canvas->signs[row * canvas->columns];
        size_t columns = canvas->columns;

        iwi_canvas_y_label(canvas, row);
        while (columns > 0 && signs[columns - 1] == 0) {
            columns--; /* nothing but blanks follows */
        }
        for (size_t i = 0; i < columns; i++) {
            iwi_write_sign(canvas->out, signs[i] != 0 ? signs[i] : ' ');
        }
        (void)fputc('\n', canvas->out);
    }
}

/* ---- all ---- */

static bool has_mark(const struct iwi_figure *figure, enum iwi_mark_kind kind)
{
    for (size_t i = 0; i < figure->mark_count; i++) {
        if (figure->marks[i]->kind == kind) {
            return true;
        }
    }
    return false;
}

static void mark_pins(struct iwi_canvas *canvas)
{
    for (size_t m = 0; m < canvas->figure->mark_count; m++) {
        const struct iwi_mark *mark = canvas->figure->marks[m];

        for (size_t i = 0; mark->kind == IWI_MARK_PIN && i < mark->count; i++) {
            const double share = iwi_scale_at(&canvas->x, iwi_mark_item(mark, i)[0]);

            if (share >= -1e-9 && share <= 1.0) {
                canvas->is_pinned[iwi_step_of(share, canvas->columns)] = true;
            }
        }
    }
}

static void draw_canvas(struct iwi_canvas *canvas)
{
    const size_t all_columns = canvas->look.columns > 0 ? canvas->look.columns : IWI_TEXT_COLUMNS;

    canvas->rows = canvas->look.lines > 0                    ? canvas->look.lines
                   : has_mark(canvas->figure, IWI_MARK_DOTS) ? DOT_ROWS
                                                             : CURVE_ROWS;
    canvas->label_columns = LABEL_COLUMNS;
    canvas->columns = all_columns - LABEL_COLUMNS - 1;
    canvas->signs = calloc(canvas->rows * canvas->columns, sizeof *canvas->signs);
    canvas->is_pinned = calloc(canvas->columns, sizeof *canvas->is_pinned);
    if (canvas->signs != NULL && canvas->is_pinned != NULL) {
        iwi_figure_scales(canvas->figure, &canvas->x, &canvas->y);
        iwi_canvas_curves(canvas);
        iwi_canvas_dots(canvas);
        mark_pins(canvas);
        write_rows(canvas);
        iwi_canvas_x_axis(canvas);
    }
    free(canvas->signs);
    free(canvas->is_pinned);
}

void iwi_figure_write_text(const struct iwi_figure *figure, const struct iwi_figure_look *look, FILE *out)
{
    struct iwi_canvas canvas = {.out = out, .figure = figure};

    if (look != NULL) {
        canvas.look = *look;
    }

    for (size_t i = 0; i < figure->mark_count; i++) {
        if (figure->marks[i]->kind == IWI_MARK_CELLS) {
            iwi_text_cells(&canvas, figure->marks[i]);
            return;
        }
        if (figure->marks[i]->kind == IWI_MARK_FRAME) {
            iwi_text_frames(&canvas);
            return;
        }
        if (figure->marks[i]->kind == IWI_MARK_BOX) {
            iwi_text_boxes(&canvas);
            return;
        }
    }
    draw_canvas(&canvas);
}

void iwi_figure_write_legend(const struct iwi_figure *figure, FILE *out)
{
    const char *separator = "";
    size_t curves = 0;

    for (size_t i = 0; i < figure->mark_count; i++) {
        const struct iwi_mark *mark = figure->marks[i];

        if (mark->label != NULL) {
            (void)fputs(separator, out);
            iwi_write_sign(out, mark->is_filled ? iwi_fill_sign(mark) : iwi_curve_sign(curves++));
            (void)fprintf(out, " %s", mark->label);
            separator = ", ";
        }
    }
}
