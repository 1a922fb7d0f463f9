/* Exact steps of a timeline as cells of a grid.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/wave/timeline_report.h"

/* The first step that ends after `from_ps`; their ends rise. */
static size_t first_after(const iw_step *steps, size_t count, iw_time from_ps)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (iw_step_end(&steps[middle]) <= from_ps) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
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
