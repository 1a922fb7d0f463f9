/* What is known of a recording: shares, rates, sources, CPUs, what is drawn of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/stats/periodicity.h"
#include "core/stats/select.h"
#include "features/recordings/noise_report.h"
#include "kit/facts/load_facts.h"
#include "kit/facts/recording_stats.h"

/* ---- by source: what each took, and whether it is periodic ---- */

/* A source is periodic if it is so on its CPUs, each with a phase of its own (ticks), or else over all CPUs
 * together (a daemon that wakes up once a second, on any of them).
 */

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

static iw_noise_row noise_row_of(double *durations_ns, size_t count, double watched_ns);

static void fill_rows(const iw_recording *recording, struct occurrences *o, size_t *before, double *scratch,
                      struct vote *votes, iw_noise_facts *facts)
{
    for (size_t c = 0; c < recording->cpu_count; c++) {
        place_cpu(&recording->cpus[c], o, before, scratch, votes);
    }
    for (size_t s = 0; s < o->source_count; s++) {
        facts->sources[s].row =
            noise_row_of(&o->time_ns[o->begin[s]], o->end[s] - o->begin[s], facts->watched_ns);
        facts->sources[s].row.period_ns = period_of(o, s, &votes[s], recording->cpu_count, scratch);
    }
}

/* Fills the rows of facts->sources, one for each source of the recording; facts->watched_ns is known. */
static iw_status describe_sources(const iw_log *log, const iw_recording *recording, iw_noise_facts *facts)
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

/* ---- what is drawn: some detours, and how many took how long ---- */

enum {
    MOST_POINTS = 4000,
    LONGEST_POINTS = 1000, /* that are the longest of all */
    BINS_PER_DECADE = 6,
    DECADES = 19, /* of an int64_t */
    BINS = DECADES * BINS_PER_DECADE
};

/* Calls `take` for what is drawn: detours that took time. */
typedef void (*point_fn)(void *arg, const iw_noise_point *point);

static void each_point(const iw_recording *detours, const uint32_t *place_of, point_fn take, void *arg)
{
    for (size_t c = 0; c < detours->cpu_count; c++) {
        const iw_detours *cpu = &detours->cpus[c];

        for (size_t i = 0; i < cpu->count; i++) {
            if (cpu->duration_ns[i] > 0) {
                take(arg, &(iw_noise_point){(double)cpu->start_ns[i], (double)cpu->duration_ns[i], cpu->cpu,
                                            place_of[cpu->source != NULL ? cpu->source[i] : 0]});
            }
        }
    }
}

/* ---- bins that are drawn ---- */

/* 1, 1.5, 2, 3, 5, 7, 10, 15, ... ns */
static double begin_ns(size_t bin)
{
    static const double factors[BINS_PER_DECADE] = {1.0, 1.5, 2.0, 3.0, 5.0, 7.0};
    const size_t decade = bin / BINS_PER_DECADE;

    return pow(10.0, (double)decade) * factors[bin % BINS_PER_DECADE];
}

/* ---- shades: durations that are nearly the same ---- */

enum { SHADE_BITS = 12, SHADES = 64 << SHADE_BITS };

/* Falling: the longest durations have the first shades. */
static size_t shade_of(double duration_ns)
{
    const uint64_t ns = (uint64_t)duration_ns;
    const unsigned octave = 63 - (unsigned)__builtin_clzll(ns);
    const uint64_t part = octave >= SHADE_BITS ? ns >> (octave - SHADE_BITS) : ns << (SHADE_BITS - octave);

    return SHADES - 1 - (((size_t)octave << SHADE_BITS) + (size_t)(part - (UINT64_C(1) << SHADE_BITS)));
}

/* A recording has many more detours than are drawn. Which are drawn hangs on their places in an order, so
 * they are counted by shade first; only those of shades that have a wanted place are gathered, and put in
 * order as far as that takes. */
struct picking {
    iw_noise_picture *picture;
    size_t *begin;          /* by shade: the place of its first point; SHADES + 1 */
    size_t *room;           /* by shade: where its points are gathered, SIZE_MAX: they are not */
    iw_noise_point *points; /* that are gathered */
    double begins_ns[BINS + 1];
    size_t first_bin[64]; /* by octave of a duration */
};

static size_t octave_of(double duration_ns)
{
    return 63 - (unsigned)__builtin_clzll((uint64_t)duration_ns);
}

static size_t bin_of(const struct picking *p, double duration_ns)
{
    size_t bin = p->first_bin[octave_of(duration_ns)];

    while (bin + 1 < BINS && duration_ns >= p->begins_ns[bin + 1]) {
        bin++;
    }
    return bin;
}

static void count_point(void *arg, const iw_noise_point *point)
{
    struct picking *p = arg;
    iw_noise_bin *bin = &p->picture->bins[bin_of(p, point->duration_ns)];

    p->picture->count++;
    p->begin[shade_of(point->duration_ns) + 1]++;
    bin->count++;
    bin->time_ns += point->duration_ns; /* whole numbers: exact in any order, up to 104 days */
    bin->by_source[point->source < IW_NOISE_SERIES ? point->source : IW_NOISE_SERIES - 1]++;
}

static void lay_out_bins(struct picking *p)
{
    size_t bin = 0;

    for (size_t i = 0; i < BINS; i++) {
        p->begins_ns[i] = begin_ns(i);
    }
    for (unsigned octave = 0; octave < 64; octave++) {
        while (bin + 1 < BINS && p->begins_ns[bin + 1] <= ldexp(1.0, (int)octave)) {
            bin++;
        }
        p->first_bin[octave] = bin;
    }
}

/* From the first that is not empty to the last. */
static void trim_bins(const struct picking *p)
{
    iw_noise_picture *picture = p->picture;
    size_t first = 0, end = BINS;

    while (first < end && picture->bins[first].count == 0) {
        first++;
    }
    while (end > first && picture->bins[end - 1].count == 0) {
        end--;
    }
    picture->bin_count = end - first;
    memmove(picture->bins, picture->bins + first, picture->bin_count * sizeof *picture->bins);
    for (size_t i = 0; i < picture->bin_count; i++) {
        picture->bins[i].from_ns = begin_ns(first + i);
        picture->bins[i].to_ns = begin_ns(first + i + 1);
    }
}

/* ---- points ---- */

/* The longest first; of equal ones the earliest. */
IWI_COMPARE(compare_points, iw_noise_point, IWI_FALLING(duration_ns), IWI_RISING(start_ns), IWI_RISING(cpu))

/* In no order of time, the same on every machine. */
static uint64_t shuffled(const iw_noise_point *point)
{
    uint64_t mixed = (uint64_t)point->start_ns + ((uint64_t)point->cpu << 48); /* as splitmix64 */

    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

/* The longest first; equal ones from all of the time. */
IWI_COMPARE(compare_shuffled, iw_noise_point, IWI_FALLING(duration_ns),
            IWI_ORDER(shuffled(left), shuffled(right)), IWI_RISING(start_ns), IWI_RISING(cpu))

static void swap_points(iw_noise_point *a, iw_noise_point *b)
{
    const iw_noise_point kept = *a;

    *a = *b;
    *b = kept;
}

/* Puts that point there which sorting would, those of earlier places before it, all others behind. */
static void select_place(iw_noise_point *points, size_t count, size_t place)
{
    while (count > 1) {
        const iw_noise_point pivot = points[count / 2];
        size_t less = 0, end = count; /* before `less`: less than the pivot; from `end` on: more */

        for (size_t at = 0; at < end;) {
            const int order = compare_shuffled(&points[at], &pivot);

            if (order < 0) {
                swap_points(&points[less++], &points[at++]);
            } else if (order > 0) {
                swap_points(&points[at], &points[--end]);
            } else {
                at++;
            }
        }
        if (place < less) {
            count = less;
        } else if (place >= end) {
            points += end;
            count -= end;
            place -= end;
        } else {
            return;
        }
    }
}

/* The first place from `place` on that is drawn, or ends those that all are. */
static size_t next_wanted(const iw_noise_picture *picture, size_t place)
{
    const size_t last = picture->longest_count - 1, stride = picture->stride;

    return place <= last ? last : last + 1 + (place - last - 1 + stride - 1) / stride * stride;
}

static void gather_point(void *arg, const iw_noise_point *point)
{
    struct picking *p = arg;
    const size_t shade = shade_of(point->duration_ns);

    if (p->room[shade] != SIZE_MAX) {
        p->points[p->room[shade]++] = *point;
    }
}

/* Shades that are drawn as a whole, or have a place that is. Returns their points. */
static size_t choose_shades(struct picking *p)
{
    size_t gathered = 0;

    for (size_t shade = 0; shade < SHADES; shade++) {
        const size_t begin = p->begin[shade], end = p->begin[shade + 1];
        const bool is_wanted =
            begin < end && (begin < p->picture->longest_count || next_wanted(p->picture, begin) < end);

        p->room[shade] = is_wanted ? gathered : SIZE_MAX;
        gathered += is_wanted ? end - begin : 0;
    }
    return gathered;
}

/* Of the gathered points of a shade: those that are drawn. */
static void draw_shade(const struct picking *p, size_t begin, size_t end, iw_noise_point *points)
{
    iw_noise_picture *picture = p->picture;
    size_t done = begin; /* places before it are right */

    for (size_t place = next_wanted(picture, begin); place < end; place = next_wanted(picture, place + 1)) {
        select_place(points + (done - begin), end - done, place - done);
        done = place + 1;
        if (place >= picture->longest_count) {
            picture->points[picture->point_count++] = points[place - begin];
        }
    }
    for (size_t place = begin; place < end && place < picture->longest_count; place++) {
        picture->points[place] = points[place - begin];
    }
}

/* Sorted by duration, every so many of the shorter ones stand for all of them: of equal ones the earliest
 * would be all that is drawn, so their order is shuffled. */
static void draw_points(struct picking *p)
{
    iw_noise_picture *picture = p->picture;
    size_t at = 0;

    picture->point_count = picture->longest_count;
    for (size_t shade = 0; shade < SHADES; shade++) {
        const size_t begin = p->begin[shade], end = p->begin[shade + 1];

        if (p->room[shade] != SIZE_MAX) {
            draw_shade(p, begin, end, p->points + at);
            at += end - begin;
        }
    }
    iwi_sort(picture->points, picture->longest_count, compare_points);
    iwi_sort(&picture->points[picture->longest_count], picture->point_count - picture->longest_count,
             compare_points);
}

static void plan_points(struct picking *p)
{
    const size_t count = p->picture->count, rest = MOST_POINTS - LONGEST_POINTS;

    for (size_t shade = 0; shade < SHADES; shade++) {
        p->begin[shade + 1] += p->begin[shade];
    }
    p->picture->longest_count = count <= MOST_POINTS ? count : LONGEST_POINTS;
    p->picture->stride = count > MOST_POINTS ? (count - LONGEST_POINTS + rest - 1) / rest : 1;
}

static iw_status pick_points(const iw_log *log, const iw_recording *detours, const uint32_t *place_of,
                             struct picking *p)
{
    lay_out_bins(p);
    each_point(detours, place_of, count_point, p);
    if (p->picture->count == 0) {
        return IW_OK;
    }
    trim_bins(p);
    plan_points(p);
    p->points = iwi_new_array(log, choose_shades(p), sizeof *p->points);
    if (p->points == NULL) {
        return IW_ERR_NOMEM;
    }
    each_point(detours, place_of, gather_point, p);
    draw_points(p);
    return IW_OK;
}

static double length_of(const iw_recording *detours)
{
    double length_ns = 0.0;

    for (size_t c = 0; c < detours->cpu_count; c++) {
        const iw_detours *cpu = &detours->cpus[c];

        length_ns = fmax(length_ns, (double)cpu->length_ns);
        if (cpu->count > 0) {
            length_ns = fmax(length_ns, (double)cpu->start_ns[cpu->count - 1]);
        }
    }
    return length_ns;
}

/* Of detours, whatever the probe was; *picture is zero. Its lists are the caller's in any case. */
static iw_status noise_picture_fill(const iw_log *log, const iw_recording *detours,
                                    const iw_noise_facts *facts, iw_noise_picture *picture)
{
    uint32_t *place_of = iwi_new_array(log, detours->source_count, sizeof *place_of);
    struct picking p = {.picture = picture,
                        .begin = iwi_new_array(log, SHADES + 1, sizeof *p.begin),
                        .room = iwi_new_array(log, SHADES, sizeof *p.room)};
    iw_status status = IW_ERR_NOMEM;

    picture->points = iwi_new_array(log, MOST_POINTS, sizeof *picture->points);
    picture->bins = iwi_new_array(log, BINS, sizeof *picture->bins);
    if (place_of != NULL && p.begin != NULL && p.room != NULL && picture->points != NULL &&
        picture->bins != NULL) {
        for (size_t i = 0; i < facts->source_count; i++) {
            place_of[facts->sources[i].number] = (uint32_t)i;
        }
        picture->length_ns = length_of(detours);
        status = pick_points(log, detours, place_of, &p);
    }
    free(place_of);
    free(p.begin);
    free(p.room);
    free(p.points);
    return status;
}

/* ---- of all of it, by source and by CPU ---- */

/* One row without its period. Reorders the durations. */
static iw_noise_row noise_row_of(double *durations_ns, size_t count, double watched_ns)
{
    iw_noise_row row = {.count = count};
    double sum_ns = 0.0;

    if (count == 0) {
        return row;
    }
    for (size_t i = 0; i < count; i++) {
        sum_ns += durations_ns[i];
        row.max_ns = fmax(row.max_ns, durations_ns[i]);
    }
    row.median_ns = iwi_select_quantile(durations_ns, count, 0.5);
    row.p99_ns = iwi_select_quantile(durations_ns, count, 0.99);
    if (watched_ns > 0.0) {
        row.rate_hz = (double)count / watched_ns * 1e9;
        row.share = sum_ns / watched_ns;
    }
    return row;
}

static size_t count_detours(const iw_recording *recording)
{
    size_t count = 0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        count += recording->cpus[i].count;
    }
    return count;
}

/* The rows of all CPUs, and of all of them together. */
static iw_status describe_cpus(const iw_log *log, const iw_recording *recording, iw_noise_facts *facts)
{
    const size_t count = count_detours(recording);
    double *durations_ns = iwi_new_array(log, count, sizeof *durations_ns);
    double *own = durations_ns;

    if (durations_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t c = 0; c < recording->cpu_count; c++) {
        const iw_detours *cpu = &recording->cpus[c];

        for (size_t i = 0; i < cpu->count; i++) {
            own[i] = (double)cpu->duration_ns[i];
        }
        facts->cpus[c] = (iw_noise_cpu){cpu->cpu,      cpu->length_ns,
                                        cpu->t_min_ns, cpu->threshold_ns,
                                        cpu->dropped,  noise_row_of(own, cpu->count, (double)cpu->length_ns)};
        own += cpu->count;
    }
    facts->all = noise_row_of(durations_ns, count, facts->watched_ns);
    free(durations_ns);
    return IW_OK;
}

/* The numbers that need no rows. */
static void sum_up(const iw_recording *recording, iw_noise_facts *facts)
{
    int64_t shortest_ns = recording->cpu_count > 0 ? recording->cpus[0].length_ns : 0;

    for (size_t c = 0; c < recording->cpu_count; c++) {
        facts->watched_ns += (double)recording->cpus[c].length_ns;
        facts->dropped += recording->cpus[c].dropped;
        shortest_ns = iwi_min(shortest_ns, recording->cpus[c].length_ns);
    }
    facts->rare_limit_ns = (double)shortest_ns / 3.0;
}

/* Larger shares first, equal ones in the order of their numbers. */
IWI_COMPARE(compare_sources, iw_noise_origin, IWI_FALLING(row.share), IWI_RISING(number))

/* Leaves those that took time. */
static void order_sources(iw_noise_facts *facts)
{
    size_t count = 0;

    for (size_t s = 0; s < facts->source_count; s++) {
        if (facts->sources[s].row.count > 0) {
            facts->sources[count++] = facts->sources[s];
        }
    }
    facts->source_count = count;
    iwi_sort(facts->sources, count, compare_sources);
}

/* `detours` has detours, whatever the probe was. Quanta know no sources, and their period is the probe's. */
static iw_status describe(const iw_log *log, const iw_recording *detours, iw_noise_facts *facts)
{
    facts->sources = iwi_new_array(log, detours->source_count, sizeof *facts->sources);
    facts->cpus = iwi_new_array(log, detours->cpu_count, sizeof *facts->cpus);
    if (facts->sources == NULL || facts->cpus == NULL) {
        return IW_ERR_NOMEM;
    }
    facts->source_count = detours->source_count;
    facts->cpu_count = detours->cpu_count;
    for (size_t s = 0; s < facts->source_count; s++) {
        facts->sources[s] = (iw_noise_origin){.source = detours->sources[s],
                                              .number = (uint32_t)s,
                                              .is_kernel = iwi_is_kernel_thread(detours, s)};
    }
    sum_up(detours, facts);
    IW_TRY(describe_cpus(log, detours, facts));
    if (iw_probe_has_quanta(detours->probe)) {
        facts->sources[0].row = facts->all;
    } else {
        IW_TRY(describe_sources(log, detours, facts));
    }
    order_sources(facts);
    return IW_OK;
}

iw_status iw_noise_facts_new(const iw_log *log, const iw_recording *recording, iw_noise_facts **facts_p)
{
    iw_noise_facts *facts = iwi_new_array(log, 1, sizeof *facts);
    iw_recording *losses = NULL;
    iw_status status = facts != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK && iw_probe_has_quanta(recording->probe)) {
        status = iwi_losses_new(log, recording, &losses);
    }
    if (status == IW_OK) {
        *facts = (iw_noise_facts){.probe = recording->probe,
                                  .attribution = recording->attribution,
                                  .has_sources = iwi_names_sources(recording),
                                  .quantum_ns = recording->quantum_ns,
                                  .attribute_count = recording->attribute_count,
                                  .attributes = recording->attributes,
                                  .load = iwi_load_of(recording)};
        status = describe(log, losses != NULL ? losses : recording, facts);
    }
    for (size_t c = 0; status == IW_OK && c < facts->cpu_count; c++) {
        facts->cpus[c].length_ns = recording->cpus[c].length_ns;
    }
    iwi_losses_free(losses);
    if (status != IW_OK) {
        iw_noise_facts_free(facts);
        return status;
    }
    *facts_p = facts;
    return IW_OK;
}

void iw_noise_facts_free(iw_noise_facts *facts)
{
    if (facts != NULL) {
        free(facts->sources);
        free(facts->cpus);
        free(facts);
    }
}

/* ---- all that is shown, in one struct ---- */

enum { REASON_SIZE = 512 };

static void keep_reason(void *arg, iw_log_level level, const char *text)
{
    (void)level;
    snprintf(arg, REASON_SIZE, "%s", text);
}

/* A recording that is too short for a spectrum is reported all the same. */
static iw_status add_spectrum(const iw_log *log, const iw_recording *recording, iw_noise_report *report)
{
    iw_spectrum_opts opts = IW_SPECTRUM_OPTS_INIT;
    char reason[REASON_SIZE] = "";
    const iw_log keeping = {keep_reason, reason};
    iw_status status;

    opts.name = report->name;
    status = iw_noise_spectrum_new(&keeping, recording, &opts, &report->spectrum);
    if (status == IW_ERR_RANGE) {
        report->no_spectrum = strdup(reason);
        return report->no_spectrum != NULL ? IW_OK : iwi_fail(log, IW_ERR_NOMEM, "out of memory");
    }
    return status == IW_OK ? IW_OK : iwi_fail(log, status, "%s", reason);
}

static iw_status add_picture(const iw_log *log, const iw_recording *recording, iw_noise_report *report)
{
    iw_recording *losses = NULL;
    iw_status status;

    if (iw_probe_has_quanta(recording->probe)) {
        IW_TRY(iwi_losses_new(log, recording, &losses));
    }
    status = noise_picture_fill(log, losses != NULL ? losses : recording, &report->facts, &report->picture);
    iwi_losses_free(losses);
    return status;
}

iw_status iw_noise_report_init(const iw_log *log, const iw_recording *recording,
                               const iw_noise_report_opts *opts, iw_noise_report *report)
{
    iw_noise_facts *facts;
    iw_status status;

    IW_TRY(iw_noise_facts_new(log, recording, &facts));
    iw_caveats_of_recording(recording, opts->name, &facts->caveats);
    *report = (iw_noise_report){.name = opts->name, .facts = *facts, .recording = recording};
    free(facts); /* its lists are the report's now */
    status = add_picture(log, recording, report);
    if (status == IW_OK && opts->has_cost && !report->facts.load.is_busy) {
        status = iwi_noise_cost_find(recording, &report->cost);
    }
    if (status == IW_OK && opts->has_spectrum) {
        status = add_spectrum(log, recording, report);
    }
    if (status != IW_OK) {
        iw_noise_report_release(report);
    }
    return status;
}

void iw_noise_report_release(iw_noise_report *report)
{
    free(report->facts.sources);
    free(report->facts.cpus);
    free(report->picture.points);
    free(report->picture.bins);
    iw_noise_spectrum_free(report->spectrum);
    free(report->no_spectrum);
}
