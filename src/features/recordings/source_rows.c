/* Facts by source: what each one took, and whether it is periodic.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A source is periodic if it is so on its CPUs, each with a phase of its own (ticks), or else over all CPUs
 * together (a daemon that wakes up once a second, on any of them).
 */
#include "features/recordings/source_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/stats/periodicity.h"
#include "kit/facts/recording_stats.h"

/* Periods of different CPUs are the same up to this. */
static const double SAME_PERIOD = 0.02;

/* CPUs that agree on a period must hold this share of a source's detours. */
static const double LEAST_AGREEMENT = 0.8;

/* Merging the CPUs' times is meant for sources that are rare. */
enum { MOST_MERGED = 1 << 16 };

/* All occurrences, grouped by source, within a source by CPU, then by time. */
struct occurrences {
    double *time_ns;
    int64_t *start_ns;
    size_t *begin, *end; /* of each source's group; `end` moves while it is being filled */
    size_t source_count;
};

/* What the CPUs said so far about one source. */
struct vote {
    double period_ns, weight; /* the candidate, and how many detours back it */
};

static void count_one(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns)
{
    struct occurrences *o = arg;

    (void)start_ns;
    (void)time_ns;
    o->end[source]++;
}

static void place_one(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns)
{
    struct occurrences *o = arg;
    const size_t place = o->end[source]++;

    o->start_ns[place] = start_ns;
    o->time_ns[place] = (double)time_ns;
}

static void release(struct occurrences *o)
{
    free(o->time_ns);
    free(o->start_ns);
    free(o->begin);
    free(o->end);
}

/* Counts the occurrences and makes room for them; the groups are empty. Released by the caller either way. */
static iw_status lay_out(const iw_log *log, const iw_recording *recording, struct occurrences *o)
{
    size_t total = 0;

    o->source_count = recording->source_count;
    o->begin = iwi_new_array(log, o->source_count, sizeof *o->begin);
    o->end = iwi_new_array(log, o->source_count, sizeof *o->end);
    if (o->begin == NULL || o->end == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t c = 0; c < recording->cpu_count; c++) {
        iwi_each_occurrence(&recording->cpus[c], count_one, o);
    }
    for (size_t s = 0; s < o->source_count; s++) {
        const size_t count = o->end[s];

        o->begin[s] = o->end[s] = total;
        total += count;
    }
    o->time_ns = iwi_new_array(log, total, sizeof *o->time_ns);
    o->start_ns = iwi_new_array(log, total, sizeof *o->start_ns);
    return o->time_ns != NULL && o->start_ns != NULL ? IW_OK : IW_ERR_NOMEM;
}

static void add_vote(struct vote *vote, double period_ns, double weight)
{
    if (vote->weight > 0.0 && fabs(period_ns - vote->period_ns) <= SAME_PERIOD * vote->period_ns) {
        vote->period_ns += (period_ns - vote->period_ns) * weight / (vote->weight + weight);
        vote->weight += weight;
    } else if (weight > vote->weight) {
        *vote = (struct vote){period_ns, weight};
    }
}

/* Adds the occurrences of one CPU, and its votes. `before`: where each source's group ended so far. */
static void place_cpu(const iw_detours *cpu, struct occurrences *o, size_t *before, double *scratch,
                      struct vote *votes)
{
    memcpy(before, o->end, o->source_count * sizeof *before);
    iwi_each_occurrence(cpu, place_one, o);
    for (size_t s = 0; s < o->source_count; s++) {
        const size_t count = o->end[s] - before[s];
        const double period_ns = iwi_find_period(&o->start_ns[before[s]], count, scratch);

        if (period_ns > 0.0) {
            add_vote(&votes[s], period_ns, (double)count);
        }
    }
}

/* The period of source s, or 0. Reorders its starts. */
static double period_of(struct occurrences *o, size_t s, const struct vote *vote, size_t cpu_count,
                        double *scratch)
{
    const size_t count = o->end[s] - o->begin[s];
    int64_t *start_ns = &o->start_ns[o->begin[s]];

    if (vote->weight > 0.0 && vote->weight >= LEAST_AGREEMENT * (double)count) {
        return vote->period_ns;
    }
    if (cpu_count == 1 || count > MOST_MERGED) {
        return 0.0;
    }
    iwi_sort(start_ns, count, iwi_compare_i64);
    return iwi_find_period(start_ns, count, scratch);
}

static void fill_rows(const iw_recording *recording, struct occurrences *o, size_t *before, double *scratch,
                      struct vote *votes, iw_noise_facts *facts)
{
    for (size_t c = 0; c < recording->cpu_count; c++) {
        place_cpu(&recording->cpus[c], o, before, scratch, votes);
    }
    for (size_t s = 0; s < o->source_count; s++) {
        facts->sources[s].row =
            iwi_noise_row_of(&o->time_ns[o->begin[s]], o->end[s] - o->begin[s], facts->watched_ns);
        facts->sources[s].row.period_ns = period_of(o, s, &votes[s], recording->cpu_count, scratch);
    }
}

iw_status iwi_describe_sources(const iw_log *log, const iw_recording *recording, iw_noise_facts *facts)
{
    struct occurrences o = {.time_ns = NULL};
    size_t *before = iwi_new_array(log, recording->source_count, sizeof *before);
    struct vote *votes = iwi_new_array(log, recording->source_count, sizeof *votes);
    double *scratch = iwi_new_array(log, IWI_PERIOD_SCRATCH, sizeof *scratch);
    iw_status status =
        before != NULL && votes != NULL && scratch != NULL ? lay_out(log, recording, &o) : IW_ERR_NOMEM;

    if (status == IW_OK) {
        fill_rows(recording, &o, before, scratch, votes, facts);
    }
    release(&o);
    free(scratch);
    free(votes);
    free(before);
    return status;
}
