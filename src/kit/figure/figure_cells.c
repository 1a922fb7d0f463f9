/* Cells of figures: their colours, and how they look at a terminal, in half blocks or letters.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * At a terminal the ground stays that of it, so work looks like paper on a light one and is dark on a dark
 * one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/figure/figure_text.h"

enum { USUAL_COLUMNS = 80, MOST_LINES = 16 };

/* What is sought is never fainter than this. */
static const double LEAST_SOUGHT = 0.35;

static double share_of(const struct iwi_layer *layer, size_t cell)
{
    return (double)layer->shares[cell] / IWI_CELL_ALL;
}

double iwi_cell_share(const struct iwi_layer *layer, size_t cell)
{
    const double share = share_of(layer, cell);

    return layer->is_sought && share > 0.0 ? fmax(share, LEAST_SOUGHT) : share;
}

/* Layers lie over each other: none hides what is to be seen. */
uint32_t iwi_cell_rgb(const struct iwi_mark *cells, size_t cell)
{
    const uint32_t ground = iwi_ink_rgb(cells->ink);
    double rgb[3];

    for (int i = 0; i < 3; i++) {
        rgb[i] = (double)(ground >> (16 - 8 * i) & 0xff);
    }
    for (size_t k = 0; k < cells->layer_count; k++) {
        const struct iwi_layer *layer = &cells->layers[k];
        const uint32_t colour = iwi_ink_rgb(layer->ink);
        const double share = iwi_cell_share(layer, cell);

        for (int i = 0; i < 3; i++) {
            rgb[i] = rgb[i] * (1.0 - share) + (double)(colour >> (16 - 8 * i) & 0xff) * share;
        }
    }
    return (uint32_t)lround(rgb[0]) << 16 | (uint32_t)lround(rgb[1]) << 8 | (uint32_t)lround(rgb[2]);
}

/* ---- at a terminal ---- */

/* Whole lines for each of `count` rows where there are few. */
struct iwi_cells_size iwi_cells_size(double highest, uint32_t count, const struct iwi_figure_look *look)
{
    const size_t rows_per_line = look->has_colour ? 2 : 1;
    struct iwi_cells_size size = {.pixel_rows = look->lines * rows_per_line};
    char text[IWI_NUMBER_SIZE];
    const size_t digits = (size_t)snprintf(text, sizeof text, "%.0f", floor(highest));

    size.label_columns = (digits > strlen("rank") ? digits : strlen("rank")) + 1;
    size.columns = look->columns - size.label_columns - 1;
    if (count <= size.pixel_rows) {
        size.pixel_rows = size.pixel_rows / count * count;
    }
    size.lines = (size.pixel_rows + rows_per_line - 1) / rows_per_line;
    size.pixel_rows = size.lines * rows_per_line;
    return size;
}

/* One layer of a cell is shown; NULL is what lies beneath all. */
struct shown {
    const struct iwi_layer *layer;
    bool is_faint;
};

/* What is sought shows wherever there is some; of the others the largest, if it is a good part of the cell.
 */
static struct shown shown_in(const struct iwi_mark *cells, size_t cell)
{
    const double least = 0.25, full = 0.6, least_sought = 0.05;
    struct shown shown = {.layer = NULL};
    double largest = least;

    for (size_t i = cells->layer_count; i-- > 0;) {
        const double share = share_of(&cells->layers[i], cell);

        if (cells->layers[i].is_sought && share >= least_sought) {
            return (struct shown){.layer = &cells->layers[i]};
        }
        if (!cells->layers[i].is_sought && share > largest) {
            largest = share;
            shown = (struct shown){.layer = &cells->layers[i], .is_faint = share < full};
        }
    }
    return shown;
}

struct picture {
    const struct iwi_canvas *canvas;
    const struct iwi_mark *cells;
    size_t pixel_rows;
    char *marks; /* lines over it, [line from the top * columns + column]; 0: none */
};

static struct shown shown_at(const struct picture *p, size_t pixel_row, size_t column)
{
    const struct iwi_canvas *c = p->canvas;
    const double *n = iwi_mark_item(p->cells, 0);
    const double x = c->x.low + (c->x.high - c->x.low) * ((double)column + 0.5) / (double)c->columns;
    const double y = c->y.low + (c->y.high - c->y.low) * ((double)pixel_row + 0.5) / (double)p->pixel_rows;
    const size_t cell_column = iwi_step_of((x - n[0]) / (n[1] - n[0]), p->cells->columns);
    const size_t cell_row = iwi_step_of((y - n[2]) / (n[3] - n[2]), p->cells->rows);

    return shown_in(p->cells, cell_row * p->cells->columns + cell_column);
}

static void set_ink(const struct picture *p, const char *place, struct shown shown)
{
    if (shown.layer != NULL) {
        (void)fprintf(p->canvas->out, "\x1b[%s;5;%um", place,
                      iwi_ink_terminal(shown.layer->ink, shown.is_faint));
    }
}

/* Upper half in the colour of the letters, lower half in that of the ground. */
static void write_halves(const struct picture *p, struct shown upper, struct shown lower, char mark)
{
    FILE *out = p->canvas->out;

    if (mark != '\0') {
        set_ink(p, "48", upper.layer != NULL ? upper : lower);
        (void)fputc(mark, out);
    } else if (upper.layer != NULL) {
        set_ink(p, "38", upper);
        set_ink(p, "48", lower);
        iwi_write_sign(out, 0x2580);
    } else if (lower.layer != NULL) {
        set_ink(p, "38", lower);
        iwi_write_sign(out, 0x2584);
    } else {
        (void)fputc(' ', out);
    }
    if (upper.layer != NULL || lower.layer != NULL) {
        (void)fputs("\x1b[0m", out);
    }
}

static char letter_of(struct shown shown)
{
    static const char letters[IWI_INKS][2] = {[IWI_INK_DELAY] = {'D', 'D'},
                                              [IWI_INK_NOISE] = {'N', 'n'},
                                              [IWI_INK_COMM] = {'C', 'c'},
                                              [IWI_INK_WAIT] = {'#', '-'}};
    const char letter = (char)(shown.layer != NULL ? letters[shown.layer->ink][shown.is_faint] : ' ');

    return (char)(letter != '\0' ? letter : 'o');
}

static void write_line(const struct picture *p, size_t line)
{
    const size_t per_line = p->pixel_rows / p->canvas->rows, row = (p->canvas->rows - 1 - line) * per_line;
    const char *marks = &p->marks[line * p->canvas->columns];
    size_t used = p->canvas->columns;

    while (used > 0 && marks[used - 1] == '\0' && shown_at(p, row, used - 1).layer == NULL &&
           shown_at(p, row + per_line - 1, used - 1).layer == NULL) {
        used--; /* nothing but blanks follows */
    }
    for (size_t i = 0; i < used; i++) {
        if (p->canvas->look.has_colour) {
            write_halves(p, shown_at(p, row + 1, i), shown_at(p, row, i), marks[i]);
        } else {
            (void)fputc(marks[i] != '\0' ? marks[i] : letter_of(shown_at(p, row, i)), p->canvas->out);
        }
    }
    (void)fputc('\n', p->canvas->out);
}

/* The line at the top first, then what is sought, as these make the picture. */
static void write_legend(const struct picture *p, bool has_lines)
{
    const size_t count = p->cells->layer_count;

    (void)fprintf(p->canvas->out, "%*s", (int)p->canvas->label_columns + 1, "");
    for (size_t i = 0; i < count; i++) {
        const size_t top = count - 1 - i;
        const bool is_turned = count > 1 && p->cells->layers[count - 1].is_sought && i < 2;
        const struct shown shown = {.layer = &p->cells->layers[is_turned ? count - 2 + i : top]};

        if (p->canvas->look.has_colour) {
            set_ink(p, "38", shown);
            iwi_write_sign(p->canvas->out, 0x2588);
            (void)fprintf(p->canvas->out, "\x1b[0m %s  ", shown.layer->label);
        } else {
            (void)fprintf(p->canvas->out, "%c %s  ", letter_of(shown), shown.layer->label);
        }
    }
    (void)fprintf(p->canvas->out, "blank: work%s\n", has_lines ? "  / \\ fitted fronts" : "");
}

/* Solid lines, each item as its text says it. */
static bool mark_lines(const struct picture *p)
{
    const struct iwi_canvas *c = p->canvas;
    bool is_any = false;

    for (size_t m = 0; m < c->figure->mark_count; m++) {
        const struct iwi_mark *mark = c->figure->marks[m];

        for (size_t i = 0; mark->kind == IWI_MARK_LINE && mark->dash == IWI_SOLID && i < mark->count; i++) {
            const double *n = iwi_mark_item(mark, i);
            const char *sign = iwi_mark_text(mark, i);
            const size_t column = iwi_step_of(iwi_scale_at(&c->x, n[0]), c->columns);
            const size_t row = c->rows - 1 - iwi_step_of(iwi_scale_at(&c->y, n[1]), c->rows);

            p->marks[row * c->columns + column] = (char)(sign != NULL ? sign[0] : '*');
            is_any = true;
        }
    }
    return is_any;
}

/* A line for each row, but not too many, where nobody says how many. */
static struct iwi_figure_look usual_look(const struct iwi_figure_look *look, uint32_t rows)
{
    struct iwi_figure_look usual = *look;

    usual.columns = look->columns > 0 ? look->columns : USUAL_COLUMNS;
    usual.lines = look->lines > 0 ? look->lines : rows < MOST_LINES ? rows : MOST_LINES;
    return usual;
}

void iwi_text_cells(struct iwi_canvas *canvas, const struct iwi_mark *cells)
{
    const double count = canvas->figure->y.high - canvas->figure->y.low;
    const struct iwi_figure_look look = usual_look(&canvas->look, cells->rows);
    const struct iwi_cells_size size = iwi_cells_size(canvas->figure->y.high, (uint32_t)lround(count), &look);
    struct picture p = {.canvas = canvas, .cells = cells, .pixel_rows = size.pixel_rows};
    bool has_lines;

    canvas->rows = size.lines;
    canvas->columns = size.columns;
    canvas->label_columns = size.label_columns;
    iwi_figure_scales(canvas->figure, &canvas->x, &canvas->y);
    p.marks = calloc(canvas->rows * canvas->columns, 1);
    if (p.marks == NULL) {
        return;
    }
    has_lines = mark_lines(&p);
    (void)fprintf(canvas->out, "%*s\n", (int)canvas->label_columns - 1, canvas->figure->y.label);
    for (size_t line = 0; line < canvas->rows; line++) {
        iwi_canvas_y_label(canvas, line);
        write_line(&p, line);
    }
    iwi_canvas_x_axis(canvas);
    write_legend(&p, has_lines);
    free(p.marks);
}
