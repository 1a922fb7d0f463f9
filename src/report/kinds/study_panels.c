/* Series of a study in panels, one picture each.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/study_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

double iwi_cell_slowdown(const iw_cell_result *cell, double makespan_ns)
{
    return cell->noiseless_ns > 0.0 ? makespan_ns / cell->noiseless_ns - 1.0 : NAN;
}

double iwi_mean_slowdown(const iw_cell_result *cell)
{
    return iwi_cell_slowdown(cell, cell->makespan_ns.mean);
}

double iwi_median_slowdown(const iw_cell_result *cell)
{
    return iwi_cell_slowdown(cell, cell->makespan_ns.median);
}

bool iwi_is_dominated(const iw_cell_result *cell, double threshold)
{
    return iwi_median_slowdown(cell) >= threshold;
}

const iw_cell_result *iwi_worst_of_series(const iw_series *series)
{
    const iw_cell_result *worst = NULL;

    for (size_t i = 0; i < series->count; i++) {
        const double slowdown = iwi_mean_slowdown(series->cells[i]);

        if (!isnan(slowdown) && (worst == NULL || slowdown > iwi_mean_slowdown(worst))) {
            worst = series->cells[i];
        }
    }
    return worst;
}

const iw_cell_result *iwi_last_cell(const iw_series *series)
{
    return series->cells[series->count - 1];
}

/* ---- what series have in common ---- */

bool iwi_dim_is_same(enum iwi_dim dim, const iw_series *a, const iw_series *b)
{
    const iw_cell_result *x = a->cells[0], *y = b->cells[0];

    switch (dim) {
    case IWI_DIM_SYSTEM: return strcmp(x->system, y->system) == 0;
    case IWI_DIM_WORK: return strcmp(x->work, y->work) == 0;
    case IWI_DIM_BYTES: return x->bytes == y->bytes;
    case IWI_DIM_SYNC: return x->sync == y->sync;
    case IWI_DIM_NET:
    default: return x->net_scale == y->net_scale;
    }
}

bool iwi_differ_only_in(enum iwi_dim dim, const iw_series *a, const iw_series *b)
{
    for (int other = 0; other < IWI_DIMS; other++) {
        if (other != (int)dim && !iwi_dim_is_same((enum iwi_dim)other, a, b)) {
            return false;
        }
    }
    return true;
}

unsigned iwi_dim_style(const struct iwi_panels *panels, enum iwi_dim dim, const iw_series *series)
{
    unsigned style = 0;

    for (size_t i = 0; i < panels->series_count; i++) {
        size_t first = 0;

        while (!iwi_dim_is_same(dim, &panels->series[first], &panels->series[i])) {
            first++;
        }
        if (iwi_dim_is_same(dim, &panels->series[i], series)) {
            break;
        }
        style += first == i;
    }
    return style;
}

/* ---- panels ---- */

bool iwi_panel_is_flat(const struct iwi_panel *panel)
{
    for (size_t i = 0; i < panel->count; i++) {
        if (panel->series[i]->count > 1 || panel->series[i]->cells[0]->ranks != panel->cell->ranks) {
            return false;
        }
    }
    return true;
}

/* The number of the series' panel; a new one if there is none yet. */
static size_t panel_of(struct iwi_panels *panels, const iw_series *series)
{
    for (size_t i = 0; i < panels->count; i++) {
        if (iwi_differ_only_in(IWI_DIM_SYSTEM, panels->panels[i].first, series)) {
            return i;
        }
    }
    panels->panels[panels->count] = (struct iwi_panel){.cell = series->cells[0], .first = series};
    return panels->count++;
}

/* Each panel's part of `members` follows the one before. */
static void deal(struct iwi_panels *panels, size_t *panel_numbers)
{
    const iw_series **next = panels->members;

    for (size_t i = 0; i < panels->series_count; i++) {
        panel_numbers[i] = panel_of(panels, &panels->series[i]);
        panels->panels[panel_numbers[i]].count++;
    }
    for (size_t i = 0; i < panels->count; i++) {
        panels->panels[i].series = next;
        next += panels->panels[i].count;
        panels->panels[i].count = 0;
    }
    for (size_t i = 0; i < panels->series_count; i++) {
        struct iwi_panel *panel = &panels->panels[panel_numbers[i]];

        panel->series[panel->count++] = &panels->series[i];
    }
}

static iw_status fill(const iw_log *log, struct iwi_panels *panels)
{
    size_t *panel_numbers = iwi_new_array(log, panels->series_count, sizeof *panel_numbers);
    iw_status status = IW_ERR_NOMEM;

    panels->panels = iwi_new_array(log, panels->series_count, sizeof *panels->panels);
    panels->members = iwi_new_array(log, panels->series_count, sizeof(void *));
    if (panel_numbers != NULL && panels->panels != NULL && panels->members != NULL) {
        deal(panels, panel_numbers);
        for (int dim = 0; dim < IWI_DIMS; dim++) {
            for (size_t i = 1; i < panels->series_count; i++) {
                panels->varies[dim] |=
                    !iwi_dim_is_same((enum iwi_dim)dim, &panels->series[0], &panels->series[i]);
            }
        }
        status = IW_OK;
    }
    free(panel_numbers);
    return status;
}

iw_status iwi_panels_new(const iw_log *log, const iw_study_results *results, struct iwi_panels *panels)
{
    struct iwi_panels made = {.count = 0};
    iw_status status;

    IW_TRY(iw_series_new(log, results, &made.series, &made.series_count));
    status = fill(log, &made);
    if (status == IW_OK) {
        *panels = made;
    } else {
        iwi_panels_release(&made);
    }
    return status;
}

void iwi_panels_release(struct iwi_panels *panels)
{
    free(panels->members);
    free(panels->panels);
    iw_series_free(panels->series, panels->series_count);
    *panels = (struct iwi_panels){.count = 0};
}
