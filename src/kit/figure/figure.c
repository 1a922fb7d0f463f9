/* Making figures: marks, their items, and texts that live as long as the figure.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/figure/figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/figure/figure_parts.h"

static const char *const roles[IWI_MARK_KINDS] = {
    [IWI_MARK_LINE] = "xy",  [IWI_MARK_STEP] = "xy",    [IWI_MARK_DOTS] = "xy",
    [IWI_MARK_BAND] = "xyy", [IWI_MARK_RANGE] = "xyy",  [IWI_MARK_BOX] = "xyyyyyyy",
    [IWI_MARK_BAR] = "xxyy", [IWI_MARK_RULE_X] = "x",   [IWI_MARK_RULE_Y] = "y",
    [IWI_MARK_PIN] = "xyxx", [IWI_MARK_CELLS] = "xxyy", [IWI_MARK_FRAME] = "xxyy",
};

const char *iwi_mark_roles(enum iwi_mark_kind kind)
{
    return roles[kind];
}

size_t iwi_mark_numbers(enum iwi_mark_kind kind)
{
    return strlen(roles[kind]);
}

/* ---- figures ---- */

/* All that a mark needs where there was no memory for it. */
static struct iwi_mark *new_mark(void)
{
    return calloc(1, sizeof(struct iwi_mark));
}

static void free_mark(struct iwi_mark *mark)
{
    if (mark != NULL) {
        free(mark->numbers);
        free((void *)mark->texts);
        free(mark->is_hot);
        free(mark);
    }
}

iw_status iwi_figure_new(const iw_log *log, const char *title, struct iwi_figure **figure_p)
{
    struct iwi_figure *figure = iwi_new_array(log, 1, sizeof *figure);

    if (figure == NULL) {
        return IW_ERR_NOMEM;
    }
    figure->lost = new_mark();
    figure->message = figure->x.label = figure->y.label = "";
    figure->title = iwi_figure_text(figure, "%s", title);
    if (figure->lost == NULL || figure->texts.is_broken) {
        iwi_figure_free(figure);
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for a figure");
    }
    *figure_p = figure;
    return IW_OK;
}

void iwi_figure_free(struct iwi_figure *figure)
{
    if (figure == NULL) {
        return;
    }
    for (size_t i = 0; i < figure->mark_count; i++) {
        free_mark(figure->marks[i]);
    }
    iwi_arena_free(&figure->texts);
    free_mark(figure->lost);
    free(figure->marks);
    free((void *)figure->table.cells);
    free((void *)figure->x.names);
    free((void *)figure->y.names);
    free(figure);
}

iw_status iwi_figure_check(const iw_log *log, const struct iwi_figure *figure)
{
    return figure->is_broken || figure->texts.is_broken
               ? iwi_fail(log, IW_ERR_NOMEM, "out of memory for a figure")
               : IW_OK;
}

const char *iwi_figure_text(struct iwi_figure *figure, const char *format, ...)
{
    const char *text;
    va_list args;

    va_start(args, format);
    text = iwi_arena_text_list(&figure->texts, format, args);
    va_end(args);
    return text;
}

/* ---- tables ---- */

void iwi_figure_table(struct iwi_figure *figure, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    figure->table.caption = iwi_arena_text_list(&figure->texts, format, args);
    va_end(args);
}

static void add_cell(struct iwi_figure *figure, const char *format, va_list args)
{
    struct iwi_figure_table *table = &figure->table;

    if (iwi_grow(NULL, (void **)&table->cells, &table->room, table->count + 1, sizeof(char *)) != IW_OK) {
        figure->is_broken = true;
        return;
    }
    table->cells[table->count++] = iwi_arena_text_list(&figure->texts, format, args);
}

void iwi_figure_head(struct iwi_figure *figure, bool is_words, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_cell(figure, format, args);
    va_end(args);
    figure->table.words |= is_words && figure->table.columns < 32 ? 1u << figure->table.columns : 0u;
    figure->table.columns++;
}

void iwi_figure_cell(struct iwi_figure *figure, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_cell(figure, format, args);
    va_end(args);
}

/* ---- axes ---- */

void iwi_axis_name(struct iwi_figure *figure, struct iwi_figure_axis *axis, const char *name)
{
    const char **names = realloc(axis->names, (axis->name_count + 1) * sizeof *names);

    if (names == NULL) {
        figure->is_broken = true;
        return;
    }
    axis->names = names;
    names[axis->name_count++] = iwi_figure_text(figure, "%s", name);
}

/* ---- marks ---- */

struct iwi_mark *iwi_figure_mark(struct iwi_figure *figure, enum iwi_mark_kind kind, enum iwi_ink ink,
                                 const char *label)
{
    struct iwi_mark *mark = new_mark();

    if (mark == NULL || iwi_grow(NULL, (void **)&figure->marks, &figure->mark_room, figure->mark_count + 1,
                                 sizeof(struct iwi_mark *)) != IW_OK) {
        free(mark);
        figure->is_broken = true;
        return figure->lost;
    }
    mark->kind = kind;
    mark->ink = ink;
    mark->label = label != NULL ? iwi_figure_text(figure, "%s", label) : NULL;
    figure->marks[figure->mark_count++] = mark;
    return mark;
}

/* What is new is zero. */
static bool enlarge(void **array_p, size_t count, size_t room, size_t size)
{
    char *array = realloc(*array_p, room * size);

    if (array == NULL) {
        return false;
    }
    memset(array + count * size, 0, (room - count) * size);
    *array_p = array;
    return true;
}

/* Texts and colours only where an item has one: there may be millions without. */
static bool make_room(struct iwi_mark *mark, bool has_text, bool is_hot)
{
    const size_t width = iwi_mark_numbers(mark->kind);
    const size_t room = mark->count < mark->room ? mark->room : (mark->room > 0 ? 2 * mark->room : 8);
    const bool is_new = room != mark->room;

    if ((is_new && !enlarge((void **)&mark->numbers, mark->count, room, width * sizeof(double))) ||
        ((mark->texts != NULL ? is_new : has_text) &&
         !enlarge((void **)&mark->texts, mark->texts != NULL ? mark->count : 0, room, sizeof(char *))) ||
        ((mark->is_hot != NULL ? is_new : is_hot) &&
         !enlarge((void **)&mark->is_hot, mark->is_hot != NULL ? mark->count : 0, room, sizeof(bool)))) {
        return false;
    }
    mark->room = room;
    return true;
}

void iwi_mark_add_named(struct iwi_figure *figure, struct iwi_mark *mark, const double *numbers,
                        const char *text, bool is_hot)
{
    const size_t width = iwi_mark_numbers(mark->kind);

    if (mark == figure->lost || !make_room(mark, text != NULL, is_hot)) {
        figure->is_broken = true;
        return;
    }
    memcpy(&mark->numbers[mark->count * width], numbers, width * sizeof *numbers);
    if (text != NULL) {
        mark->texts[mark->count] = iwi_figure_text(figure, "%s", text);
    }
    if (is_hot) {
        mark->is_hot[mark->count] = true;
    }
    mark->count++;
}

void iwi_mark_add(struct iwi_figure *figure, struct iwi_mark *mark, const double *numbers)
{
    iwi_mark_add_named(figure, mark, numbers, NULL, false);
}

const double *iwi_mark_item(const struct iwi_mark *mark, size_t item)
{
    return &mark->numbers[item * iwi_mark_numbers(mark->kind)];
}

const char *iwi_mark_text(const struct iwi_mark *mark, size_t item)
{
    return mark->texts != NULL ? mark->texts[item] : NULL;
}

bool iwi_mark_is_hot(const struct iwi_mark *mark, size_t item)
{
    return mark->is_hot != NULL && mark->is_hot[item];
}

bool iwi_mark_has_signs(const struct iwi_mark *mark)
{
    return mark->kind == IWI_MARK_LINE && !mark->is_thin && mark->dash == IWI_SOLID &&
           mark->count <= IWI_MOST_SIGNS;
}

/* Figures of rows: a name, and below it a bar from 0 to its value with the interval as a line. */

/* Parts of a row's height: drawers write names at its top. */
static const double BAR_FROM = -0.05, BAR_MIDDLE = 0.15, BAR_TO = 0.35;

struct iwi_mark *iwi_bar_rows_begin(struct iwi_figure *figure, const char *label, enum iwi_axis_unit unit,
                                    size_t count)
{
    figure->is_wide = true;
    figure->height = 0.15 + 0.065 * (double)count;
    figure->x = (struct iwi_figure_axis){.label = label, .unit = unit};
    figure->y = (struct iwi_figure_axis){.label = "", .unit = IWI_AXIS_NAMES};
    return iwi_figure_mark(figure, IWI_MARK_BAR, iwi_series_ink(0), NULL);
}

void iwi_bar_rows_add(struct iwi_figure *figure, struct iwi_mark *bars, const char *name, iw_estimate value,
                      const char *text, bool is_hot)
{
    const double end = isfinite(value.value) ? value.value : 0.0, y = (double)figure->y.name_count + 1.0;

    iwi_axis_name(figure, &figure->y, name);
    iwi_mark_add_named(figure, bars, (double[]){fmin(end, 0.0), fmax(end, 0.0), y + BAR_FROM, y + BAR_TO},
                       text, is_hot);
    if (value.low < value.high && isfinite(value.high)) {
        struct iwi_mark *line = iwi_figure_mark(figure, IWI_MARK_LINE, IWI_INK_TEXT, NULL);

        line->is_thin = true;
        iwi_mark_add(figure, line, (double[]){value.low, y + BAR_MIDDLE});
        iwi_mark_add(figure, line, (double[]){value.high, y + BAR_MIDDLE});
    }
}

/* Figures of how many have how much. */

/* Where the axis begins: a bar of one still has a height. */
static const double LEAST_COUNT = 0.7, ROOM_ABOVE = 1.6;

void iwi_histogram_axes(struct iwi_figure *figure, const char *label, const char *count_label)
{
    figure->height = 0.46;
    figure->is_wide = true;
    figure->x = (struct iwi_figure_axis){.label = label, .unit = IWI_AXIS_NS, .is_log = true};
    figure->y = (struct iwi_figure_axis){
        .label = count_label, .unit = IWI_AXIS_COUNT, .is_log = true, .low = LEAST_COUNT, .high = 1.0};
}

void iwi_histogram_bar(struct iwi_figure *figure, struct iwi_mark *bars, double from, double to, double count,
                       const char *name)
{
    if (count > 0.0) {
        figure->y.high = fmax(figure->y.high, count * ROOM_ABOVE);
        iwi_mark_add_named(figure, bars, (double[]){from, to, LEAST_COUNT, count}, name, false);
    }
}
