/* Which events of a CPU are beats of a period that is known, and which come between them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A walk expects each beat one period after the last one, so timers that drift are followed. Where it begins
 * depends on how many events are beats: if most are, at two of them that are a period apart; if few are, at
 * the phase that most periods of a stretch have an event at.
 */
#include <math.h>

#include "core/base/base.h"
#include "core/stats/periodicity.h"
#include "features/recordings/fit/fit.h"

enum {
    LOST = 8,     /* beats missing in a row: begin anew */
    STRETCH = 16, /* periods that are looked at for a phase */
    PHASES = 50   /* of a period */
};

/* A phase must have an event in this share of the periods. */
static const double LEAST_FOUND = 0.7;

struct beats {
    const int64_t *start_ns;
    size_t count;
    double period_ns, tolerance_ns;
    uint8_t *is_beat;
    size_t marked;
};

/* The first event from `i` on that is followed by one a period later; the count if there is none. */
static size_t find_pair(const struct beats *b, size_t i)
{
    while (i + 1 < b->count &&
           fabs((double)(b->start_ns[i + 1] - b->start_ns[i]) - b->period_ns) > b->tolerance_ns) {
        i++;
    }
    return i + 1 < b->count ? i : b->count;
}

static size_t phase_of(const struct beats *b, double from_ns, int64_t start_ns)
{
    const double periods = ((double)start_ns - from_ns) / b->period_ns;

    return (size_t)((periods - floor(periods)) * PHASES) % PHASES;
}

/* Of the events [first, end) of a stretch: how many periods have one at each phase. */
static void count_phases(const struct beats *b, size_t first, size_t end, unsigned count[PHASES])
{
    const double from_ns = (double)b->start_ns[first];
    double last[PHASES];

    for (size_t i = 0; i < PHASES; i++) {
        count[i] = 0;
        last[i] = -1.0;
    }
    for (size_t i = first; i < end; i++) {
        const double period = floor(((double)b->start_ns[i] - from_ns) / b->period_ns);
        const size_t phase = phase_of(b, from_ns, b->start_ns[i]);

        count[phase] += last[phase] < period;
        last[phase] = period;
    }
}

/* The phase that most of the periods have an event at, or PHASES; two neighbours count together, since beats
 * may lie on their border. */
static size_t best_phase(const unsigned count[PHASES])
{
    size_t best = 0;

    for (size_t phase = 1; phase < PHASES; phase++) {
        const unsigned both = count[phase] + count[(phase + 1) % PHASES];

        best = both > count[best] + count[(best + 1) % PHASES] ? phase : best;
    }
    return count[best] + count[(best + 1) % PHASES] >= LEAST_FOUND * STRETCH ? best : PHASES;
}

/* The first event from `i` on at a phase that most periods after it have an event at. */
static size_t find_phase(const struct beats *b, size_t i)
{
    while (i < b->count) {
        const double from_ns = (double)b->start_ns[i], until_ns = from_ns + STRETCH * b->period_ns;
        unsigned count[PHASES];
        size_t end = i, phase;

        while (end < b->count && (double)b->start_ns[end] < until_ns) {
            end++;
        }
        count_phases(b, i, end, count);
        phase = best_phase(count);
        if (phase < PHASES) {
            while (phase_of(b, from_ns, b->start_ns[i]) != phase &&
                   phase_of(b, from_ns, b->start_ns[i]) != (phase + 1) % PHASES) {
                i++;
            }
            return i;
        }
        while (i < end && (double)b->start_ns[i] < 0.5 * (from_ns + until_ns)) {
            i++;
        }
    }
    return b->count;
}

/* Marks beats from one on until they are lost; returns where to look for the next one. */
static size_t follow(struct beats *b, size_t beat)
{
    size_t next = beat + 1;
    unsigned missed = 0;

    b->marked += b->is_beat[beat] == 0;
    b->is_beat[beat] = 1;
    while (missed < LOST && next < b->count) {
        const double expected_ns = (double)b->start_ns[beat] + (missed + 1) * b->period_ns;
        const size_t found = iwi_find_beat(b->start_ns, b->count, expected_ns, b->tolerance_ns, &next);

        if (found == b->count) {
            missed++;
            continue;
        }
        b->is_beat[found] = 1;
        b->marked++;
        beat = found;
        next = found + 1;
        missed = 0;
    }
    return next;
}

size_t iwi_mark_beats(const int64_t *start_ns, size_t count, double period_ns, double tolerance,
                      bool is_among_others, uint8_t *is_beat)
{
    struct beats b = {.start_ns = start_ns,
                      .count = count,
                      .period_ns = period_ns,
                      .tolerance_ns = tolerance * period_ns,
                      .is_beat = is_beat};
    size_t next = 0;

    while ((next = is_among_others ? find_phase(&b, next) : find_pair(&b, next)) < count) {
        next = follow(&b, next);
    }
    return b.marked;
}
