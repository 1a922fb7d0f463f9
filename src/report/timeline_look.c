/* How timelines look: colours of states and of cells, and lines fitted to waves.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "report/timeline_parts.h"

/* As in the paper: work is white, an injected delay blue, idle time red. web/timeline.js has the same. */
static const uint32_t colours[IW_STATES] = {
    [IW_STATE_DELAY] = 0x1f5fc4, [IW_STATE_COMPUTE] = 0xffffff, [IW_STATE_NOISE] = 0xe0a100,
    [IW_STATE_COMM] = 0x8fb0ac,  [IW_STATE_WAIT] = 0xd42020,
};

/* A delay is what one looks for: no share of it is fainter than this. */
static const double LEAST_DELAY = 0.35;

/* Mean of a cell's largest share of waiting, above which nearly all cells would look alike. */
static const double CROWDED = 0.15;

uint32_t iwi_state_colour(iw_state state)
{
    return colours[state];
}

bool iwi_raster_prefers_max(const iw_raster *raster)
{
    const size_t cells = (size_t)raster->rows * raster->columns;
    double sum = 0.0;

    for (size_t i = 0; i < cells; i++) {
        sum += raster->max[IW_STATE_WAIT][i];
    }
    return sum <= CROWDED * IWI_SHARE_ONE * (double)cells;
}

static void lay_over(double rgb[3], uint32_t colour, double share)
{
    for (int i = 0; i < 3; i++) {
        const double ink = (double)(colour >> (16 - 8 * i) & 0xff);

        rgb[i] = rgb[i] * (1.0 - share) + ink * share;
    }
}

/* States lie over each other, the rarer ones on top: none hides what is to be seen. */
uint32_t iwi_cell_colour(const iw_raster *raster, size_t cell, bool is_max)
{
    static const iw_state order[] = {IW_STATE_COMM, IW_STATE_NOISE, IW_STATE_WAIT, IW_STATE_DELAY};
    double rgb[3] = {255.0, 255.0, 255.0};

    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const iw_state state = order[i];
        const bool is_largest = is_max || state == IW_STATE_DELAY;
        double share =
            (double)(is_largest ? raster->max[state][cell] : raster->mean[state][cell]) / IWI_SHARE_ONE;

        if (state == IW_STATE_DELAY && share > 0.0) {
            share = fmax(share, LEAST_DELAY);
        }
        lay_over(rgb, colours[state], share);
    }
    return (uint32_t)lround(rgb[0]) << 16 | (uint32_t)lround(rgb[1]) << 8 | (uint32_t)lround(rgb[2]);
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
