/* What the tests of timelines share: a made run whose steps are known.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_TIMELINE_TESTING_H
#define IWT_TIMELINE_TESTING_H

#include <stdlib.h>

#include "support/support.h"

#include <idlewave/timeline.h>

/* Numbers without a pattern, the same every time. */
static inline uint64_t mix(uint64_t number)
{
    number = (number ^ number >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ number >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return number ^ number >> 32;
}

/* Step `number` of a rank, about 4 us long; it begins where the one before ended. */
static inline iw_step made_step(uint32_t rank, uint32_t number, iw_time begin_ps)
{
    const uint64_t random = mix(((uint64_t)rank << 32) + number + 1);

    return (iw_step){begin_ps,
                     {random % 7 == 0 ? 1000000 : 0, 2000000 + (iw_time)(random >> 8 & 0xfffff),
                      (iw_time)(random >> 28 & 0x3ffff), 100003, (iw_time)(random >> 46 & 0xfffff)}};
}

/* Gives all steps of the ranks, step after step, or rank after rank from the last to the first. */
static inline void feed(iw_timeline *timeline, uint32_t ranks, uint32_t steps, int is_backwards)
{
    const iw_step_sink sink = iw_timeline_sink(timeline);
    iw_time *at_ps = calloc(ranks, sizeof *at_ps);

    assert_non_null(at_ps);
    for (uint64_t i = 0; i < (uint64_t)ranks * steps; i++) {
        const uint32_t rank = is_backwards ? ranks - 1 - (uint32_t)(i / steps) : (uint32_t)(i % ranks),
                       number = (uint32_t)(is_backwards ? i % steps : i / ranks);
        const iw_step step = made_step(rank, number, at_ps[rank]);

        sink.step(sink.arg, rank, &step);
        at_ps[rank] = iw_step_end(&step);
    }
    free(at_ps);
}

static inline iw_timeline_opts made_opts(uint32_t ranks)
{
    iw_timeline_opts opts = IW_TIMELINE_OPTS_INIT;

    opts.about.ranks = ranks;
    opts.about.dims[0] = ranks;
    return opts;
}

static inline iw_timeline *made(const iw_timeline_opts *opts, uint32_t steps, int is_backwards)
{
    iw_timeline *timeline;

    assert_ok(iw_timeline_new(NULL, opts, &timeline));
    feed(timeline, opts->about.ranks, steps, is_backwards);
    assert_ok(iw_timeline_finish(NULL, timeline));
    return timeline;
}

#endif
