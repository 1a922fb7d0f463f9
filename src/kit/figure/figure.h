/* Figures: what is drawn and what it says, whatever draws it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A kind of result has one function that makes its figure, iwi_<kind>_figure(). There is one drawer for each
 * medium: figure_text.c (characters), figure_svg.c (pages and .svg), figure_gnuplot.c (scripts, .png, .pdf).
 *
 *     struct iwi_figure *figure;
 *     struct iwi_mark *line;
 *
 *     IW_TRY(iwi_figure_new(log, "Detours over time", &figure));
 *     line = iwi_figure_mark(figure, IWI_MARK_LINE, iwi_series_ink(0), "cron");
 *     iwi_mark_add(figure, line, (double[]){1.0, 2.0});
 *     status = iwi_figure_check(log, figure);
 */
#ifndef IWI_FIGURE_H
#define IWI_FIGURE_H

#include <idlewave/estimate.h>
#include <idlewave/log.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/arena.h"

/* ---- the colours of all pictures: pages light and dark, files, terminals ---- */

enum { IWI_SERIES_INKS = 7 };

/* What a colour is for. The first ones tell series apart; noise and what it costs have a colour of their own
 * in every picture. */
enum iwi_ink {
    IWI_INK_SERIES,
    IWI_INK_NOISE = IWI_INK_SERIES + IWI_SERIES_INKS,
    IWI_INK_TEXT,
    IWI_INK_FAINT,
    IWI_INK_RULE,
    IWI_INK_GROUND,
    IWI_INK_CARD,
    IWI_INK_LINK,
    IWI_INK_COMPUTE, /* states of ranks */
    IWI_INK_WAIT,
    IWI_INK_DELAY,
    IWI_INK_COMM,
    IWI_INKS
};

/* Of series number `index` of a picture, from 0; after the last it begins again. */
enum iwi_ink iwi_series_ink(size_t index);

/* The same source of noise has the same colour everywhere: what it likes best, or, where that is taken by
 * one before it, the next. `names` are in the order in which they choose. */
void iwi_source_inks(const char *const *names, size_t count, enum iwi_ink *inks);

/* red << 16 | green << 8 | blue, on white. */
uint32_t iwi_ink_rgb(enum iwi_ink ink);

/* Its variable in style sheets: "--series-3". */
const char *iwi_ink_css(enum iwi_ink ink);

/* The number among a terminal's 256 colours; fainter where there is less of it. */
unsigned iwi_ink_terminal(enum iwi_ink ink, bool is_faint);

/* Style sheet: the variables, for light and dark screens; paper is light. */
void iwi_palette_write_css(FILE *out);

/* ---- axes ---- */

/* How numbers of an axis read. */
enum iwi_axis_unit {
    IWI_AXIS_NUMBER,
    IWI_AXIS_COUNT,
    IWI_AXIS_INDEX, /* whole numbers that name something: "1500" */
    IWI_AXIS_NS,    /* "10 us" */

    IWI_AXIS_RANKS, /* powers of two where it is logarithmic */
    IWI_AXIS_SHARE, /* "25 %" */
    IWI_AXIS_FACTOR,
    IWI_AXIS_HZ,
    IWI_AXIS_POWER, /* "1e-7" */
    IWI_AXIS_NAMES, /* 1, 2, ... have names; rows of them are numbered downwards */
    IWI_AXIS_NONE   /* not drawn: columns and lines of text, these numbered downwards */
};

struct iwi_figure_axis {
    const char *label; /* "" for none */
    enum iwi_axis_unit unit;
    bool is_log;
    double low, high; /* low < high: of the axis; else it is as long as the marks need */
    const char **names;
    size_t name_count;
};

/* ---- marks ---- */

/* What an item of a mark is, in numbers. NaN leaves an item out, a bound of NaN only that bound. */
enum iwi_mark_kind {
    IWI_MARK_LINE,   /* x, y */
    IWI_MARK_STEP,   /* x, y: y holds from x on */
    IWI_MARK_DOTS,   /* x, y */
    IWI_MARK_BAND,   /* x, low, high */
    IWI_MARK_RANGE,  /* x, low, high: an upright bar at x */
    IWI_MARK_BOX,    /* x, least, 5 %, quarter, median, 3 quarters, 95 %, most */
    IWI_MARK_BAR,    /* x from, x to, y from, y to */
    IWI_MARK_RULE_X, /* x: upright */
    IWI_MARK_RULE_Y, /* y: level */
    IWI_MARK_PIN,    /* x, y, and the bounds of x: a triangle on its tip */
    IWI_MARK_CELLS,  /* x from, x to, y from, y to: one item, all of the cells */
    IWI_MARK_FRAME,  /* x from, x to, y from, y to: a box that its text stands in, on axes of no unit */
    IWI_MARK_KINDS
};

enum { IWI_MARK_MOST_NUMBERS = 8, IWI_MARK_LAYERS = 4, IWI_CELL_ALL = 65535 };

enum iwi_dash { IWI_SOLID, IWI_DASHED, IWI_DOTTED };

/* Cells, row after row from the lowest y on: what share of each a state has. Later layers lie on top. */
struct iwi_layer {
    enum iwi_ink ink;
    const char *label;
    const uint16_t *shares; /* IWI_CELL_ALL: all of the cell; not the figure's own */
    bool is_sought;         /* shown wherever there is some of it */
};

struct iwi_mark {
    enum iwi_mark_kind kind;
    enum iwi_ink ink;
    enum iwi_dash dash;
    bool is_thin;
    bool is_filled;    /* lines, steps: down to the axis */
    const char *label; /* in the legend; NULL: not there */
    size_t stands_for; /* dots: how many each of them stands for; 0: itself */
    size_t count, room;
    double *numbers;        /* iwi_mark_numbers(kind) for each item */
    const char **texts;     /* a name or note for each item, or NULL */
    bool *is_hot;           /* items in the colour of noise, or NULL */
    uint32_t rows, columns; /* of cells */
    size_t layer_count;
    struct iwi_layer layers[IWI_MARK_LAYERS];
};

/* ---- figures ---- */

/* The numbers behind a figure, as they read: the heads of the columns, then row after row. A row's first cell
 * is its head. */
struct iwi_figure_table {
    const char *caption; /* NULL: there is no table */
    size_t columns, count, room;
    uint32_t words; /* bit i: column i has words, not numbers */
    size_t beside;  /* at a terminal this many of them, behind the first, stand beside boxes */
    const char **cells;
};

struct iwi_figure {
    const char *title;
    const char *message; /* what there is to see, in words: the caption, and all that some readers get */
    struct iwi_figure_table table;
    struct iwi_figure_axis x, y;
    double height; /* of the width; 0: as usual */
    bool is_wide;  /* on a sheet: as wide as that */
    size_t mark_count, mark_room;
    struct iwi_mark **marks;
    struct iwi_arena texts;
    struct iwi_mark *lost; /* takes what there is no memory for */
    bool is_broken;        /* there was no memory for something */
};

IW_NODISCARD iw_status iwi_figure_new(const iw_log *log, const char *title, struct iwi_figure **figure_p);
void iwi_figure_free(struct iwi_figure *figure);

/* A copy that lives as long as the figure. */
const char *iwi_figure_text(struct iwi_figure *figure, const char *format, ...) IW_PRINTF(2, 3);

/* Adds the name of the axis' next row or column. */
void iwi_axis_name(struct iwi_figure *figure, struct iwi_figure_axis *axis, const char *name);

/* A new mark, drawn over those before it; its label is copied. Never NULL: without memory all that is added
 * is lost, and iwi_figure_check() says so. */
struct iwi_mark *iwi_figure_mark(struct iwi_figure *figure, enum iwi_mark_kind kind, enum iwi_ink ink,
                                 const char *label);

/* A new item; `numbers` has iwi_mark_numbers() of them. */
void iwi_mark_add(struct iwi_figure *figure, struct iwi_mark *mark, const double *numbers);

/* The same with a text, which is copied (NULL: none), and in the colour of noise or not. */
void iwi_mark_add_named(struct iwi_figure *figure, struct iwi_mark *mark, const double *numbers,
                        const char *text, bool is_hot);

size_t iwi_mark_numbers(enum iwi_mark_kind kind);

/* The table: a caption, all heads, then cells. */
void iwi_figure_table(struct iwi_figure *figure, const char *format, ...) IW_PRINTF(2, 3);
void iwi_figure_head(struct iwi_figure *figure, bool is_words, const char *format, ...) IW_PRINTF(3, 4);
void iwi_figure_cell(struct iwi_figure *figure, const char *format, ...) IW_PRINTF(2, 3);

/* IW_ERR_NOMEM if something is missing from the figure. */
IW_NODISCARD iw_status iwi_figure_check(const iw_log *log, const struct iwi_figure *figure);

/* ---- characters ---- */

struct iwi_figure_look {
    size_t columns, lines; /* of the plot with its labels; 0: 80, and as many as usual */
    bool has_colour;
};

/* Without title and message; ends with a line break. `look` may be NULL. */
void iwi_figure_write_text(const struct iwi_figure *figure, const struct iwi_figure_look *look, FILE *out);

/* What its signs mean: "+ lognormal, ...". */
void iwi_figure_write_legend(const struct iwi_figure *figure, FILE *out);

/* Boxes are rows at a terminal: what their signs mean. */
extern const char *const iwi_strip_legend;

/* ---- SVG ---- */

/* For pages: legend and <svg>, with the colours of iwi_palette_write_css() as variables. */
void iwi_figure_write_svg(const struct iwi_figure *figure, FILE *out);

/* ---- sheets: figures that are one picture of a file ---- */

struct iwi_sheet {
    const char *name; /* of its files, without suffix: "panel-1-allreduce-ring" */
    const char *title;
    const char *notes[2]; /* below it, or NULL */
    size_t most_columns;  /* of figures side by side; 0: as many as there is room for */
    size_t count;
    struct iwi_figure **figures; /* side by side as far as there is room, wide ones below each other */
};

/* IW_ERR_USAGE for a path whose suffix is none of a picture's: before much is computed for it. */
IW_NODISCARD iw_status iwi_sheet_check(const iw_log *log, const char *path);

/* Draws it into a file: .svg by us, .png and .pdf by gnuplot; .gp is the script. */
IW_NODISCARD iw_status iwi_sheet_plot(const iw_log *log, const struct iwi_sheet *sheet, const char *path);

/* A folder with the script plot.gp and one file of data for each sheet. */
IW_NODISCARD iw_status iwi_sheets_write_folder(const iw_log *log, const struct iwi_sheet *sheets,
                                               size_t count, const char *dir);

/* ---- figures of rows: a name, and below it a bar from 0 to its value with the interval as a line ---- */

/* Axes for so many rows, and the mark that takes their bars. */
struct iwi_mark *iwi_bar_rows_begin(struct iwi_figure *figure, const char *label, enum iwi_axis_unit unit,
                                    size_t count);

/* The next row; `text` says its value. Without an interval there is no line. */
void iwi_bar_rows_add(struct iwi_figure *figure, struct iwi_mark *bars, const char *name, iw_estimate value,
                      const char *text, bool is_hot);

/* ---- figures of how many have how much: bars on two logarithmic axes ---- */

void iwi_histogram_axes(struct iwi_figure *figure, const char *label, const char *count_label);

/* A bar of `count` from the axis up; none if there is none. Its name stands above it. */
void iwi_histogram_bar(struct iwi_figure *figure, struct iwi_mark *bars, double from, double to, double count,
                       const char *name);

#endif
