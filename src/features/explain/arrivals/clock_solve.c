/* The clocks that fit links best: least squares by conjugate gradients.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/numeric/numeric.h"
#include "features/explain/arrivals/clock_links.h"

enum { STEPS_MAX = 2000 };

static double median_of(const struct iwi_clock_end *ends, size_t first, size_t end, bool is_at, double *room)
{
    for (size_t i = first; i < end; i++) {
        room[i - first] = is_at ? ends[i].at_ps : ends[i].off_ps;
    }
    return iwi_median(room, end - first);
}

struct iwi_rank_clock iwi_clock_line(const struct iwi_clock_end *ends, size_t count, bool want_drift,
                                     double *room)
{
    const size_t third = count / 3;
    struct iwi_rank_clock line = {0};

    if (want_drift && count >= IWI_CLOCK_SLOPE_LEAST) {
        const double begin_ps = median_of(ends, 0, third, true, room),
                     end_ps = median_of(ends, count - third, count, true, room);

        if (end_ps > begin_ps) {
            line.drift = (median_of(ends, count - third, count, false, room) -
                          median_of(ends, 0, third, false, room)) /
                         (end_ps - begin_ps);
        }
    }
    for (size_t i = 0; i < count; i++) {
        room[i] = ends[i].off_ps - line.drift * ends[i].at_ps;
    }
    line.offset_ps = iwi_median(room, count);
    return line;
}

/* ---- least squares ---- */

/* Of one value, the offset or the drift: L x = b with (L x)_r = sum over links of r: weight (x_r - mean of
 * group). */
struct system {
    const struct iwi_clock_links *links;
    size_t ranks, groups;
    bool is_drift;
    double *weight, *mean; /* of groups */
    double *x, *rest, *way, *image;
};

static double value_of(const struct system *s, const struct iwi_clock_link *link)
{
    return s->is_drift ? link->drift : link->offset_ps;
}

static double weight_of(const struct system *s, const struct iwi_clock_link *link)
{
    return s->is_drift ? link->drift_weight : link->weight;
}

static double mean_of(const struct system *s, uint32_t group)
{
    return s->weight[group] > 0 ? s->mean[group] / s->weight[group] : 0;
}

static void apply(const struct system *s, const double *x, double *to)
{
    memset(s->mean, 0, s->groups * sizeof s->mean[0]);
    memset(to, 0, s->ranks * sizeof to[0]);
    for (size_t i = 0; i < s->links->count; i++) {
        const struct iwi_clock_link *link = &s->links->of[i];

        s->mean[link->group] += weight_of(s, link) * x[link->rank];
    }
    for (size_t i = 0; i < s->links->count; i++) {
        const struct iwi_clock_link *link = &s->links->of[i];

        to[link->rank] += weight_of(s, link) * (x[link->rank] - mean_of(s, link->group));
    }
}

static double dot(const struct system *s, const double *a, const double *b)
{
    double sum = 0;

    for (size_t r = 0; r < s->ranks; r++) {
        sum += a[r] * b[r];
    }
    return sum;
}

/* rest = b: what links say, less the mean of their group. */
static void begin(const struct system *s)
{
    memset(s->mean, 0, s->groups * sizeof s->mean[0]);
    memset(s->weight, 0, s->groups * sizeof s->weight[0]);
    memset(s->x, 0, s->ranks * sizeof s->x[0]);
    memset(s->rest, 0, s->ranks * sizeof s->rest[0]);
    for (size_t i = 0; i < s->links->count; i++) {
        const struct iwi_clock_link *link = &s->links->of[i];

        s->weight[link->group] += weight_of(s, link);
        s->mean[link->group] += weight_of(s, link) * value_of(s, link);
    }
    for (size_t i = 0; i < s->links->count; i++) {
        const struct iwi_clock_link *link = &s->links->of[i];

        s->rest[link->rank] += weight_of(s, link) * (value_of(s, link) - mean_of(s, link->group));
    }
    memcpy(s->way, s->rest, s->ranks * sizeof s->way[0]);
}

static void solve(const struct system *s)
{
    double size, first;

    begin(s);
    size = first = dot(s, s->rest, s->rest);
    for (unsigned step = 0; step < STEPS_MAX && size > 1e-24 * first && size > 0; step++) {
        double along, length, next;

        apply(s, s->way, s->image);
        along = dot(s, s->way, s->image);
        if (!(along > 0)) {
            return;
        }
        length = size / along;
        for (size_t r = 0; r < s->ranks; r++) {
            s->x[r] += length * s->way[r];
            s->rest[r] -= length * s->image[r];
        }
        next = dot(s, s->rest, s->rest);
        for (size_t r = 0; r < s->ranks; r++) {
            s->way[r] = s->rest[r] + next / size * s->way[r];
        }
        size = next;
    }
}

iw_status iwi_clock_solve(const iw_log *log, const struct iwi_clock_links *links, size_t ranks, size_t groups,
                          const uint32_t *set_of, struct iwi_rank_clock *clocks)
{
    double *room = iwi_new_array(log, 4 * ranks + 2 * groups, sizeof *room);
    struct system with = {.links = links, .ranks = ranks, .groups = groups};

    if (room == NULL) {
        return IW_ERR_NOMEM;
    }
    with.x = room;
    with.rest = room + ranks;
    with.way = room + 2 * ranks;
    with.image = room + 3 * ranks;
    with.weight = room + 4 * ranks;
    with.mean = with.weight + groups;
    solve(&with);
    for (size_t r = 0; r < ranks; r++) {
        clocks[r].offset_ps = with.x[r] - with.x[set_of[r]];
    }
    with.is_drift = true;
    solve(&with);
    for (size_t r = 0; r < ranks; r++) {
        clocks[r].drift = with.x[r] - with.x[set_of[r]];
    }
    free(room);
    return IW_OK;
}
