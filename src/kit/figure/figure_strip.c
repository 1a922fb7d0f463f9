/* Boxes at a terminal: rows along an axis above them, each with its first numbers of the figure's table.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *         10us        1ms
 *   ranks ┬───────────┬────── no noise    mean
 *     256  ┊─▒▒▒▒█▒▒▒▒──── ·     35 us  43.42x
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/figure/figure_text.h"

/* What one column of a row shows; the later ones cover the earlier ones. */
enum sign { SIGN_NONE, SIGN_EXTREME, SIGN_WHISKER, SIGN_DOTTED, SIGN_BOX, SIGN_MEDIAN, SIGNS };
static const uint16_t signs[SIGNS] = {' ', 0xb7, 0x2500, 0x250a, 0x2592, 0x2588};

const char *const iwi_strip_legend =
    "\xe2\x96\x88 median  \xe2\x96\x92 middle half  \xe2\x94\x80 5 % to 95 %  "
    "\xc2\xb7 shortest, longest  \xe2\x94\x8a without noise";

enum {
    MOST_ROWS = 20, /* more are thinned out */
    MOST_LABEL = 20,
    LEAST_LABEL = 9, /* "1,048,576" */
    LEAST_STRIP = 12,
    NUMBER_STEP =
        9, /* columns of numbers are one or two of these wide, the same for figures that are alike */
    MOST_NUMBERS = 4
};

struct strips {
    const struct iwi_figure *figure;
    FILE *out;
    bool has_colour;
    struct iwi_scale x, y;
    size_t label_columns, columns; /* of the labels, of the strips */
    size_t number_count, number_columns[MOST_NUMBERS];
    size_t rows; /* boxes of all marks */
};

static size_t column_of(const struct iwi_scale *y, double value, size_t columns)
{
    const double share = iwi_scale_at(y, value);

    return (size_t)lround(fmin(fmax(isnan(share) ? 0.0 : share, 0.0), 1.0) * (double)(columns - 1));
}

static void stretch(enum sign *row, const struct iwi_scale *y, double from, double to, size_t columns,
                    enum sign sign)
{
    for (size_t column = column_of(y, from, columns); column <= column_of(y, to, columns); column++) {
        row[column] = sign;
    }
}

/* The row-th box; `item` is its number in its mark. */
static const struct iwi_mark *box_of(const struct iwi_figure *figure, size_t row, size_t *item)
{
    *item = 0;
    for (size_t m = 0; m < figure->mark_count; m++) {
        const struct iwi_mark *mark = figure->marks[m];

        if (mark->kind == IWI_MARK_BOX && row < mark->count) {
            *item = row;
            return mark;
        }
        row -= mark->kind == IWI_MARK_BOX ? mark->count : 0;
    }
    return NULL;
}

static void fill_row(const struct strips *s, const double *n, enum sign *row)
{
    enum { X, LEAST, P5, Q1, MEDIAN, Q3, P95, MOST };

    row[column_of(&s->y, n[LEAST], s->columns)] = SIGN_EXTREME;
    row[column_of(&s->y, n[MOST], s->columns)] = SIGN_EXTREME;
    stretch(row, &s->y, n[P5], n[P95], s->columns, SIGN_WHISKER);
    stretch(row, &s->y, n[Q1], n[Q3], s->columns, SIGN_BOX);
    for (size_t m = 0; m < s->figure->mark_count; m++) {
        const struct iwi_mark *mark = s->figure->marks[m];

        for (size_t i = 0; mark->dash == IWI_DOTTED && i < mark->count; i++) {
            const double *dot = iwi_mark_item(mark, i);

            if (dot[X] == n[X] && !isnan(dot[1])) {
                row[column_of(&s->y, dot[1], s->columns)] = SIGN_DOTTED;
            }
        }
    }
    row[column_of(&s->y, n[MEDIAN], s->columns)] = SIGN_MEDIAN;
}

static void write_strip(const struct strips *s, const double *numbers, bool is_hot)
{
    static const char *const cold[SIGNS] = {"", "2", "2", "32", "34", "1;34"};
    static const char *const hot[SIGNS] = {"", "2", "2", "32", "31", "1;31"};
    const char *const *codes = is_hot ? hot : cold;
    enum sign *row = calloc(s->columns, sizeof *row), before = SIGN_NONE;

    if (row == NULL) {
        return;
    }
    fill_row(s, numbers, row);
    for (size_t i = 0; i < s->columns; i++) {
        if (s->has_colour && row[i] != before) {
            (void)fprintf(s->out, row[i] != SIGN_NONE ? "\x1b[m\x1b[%sm" : "\x1b[m", codes[row[i]]);
        }
        before = row[i];
        iwi_write_sign(s->out, signs[row[i]]);
    }
    (void)fputs(s->has_colour && before != SIGN_NONE ? "\x1b[m" : "", s->out);
    free(row);
}

/* ---- numbers behind them ---- */

/* Cell of the table, whose row 0 is its heads; its column 0 is a label. */
static const char *number_of(const struct strips *s, size_t row, size_t column)
{
    const struct iwi_figure_table *table = &s->figure->table;
    const size_t cell = row * table->columns + column + 1;

    return cell < table->count ? table->cells[cell] : "";
}

static void write_numbers(const struct strips *s, size_t row, bool is_hot)
{
    (void)fputs(is_hot && s->has_colour ? "\x1b[31m" : "", s->out);
    for (size_t i = 0; i < s->number_count; i++) {
        (void)fprintf(s->out, "%*s", (int)s->number_columns[i], number_of(s, row, i));
    }
    (void)fputs(is_hot && s->has_colour ? "\x1b[m\n" : "\n", s->out);
}

static void measure(struct strips *s, size_t columns)
{
    char label[IWI_PHRASE_SIZE];
    size_t used = 0, item;

    s->number_count = s->figure->table.beside < MOST_NUMBERS ? s->figure->table.beside : MOST_NUMBERS;
    for (size_t i = 0; i < s->number_count; i++) {
        for (size_t row = 0; row <= s->rows; row++) {
            const size_t steps = strlen(number_of(s, row, i)) / NUMBER_STEP + 1;

            if (steps * NUMBER_STEP > s->number_columns[i]) {
                s->number_columns[i] = steps * NUMBER_STEP;
            }
        }
        used += s->number_columns[i];
    }
    s->label_columns = LEAST_LABEL;
    for (size_t row = 0; row < s->rows; row++) {
        const struct iwi_mark *mark = box_of(s->figure, row, &item);
        const size_t length = strlen(iwi_axis_text(&s->figure->x, iwi_mark_item(mark, item)[0], label));

        s->label_columns = length > s->label_columns ? length : s->label_columns;
    }
    s->label_columns = s->label_columns < MOST_LABEL ? s->label_columns : MOST_LABEL;
    used += s->label_columns + 1;
    s->columns = columns > used + LEAST_STRIP ? columns - used : LEAST_STRIP;
}

/* ---- axis ---- */

/* "10us" */
static size_t tight_text(const struct iwi_figure_axis *axis, double value, char text[IWI_PHRASE_SIZE])
{
    char *blank;

    iwi_axis_text(axis, value, text);
    blank = strchr(text, ' ');
    if (blank != NULL) {
        memmove(blank, blank + 1, strlen(blank));
    }
    return strlen(text);
}

static void write_axis(const struct strips *s)
{
    enum { OVERHANG = 8, WANTED = 4 };
    char *labels = malloc(s->columns + OVERHANG), text[IWI_PHRASE_SIZE];
    bool *is_tick = calloc(s->columns, sizeof *is_tick);
    const size_t last = s->columns + OVERHANG;
    double ticks[IWI_MOST_TICKS];
    const size_t count = iwi_scale_ticks(&s->y, WANTED, ticks);
    size_t used = 0;

    if (labels != NULL && is_tick != NULL) {
        memset(labels, ' ', last);
        for (size_t i = 0; i < count; i++) {
            const size_t column = column_of(&s->y, ticks[i], s->columns);
            const size_t length = tight_text(&s->figure->y, ticks[i], text);

            is_tick[column] = true;
            if ((used == 0 || column > used) && column + length <= last) {
                memcpy(&labels[column], text, length);
                used = column + length;
            }
        }
        (void)fprintf(s->out, "%*s %.*s\n%*.*s ", (int)s->label_columns, "", (int)used, labels,
                      (int)s->label_columns, (int)s->label_columns,
                      s->figure->table.count > 0 ? s->figure->table.cells[0] : "");
        for (size_t i = 0; i < s->columns; i++) {
            iwi_write_sign(s->out, is_tick[i] ? 0x252c : 0x2500);
        }
        write_numbers(s, 0, false);
    }
    free(labels);
    free(is_tick);
}

/* Upright rules stand between the rows around them. */
static void write_rules(const struct strips *s, double from, double to)
{
    char label[IWI_PHRASE_SIZE];

    for (size_t m = 0; m < s->figure->mark_count; m++) {
        const struct iwi_mark *mark = s->figure->marks[m];
        const double x = mark->kind == IWI_MARK_RULE_X && mark->count > 0 ? iwi_mark_item(mark, 0)[0] : NAN;

        if (x > from && x <= to) {
            (void)fprintf(s->out, "%s%*s - - %s - -%s\n", s->has_colour ? "\x1b[31m" : "",
                          (int)s->label_columns, iwi_axis_text(&s->figure->x, x, label),
                          mark->label != NULL ? mark->label : "", s->has_colour ? "\x1b[m" : "");
        }
    }
}

/* The number of the row-th of `rows` rows out of `count`: evenly spaced, the first and the last among them.
 */
static size_t thinned(size_t row, size_t rows, size_t count)
{
    return rows > 1 ? (row * (count - 1) + (rows - 1) / 2) / (rows - 1) : 0;
}

static void write_rows(const struct strips *s)
{
    const size_t rows = s->rows < MOST_ROWS ? s->rows : MOST_ROWS;
    char label[IWI_PHRASE_SIZE];
    double before = INFINITY;

    for (size_t row = 0; row < rows; row++) {
        const size_t number = thinned(row, rows, s->rows);
        size_t item;
        const struct iwi_mark *mark = box_of(s->figure, number, &item);
        const double *numbers = iwi_mark_item(mark, item);
        const bool is_hot = iwi_mark_is_hot(mark, item);

        write_rules(s, before, numbers[0]);
        before = numbers[0];
        (void)fprintf(s->out, "%*.*s ", (int)s->label_columns, (int)s->label_columns,
                      iwi_axis_text(&s->figure->x, numbers[0], label));
        write_strip(s, numbers, is_hot);
        write_numbers(s, number + 1, is_hot);
    }
    if (rows < s->rows) {
        (void)fprintf(s->out, "(%zu of %zu rows)\n", rows, s->rows);
    }
}

void iwi_text_boxes(const struct iwi_canvas *canvas)
{
    struct strips s = {.figure = canvas->figure, .out = canvas->out, .has_colour = canvas->look.has_colour};

    for (size_t m = 0; m < s.figure->mark_count; m++) {
        s.rows += s.figure->marks[m]->kind == IWI_MARK_BOX ? s.figure->marks[m]->count : 0;
    }
    iwi_figure_scales(s.figure, &s.x, &s.y);
    measure(&s, canvas->look.columns > 0 ? canvas->look.columns : IWI_TEXT_COLUMNS);
    write_axis(&s);
    write_rows(&s);
}
