/* The numbers of a cell, for CSV and for figures: one table.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/study_report.h"

const char *const iwi_cell_columns[IWI_CELL_COLUMNS] = {
    [IWI_COLUMN_NOISE_SHARE] = "noise_share",
    [IWI_COLUMN_NOISELESS] = "noiseless_ns",
    [IWI_COLUMN_MIN] = "min_ns",
    [IWI_COLUMN_P5] = "p5_ns",
    [IWI_COLUMN_Q1] = "q1_ns",
    [IWI_COLUMN_MEDIAN] = "median_ns",
    [IWI_COLUMN_Q3] = "q3_ns",
    [IWI_COLUMN_P95] = "p95_ns",
    [IWI_COLUMN_MAX] = "max_ns",
    [IWI_COLUMN_MEAN] = "mean_ns",
    [IWI_COLUMN_MEAN_LOW] = "mean_ci95_low_ns",
    [IWI_COLUMN_MEAN_HIGH] = "mean_ci95_high_ns",
    [IWI_COLUMN_MEDIAN_LOW] = "median_ci95_low_ns",
    [IWI_COLUMN_MEDIAN_HIGH] = "median_ci95_high_ns",
    [IWI_COLUMN_MEAN_SLOWDOWN] = "mean_slowdown",
    [IWI_COLUMN_MEAN_SLOWDOWN_LOW] = "mean_slowdown_ci95_low",
    [IWI_COLUMN_MEAN_SLOWDOWN_HIGH] = "mean_slowdown_ci95_high",
    [IWI_COLUMN_MEDIAN_SLOWDOWN] = "median_slowdown",
    [IWI_COLUMN_MEDIAN_SLOWDOWN_LOW] = "median_slowdown_ci95_low",
    [IWI_COLUMN_MEDIAN_SLOWDOWN_HIGH] = "median_slowdown_ci95_high",
};

void iwi_cell_numbers(const iw_cell_result *cell, double numbers[IWI_CELL_COLUMNS])
{
    const iw_summary *ns = &cell->makespan_ns;

    numbers[IWI_COLUMN_NOISE_SHARE] = cell->noise_share;
    numbers[IWI_COLUMN_NOISELESS] = cell->noiseless_ns;
    numbers[IWI_COLUMN_MIN] = ns->min;
    numbers[IWI_COLUMN_P5] = cell->p5_ns;
    numbers[IWI_COLUMN_Q1] = ns->q1;
    numbers[IWI_COLUMN_MEDIAN] = ns->median;
    numbers[IWI_COLUMN_Q3] = ns->q3;
    numbers[IWI_COLUMN_P95] = cell->p95_ns;
    numbers[IWI_COLUMN_MAX] = ns->max;
    numbers[IWI_COLUMN_MEAN] = ns->mean;
    numbers[IWI_COLUMN_MEAN_LOW] = ns->mean_low;
    numbers[IWI_COLUMN_MEAN_HIGH] = ns->mean_high;
    numbers[IWI_COLUMN_MEDIAN_LOW] = ns->median_low;
    numbers[IWI_COLUMN_MEDIAN_HIGH] = ns->median_high;
    numbers[IWI_COLUMN_MEAN_SLOWDOWN] = iwi_mean_slowdown(cell);
    numbers[IWI_COLUMN_MEAN_SLOWDOWN_LOW] = iwi_cell_slowdown(cell, ns->mean_low);
    numbers[IWI_COLUMN_MEAN_SLOWDOWN_HIGH] = iwi_cell_slowdown(cell, ns->mean_high);
    numbers[IWI_COLUMN_MEDIAN_SLOWDOWN] = iwi_median_slowdown(cell);
    numbers[IWI_COLUMN_MEDIAN_SLOWDOWN_LOW] = iwi_cell_slowdown(cell, ns->median_low);
    numbers[IWI_COLUMN_MEDIAN_SLOWDOWN_HIGH] = iwi_cell_slowdown(cell, ns->median_high);
}
