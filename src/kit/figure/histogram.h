/* Figures of how many have how much: bars on two logarithmic axes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_HISTOGRAM_H
#define IWI_HISTOGRAM_H

#include "kit/figure/figure.h"

void iwi_histogram_axes(struct iwi_figure *figure, const char *label, const char *count_label);

/* A bar of `count` from the axis up; none if there is none. Its name stands above it. */
void iwi_histogram_bar(struct iwi_figure *figure, struct iwi_mark *bars, double from, double to, double count,
                       const char *name);

#endif
