/* Boxes of figures as rows of characters, along an axis above them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *         10us        1ms
 *   ranks ┬───────────┬──────
 *          ┊─▒▒▒▒█▒▒▒▒──── ·
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/figure/figure_text.h"

/* What one column of a row shows; the later ones cover the earlier ones. */
enum sign { SIGN_NONE, SIGN_EXTREME, SIGN_WHISKER, SIGN_DOTTED, SIGN_BOX, SIGN_MEDIAN, SIGNS };
static const uint16_t signs[SIGNS] = {' ', 0xb7, 0x2500, 0x250a, 0x2592, 0x2588};

const char *const iwi_strip_legend =
    "\xe2\x96\x88 median  \xe2\x96\x92 middle half  \xe2\x94\x80 5 % to 95 %  "
    "\xc2\xb7 least and most  \xe2\x94\x8a without noise";

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

/* Returns whether the item is in the colour of noise. */
static bool fill_row(const struct iwi_figure *figure, const struct iwi_scale *y, size_t item, size_t columns,
                     enum sign *row)
{
    enum { LEAST = 1, P5, Q1, MEDIAN, Q3, P95, MOST };
    bool is_hot = false;

    for (size_t m = 0; m < figure->mark_count; m++) {
        const struct iwi_mark *mark = figure->marks[m];
        const double *n;

        if (mark->kind != IWI_MARK_BOX || item >= mark->count) {
            continue;
        }
        n = iwi_mark_item(mark, item);
        is_hot = is_hot || iwi_mark_is_hot(mark, item);
        row[column_of(y, n[LEAST], columns)] = SIGN_EXTREME;
        row[column_of(y, n[MOST], columns)] = SIGN_EXTREME;
        stretch(row, y, n[P5], n[P95], columns, SIGN_WHISKER);
        stretch(row, y, n[Q1], n[Q3], columns, SIGN_BOX);
        for (size_t k = 0; k < figure->mark_count; k++) {
            if (figure->marks[k]->dash == IWI_DOTTED && item < figure->marks[k]->count) {
                row[column_of(y, iwi_mark_item(figure->marks[k], item)[1], columns)] = SIGN_DOTTED;
            }
        }
        row[column_of(y, n[MEDIAN], columns)] = SIGN_MEDIAN;
    }
    return is_hot;
}

void iwi_figure_write_strip(const struct iwi_figure *figure, size_t item, size_t columns, bool has_colour,
                            FILE *out)
{
    static const char *const cold[SIGNS] = {"", "2", "2", "32", "34", "1;34"};
    static const char *const hot[SIGNS] = {"", "2", "2", "32", "31", "1;31"};
    enum sign *row = calloc(columns, sizeof *row), before = SIGN_NONE;
    const char *const *codes;
    struct iwi_scale x, y;

    if (row == NULL) {
        return;
    }
    iwi_figure_scales(figure, &x, &y);
    codes = fill_row(figure, &y, item, columns, row) ? hot : cold;
    for (size_t i = 0; i < columns; i++) {
        if (has_colour && row[i] != before) {
            (void)fprintf(out, row[i] != SIGN_NONE ? "\x1b[m\x1b[%sm" : "\x1b[m", codes[row[i]]);
        }
        before = row[i];
        iwi_write_sign(out, signs[row[i]]);
    }
    if (has_colour && before != SIGN_NONE) {
        (void)fputs("\x1b[m", out);
    }
    free(row);
}

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

void iwi_figure_write_strip_axis(const struct iwi_figure *figure, int indent, const char *head,
                                 size_t columns, FILE *out)
{
    enum { OVERHANG = 8, WANTED = 4 };
    char *labels = malloc(columns + OVERHANG), text[IWI_PHRASE_SIZE];
    bool *is_tick = calloc(columns, sizeof *is_tick);
    double ticks[IWI_MOST_TICKS];
    struct iwi_scale x, y;
    size_t used = 0, count;

    iwi_figure_scales(figure, &x, &y);
    count = iwi_scale_ticks(&y, WANTED, ticks);
    if (labels != NULL && is_tick != NULL) {
        memset(labels, ' ', columns + OVERHANG);
        for (size_t i = 0; i < count; i++) {
            const size_t column = column_of(&y, ticks[i], columns),
                         length = tight_text(&figure->y, ticks[i], text);

            is_tick[column] = true;
            if ((used == 0 || column > used) && column + length <= columns + OVERHANG) {
                memcpy(&labels[column], text, length);
                used = column + length;
            }
        }
        (void)fprintf(out, "%*s %.*s\n%*s ", indent, "", (int)used, labels, indent, head);
        for (size_t i = 0; i < columns; i++) {
            iwi_write_sign(out, is_tick[i] ? 0x252c : 0x2500);
        }
    }
    free(labels);
    free(is_tick);
}
