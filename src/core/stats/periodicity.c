/* Is a series of events periodic, and with which period?
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The candidate is the commonest gap between neighbours: the densest window of ratio WINDOW_RATIO among the
 * sorted gaps. Then a walk expects a beat one period after the last one, within TOLERANCE. Each beat found is
 * where the next one counts from, so timers that drift (sleep, work, sleep) are periodic too; beats that are
 * not there are counted, and after LOST of them in a row the walk begins anew. Events between the beats do
 * not matter as long as they are the smaller part. Of a Poisson process a beat is met by chance with
 * probability 1 - exp(-2 TOLERANCE) = 0.18, far from LEAST_HIT_SHARE.
 */
#include "core/stats/periodicity.h"

#include <math.h>

#include "core/base/base.h"
#include "core/base/order.h"

static const double WINDOW_RATIO = 1.2;
static const double TOLERANCE = 0.1; /* of the period */
static const double LEAST_HIT_SHARE = 0.7;
static const double LEAST_EVENT_SHARE = 0.5;
enum { LEAST_HITS = 10, LOST = 8 };

static double gap_at(const int64_t *times, size_t i)
{
    return (double)(times[i + 1] - times[i]);
}

/* The middle of the densest window of the gaps; 0 if there is none above zero. */
static double commonest_gap(const int64_t *times, size_t gap_count, double *sample)
{
    const size_t count = gap_count < IWI_PERIOD_SCRATCH ? gap_count : IWI_PERIOD_SCRATCH;
    size_t best_first = 0, best_count = 0, end = 0;

    for (size_t i = 0; i < count; i++) {
        sample[i] = gap_at(times, i * gap_count / count);
    }
    iwi_sort_doubles(sample, count);
    for (size_t first = 0; first < count; first++) {
        if (sample[first] <= 0.0) {
            continue;
        }
        while (end < count && sample[end] <= WINDOW_RATIO * sample[first]) {
            end++;
        }
        if (end > first + best_count) {
            best_first = first;
            best_count = end - first;
        }
    }
    return best_count > 0 ? sample[best_first + best_count / 2] : 0.0;
}

struct walk {
    const int64_t *times;
    size_t count;
    double period, tolerance;
    size_t hits, misses;
    double time, beats; /* between hits, to refine the period */
};

/* The first event from `i` on that is followed by a gap of one period; the count if there is none. */
static size_t find_anchor(const struct walk *w, size_t i)
{
    while (i + 1 < w->count && fabs(gap_at(w->times, i) - w->period) > w->tolerance) {
        i++;
    }
    return i + 1 < w->count ? i : w->count;
}

size_t iwi_find_beat(const int64_t *times, size_t count, double expected, double tolerance, size_t *next_p)
{
    size_t i = *next_p;

    while (i < count && (double)times[i] < expected - tolerance) {
        i++;
    }
    *next_p = i;
    if (i == count || (double)times[i] > expected + tolerance) {
        return count;
    }
    while (i + 1 < count && fabs((double)times[i + 1] - expected) < fabs((double)times[i] - expected)) {
        i++;
    }
    return i;
}

/* Follows the beats from one anchor on until they are lost; returns where to look for the next one. */
static size_t follow(struct walk *w, size_t anchor)
{
    const double last = (double)w->times[w->count - 1];
    size_t next = anchor + 1;
    unsigned missed = 0;

    while (missed < LOST) {
        const double origin = (double)w->times[anchor];
        const double expected = origin + (missed + 1) * w->period;
        size_t beat;

        if (expected > last + w->tolerance) {
            return w->count;
        }
        beat = iwi_find_beat(w->times, w->count, expected, w->tolerance, &next);
        if (beat == w->count) {
            missed++;
            w->misses++;
            continue;
        }
        w->hits++;
        w->beats += missed + 1;
        w->time += (double)w->times[beat] - origin;
        anchor = beat;
        next = beat + 1;
        missed = 0;
    }
    return next;
}

double iwi_find_period(const int64_t *times, size_t count, double scratch[IWI_PERIOD_SCRATCH])
{
    struct walk w = {.times = times, .count = count};
    size_t next = 0;

    if (count <= LEAST_HITS) {
        return 0.0;
    }
    w.period = commonest_gap(times, count - 1, scratch);
    w.tolerance = TOLERANCE * w.period;
    if (w.period <= 0.0) {
        return 0.0;
    }
    while ((next = find_anchor(&w, next)) < count) {
        next = follow(&w, next);
    }
    if (w.hits < LEAST_HITS || (double)w.hits < LEAST_HIT_SHARE * (double)(w.hits + w.misses) ||
        (double)w.hits < LEAST_EVENT_SHARE * (double)count) {
        return 0.0;
    }
    return w.time / w.beats;
}
