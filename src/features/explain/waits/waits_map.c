/* The map: ranks and iterations, who waited and who made the others wait.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/waits/waited_run.h"

/* Ranks in the order of their numbers. */
struct numbered {
    uint32_t number, index;
};

/* Of a cell: its ranks, and iterations from ... to - 1. */
struct cell {
    const struct numbered *ranks;
    uint32_t rank_count;
    size_t first, last;
};

IWI_COMPARE(compare_numbers, struct numbered, IWI_RISING(number))

static double rounded(double share)
{
    return round(share * 1e4) / 1e4;
}

static void fill_cell(const struct iwi_waited_run *run, const struct cell *cell, double *waiting_p,
                      double *caused_p)
{
    const size_t count = run->iterations.count;
    const double others = run->rank_count > 1 ? run->rank_count - 1 : 1;
    double waited = 0.0, caused = 0.0, time = 0.0;

    for (uint32_t k = 0; k < cell->rank_count; k++) {
        const uint32_t r = cell->ranks[k].index;
        const iw_time *borders = iwi_iteration_borders(run, r);

        time += (double)(borders[cell->last] - borders[cell->first]);
        for (size_t i = cell->first; i < cell->last; i++) {
            waited += run->waited_in_iteration[r * count + i];
            caused += run->caused_in_iteration[r * count + i];
        }
    }
    *waiting_p = time > 0.0 ? rounded(fmin(1.0, waited / time)) : 0.0;
    *caused_p = time > 0.0 ? rounded(fmin(1.0, caused / (time * others))) : 0.0;
}

static iw_status fill_row(const struct iwi_waited_run *run, const iw_waits *waits, struct cell cell,
                          iw_waits_row *row)
{
    const size_t per = (size_t)waits->iterations_per_column;

    row->column_count = (run->iterations.count + per - 1) / per;
    row->waiting = iwi_new_array(run->log, row->column_count, sizeof *row->waiting);
    row->caused = iwi_new_array(run->log, row->column_count, sizeof *row->caused);
    if (row->waiting == NULL || row->caused == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t c = 0; c < row->column_count; c++) {
        cell.first = c * per;
        cell.last = cell.first + per < run->iterations.count ? cell.first + per : run->iterations.count;
        fill_cell(run, &cell, &row->waiting[c], &row->caused[c]);
    }
    return IW_OK;
}

static iw_status fill_map(const struct iwi_waited_run *run, const struct numbered *order, iw_waits *waits)
{
    const uint32_t per_row = (run->rank_count + IW_WAITS_MOST_ROWS - 1) / IW_WAITS_MOST_ROWS;

    waits->iterations_per_column =
        (run->iterations.count + IW_WAITS_MOST_COLUMNS - 1) / IW_WAITS_MOST_COLUMNS;
    for (uint32_t r = 0; r < run->rank_count; r += per_row) {
        const struct cell cell = {
            .ranks = &order[r], .rank_count = r + per_row < run->rank_count ? per_row : run->rank_count - r};
        iw_waits_row *row = &waits->map[waits->row_count++];

        row->first_rank = order[r].number;
        row->rank_count = cell.rank_count;
        IW_TRY(fill_row(run, waits, cell, row));
    }
    return IW_OK;
}

iw_status iwi_waited_map(const struct iwi_waited_run *run, iw_waits *waits)
{
    struct numbered *order;
    iw_status status;

    if (run->iterations.count == 0) {
        return IW_OK;
    }
    order = iwi_new_array(run->log, run->rank_count, sizeof *order);
    waits->map = iwi_new_array(run->log, IW_WAITS_MOST_ROWS, sizeof *waits->map);
    if (order == NULL || waits->map == NULL) {
        free(order);
        return IW_ERR_NOMEM;
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        order[r] = (struct numbered){run->visits->ranks[r].number, r};
    }
    iwi_sort(order, run->rank_count, compare_numbers);
    status = fill_map(run, order, waits);
    free(order);
    return status;
}
