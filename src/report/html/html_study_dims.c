/* What series of a study differ in, and how that is called.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html/html_study.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

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

const char *iwi_dim_name(enum iwi_dim dim, bool is_plural)
{
    static const char *const names[IWI_DIMS][2] = {
        [IWI_DIM_SYSTEM] = {"System", "Systems"},
        [IWI_DIM_WORK] = {"Work", "Kinds of work"},
        [IWI_DIM_BYTES] = {"Message", "Sizes of messages"},
        [IWI_DIM_SYNC] = {"Noise of ranks", "Ways to synchronise the noise"},
        [IWI_DIM_NET] = {"Network", "Speeds of the network"},
    };

    return names[dim][is_plural];
}

static void net_label(double scale, char buf[IWI_PHRASE_SIZE])
{
    if (scale == 1.0) {
        snprintf(buf, IWI_PHRASE_SIZE, "network as it is");
    } else {
        snprintf(buf, IWI_PHRASE_SIZE, "network %.4g times %s", scale > 1.0 ? scale : 1.0 / scale,
                 scale > 1.0 ? "faster" : "slower");
    }
}

/* Traces and schedules have sizes of their own. */
static bool has_size(const iw_series *series)
{
    return series->cells[0]->bytes > 0;
}

const char *iwi_dim_label(enum iwi_dim dim, const iw_series *series, char buf[IWI_PHRASE_SIZE])
{
    static const char *const syncs[] = {[IW_SYNC_NONE] = "not synchronised",
                                        [IW_SYNC_START] = "synchronised at the start",
                                        [IW_SYNC_PHASE] = "synchronised in every phase"};
    const iw_cell_result *cell = series->cells[0];
    char number[IWI_NUMBER_SIZE];

    switch (dim) {
    case IWI_DIM_SYSTEM: snprintf(buf, IWI_PHRASE_SIZE, "%s", cell->system); break;
    case IWI_DIM_WORK: snprintf(buf, IWI_PHRASE_SIZE, "%s", cell->work); break;
    case IWI_DIM_BYTES:
        snprintf(buf, IWI_PHRASE_SIZE, "%s", has_size(series) ? iwi_bytes_text(cell->bytes, number) : "-");
        break;
    case IWI_DIM_SYNC: snprintf(buf, IWI_PHRASE_SIZE, "%s", syncs[cell->sync]); break;
    case IWI_DIM_NET:
    default: net_label(cell->net_scale, buf);
    }
    return buf;
}

const char *iwi_series_label(const struct iwi_study_page *page, const iw_series *series, enum iwi_dim but,
                             char buf[IWI_PHRASE_SIZE])
{
    char part[IWI_PHRASE_SIZE];
    size_t used = 0;

    buf[0] = '\0';
    for (int dim = 0; dim < IWI_DIMS; dim++) {
        if (page->varies[dim] && dim != (int)but && used < IWI_PHRASE_SIZE &&
            (dim != IWI_DIM_BYTES || has_size(series))) {
            used += (size_t)snprintf(buf + used, IWI_PHRASE_SIZE - used, "%s%s", used > 0 ? ", " : "",
                                     iwi_dim_label((enum iwi_dim)dim, series, part));
        }
    }
    return used > 0 ? buf : iwi_dim_label(IWI_DIM_WORK, series, buf);
}

unsigned iwi_dim_style(const struct iwi_study_page *page, enum iwi_dim dim, const iw_series *series)
{
    unsigned style = 0;

    for (size_t i = 0; i < page->count; i++) {
        size_t first = 0;

        while (!iwi_dim_is_same(dim, &page->series[first], &page->series[i])) {
            first++;
        }
        if (iwi_dim_is_same(dim, &page->series[i], series)) {
            break;
        }
        style += first == i;
    }
    return style;
}

const iw_cell_result *iwi_last_cell(const iw_series *series)
{
    return series->cells[series->count - 1];
}

const char *iwi_outcome_text(const iw_cell_result *cell, char buf[IWI_PHRASE_SIZE])
{
    const double slowdown = iwi_median_slowdown(cell);
    char time[IWI_NUMBER_SIZE], slower[IWI_PHRASE_SIZE];

    if (isnan(slowdown)) {
        snprintf(buf, IWI_PHRASE_SIZE, "takes %s", iwi_ns_time_text(cell->makespan_ns.median, time));
    } else {
        snprintf(buf, IWI_PHRASE_SIZE, "%.200s without noise", iwi_slower_text(slowdown, slower));
    }
    return buf;
}
