/* Frames of figures as characters: boxes within boxes, whose places are columns and lines.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/utf8.h"
#include "kit/figure/figure_text.h"

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
