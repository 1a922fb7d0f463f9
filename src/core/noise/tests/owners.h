/* Random recordings, and who has each nanosecond of them: the reference for edits of recordings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_OWNERS_H
#define IWT_OWNERS_H

#include <stdio.h>
#include <string.h>

#include <idlewave/recording.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "core/noise/recording_check.h"
#include "support/made_recording.h"
#include "support/support.h"

enum { OWNERS_MOST_NS = 1200, FREE = 0 };

struct picker {
    uint64_t seed, index;
};

static inline int64_t pick(struct picker *picker, int64_t low, int64_t high)
{
    const struct iwi_draw_id id = {.seed = picker->seed, .purpose = IWI_DRAW_TEST};

    return low + (int64_t)iwi_draw_below(id, picker->index++, (uint64_t)(high - low + 1));
}

/* The same source has the same code in all recordings; names here differ in their first letter. */
static inline int code_of(const iw_source *source)
{
    return 1 + 256 * (int)source->kind + (unsigned char)source->name[0];
}

struct owners {
    int code[OWNERS_MOST_NS]; /* FREE or the code of a source */
};

/* Independent of the code under test: each part nanosecond by nanosecond, then the rest. */
static inline struct owners owners_of(const iw_recording *recording, size_t cpu)
{
    const iw_detours *d = &recording->cpus[cpu];
    struct owners owners;

    memset(&owners, 0, sizeof owners);
    for (size_t i = 0; i < d->count; i++) {
        int64_t at = d->start_ns[i], left = d->duration_ns[i];

        assert_true(at + left <= OWNERS_MOST_NS);
        for (size_t part = 0; part < d->part_count; part++) {
            for (int64_t k = 0; d->part_detour[part] == i && k < d->part_ns[part] && left > 0; k++, left--) {
                owners.code[at++] = code_of(&recording->sources[d->part_source[part]]);
            }
        }
        for (; left > 0; left--) {
            owners.code[at++] = code_of(&recording->sources[d->source[i]]);
        }
    }
    return owners;
}

/* Up to 3 CPUs and 5 sources besides the unknown one; detours of 1 to 60 ns at least 1 ns apart, a third of
 * them with parts: as long as the detour, shorter, or longer. Never empty. */
static inline iw_recording *random_recording(struct picker *p)
{
    const size_t cpus = (size_t)pick(p, 1, 3);
    iw_recording *recording = iwt_recording(cpus, 0);
    const int64_t sources = pick(p, 1, 5);

    for (int64_t i = 0; i < sources; i++) {
        const char name[2] = {(char)('a' + i), '\0'};

        (void)iwt_source(recording, (iw_class)pick(p, 1, 4), name);
    }
    for (size_t cpu = 0; cpu < cpus; cpu++) {
        const int64_t length = pick(p, 200, 400);

        recording->cpus[cpu].length_ns = length;
        recording->cpus[cpu].dropped = (uint64_t)pick(p, 0, 2);
        for (int64_t at = pick(p, 0, 40); at < length;) {
            const int64_t duration = iwi_min(pick(p, 1, 60), length - at);

            iwt_detour(recording, cpu, at, duration, (uint32_t)pick(p, 0, sources));
            for (int64_t part = pick(p, -4, 3); part > 0; part--) {
                iwt_part(recording, cpu, (uint32_t)pick(p, 0, sources), pick(p, 0, duration));
            }
            at += duration + pick(p, 1, 80);
        }
    }
    return recording;
}

static inline void assert_same_owners(const iw_recording *a, size_t cpu_a, const iw_recording *b,
                                      size_t cpu_b)
{
    const struct owners x = owners_of(a, cpu_a), y = owners_of(b, cpu_b);

    assert_memory_equal(&x, &y, sizeof x);
}

static inline void assert_sound(const iw_recording *recording)
{
    struct iwt_log l;

    iwt_log_init(&l);
    if (iwi_recording_check(&l.log, "result", recording, IW_ERR_RANGE) != IW_OK) {
        fail_msg("%s", l.text);
    }
}

/* Time of all sources but one, or of all (FREE). */
static inline int64_t time_without(const iw_recording *recording, int code)
{
    int64_t sum = 0;

    for (size_t cpu = 0; cpu < recording->cpu_count; cpu++) {
        const struct owners owners = owners_of(recording, cpu);

        for (int i = 0; i < OWNERS_MOST_NS; i++) {
            sum += owners.code[i] != FREE && owners.code[i] != code;
        }
    }
    return sum;
}

static inline void assert_columns_equal(const iw_detours *a, const iw_detours *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->start_ns[i], b->start_ns[i]);
        assert_int_equal(a->duration_ns[i], b->duration_ns[i]);
    }
}

#endif
