/* Cells as series over ranks, and where noise takes over in them: docs/explanation/inflection.md has the
 * rule.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/study.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/study/study_report.h"

/* ======== where noise takes over ======== */

double iwi_inflection(const struct iwi_curve_point *points, size_t count, double threshold)
{
    const struct iwi_curve_point *below, *above;
    size_t first = count;
    double share;

    while (first > 0 && points[first - 1].slowdown >= threshold) {
        first--;
    }
    if (first == count) {
        return 0.0;
    }
    above = &points[first];
    if (first == 0) {
        return above->ranks;
    }
    below = &points[first - 1];
    if (!(below->slowdown > -1.0) || !isfinite(above->slowdown)) {
        return above->ranks;
    }
    share = (log1p(threshold) - log1p(below->slowdown)) / (log1p(above->slowdown) - log1p(below->slowdown));
    return below->ranks * pow(above->ranks / below->ranks, share);
}

/* ======== series ======== */

/* Of lists of pointers to cells. */
enum { POINTER_SIZE = sizeof(void *) };

/* Cells of one series compare equal. What differs most often comes first. */
static int compare_kinds(const iw_cell_result *a, const iw_cell_result *b)
{
    int order = strcmp(a->system, b->system);

    order = order != 0 ? order : strcmp(a->work, b->work);
    order = order != 0 ? order : iwi_order_texts(a->settings, b->settings);
    order = order != 0 ? order : (a->bytes > b->bytes) - (a->bytes < b->bytes);
    order = order != 0 ? order : (a->sync > b->sync) - (a->sync < b->sync);
    order = order != 0 ? order : (a->net_scale > b->net_scale) - (a->net_scale < b->net_scale);
    order = order != 0 ? order : strcmp(a->noise, b->noise);
    return order != 0 ? order : strcmp(a->net, b->net);
}

/* Within a series by ranks; equal cells in the order of the study, in which they lie in memory. */
IWI_COMPARE(compare_cells, iw_cell_result *const, compare_kinds(*left, *right),
            IWI_ORDER((*left)->ranks, (*right)->ranks), IWI_ORDER(*left, *right))

static const iw_cell_result *first_named(const iw_series *series)
{
    const iw_cell_result *first = series->cells[0];

    for (size_t i = 1; i < series->count; i++) {
        first = series->cells[i] < first ? series->cells[i] : first;
    }
    return first;
}

static int compare_series(const void *a, const void *b)
{
    const iw_cell_result *x = first_named(a), *y = first_named(b);

    return (x > y) - (x < y);
}

/* ---- inflection ---- */

static double slowdown_at(const iw_cell_result *cell, double makespan_ns)
{
    return cell->noiseless_ns > 0.0 ? makespan_ns / cell->noiseless_ns - 1.0 : NAN;
}

enum bound { BOUND_MEDIAN, BOUND_LOW, BOUND_HIGH };

static double inflection_of(const iw_series *series, struct iwi_curve_point *points, enum bound bound,
                            double threshold)
{
    for (size_t i = 0; i < series->count; i++) {
        const iw_cell_result *cell = series->cells[i];
        const iw_summary *makespan_ns = &cell->makespan_ns;
        const double ns = bound == BOUND_LOW    ? makespan_ns->median_low
                          : bound == BOUND_HIGH ? makespan_ns->median_high
                                                : makespan_ns->median;

        points[i] = (struct iwi_curve_point){.ranks = cell->ranks, .slowdown = slowdown_at(cell, ns)};
    }
    return iwi_inflection(points, series->count, threshold);
}

/* The upper bounds of the medians reach the threshold first. */
static void find_inflection(iw_series *series, struct iwi_curve_point *points, double threshold)
{
    series->inflection = inflection_of(series, points, BOUND_MEDIAN, threshold);
    series->inflection_low = inflection_of(series, points, BOUND_HIGH, threshold);
    series->inflection_high = inflection_of(series, points, BOUND_LOW, threshold);
}

/* ---- grouping ---- */

/* How many cells from the beginning belong together. */
static size_t run_length(const iw_cell_result *const *cells, size_t count)
{
    size_t length = 1;

    while (length < count && compare_kinds(cells[0], cells[length]) == 0) {
        length++;
    }
    return length;
}

static iw_status cut(const iw_log *log, const iw_cell_result *const *sorted, size_t cell_count,
                     iw_series *series, size_t *count_p)
{
    size_t used = 0;

    for (size_t at = 0; at < cell_count; used++) {
        const size_t length = run_length(&sorted[at], cell_count - at);
        const iw_cell_result **cells = iwi_new_array(log, length, POINTER_SIZE);

        if (cells == NULL) {
            *count_p = used;
            return IW_ERR_NOMEM;
        }
        memcpy(cells, &sorted[at], length * POINTER_SIZE);
        series[used] = (iw_series){.count = length, .cells = cells};
        at += length;
    }
    *count_p = used;
    return IW_OK;
}

static size_t count_series(const iw_cell_result *const *sorted, size_t cell_count)
{
    size_t count = 0;

    for (size_t at = 0; at < cell_count; count++) {
        at += run_length(&sorted[at], cell_count - at);
    }
    return count;
}

static iw_status fill(const iw_log *log, const iw_study_results *results, const iw_cell_result **sorted,
                      struct iwi_curve_point *points, iw_series **series_p, size_t *count_p)
{
    iw_series *series;
    iw_status status;
    size_t count;

    for (size_t i = 0; i < results->count; i++) {
        sorted[i] = &results->cells[i];
    }
    iwi_sort(sorted, results->count, compare_cells);
    series = iwi_new_array(log, count_series(sorted, results->count), sizeof *series);
    if (series == NULL) {
        return IW_ERR_NOMEM;
    }
    status = cut(log, sorted, results->count, series, &count);
    if (status != IW_OK) {
        iw_series_free(series, count);
        return status;
    }
    iwi_sort(series, count, compare_series);
    for (size_t i = 0; i < count; i++) {
        find_inflection(&series[i], points, results->threshold);
    }
    *series_p = series;
    *count_p = count;
    return IW_OK;
}

iw_status iw_series_new(const iw_log *log, const iw_study_results *results, iw_series **series_p,
                        size_t *count_p)
{
    const iw_cell_result **sorted = iwi_new_array(log, results->count, POINTER_SIZE);
    struct iwi_curve_point *points = iwi_new_array(log, results->count, sizeof *points);
    iw_status status = IW_ERR_NOMEM;

    if (sorted != NULL && points != NULL) {
        status = fill(log, results, sorted, points, series_p, count_p);
    }
    free(points);
    free(sorted);
    return status;
}

void iw_series_free(iw_series *series, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(series[i].cells);
    }
    free(series);
}
