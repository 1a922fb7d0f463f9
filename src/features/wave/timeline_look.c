/* How timelines look: what cells show, and lines fitted to waves.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "features/wave/timeline_report.h"

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

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
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
    qsort(begins_ps, wave->front_count, sizeof *begins_ps, compare);
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
