/* A part of a timeline as cells, from its raster and, where they are known, from its steps; lines fitted to
 * waves.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/wave/timeline_report.h"

enum { FINER = 8 };

iw_status iwi_timeline_clip(const iw_log *log, const iw_timeline *timeline, const iw_timeline_window *window,
                            iw_timeline_window *clipped_p)
{
    const uint32_t ranks = iw_timeline_describe(timeline)->ranks;
    const iw_time end_ps = iwi_max(iw_timeline_end(timeline), 1);
    iw_timeline_window all = {.first_rank = 0};

    *clipped_p = window != NULL ? *window : all;
    if (clipped_p->first_rank >= ranks) {
        return iwi_fail(log, IW_ERR_RANGE, "no rank %" PRIu32 ": the timeline has %" PRIu32 " ranks",
                        clipped_p->first_rank, ranks);
    }
    if (clipped_p->rank_count == 0 || clipped_p->rank_count > ranks - clipped_p->first_rank) {
        clipped_p->rank_count = ranks - clipped_p->first_rank;
    }
    clipped_p->from_ps = iwi_max(clipped_p->from_ps, 0);
    clipped_p->to_ps = clipped_p->to_ps == 0 ? end_ps : iwi_min(clipped_p->to_ps, end_ps);
    if (clipped_p->from_ps >= clipped_p->to_ps) {
        return iwi_fail(log, IW_ERR_RANGE, "nothing happens in this time: the timeline ends before");
    }
    return IW_OK;
}

/* ---- from the raster ---- */

/* Ranks or picoseconds that [a, a + a_size) and [b, b + b_size) have in common. */
static int64_t overlap(int64_t a, int64_t a_end, int64_t b, int64_t b_end)
{
    return iwi_max(iwi_min(a_end, b_end) - iwi_max(a, b), 0);
}

/* Mean by common area, maximum of all that touch; but what one of many ranks does beside a delay says nothing
 * about fewer of them. */
static void sample(const iw_raster *from, const struct iwi_grid *grid, uint32_t row, uint32_t column)
{
    const int64_t rank = (int64_t)grid->window.first_rank + (int64_t)row * grid->raster.ranks_per_row;
    const int64_t last_rank = (int64_t)grid->window.first_rank + grid->window.rank_count;
    const int64_t rank_end = iwi_min(rank + grid->raster.ranks_per_row, last_rank);
    const iw_time begin_ps = grid->window.from_ps + (iw_time)column * grid->raster.bin_ps;
    const iw_time end_ps = begin_ps + grid->raster.bin_ps;
    const size_t cell = (size_t)row * grid->raster.columns + column;
    double sum[IW_STATES] = {0.0}, area = 0.0;
    uint16_t max[IW_STATES] = {0};

    for (int64_t r = rank / from->ranks_per_row; r < from->rows && r * from->ranks_per_row < rank_end; r++) {
        const double ranks =
            (double)overlap(rank, rank_end, r * from->ranks_per_row, (r + 1) * (int64_t)from->ranks_per_row);

        for (int64_t c = begin_ps / from->bin_ps; c < from->columns && c * from->bin_ps < end_ps; c++) {
            const double weight =
                ranks * (double)overlap(begin_ps, end_ps, c * from->bin_ps, (c + 1) * from->bin_ps);
            const size_t source = (size_t)r * from->columns + (size_t)c;

            area += weight;
            for (int state = 0; state < IW_STATES; state++) {
                sum[state] += weight * from->mean[state][source];
                max[state] = from->max[state][source] > max[state] ? from->max[state][source] : max[state];
            }
        }
    }
    for (int state = 0; state < IW_STATES; state++) {
        uint16_t *mean = grid->cells + (size_t)(2 * state) * grid->raster.rows * grid->raster.columns;

        mean[cell] = (uint16_t)(area > 0.0 ? sum[state] / area + 0.5 : 0.0);
        mean[(size_t)grid->raster.rows * grid->raster.columns + cell] =
            state == IW_STATE_DELAY || from->ranks_per_row <= grid->raster.ranks_per_row ? max[state]
                                                                                         : mean[cell];
    }
}

static void add_raster(const iw_timeline *timeline, struct iwi_grid *grid)
{
    const size_t levels = iw_timeline_level_count(timeline);
    iw_raster level;
    size_t i = 0;

    if (levels == 0) {
        return;
    }
    level = iw_timeline_level(timeline, 0);
    while (i + 1 < levels) { /* the coarsest that is much finer than the grid: edges hardly smear */
        const iw_raster next = iw_timeline_level(timeline, i + 1);

        if (FINER * next.ranks_per_row > grid->raster.ranks_per_row ||
            FINER * next.bin_ps > grid->raster.bin_ps) {
            break;
        }
        level = next;
        i++;
    }
    for (uint32_t row = 0; row < grid->raster.rows; row++) {
        for (uint32_t column = 0; column < grid->raster.columns; column++) {
            sample(&level, grid, row, column);
        }
    }
}

/* ---- from exact steps ---- */

/* The first step that ends after `from_ps`; their ends rise. */
static size_t first_after(const iw_step *steps, size_t count, iw_time from_ps)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, count, iw_step_end(&steps[at]) <= from_ps);
    return at;
}

uint64_t iwi_timeline_count_steps(const iw_timeline *timeline, const iw_timeline_window *window)
{
    uint64_t total = 0, number;
    size_t count;

    for (uint32_t i = 0; i < iw_timeline_exact_ranks(timeline); i++) {
        const uint32_t rank = iw_timeline_exact_rank(timeline, i);
        const iw_step *steps = iw_timeline_steps(timeline, i, &count, &number);

        if (rank < window->first_rank || rank - window->first_rank >= window->rank_count) {
            continue;
        }
        for (size_t s = first_after(steps, count, window->from_ps);
             s < count && steps[s].begin_ps < window->to_ps; s++) {
            total++;
        }
    }
    return total;
}

/* One rank's time in each state of each column, ps: time_ps[column * IW_STATES + state]. */
static void add_rank(const struct iwi_grid *grid, const iw_step *steps, size_t count, iw_time *time_ps)
{
    const iw_time from_ps = grid->window.from_ps, bin_ps = grid->raster.bin_ps;
    const iw_time to_ps = from_ps + bin_ps * grid->raster.columns;

    for (size_t s = first_after(steps, count, from_ps); s < count && steps[s].begin_ps < to_ps; s++) {
        iw_time begin_ps = steps[s].begin_ps;

        for (int state = 0; state < IW_STATES; state++) {
            const iw_time end_ps = begin_ps + steps[s].state_ps[state];
            iw_time at_ps = iwi_max(begin_ps, from_ps);

            while (at_ps < end_ps && at_ps < to_ps) {
                const iw_time column = (at_ps - from_ps) / bin_ps;
                const iw_time next_ps = iwi_min(from_ps + (column + 1) * bin_ps, end_ps);

                time_ps[column * IW_STATES + state] += next_ps - at_ps;
                at_ps = next_ps;
            }
            begin_ps = end_ps;
        }
    }
}

/* Columns of a row of ranks in which all their steps are known: [*first_p, *end_p). */
static bool known_columns(const iw_timeline *timeline, const struct iwi_grid *grid, uint32_t rank,
                          uint32_t rank_end, uint32_t *first_p, uint32_t *end_p)
{
    const iw_time bin_ps = grid->raster.bin_ps;
    iw_time low_ps = 0, high_ps = INT64_MAX;

    for (; rank < rank_end; rank++) {
        uint32_t index;
        uint64_t number;
        size_t count;
        const iw_step *steps;

        if (!iw_timeline_exact_index(timeline, rank, &index)) {
            return false;
        }
        steps = iw_timeline_steps(timeline, index, &count, &number);
        if (iw_timeline_is_whole(timeline)) {
            continue;
        }
        if (count == 0) {
            return false;
        }
        low_ps = number == 0 ? low_ps : iwi_max(low_ps, steps[0].begin_ps);
        high_ps = iwi_min(high_ps, iw_step_end(&steps[count - 1]));
    }
    low_ps = iwi_max(low_ps - grid->window.from_ps, 0);
    high_ps = high_ps == INT64_MAX ? high_ps : iwi_max(high_ps - grid->window.from_ps, 0);
    *first_p = (uint32_t)iwi_min((low_ps + bin_ps - 1) / bin_ps, grid->raster.columns);
    *end_p = (uint32_t)iwi_min(high_ps / bin_ps, grid->raster.columns);
    return *first_p < *end_p;
}

static void store(const struct iwi_grid *grid, size_t cell, const double mean[IW_STATES],
                  const double max[IW_STATES])
{
    const size_t cells = (size_t)grid->raster.rows * grid->raster.columns;

    for (size_t state = 0; state < IW_STATES; state++) {
        grid->cells[2 * state * cells + cell] = (uint16_t)(mean[state] * IWI_SHARE_ONE + 0.5);
        grid->cells[(2 * state + 1) * cells + cell] = (uint16_t)(max[state] * IWI_SHARE_ONE + 0.5);
    }
}

struct row_sums {
    iw_time *time_ps; /* of one rank */
    double *mean, *max;
};

static void add_row(const iw_timeline *timeline, const struct iwi_grid *grid, uint32_t row,
                    const struct row_sums *sums)
{
    const uint32_t first_rank = grid->window.first_rank + row * grid->raster.ranks_per_row;
    const uint32_t ranks = (uint32_t)iwi_min(grid->raster.ranks_per_row,
                                             grid->window.rank_count - row * grid->raster.ranks_per_row);
    const size_t values = (size_t)grid->raster.columns * IW_STATES;
    uint32_t first, end;

    if (!known_columns(timeline, grid, first_rank, first_rank + ranks, &first, &end)) {
        return;
    }
    memset(sums->mean, 0, values * sizeof *sums->mean);
    memset(sums->max, 0, values * sizeof *sums->max);
    for (uint32_t rank = first_rank; rank < first_rank + ranks; rank++) {
        uint32_t index = 0;
        uint64_t number;
        size_t count;
        const iw_step *steps;

        (void)iw_timeline_exact_index(timeline, rank, &index); /* all are known */
        steps = iw_timeline_steps(timeline, index, &count, &number);
        memset(sums->time_ps, 0, values * sizeof *sums->time_ps);
        add_rank(grid, steps, count, sums->time_ps);
        for (size_t i = 0; i < values; i++) {
            const double share = (double)sums->time_ps[i] / (double)grid->raster.bin_ps;

            sums->mean[i] += share / ranks;
            sums->max[i] = share > sums->max[i] ? share : sums->max[i];
        }
    }
    for (uint32_t column = first; column < end; column++) {
        store(grid, (size_t)row * grid->raster.columns + column, &sums->mean[(size_t)column * IW_STATES],
              &sums->max[(size_t)column * IW_STATES]);
    }
}

iw_status iwi_grid_add_steps(const iw_log *log, const iw_timeline *timeline, struct iwi_grid *grid)
{
    const size_t values = (size_t)grid->raster.columns * IW_STATES;
    struct row_sums sums = {
        .time_ps = iwi_new_array(log, values, sizeof *sums.time_ps),
        .mean = iwi_new_array(log, values, sizeof *sums.mean),
        .max = iwi_new_array(log, values, sizeof *sums.max),
    };
    iw_status status = IW_ERR_NOMEM;

    if (sums.time_ps != NULL && sums.mean != NULL && sums.max != NULL) {
        for (uint32_t row = 0; row < grid->raster.rows; row++) {
            add_row(timeline, grid, row, &sums);
        }
        status = IW_OK;
    }
    free(sums.time_ps);
    free(sums.mean);
    free(sums.max);
    return status;
}

iw_status iwi_grid_new(const iw_log *log, const iw_timeline *timeline, const iw_timeline_window *window,
                       uint32_t most_rows, uint32_t most_columns, struct iwi_grid *grid_p)
{
    struct iwi_grid grid = {.cells = NULL};
    iw_time span_ps;
    size_t cells;
    iw_status status;

    IW_TRY(iwi_timeline_clip(log, timeline, window, &grid.window));
    span_ps = grid.window.to_ps - grid.window.from_ps;
    grid.raster.ranks_per_row = (grid.window.rank_count - 1) / most_rows + 1;
    grid.raster.rows = (grid.window.rank_count - 1) / grid.raster.ranks_per_row + 1;
    grid.raster.bin_ps = (span_ps - 1) / most_columns + 1;
    grid.raster.columns = (uint32_t)((span_ps - 1) / grid.raster.bin_ps + 1);
    cells = (size_t)grid.raster.rows * grid.raster.columns;
    grid.cells = iwi_new_array(log, cells, (size_t)2 * IW_STATES * sizeof *grid.cells);
    if (grid.cells == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t state = 0; state < IW_STATES; state++) {
        grid.raster.mean[state] = grid.cells + 2 * state * cells;
        grid.raster.max[state] = grid.cells + (2 * state + 1) * cells;
    }
    if (!iw_timeline_is_whole(timeline)) {
        add_raster(timeline, &grid);
    }
    status = iwi_grid_add_steps(log, timeline, &grid);
    if (status != IW_OK) {
        free(grid.cells);
        return status;
    }
    *grid_p = grid;
    return IW_OK;
}

void iwi_grid_free(struct iwi_grid *grid)
{
    free(grid->cells);
    grid->cells = NULL;
}

/* ---- how cells look, and lines fitted to waves ---- */

/* Mean of a cell's largest share of waiting, above which nearly all cells would look alike. */
static const double CROWDED = 0.15;

bool iwi_raster_prefers_max(const iw_raster *raster)
{
    const size_t cells = (size_t)raster->rows * raster->columns;
    double sum = 0.0;

    for (size_t i = 0; i < cells; i++) {
        sum += raster->max[IW_STATE_WAIT][i];
    }
    return sum <= CROWDED * IWI_SHARE_ONE * (double)cells;
}

/* The speed is known; where the line begins is the median of what the fronts say, which strays do not move.
 */
struct iwi_fit iwi_wave_fit(const iw_wave *wave, iwi_edge edge)
{
    const double speed = edge == IWI_EDGE_LEAD ? wave->speed.value : wave->trail_speed.value;
    struct iwi_fit fit = {.begin_ps = NAN, .ps_per_rank = NAN};
    double *begins_ps;

    if (wave->front_count < 2 || !isfinite(speed) || speed <= 0.0) {
        return fit;
    }
    begins_ps = iwi_new_array(NULL, wave->front_count, sizeof *begins_ps);
    if (begins_ps == NULL) {
        return fit; /* no line is drawn */
    }
    fit.ps_per_rank = 1e12 / speed;
    for (size_t i = 0; i < wave->front_count; i++) {
        const iw_front *front = &wave->fronts[i];

        begins_ps[i] = (double)(edge == IWI_EDGE_LEAD ? front->lead_ps : front->trail_ps) -
                       front->distance * fit.ps_per_rank;
    }
    iwi_sort(begins_ps, wave->front_count, iwi_compare_doubles);
    fit.begin_ps = begins_ps[wave->front_count / 2];
    free(begins_ps);
    return fit;
}

double iwi_fit_ps(const struct iwi_fit *fit, uint32_t distance)
{
    return fit->begin_ps + distance * fit->ps_per_rank;
}

bool iwi_wave_wraps(const iw_timeline *timeline, const iw_front *from, const iw_front *to)
{
    const uint32_t jump = from->rank > to->rank ? from->rank - to->rank : to->rank - from->rank;

    return jump > iw_timeline_describe(timeline)->ranks / 2;
}
