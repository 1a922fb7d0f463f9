/* Series of a study in panels, one picture each.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/study_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/training.h>

#include "core/base/base.h"
#include "core/base/order.h"

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

/* ---- settings: "pp=4; microbatches=16" ---- */

const char *iwi_setting_key(enum iwi_dim dim)
{
    const size_t index = (size_t)dim - IWI_DIM_SETTING;
    const char *key = iw_training_key(index);

    return key != NULL || (index > 0 && iw_training_key(index - 1) == NULL) ? key : IW_STUDY_JITTER;
}

const char *iwi_setting_value(const iw_cell_result *cell, const char *key, size_t *length_p)
{
    const char *at = cell->settings != NULL ? cell->settings : "";
    const size_t key_length = strlen(key);

    while (*at != '\0') {
        const size_t length = strcspn(at, ";");

        if (strncmp(at, key, key_length) == 0 && at[key_length] == '=') {
            *length_p = length - key_length - 1;
            return at + key_length + 1;
        }
        at += length;
        at += strspn(at, "; ");
    }
    *length_p = 0;
    return at;
}

static bool is_same_setting(const char *key, const iw_cell_result *a, const iw_cell_result *b)
{
    size_t x_length, y_length;
    const char *x = iwi_setting_value(a, key, &x_length), *y = iwi_setting_value(b, key, &y_length);

    return x_length == y_length && memcmp(x, y, x_length) == 0;
}

/* Both have the key at the same place, and the same around its value. */
static bool differ_only_in_setting(const char *key, const iw_cell_result *a, const iw_cell_result *b)
{
    size_t x_length, y_length;
    const char *x = iwi_setting_value(a, key, &x_length), *y = iwi_setting_value(b, key, &y_length);
    const size_t before = x_length > 0 ? (size_t)(x - a->settings) : 0;

    return x_length > 0 && y_length > 0 && (size_t)(y - b->settings) == before &&
           strncmp(a->settings, b->settings, before) == 0 && strcmp(x + x_length, y + y_length) == 0;
}

/* ---- what series have in common ---- */

bool iwi_dim_is_same(enum iwi_dim dim, const iw_series *a, const iw_series *b)
{
    const iw_cell_result *x = a->cells[0], *y = b->cells[0];

    switch (dim) {
    case IWI_DIM_SYSTEM: return strcmp(x->system, y->system) == 0;
    case IWI_DIM_WORK: return strcmp(x->work, y->work) == 0;
    case IWI_DIM_SETTINGS: return iwi_order_texts(x->settings, y->settings) == 0;
    case IWI_DIM_BYTES: return x->bytes == y->bytes;
    case IWI_DIM_SYNC: return x->sync == y->sync;
    case IWI_DIM_NET: return x->net_scale == y->net_scale;
    default: return is_same_setting(iwi_setting_key(dim), x, y);
    }
}

bool iwi_differ_only_in(enum iwi_dim dim, const iw_series *a, const iw_series *b)
{
    const bool is_setting = dim >= IWI_DIM_SETTING;

    for (int other = 0; other < IWI_DIMS; other++) {
        if (other != (int)dim && !(is_setting && other == IWI_DIM_SETTINGS) &&
            !iwi_dim_is_same((enum iwi_dim)other, a, b)) {
            return false;
        }
    }
    return !is_setting || a == b || differ_only_in_setting(iwi_setting_key(dim), a->cells[0], b->cells[0]);
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

bool iwi_is_flat_pair(const iw_series *a, const iw_series *b)
{
    return a->count == 1 && b->count == 1 &&
           (a->cells[0]->ranks == b->cells[0]->ranks || !iwi_dim_is_same(IWI_DIM_SETTINGS, a, b));
}

bool iwi_panel_is_flat(const struct iwi_panel *panel)
{
    for (size_t i = 0; i < panel->count; i++) {
        if (!iwi_is_flat_pair(panel->first, panel->series[i])) {
            return false;
        }
    }
    return true;
}

/* The number of the series' panel; a new one if there is none yet. */
static size_t panel_of(struct iwi_panels *panels, const iw_series *series)
{
    for (size_t i = 0; i < panels->count; i++) {
        if (iwi_differ_only_in(panels->by, panels->panels[i].first, series)) {
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

/* Values of a setting are in order, so that neighbours of a work differ in each that varies. */
static void find_varying(struct iwi_panels *panels)
{
    for (size_t i = 1; i < panels->series_count; i++) {
        const iw_series *series = &panels->series[i];

        for (int dim = 0; dim < IWI_DIMS; dim++) {
            panels->varies[dim] |= !iwi_dim_is_same((enum iwi_dim)dim, &panels->series[0], series);
        }
        for (int dim = IWI_DIM_SETTING; panels->varies[IWI_DIM_SETTINGS] && dim < IWI_ALL_DIMS; dim++) {
            if (iwi_setting_key((enum iwi_dim)dim) == NULL) {
                break;
            }
            panels->varies[dim] |= iwi_dim_is_same(IWI_DIM_WORK, series - 1, series) &&
                                   !iwi_dim_is_same((enum iwi_dim)dim, series - 1, series);
        }
    }
}

/* Of the settings that vary the one with the most values, as an axis; else the system. */
static enum iwi_dim find_axis(const struct iwi_panels *panels)
{
    enum iwi_dim by = IWI_DIM_SYSTEM;
    unsigned most = 0;

    for (int dim = IWI_DIM_SETTING; dim < IWI_ALL_DIMS; dim++) {
        unsigned values = 0;

        for (size_t i = 0; panels->varies[dim] && i < panels->series_count; i++) {
            const unsigned style = iwi_dim_style(panels, (enum iwi_dim)dim, &panels->series[i]);

            values = style + 1 > values ? style + 1 : values;
        }
        if (values > most) {
            by = (enum iwi_dim)dim;
            most = values;
        }
    }
    return by;
}

static iw_status fill(const iw_log *log, struct iwi_panels *panels)
{
    size_t *panel_numbers = iwi_new_array(log, panels->series_count, sizeof *panel_numbers);
    iw_status status = IW_ERR_NOMEM;

    panels->panels = iwi_new_array(log, panels->series_count, sizeof *panels->panels);
    panels->members = iwi_new_array(log, panels->series_count, sizeof(void *));
    if (panel_numbers != NULL && panels->panels != NULL && panels->members != NULL) {
        find_varying(panels);
        panels->by = find_axis(panels);
        deal(panels, panel_numbers);
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
