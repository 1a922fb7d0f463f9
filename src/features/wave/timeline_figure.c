/* A timeline: what ranks do over time, and the fronts of waves.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * As in the paper: work is white, an injected delay blue, idle time red.
 */
#include <math.h>
#include <string.h>

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "features/wave/timeline_report.h"
#include "kit/figure/figure.h"
#include "kit/figure/figure_text.h"
#include "kit/text/words.h"

enum {
    MOST_BARS = 6000 /* steps; beyond, nobody can tell them apart */,
    MOST_BAR_RANKS = 256,
    MOST_TITLE = 110
};

static const struct {
    iw_state state;
    enum iwi_ink ink;
    const char *name;
} looks[] = {{IW_STATE_COMM, IWI_INK_COMM, "messages"},
             {IW_STATE_NOISE, IWI_INK_NOISE, "noise"},
             {IW_STATE_WAIT, IWI_INK_WAIT, "waiting"},
             {IW_STATE_DELAY, IWI_INK_DELAY, "delay"}};
enum { LOOKS = sizeof looks / sizeof looks[0] };

struct drawing {
    const iw_timeline *timeline;
    iw_timeline_window window;
    struct iwi_figure *figure;
};

struct picture {
    struct iwi_figure *figure;
    struct iwi_grid grid; /* what its cells are taken from */
};

static void picture_release(struct picture *picture)
{
    iwi_figure_free(picture->figure);
    iwi_grid_free(&picture->grid);
    picture->figure = NULL;
}

static double ns_of(iw_time ps)
{
    return (double)ps * 1e-3;
}

static bool is_inside(const struct drawing *d, uint32_t rank)
{
    return rank >= d->window.first_rank && rank - d->window.first_rank < d->window.rank_count;
}

/* ---- bars ---- */

/* A gap between ranks, as in the paper, where there is room for it. */
static void add_bar(const struct drawing *d, struct iwi_mark *bars, uint32_t rank, iw_time begin_ps,
                    iw_time end_ps)
{
    const iw_time from_ps = iwi_max(begin_ps, d->window.from_ps), to_ps = iwi_min(end_ps, d->window.to_ps);
    const double half = d->window.rank_count <= 64 ? 0.42 : 0.5;

    if (from_ps < to_ps) {
        iwi_mark_add(d->figure, bars, (double[]){ns_of(from_ps), ns_of(to_ps), rank - half, rank + half});
    }
}

/* All of a rank's time first, white: what it does beside computing lies over it. */
static void add_rank(const struct drawing *d, struct iwi_mark *const marks[IW_STATES], uint32_t rank,
                     const iw_step *steps, size_t count)
{
    if (count > 0) {
        add_bar(d, marks[IW_STATE_COMPUTE], rank, steps[0].begin_ps, iw_step_end(&steps[count - 1]));
    }
    for (size_t i = 0; i < count; i++) {
        iw_time at_ps = steps[i].begin_ps;

        for (int state = 0; state < IW_STATES; state++) {
            if (state != IW_STATE_COMPUTE) {
                add_bar(d, marks[state], rank, at_ps, at_ps + steps[i].state_ps[state]);
            }
            at_ps += steps[i].state_ps[state];
        }
    }
}

static void add_bars(const struct drawing *d)
{
    struct iwi_mark *ground = iwi_figure_mark(d->figure, IWI_MARK_BAR, IWI_INK_CARD, NULL);
    struct iwi_mark *marks[IW_STATES];

    iwi_mark_add(d->figure, ground,
                 (double[]){d->figure->x.low, d->figure->x.high, d->figure->y.low, d->figure->y.high});
    marks[IW_STATE_COMPUTE] = iwi_figure_mark(d->figure, IWI_MARK_BAR, IWI_INK_COMPUTE, NULL);
    for (size_t i = 0; i < LOOKS; i++) {
        marks[looks[i].state] = iwi_figure_mark(d->figure, IWI_MARK_BAR, looks[i].ink, looks[i].name);
    }
    for (uint32_t i = 0; i < iw_timeline_exact_ranks(d->timeline); i++) {
        const uint32_t rank = iw_timeline_exact_rank(d->timeline, i);
        uint64_t number;
        size_t count;
        const iw_step *steps = iw_timeline_steps(d->timeline, i, &count, &number);

        if (is_inside(d, rank)) {
            add_rank(d, marks, rank, steps, count);
        }
    }
}

/* Every rank of the picture is known exactly for all of its time, and there are not too many steps. */
static bool has_bars(const struct drawing *d)
{
    const uint64_t step_count = iwi_timeline_count_steps(d->timeline, &d->window);
    uint32_t index;
    uint64_t number;
    size_t count;

    if (d->window.rank_count > MOST_BAR_RANKS || step_count > MOST_BARS || step_count == 0) {
        return false;
    }
    for (uint32_t i = 0; i < d->window.rank_count; i++) {
        const iw_step *steps;

        if (!iw_timeline_exact_index(d->timeline, d->window.first_rank + i, &index)) {
            return false;
        }
        if (iw_timeline_is_whole(d->timeline)) {
            continue;
        }
        steps = iw_timeline_steps(d->timeline, index, &count, &number);
        if (count == 0 || (number > 0 && steps[0].begin_ps > d->window.from_ps) ||
            iw_step_end(&steps[count - 1]) < d->window.to_ps) {
            return false;
        }
    }
    return true;
}

/* ---- cells ---- */

/* Cells of the last row and column may reach beyond the axes. */
static void add_cells(const struct drawing *d, const struct iwi_grid *grid)
{
    const iw_raster *raster = &grid->raster;
    const bool is_max = iwi_raster_prefers_max(raster);
    struct iwi_mark *cells = iwi_figure_mark(d->figure, IWI_MARK_CELLS, IWI_INK_COMPUTE, NULL);

    cells->rows = raster->rows;
    cells->columns = raster->columns;
    cells->layer_count = LOOKS;
    for (size_t i = 0; i < LOOKS; i++) {
        const bool is_sought = looks[i].state == IW_STATE_DELAY;

        cells->layers[i] = (struct iwi_layer){.ink = looks[i].ink,
                                              .label = looks[i].name,
                                              .shares = is_max || is_sought ? raster->max[looks[i].state]
                                                                            : raster->mean[looks[i].state],
                                              .is_sought = is_sought};
    }
    iwi_mark_add(d->figure, cells,
                 (double[]){d->figure->x.low, d->figure->x.low + ns_of(raster->bin_ps) * raster->columns,
                            d->figure->y.low,
                            d->figure->y.low + (double)raster->rows * raster->ranks_per_row});
}

/* ---- waves ---- */

/* `sign`: how it looks at a terminal. */
static bool add_point(const struct drawing *d, struct iwi_mark *mark, double ps, uint32_t rank,
                      const char *sign)
{
    const bool is_shown =
        is_inside(d, rank) && ps >= (double)d->window.from_ps && ps <= (double)d->window.to_ps;

    if (is_shown) {
        iwi_mark_add_named(d->figure, mark, (double[]){ps * 1e-3, rank}, sign, false);
    }
    return is_shown;
}

/* A line is broken where the wave goes around the end of the ranks. Returns whether there is one. */
static bool add_fit(const struct drawing *d, const iw_wave *wave, iwi_edge edge, bool has_label)
{
    const struct iwi_fit fit = iwi_wave_fit(wave, edge);
    struct iwi_mark *line = NULL;
    bool is_any = false;

    for (size_t i = 0; i < wave->front_count && isfinite(fit.begin_ps); i++) {
        const iw_front *front = &wave->fronts[i];

        if (line == NULL || iwi_wave_wraps(d->timeline, front - 1, front)) {
            line = iwi_figure_mark(d->figure, IWI_MARK_LINE, IWI_INK_TEXT,
                                   !has_label || is_any    ? NULL
                                   : edge == IWI_EDGE_LEAD ? "fitted front"
                                                           : "fitted end");
            line->is_thin = true;
            line->dash = edge == IWI_EDGE_LEAD ? IWI_SOLID : IWI_DASHED;
        }
        is_any = add_point(d, line, iwi_fit_ps(&fit, front->distance), front->rank,
                           wave->direction > 0 ? "/" : "\\") ||
                 is_any;
    }
    return is_any;
}

/* Thin ranks have thin waves: points and the lines of their ends would hide them. */
static void add_waves(const struct drawing *d, const iw_waves *waves)
{
    const bool is_thin = d->window.rank_count > MOST_BAR_RANKS;
    bool has_label[2] = {true, true};

    for (size_t w = 0; waves != NULL && w < waves->wave_count; w++) {
        const iw_wave *wave = &waves->waves[w];
        struct iwi_mark *fronts;

        has_label[0] = !add_fit(d, wave, IWI_EDGE_LEAD, has_label[0]) && has_label[0];
        if (is_thin) {
            continue;
        }
        has_label[1] = !add_fit(d, wave, IWI_EDGE_TRAIL, has_label[1]) && has_label[1];
        fronts = iwi_figure_mark(d->figure, IWI_MARK_DOTS, IWI_INK_TEXT, NULL);
        for (size_t i = 0; i < wave->front_count; i++) {
            (void)add_point(d, fronts, (double)wave->fronts[i].lead_ps, wave->fronts[i].rank, NULL);
        }
    }
}

/* ---- all ---- */

static iw_status fill(const iw_log *log, const struct drawing *d, const iw_waves *waves, uint32_t most_rows,
                      uint32_t most_columns, bool wants_cells, struct picture *picture)
{
    if (!wants_cells && has_bars(d)) {
        add_bars(d);
    } else {
        IW_TRY(iwi_grid_new(log, d->timeline, &d->window, most_rows, most_columns, &picture->grid));
        add_cells(d, &picture->grid);
    }
    add_waves(d, waves);
    return IW_OK;
}

/* What ranks do over time, with the fronts of waves (or NULL) and lines fitted to them: every step as a bar
 * where all are known and few, or else, and where `wants_cells`, at most so many cells. */
static iw_status draw_timeline(const iw_log *log, const iw_timeline *timeline, const iw_waves *waves,
                               const iw_timeline_window *window, uint32_t most_rows, uint32_t most_columns,
                               bool wants_cells, struct picture *picture)
{
    const iw_timeline_about *about = iw_timeline_describe(timeline);
    struct drawing d = {.timeline = timeline};
    iw_status status;

    *picture = (struct picture){.figure = NULL};
    IW_TRY(iwi_timeline_clip(log, timeline, window, &d.window));
    IW_TRY(iwi_figure_new(log, "", &d.figure));
    d.figure->title = iwi_figure_text(d.figure, "%.*s%s", MOST_TITLE, about->title,
                                      strlen(about->title) > MOST_TITLE ? "..." : "");
    d.figure->is_wide = true;
    d.figure->height = 0.6;
    d.figure->x = (struct iwi_figure_axis){
        .label = "Time", .unit = IWI_AXIS_NS, .low = ns_of(d.window.from_ps), .high = ns_of(d.window.to_ps)};
    d.figure->y = (struct iwi_figure_axis){.label = "rank",
                                           .unit = IWI_AXIS_INDEX,
                                           .low = d.window.first_rank - 0.5,
                                           .high = (double)d.window.first_rank + d.window.rank_count - 0.5};
    picture->figure = d.figure;
    status = fill(log, &d, waves, most_rows, most_columns, wants_cells, picture);
    if (status != IW_OK) {
        picture_release(picture);
    }
    return status;
}

/* Timelines as pictures for papers, and at a terminal. */

/* Cells of a picture; in an .svg each run of equal cells is an element. */
enum { IMAGE_COLUMNS = 1200, IMAGE_ROWS = 820, SVG_COLUMNS = 480, SVG_ROWS = 240 };
enum { LEAST_COLUMNS = 32, MOST_COLUMNS = 1000, LEAST_LINES = 4, MOST_LINES = 500 };

iw_status iw_timeline_plot(const iw_log *log, const iw_timeline *timeline, const iw_waves *waves,
                           const iw_timeline_window *window, const char *path)
{
    const char *suffix = strrchr(path, '.');
    const bool is_svg = suffix != NULL && strcmp(suffix, ".svg") == 0;
    struct picture picture;
    struct iwi_sheet sheet = {.name = "timeline", .count = 1, .figures = &picture.figure};
    iw_status status;

    IW_TRY(iwi_sheet_check(log, path));
    IW_TRY(draw_timeline(log, timeline, waves, window, is_svg ? SVG_ROWS : IMAGE_ROWS,
                         is_svg ? SVG_COLUMNS : IMAGE_COLUMNS, false, &picture));
    sheet.title = picture.figure->title;
    status = iwi_sheet_plot(log, &sheet, path);
    picture_release(&picture);
    return status;
}

static size_t clamp(uint32_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

iw_status iw_timeline_write_terminal(const iw_log *log, const iw_timeline *timeline, const iw_waves *waves,
                                     const iw_timeline_window *window, uint32_t columns, uint32_t lines,
                                     bool has_colour, FILE *out)
{
    const struct iwi_figure_look look = {.columns = clamp(columns, LEAST_COLUMNS, MOST_COLUMNS),
                                         .lines = clamp(lines, LEAST_LINES, MOST_LINES),
                                         .has_colour = has_colour};
    struct picture picture;
    struct iwi_cells_size size;
    iw_timeline_window clipped;

    IW_TRY(iwi_timeline_clip(log, timeline, window, &clipped));
    size = iwi_cells_size((double)clipped.first_rank + clipped.rank_count - 0.5, clipped.rank_count, &look);
    IW_TRY(draw_timeline(log, timeline, waves, &clipped, (uint32_t)size.pixel_rows, (uint32_t)size.columns,
                         true, &picture));
    iwi_figure_write_text(picture.figure, &look, out);
    picture_release(&picture);
    return iwi_check_written(log, out, "the timeline");
}
