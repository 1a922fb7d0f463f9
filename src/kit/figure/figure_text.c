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
#include "core/base/utf8.h"

enum {
    DOT_ROWS = 16,
    CURVE_ROWS = 14,
    LABEL_COLUMNS = 7 /* "100 us " */
};

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

/* Frames of figures as characters: boxes within boxes, whose places are columns and lines. */

enum { HORIZONTAL = 0x2500, UPRIGHT = 0x2502, MOST_LINES = 1000, MOST_COLUMNS = 1000 };

static void put(struct iwi_canvas *canvas, size_t x, size_t y, uint32_t sign)
{
    if (x < canvas->columns && y < canvas->rows) {
        canvas->signs[y * canvas->columns + x] = sign;
    }
}

/* One line of a text, as far as it fits; returns what follows it. */
static const char *put_line(struct iwi_canvas *canvas, size_t x, size_t end, size_t y, const char *text)
{
    while (*text != '\0' && *text != '\n') {
        uint32_t code = '?';
        const size_t size = iwi_utf8_size(text, &code);

        if (x < end) {
            put(canvas, x++, y, size > 0 ? code : '?');
        }
        text += size > 0 ? size : 1;
    }
    return *text == '\n' ? text + 1 : NULL;
}

static void put_text(struct iwi_canvas *canvas, size_t left, size_t right, size_t top, const char *text)
{
    const char *line = text;

    for (size_t y = top; line != NULL; y++) {
        const size_t length = strcspn(line, "\n");

        if (y == top && length > 0) { /* in the upper edge, between blanks */
            put(canvas, left + 2, y, ' ');
            if (left + 3 + length < right) {
                put(canvas, left + 3 + length, y, ' ');
            }
        }
        line = put_line(canvas, y == top ? left + 3 : left + 2, right, y, line);
    }
}

static void draw_frame(struct iwi_canvas *canvas, const double *n, const char *text)
{
    const size_t left = (size_t)n[0], right = (size_t)n[1] - 1, top = (size_t)n[2], bottom = (size_t)n[3] - 1;

    for (size_t x = left + 1; x < right; x++) {
        put(canvas, x, top, HORIZONTAL);
        put(canvas, x, bottom, HORIZONTAL);
    }
    for (size_t y = top + 1; y < bottom; y++) {
        put(canvas, left, y, UPRIGHT);
        put(canvas, right, y, UPRIGHT);
    }
    put(canvas, left, top, 0x250c);
    put(canvas, right, top, 0x2510);
    put(canvas, left, bottom, 0x2514);
    put(canvas, right, bottom, 0x2518);
    if (text != NULL) {
        put_text(canvas, left, right, top, text);
    }
}

void iwi_text_frames(struct iwi_canvas *canvas)
{
    const struct iwi_figure *figure = canvas->figure;

    canvas->columns = (size_t)fmin(figure->x.high, MOST_COLUMNS);
    canvas->rows = (size_t)fmin(figure->y.high, MOST_LINES);
    canvas->signs = calloc(canvas->rows * canvas->columns, sizeof *canvas->signs);
    for (size_t m = 0; canvas->signs != NULL && m < figure->mark_count; m++) {
        const struct iwi_mark *mark = figure->marks[m];

        for (size_t i = 0; mark->kind == IWI_MARK_FRAME && i < mark->count; i++) {
            draw_frame(canvas, iwi_mark_item(mark, i), iwi_mark_text(mark, i));
        }
    }
    for (size_t y = 0; canvas->signs != NULL && y < canvas->rows; y++) {
        for (size_t x = 0; x < canvas->columns; x++) {
            const uint32_t sign = canvas->signs[y * canvas->columns + x];

            iwi_write_sign(canvas->out, sign != 0 ? sign : ' ');
        }
        (void)fputc('\n', canvas->out);
    }
    free(canvas->signs);
}
