/* The figure of a timeline.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TIMELINE_FIGURE_H
#define IWI_TIMELINE_FIGURE_H

#include "kit/figure/figure.h"

#include "features/wave/timeline_report.h"
#include <idlewave/wave.h>

struct iwi_timeline_picture {
    struct iwi_figure *figure;
    struct iwi_grid grid; /* what its cells are taken from */
};

#endif
