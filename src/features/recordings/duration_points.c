/* Distributions of durations as pictures show them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/duration_points.h"

#include "core/base/base.h"

/* Of the largest values each is a point; then they are thinned to so many in a factor of e. */
enum { POINTS_PER_E = 24, MOST_POINTS = 1024 };

static void reverse(iw_duration_point *points, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const iw_duration_point point = points[i];

        points[i] = points[count - 1 - i];
        points[count - 1 - i] = point;
    }
}

/* From the longest on, ever further apart. */
iw_status iwi_duration_points_new(const iw_log *log, const int64_t *sorted_ns, size_t count,
                                  iw_duration_point **points_p, size_t *point_count_p)
{
    iw_duration_point *points = iwi_new_array(log, MOST_POINTS, sizeof *points);
    size_t longer = 1, taken = 0;

    if (points == NULL) {
        return IW_ERR_NOMEM;
    }
    while (longer <= count && taken < MOST_POINTS) {
        const double ns = (double)sorted_ns[count - longer];

        if (taken > 0 && points[taken - 1].ns == ns) {
            taken--; /* of equal ones the last has all of them */
        }
        points[taken++] = (iw_duration_point){ns, (double)longer / (double)count};
        if (longer == count) {
            break;
        }
        longer += longer / POINTS_PER_E + 1;
        longer = longer < count ? longer : count;
    }
    reverse(points, taken);
    *points_p = points;
    *point_count_p = taken;
    return IW_OK;
}
