/* A part of a timeline as cells, from its raster and, where they are known, from its steps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
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
        return iwi_fail(log, IW_ERR_RANGE, "there is no rank %" PRIu32 ": the timeline has %" PRIu32 " ranks",
                        clipped_p->first_rank, ranks);
    }
    if (clipped_p->rank_count == 0 || clipped_p->rank_count > ranks - clipped_p->first_rank) {
        clipped_p->rank_count = ranks - clipped_p->first_rank;
    }
    clipped_p->from_ps = iwi_max(clipped_p->from_ps, 0);
    clipped_p->to_ps = clipped_p->to_ps == 0 ? end_ps : iwi_min(clipped_p->to_ps, end_ps);
    if (clipped_p->from_ps >= clipped_p->to_ps) {
        return iwi_fail(log, IW_ERR_RANGE, "nothing happens in that time: the timeline ends before");
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
