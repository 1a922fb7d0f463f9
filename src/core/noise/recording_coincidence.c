/* Sources of recordings that hit the CPUs of a node together, found by shifting CPUs against each other.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A test by rank: if CPUs are hit independently of each other, the recorded shift of 0 is one of many that
 * could have been, and any of SHIFTS + 1 has the most coincidences with the same probability.
 */
#include "core/noise/recording_coincidence.h"

#include <stdlib.h>
#include <string.h>

#include <idlewave/time.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "core/noise/source.h"

enum {
    SHIFTS = 499,
    MOST_AS_GOOD = 4, /* (1 + 4) / (1 + 499) = 1 % */
    MOST_NODES = 4,   /* what is looked at of a recording: enough, and no more, since noise is made often */
    MOST_CPUS = 4,
    MOST_DETOURS = 128,
    CPUS = MOST_NODES * MOST_CPUS
};

/* Detours that begin so long one after the other still count as together: interrupts of one cause. */
static const iw_time NEAR_PS = 10 * IW_PS_PER_US;

/* Of a source's detours: where fewer coincide, to let all do so would be the larger error. */
static const double LEAST_PART = 0.5;

/* The first detours of one label on one CPU, each longer by NEAR_PS. */
struct sample {
    iw_time start[MOST_DETOURS], end[MOST_DETOURS];
    size_t count;
};

struct test {
    struct sample samples[CPUS];
    size_t first_of_node[MOST_NODES + 1], node_count;
    iw_time length_ps; /* in which no sample is full */
    iw_time whole_ps;  /* of the recording */
};

/* ---- what is compared ---- */

/* Of all labels at once, since pieces are many: samples[label * CPUS + cpu]. */
static void sample_cpu(const struct iwi_recorded_cpu *cpu, size_t label_count, size_t place,
                       struct sample *samples)
{
    size_t full = 0;

    for (size_t i = 0; i < cpu->trace.count && full < label_count; i++) {
        struct sample *sample = &samples[cpu->label[i] * (size_t)CPUS + place];

        if (sample->count < MOST_DETOURS) {
            sample->start[sample->count] = cpu->trace.start_ps[i];
            sample->end[sample->count++] = cpu->trace.start_ps[i] + cpu->trace.duration_ps[i] + NEAR_PS;
            full += sample->count == MOST_DETOURS;
        }
    }
}

static void lay_out(const struct iwi_recorded *recorded, struct test *test, struct sample *samples)
{
    size_t place = 0;

    test->whole_ps = recorded->length_ps;
    test->node_count = recorded->node_count < MOST_NODES ? recorded->node_count : MOST_NODES;
    for (size_t node = 0; node < test->node_count; node++) {
        const size_t first = recorded->first_cpu[node], end = recorded->first_cpu[node + 1];

        test->first_of_node[node] = place;
        for (size_t cpu = first; cpu < end && cpu < first + MOST_CPUS; cpu++) {
            sample_cpu(&recorded->cpus[cpu], recorded->label_count, place++, samples);
        }
    }
    test->first_of_node[test->node_count] = place;
}

/* All CPUs are compared in one stretch of time. */
static void cut_to_full(struct test *test)
{
    const size_t cpus = test->first_of_node[test->node_count];

    test->length_ps = test->whole_ps;
    for (size_t i = 0; i < cpus; i++) {
        if (test->samples[i].count == MOST_DETOURS) {
            test->length_ps = iwi_min(test->length_ps, test->samples[i].start[MOST_DETOURS - 1]);
        }
    }
    for (size_t i = 0; i < cpus; i++) {
        struct sample *sample = &test->samples[i];

        while (sample->count > 0 && sample->start[sample->count - 1] >= test->length_ps) {
            sample->count--;
        }
    }
}

/* ---- counting ---- */

/* The detours that begin in [from, from + length), on a time that begins there. */
static void cut_sample(const struct sample *sample, iw_time from, iw_time length, struct sample *cut)
{
    cut->count = 0;
    for (size_t i = 0; i < sample->count && sample->start[i] < from + length; i++) {
        if (sample->start[i] >= from) {
            cut->start[cut->count] = sample->start[i] - from;
            cut->end[cut->count++] = sample->end[i] - from;
        }
    }
}

/* How much of the shorter one lies in the other: 0 to 1. */
static double overlap(const struct sample *a, size_t i, const struct sample *b, size_t j)
{
    const iw_time shared = iwi_min(a->end[i], b->end[j]) - iwi_max(a->start[i], b->start[j]);

    return (double)shared / (double)iwi_min(a->end[i] - a->start[i], b->end[j] - b->start[j]);
}

/* Each detour coincides with one other at most. */
static double coincidences(const struct sample *a, const struct sample *b)
{
    double sum = 0.0;
    size_t i = 0, j = 0;

    while (i < a->count && j < b->count) {
        if (a->end[i] <= b->start[j]) {
            i++;
        } else if (b->end[j] <= a->start[i]) {
            j++;
        } else {
            sum += overlap(a, i++, b, j++);
        }
    }
    return sum;
}

/* Of a stretch of 15/16 of the time: shifts must not join what was apart, as a circle would. That of
 * shift 0 begins at the same time on all CPUs, in the middle of where others do. */
static iw_time stretch_start(const struct test *test, uint64_t shift, size_t cpu)
{
    const struct iwi_draw_id draw = {.purpose = IWI_DRAW_COINCIDENCE, .rank = (uint32_t)cpu};
    const iw_time range = test->length_ps / 16 + 1;

    return shift > 0 ? (iw_time)iwi_draw_below(draw, shift, (uint64_t)range) : range / 2;
}

struct found {
    double coincidences, most; /* most: if all detours did */
};

/* Over neighbouring CPUs; shift 0 is as recorded. */
static struct found count_at(const struct test *test, uint64_t shift)
{
    struct found found = {0.0, 0.0};

    for (size_t node = 0; node < test->node_count; node++) {
        struct sample cut[2];

        for (size_t i = test->first_of_node[node]; i < test->first_of_node[node + 1]; i++) {
            struct sample *here = &cut[i % 2], *before = &cut[(i + 1) % 2];

            cut_sample(&test->samples[i], stretch_start(test, shift, i), test->length_ps / 16 * 15, here);
            if (i > test->first_of_node[node]) {
                found.coincidences += coincidences(before, here);
                found.most += 0.5 * (double)(before->count + here->count);
            }
        }
    }
    return found;
}

static bool are_beyond_chance(const struct test *test)
{
    const struct found recorded = count_at(test, 0);
    unsigned as_good = 0;

    if (!(recorded.coincidences > 0.0) || recorded.coincidences < LEAST_PART * recorded.most) {
        return false;
    }
    for (uint64_t shift = 1; shift <= SHIFTS && as_good <= MOST_AS_GOOD; shift++) {
        as_good += count_at(test, shift).coincidences >= recorded.coincidences;
    }
    return as_good <= MOST_AS_GOOD;
}

iw_status iwi_find_node_wide(const iw_log *log, const struct iwi_recorded *recorded, bool *is_node_wide)
{
    struct test *test = iwi_new_array(log, 1, sizeof *test);
    struct sample *samples = iwi_new_array(log, recorded->label_count * CPUS, sizeof *samples);
    const iw_status status = test != NULL && samples != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        lay_out(recorded, test, samples);
    }
    for (size_t label = 0; label < recorded->label_count && status == IW_OK; label++) {
        memcpy(test->samples, &samples[label * CPUS], sizeof test->samples);
        cut_to_full(test);
        is_node_wide[label] = test->length_ps > 0 && are_beyond_chance(test);
    }
    free(test);
    free(samples);
    return status;
}
