/* Timelines drawn with characters: half blocks in colour, or letters.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The ground stays that of the terminal, so work looks like paper on a light one and is dark on a dark one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/noise_parts.h"
#include "report/timeline_parts.h"

enum { MOST_TICKS = 6, LEAST_COLUMNS = 32, MOST_COLUMNS = 1000, LEAST_LINES = 4, MOST_LINES = 500 };
enum { FAINT, FULL, STRENGTHS };

/* One state of a cell is shown; ' ' is work. */
struct sign {
    iw_state state;
    int strength;
};

static const struct {
    char letter[STRENGTHS];
    uint8_t ink[STRENGTHS]; /* of 256 colours */
    const char *name;
} looks[IW_STATES] = {
    [IW_STATE_DELAY] = {{'D', 'D'}, {26, 26}, "delay"},
    [IW_STATE_COMPUTE] = {{' ', ' '}, {0, 0}, "work"},
    [IW_STATE_NOISE] = {{'n', 'N'}, {222, 178}, "noise"},
    [IW_STATE_COMM] = {{'c', 'C'}, {152, 109}, "messages"},
    [IW_STATE_WAIT] = {{'-', '#'}, {174, 160}, "waiting"},
};

struct canvas {
    struct iwi_grid grid;
    uint32_t columns, lines, pixel_rows; /* of the picture, without labels */
    int label_columns;
    bool has_colour, is_max;
    char *marks; /* fitted lines, [line from the top * columns + column]; 0: none */
    FILE *out;
};

/* ---- cells ---- */

static double share_of(const struct canvas *canvas, iw_state state, size_t cell)
{
    const iw_raster *raster = &canvas->grid.raster;
    const bool is_largest = canvas->is_max || state == IW_STATE_DELAY;

    return (double)(is_largest ? raster->max[state][cell] : raster->mean[state][cell]) / IWI_SHARE_ONE;
}

/* A delay shows wherever there is some; of the others the largest, if it is a good part of the cell. */
static struct sign sign_at(const struct canvas *canvas, uint32_t pixel_row, uint32_t column)
{
    static const iw_state others[] = {IW_STATE_WAIT, IW_STATE_NOISE, IW_STATE_COMM};
    const double least = 0.25, full = 0.6, least_delay = 0.05;
    const iw_raster *raster = &canvas->grid.raster;
    const uint32_t rank =
        (uint32_t)((uint64_t)pixel_row * canvas->grid.window.rank_count / canvas->pixel_rows);
    const size_t cell = (size_t)(rank / raster->ranks_per_row) * raster->columns +
                        (size_t)((uint64_t)column * raster->columns / canvas->columns);
    struct sign sign = {.state = IW_STATE_COMPUTE, .strength = FULL};
    double largest = least;

    if (share_of(canvas, IW_STATE_DELAY, cell) >= least_delay) {
        sign.state = IW_STATE_DELAY;
        return sign;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const double share = share_of(canvas, others[i], cell);

        if (share > largest) {
            largest = share;
            sign = (struct sign){.state = others[i], .strength = share >= full ? FULL : FAINT};
        }
    }
    return sign;
}

static void set_ink(const struct canvas *canvas, const char *place, struct sign sign)
{
    if (sign.state != IW_STATE_COMPUTE) {
        (void)fprintf(canvas->out, "\x1b[%s;5;%um", place, looks[sign.state].ink[sign.strength]);
    }
}

/* Upper half in the colour of the letters, lower half in that of the ground. */
static void write_halves(const struct canvas *canvas, struct sign upper, struct sign lower, char mark)
{
    const bool has_upper = upper.state != IW_STATE_COMPUTE, has_lower = lower.state != IW_STATE_COMPUTE;

    if (mark != '\0') {
        set_ink(canvas, "48", has_upper ? upper : lower);
        (void)fputc(mark, canvas->out);
    } else if (has_upper) {
        set_ink(canvas, "38", upper);
        set_ink(canvas, "48", lower);
        (void)fputs("\xe2\x96\x80", canvas->out);
    } else if (has_lower) {
        set_ink(canvas, "38", lower);
        (void)fputs("\xe2\x96\x84", canvas->out);
    } else {
        (void)fputc(' ', canvas->out);
    }
    if (has_upper || has_lower) {
        (void)fputs("\x1b[0m", canvas->out);
    }
}

static void write_cell(const struct canvas *canvas, uint32_t line, uint32_t column)
{
    const char mark = canvas->marks[(size_t)line * canvas->columns + column];
    const uint32_t below = canvas->lines - 1 - line; /* lines below this one */

    if (canvas->has_colour) {
        write_halves(canvas, sign_at(canvas, 2 * below + 1, column), sign_at(canvas, 2 * below, column),
                     mark);
    } else {
        const struct sign sign = sign_at(canvas, below, column);

        (void)fputc(mark != '\0' ? mark : looks[sign.state].letter[sign.strength], canvas->out);
    }
}

/* Columns of the line up to the last that is not blank. */
static uint32_t used_columns(const struct canvas *canvas, uint32_t line)
{
    const uint32_t rows = canvas->pixel_rows / canvas->lines, row = (canvas->lines - 1 - line) * rows;
    uint32_t used = canvas->columns;

    while (used > 0 && canvas->marks[(size_t)line * canvas->columns + used - 1] == '\0' &&
           sign_at(canvas, row, used - 1).state == IW_STATE_COMPUTE &&
           sign_at(canvas, row + rows - 1, used - 1).state == IW_STATE_COMPUTE) {
        used--;
    }
    return used;
}

/* ---- axes ---- */

/* The smallest of 1, 2, 5 times a power of ten that gives at most so many steps. */
static double tick_step(double length, double most)
{
    static const double factors[] = {1.0, 2.0, 5.0};
    const double power = pow(10.0, floor(log10(length / most)));

    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        if (power * factors[i] * most >= length * (1.0 - 1e-9)) {
            return power * factors[i];
        }
    }
    return 10.0 * power;
}

/* A label where a multiple of `step` is among the ranks of the line. */
static void write_rank_label(const struct canvas *canvas, uint32_t line, uint32_t step)
{
    const uint64_t below = canvas->lines - 1 - line, ranks = canvas->grid.window.rank_count;
    const uint64_t first =
        canvas->grid.window.first_rank + (below * ranks + canvas->lines - 1) / canvas->lines;
    const uint64_t end =
        canvas->grid.window.first_rank + ((below + 1) * ranks + canvas->lines - 1) / canvas->lines;
    const uint64_t tick = (first + step - 1) / step * step;

    if (tick < end) {
        (void)fprintf(canvas->out, "%*" PRIu64 " \xe2\x94\xa4", canvas->label_columns, tick);
    } else {
        (void)fprintf(canvas->out, "%*s \xe2\x94\x82", canvas->label_columns, "");
    }
}

static void write_rows(const struct canvas *canvas)
{
    const double most_labels = fmax(canvas->lines / 3.0, 2.0);
    const uint32_t step = (uint32_t)fmax(tick_step(canvas->grid.window.rank_count, most_labels), 1.0);

    (void)fprintf(canvas->out, "%*s\n", canvas->label_columns, "rank");
    for (uint32_t line = 0; line < canvas->lines; line++) {
        write_rank_label(canvas, line, step);
        for (uint32_t column = 0, end = used_columns(canvas, line); column < end; column++) {
            write_cell(canvas, line, column);
        }
        (void)fputc('\n', canvas->out);
    }
}

static void write_time_axis(const struct canvas *canvas)
{
    const double from_ns = (double)canvas->grid.window.from_ps * 1e-3;
    const double span_ns = (double)canvas->grid.window.to_ps * 1e-3 - from_ns;
    const double step_ns = tick_step(span_ns, fmin(MOST_TICKS, canvas->columns / 12.0));
    char labels[MOST_COLUMNS + 1], label[IWI_NUMBER_SIZE];
    size_t used = 0;
    double tick = ceil(from_ns / step_ns - 1e-9);

    memset(labels, ' ', sizeof labels);
    (void)fprintf(canvas->out, "%*s \xe2\x94\x94", canvas->label_columns, "");
    for (uint32_t column = 0; column < canvas->columns; column++) {
        const double end_ns = from_ns + span_ns * (column + 1.0) / canvas->columns;
        size_t length;

        if (tick * step_ns >= end_ns) {
            (void)fputs("\xe2\x94\x80", canvas->out);
            continue;
        }
        (void)fputs("\xe2\x94\xac", canvas->out);
        iwi_ns_round_text(tick * step_ns, label);
        if (tick <= 0.0) {
            snprintf(label, sizeof label, "0");
        }
        tick += 1.0;
        length = strlen(label);
        if (column >= used && column + length <= canvas->columns) {
            memcpy(&labels[column], label, length);
            used = column + length + 1;
        }
    }
    (void)fprintf(canvas->out, "\n%*s%.*s\n", canvas->label_columns + 2, "", (int)(used > 0 ? used - 1 : 0),
                  labels);
}

static void write_legend(const struct canvas *canvas, bool has_lines)
{
    static const iw_state order[] = {IW_STATE_WAIT, IW_STATE_DELAY, IW_STATE_NOISE, IW_STATE_COMM};

    (void)fprintf(canvas->out, "%*s", canvas->label_columns + 2, "");
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const struct sign sign = {.state = order[i], .strength = FULL};

        if (canvas->has_colour) {
            set_ink(canvas, "38", sign);
            (void)fprintf(canvas->out, "\xe2\x96\x88\x1b[0m %s  ", looks[order[i]].name);
        } else {
            (void)fprintf(canvas->out, "%c %s  ", looks[order[i]].letter[FULL], looks[order[i]].name);
        }
    }
    (void)fprintf(canvas->out, "blank: work%s\n", has_lines ? "  / \\ fitted fronts" : "");
}

/* ---- waves ---- */

static bool mark_wave(const struct canvas *canvas, const iw_wave *wave)
{
    const iw_timeline_window *window = &canvas->grid.window;
    const double span_ps = (double)(window->to_ps - window->from_ps);
    const struct iwi_fit fit = iwi_wave_fit(wave, IWI_EDGE_LEAD);
    bool has_marks = false;

    for (size_t i = 0; i < wave->front_count; i++) {
        const iw_front *front = &wave->fronts[i];
        const double share = (iwi_fit_ps(&fit, front->distance) - (double)window->from_ps) / span_ps;
        uint64_t below;

        if (!(share >= 0.0 && share < 1.0) || front->rank < window->first_rank ||
            front->rank - window->first_rank >= window->rank_count) {
            continue;
        }
        below = (uint64_t)(front->rank - window->first_rank) * canvas->lines / window->rank_count;
        canvas->marks[(canvas->lines - 1 - below) * canvas->columns + (size_t)(share * canvas->columns)] =
            (char)(wave->direction > 0 ? '/' : '\\');
        has_marks = true;
    }
    return has_marks;
}

/* ---- all ---- */

/* Whole lines for each rank where there are few; LINES at most. */
static void choose_size(struct canvas *canvas, const iw_timeline_window *window, uint32_t columns,
                        uint32_t lines)
{
    const uint32_t rows_per_line = canvas->has_colour ? 2 : 1;
    const uint32_t last_rank = window->first_rank + window->rank_count - 1;
    char text[IWI_NUMBER_SIZE];

    canvas->label_columns =
        (int)iwi_max(snprintf(text, sizeof text, "%" PRIu32, last_rank), (int)strlen("rank"));
    canvas->columns = columns - (uint32_t)canvas->label_columns - 2;
    canvas->pixel_rows = lines * rows_per_line;
    if (window->rank_count <= canvas->pixel_rows) {
        canvas->pixel_rows = canvas->pixel_rows / window->rank_count * window->rank_count;
    }
    canvas->lines = (canvas->pixel_rows + rows_per_line - 1) / rows_per_line;
    canvas->pixel_rows = canvas->lines * rows_per_line;
}

static uint32_t clamp(uint32_t value, uint32_t least, uint32_t most)
{
    return value < least ? least : value > most ? most : value;
}

static iw_status draw(const iw_log *log, struct canvas *canvas, const iw_waves *waves)
{
    bool has_lines = false;

    canvas->marks = iwi_new_array(log, (size_t)canvas->lines * canvas->columns, 1);
    if (canvas->marks == NULL) {
        return IW_ERR_NOMEM;
    }
    canvas->is_max = iwi_raster_prefers_max(&canvas->grid.raster);
    for (size_t i = 0; waves != NULL && i < waves->wave_count; i++) {
        has_lines = mark_wave(canvas, &waves->waves[i]) || has_lines;
    }
    write_rows(canvas);
    write_time_axis(canvas);
    write_legend(canvas, has_lines);
    free(canvas->marks);
    return iwi_check_written(log, canvas->out, "the timeline");
}

iw_status iw_timeline_write_terminal(const iw_log *log, const iw_timeline *timeline, const iw_waves *waves,
                                     const iw_timeline_window *window, uint32_t columns, uint32_t lines,
                                     bool has_colour, FILE *out)
{
    struct canvas canvas = {.has_colour = has_colour, .out = out};
    iw_timeline_window clipped;
    iw_status status;

    IW_TRY(iwi_timeline_clip(log, timeline, window, &clipped));
    choose_size(&canvas, &clipped, clamp(columns, LEAST_COLUMNS, MOST_COLUMNS),
                clamp(lines, LEAST_LINES, MOST_LINES));
    IW_TRY(iwi_grid_new(log, timeline, &clipped, canvas.pixel_rows, canvas.columns, &canvas.grid));
    status = draw(log, &canvas, waves);
    iwi_grid_free(&canvas.grid);
    return status;
}
