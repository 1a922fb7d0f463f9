/* Where noise takes over in one curve of slowdowns.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/inflection.h"

#include <math.h>

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
