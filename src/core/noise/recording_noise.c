/* Makes noise of recordings: one trace a CPU, its pieces labelled with the sources that took the time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/log.h>
#include <idlewave/recording.h>
#include <idlewave/status.h>
#include <idlewave/time.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "core/noise/recording_check.h"
#include "core/noise/recording_head.h"
#include "core/noise/recording_noise.h"
#include "core/noise/recording_pieces.h"
#include "core/noise/source.h"
#include "core/noise/source_table.h"

/* ---- which recorded sources become sources of noise of their own: the largest over all recordings ---- */

/* Zeroed to begin with; release it also after a failure. */
struct labels {
    size_t recording_count;
    uint32_t **number; /* by recording and its source: number among all, told apart by class and name */
    iw_recording *all; /* only its list of sources */
    double *total_ns;  /* by number: time taken on all CPUs */
    size_t *pieces;    /* of each CPU of all recordings */
    uint8_t *label;    /* by number; those without one of their own share the last */
    size_t count;      /* of labels, with "other", if there is one */
    char *names[IW_NOISE_MAX_SOURCES];
};

enum { LABEL_NAME_SIZE = IW_SOURCE_NAME_SIZE + 16, NO_LABEL = UINT8_MAX };

/* ---- adding up ---- */

static iw_status number_sources(const iw_log *log, struct iwi_sources *table, const iw_recording *recording,
                                uint32_t **number_p)
{
    uint32_t *number = iwi_new_array(log, recording->source_count, sizeof *number);

    *number_p = number;
    if (number == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < recording->source_count; i++) {
        const iw_source *source = &recording->sources[i];

        IW_TRY(iwi_sources_find(log, table, source->kind, source->name, strlen(source->name), &number[i]));
    }
    return IW_OK;
}

static iw_status join_sources(const iw_log *log, struct labels *labels, const iw_recording *const *recordings)
{
    struct iwi_sources table = {.recording = NULL};
    iw_status status = iw_recording_new(log, 0, &labels->all);

    table.recording = labels->all;
    for (size_t i = 0; i < labels->recording_count && status == IW_OK; i++) {
        status = number_sources(log, &table, recordings[i], &labels->number[i]);
    }
    iwi_sources_release(&table);
    return status;
}

/* What a source took on a CPU within the common length. */
struct iwi_source_tally {
    size_t pieces;
    int64_t ns;
};

static void add_to_tally(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    struct iwi_source_tally *tally = (struct iwi_source_tally *)arg + source;

    tally->pieces++;
    tally->ns += end_ns - start_ns;
}

/* By recording, its CPU and source. */
static iw_status count_tallies(const iw_log *log, const iw_recording *const *recordings,
                               size_t recording_count, int64_t length_ns, struct iwi_source_tally **tallies_p)
{
    struct iwi_source_tally *tally;
    size_t count = 0;

    for (size_t i = 0; i < recording_count; i++) {
        count += recordings[i]->cpu_count * recordings[i]->source_count;
    }
    *tallies_p = tally = iwi_new_array(log, count, sizeof *tally);
    for (size_t i = 0; i < recording_count && tally != NULL; i++) {
        for (size_t cpu = 0; cpu < recordings[i]->cpu_count; cpu++, tally += recordings[i]->source_count) {
            iwi_cut_detours(&recordings[i]->cpus[cpu],
                            &(struct iwi_piece_sink){add_to_tally, tally, length_ns, NULL});
        }
    }
    return tally == NULL ? IW_ERR_NOMEM : IW_OK;
}

/* A recording's part of the totals, without what is dropped; *index counts the CPUs. */
static const struct iwi_source_tally *add_totals(struct labels *labels, size_t recording, size_t cpu_count,
                                                 size_t source_count, const bool *is_dropped,
                                                 const struct iwi_source_tally *tally, size_t *index)
{
    for (size_t cpu = 0; cpu < cpu_count; cpu++, ++*index) {
        for (size_t source = 0; source < source_count; source++, tally++) {
            if (is_dropped == NULL || !is_dropped[source]) {
                labels->pieces[*index] += tally->pieces;
                labels->total_ns[labels->number[recording][source]] += (double)tally->ns;
            }
        }
    }
    return tally;
}

/* Adds up what each source took. */
static iw_status labels_init(const iw_log *log, struct labels *labels, const iw_recording *const *recordings,
                             const bool *const *is_dropped, size_t recording_count,
                             const struct iwi_source_tally *tally)
{
    size_t cpu_count = 0, index = 0;

    for (size_t i = 0; i < recording_count; i++) {
        cpu_count += recordings[i]->cpu_count;
    }
    labels->number = iwi_new_array(log, recording_count, sizeof *labels->number);
    labels->pieces = iwi_new_array(log, cpu_count, sizeof *labels->pieces);
    if (labels->number == NULL || labels->pieces == NULL) {
        return IW_ERR_NOMEM;
    }
    labels->recording_count = recording_count;
    IW_TRY(join_sources(log, labels, recordings));
    labels->total_ns = iwi_new_array(log, labels->all->source_count, sizeof *labels->total_ns);
    labels->label = iwi_new_array(log, labels->all->source_count, sizeof *labels->label);
    if (labels->total_ns == NULL || labels->label == NULL) {
        return IW_ERR_NOMEM;
    }
    memset(labels->label, NO_LABEL, labels->all->source_count);
    for (size_t i = 0; i < recording_count; i++) {
        tally = add_totals(labels, i, recordings[i]->cpu_count, recordings[i]->source_count,
                           is_dropped == NULL ? NULL : is_dropped[i], tally, &index);
    }
    return IW_OK;
}

/* ---- choosing ---- */

static iw_status name_label(const iw_log *log, struct labels *labels, size_t label, const iw_source *source)
{
    char text[LABEL_NAME_SIZE];

    if (source == NULL) {
        snprintf(text, sizeof text, "%s", IWI_OTHER_SOURCES);
    } else {
        snprintf(text, sizeof text, "%s%s%s", iw_class_name(source->kind), source->name[0] != '\0' ? " " : "",
                 source->name);
    }
    for (char *c = text; *c != '\0'; c++) {
        *c = iscntrl((unsigned char)*c) ? '?' : *c; /* threads choose their names, terminals obey them */
    }
    labels->names[label] = strdup(text);
    if (labels->names[label] == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a noise source");
    }
    return IW_OK; /* NOLINT(clang-analyzer-unix.Malloc): the labels have it now */
}

/* The largest source without a label; source_count if all that took time have one. */
static size_t largest_source(const struct labels *labels)
{
    const size_t source_count = labels->all->source_count;
    size_t largest = source_count;

    for (size_t i = 0; i < source_count; i++) {
        if (labels->label[i] == NO_LABEL && labels->total_ns[i] > 0 &&
            (largest == source_count || labels->total_ns[i] > labels->total_ns[largest])) {
            largest = i;
        }
    }
    return largest;
}

/* Whether any source took time. */
static bool labels_have_time(const struct labels *labels)
{
    return largest_source(labels) < labels->all->source_count;
}

/* Gives labels to at most `room` > 0 sources, the one that took most first. */
static iw_status labels_choose(const iw_log *log, struct labels *labels, size_t room)
{
    const size_t source_count = labels->all->source_count;
    size_t with_time = 0, own;

    for (size_t i = 0; i < source_count; i++) {
        with_time += labels->total_ns[i] > 0;
    }
    own = with_time <= room ? with_time : room - 1;
    for (size_t label = 0; label < own; label++) {
        const size_t source = largest_source(labels);

        labels->label[source] = (uint8_t)label;
        IW_TRY(name_label(log, labels, label, &labels->all->sources[source]));
    }
    for (size_t i = 0; i < source_count; i++) {
        labels->label[i] = labels->label[i] == NO_LABEL ? (uint8_t)own : labels->label[i];
    }
    labels->count = own;
    if (own < with_time) {
        IW_TRY(name_label(log, labels, own, NULL));
        labels->count = own + 1;
    }
    return IW_OK;
}

/* Frees all, also the names that are still there. */
static void labels_release(struct labels *labels)
{
    for (size_t i = 0; i < labels->recording_count; i++) {
        free(labels->number[i]);
    }
    for (size_t label = 0; label < IW_NOISE_MAX_SOURCES; label++) {
        free(labels->names[label]);
    }
    free(labels->number);
    free(labels->pieces);
    free(labels->total_ns);
    free(labels->label);
    iw_recording_free(labels->all);
    *labels = (struct labels){.count = 0};
}

/* ---- recordings as noise ---- */

/* Sources of recordings that hit the CPUs of a node together, found by shifting CPUs against each other.
 *
 * A test by rank: if CPUs are hit independently of each other, the recorded shift of 0 is one of many that
 * could have been, and any of SHIFTS + 1 has the most coincidences with the same probability.
 */

struct iwi_recorded;

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
        const struct iwi_detour_piece *piece = &cpu->trace.pieces[i];
        struct sample *sample = &samples[cpu->label[i] * (size_t)CPUS + place];

        if (sample->count < MOST_DETOURS) {
            sample->start[sample->count] = piece->start_ps;
            sample->end[sample->count++] = piece->start_ps + piece->duration_ps + NEAR_PS;
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

/* By label: at least half of its detours coincide on neighbouring CPUs, and more than CPUs that are shifted
 * against each other would let expect: those that hit CPUs independently of each other are found so in one
 * case of a hundred, at most. */
static iw_status find_node_wide(const iw_log *log, const struct iwi_recorded *recorded, bool *is_node_wide)
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

struct builder {
    const iw_log *log;
    const char *name; /* of the input */
    const char *const *names;
    const iw_recording *const *recordings;
    const bool *const *is_dropped; /* by recording and source; NULL: none is, and they are not checked yet */
    iw_recording **owned;          /* the same, each freed as soon as it is not needed any more; or NULL */
    size_t count;
    int64_t most_ns;                                 /* 0: no limit */
    int64_t length_ns;                               /* the same for all CPUs */
    size_t most_cpus;                                /* of a node */
    struct iwi_source_tally *own_tallies, **tallies; /* these, or the caller's */
    struct labels labels;
    struct iwi_recorded *recorded;
};

/* ---- pieces to traces ---- */

struct trace_filler {
    const struct labels *labels;
    const uint32_t *number; /* of the recording's sources */
    struct iwi_recorded_cpu *cpu;
    iw_time *busy_ps; /* by label */
};

static inline void add_to_trace(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    const struct trace_filler *filler = arg;
    const uint8_t label = filler->labels->label[filler->number[source]];
    const iw_time start_ps = start_ns * IW_PS_PER_NS, duration_ps = (end_ns - start_ns) * IW_PS_PER_NS;
    struct iwi_recorded_cpu *cpu = filler->cpu;
    struct iwi_detour_trace *trace = &cpu->trace;
    const size_t n = trace->count;

    filler->busy_ps[label] += duration_ps;
    trace->free_ps -= duration_ps;
    if (n > 0 && cpu->label[n - 1] == label &&
        trace->pieces[n - 1].start_ps + trace->pieces[n - 1].duration_ps == start_ps) {
        trace->pieces[n - 1].duration_ps += duration_ps;
        return;
    }
    trace->pieces[n] = (struct iwi_detour_piece){start_ps, duration_ps};
    if (n % IWI_PIECES_PER_SUM == 0) {
        trace->free_before_ps[n / IWI_PIECES_PER_SUM] =
            start_ps - (trace->length_ps - trace->free_ps - duration_ps);
    }
    cpu->label[n] = label;
    trace->count++;
}

/* CPU `index` among those of all nodes. */
static iw_status build_cpu(struct builder *b, size_t node, const iw_detours *detours, size_t index)
{
    const size_t most = b->labels.pieces[index];
    struct iwi_recorded_cpu *cpu = &b->recorded->cpus[index];
    struct trace_filler filler = {&b->labels, b->labels.number[node], cpu,
                                  &b->recorded->busy_ps[index * IW_NOISE_MAX_SOURCES]};

    cpu->trace = (struct iwi_detour_trace){
        .pieces = iwi_new_array(b->log, most, sizeof(struct iwi_detour_piece)),
        .free_before_ps = iwi_new_array(b->log, most / IWI_PIECES_PER_SUM + 1, sizeof(iw_time)),
        .length_ps = b->recorded->length_ps,
        .free_ps = b->recorded->length_ps};
    cpu->label = iwi_new_array(b->log, most, sizeof *cpu->label);
    if (cpu->trace.pieces == NULL || cpu->trace.free_before_ps == NULL || cpu->label == NULL) {
        return IW_ERR_NOMEM;
    }
    iwi_cut_detours(detours, &(struct iwi_piece_sink){add_to_trace, &filler, b->length_ns,
                                                      b->is_dropped == NULL ? NULL : b->is_dropped[node]});
    if (cpu->trace.count > 0 && cpu->trace.free_ps == 0) {
        return iwi_fail(b->log, IW_ERR_RANGE,
                        "'%s': the detours of CPU %" PRIu32 " fill the whole length of %" PRId64
                        " ns, so no time is left to work",
                        b->names[node], detours->cpu, b->length_ns);
    }
    return iwi_detour_trace_index(b->log, &cpu->trace);
}

static iw_status new_recorded(struct builder *b, size_t cpu_count)
{
    struct iwi_recorded *recorded = iwi_new_array(b->log, 1, sizeof *recorded);

    if (recorded == NULL) {
        return IW_ERR_NOMEM;
    }
    b->recorded = recorded;
    recorded->label_count = b->labels.count;
    recorded->length_ps = b->length_ns * IW_PS_PER_NS;
    recorded->first_cpu = iwi_new_array(b->log, b->count + 1, sizeof *recorded->first_cpu);
    recorded->cpus = iwi_new_array(b->log, cpu_count, sizeof *recorded->cpus);
    recorded->busy_ps = iwi_new_array(b->log, cpu_count, IW_NOISE_MAX_SOURCES * sizeof(iw_time));
    if (recorded->first_cpu == NULL || recorded->cpus == NULL || recorded->busy_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    recorded->node_count = b->count;
    recorded->cpu_count = cpu_count;
    return IW_OK;
}

static iw_status build_traces(struct builder *b)
{
    size_t cpu_count = 0, index = 0;

    for (size_t node = 0; node < b->count; node++) {
        cpu_count += b->recordings[node]->cpu_count;
    }
    IW_TRY(new_recorded(b, cpu_count));
    for (size_t node = 0; node < b->count; node++) {
        for (size_t i = 0; i < b->recordings[node]->cpu_count; i++, index++) {
            IW_TRY(build_cpu(b, node, &b->recordings[node]->cpus[i], index));
        }
        b->recorded->first_cpu[node + 1] = index;
        if (b->owned != NULL) {
            iw_recording_free(b->owned[node]);
            b->owned[node] = NULL;
        }
    }
    return IW_OK;
}

/* ---- sources that hit all CPUs of a node ---- */

static iw_status order_cpu(const iw_log *log, struct iwi_recorded_cpu *cpu, const bool *is_node_wide)
{
    const size_t count = cpu->trace.count;
    size_t place = 0;

    cpu->order = iwi_new_array(log, count, sizeof *cpu->order);
    if (cpu->order == NULL) {
        return IW_ERR_NOMEM;
    }
    for (int wide = 0; wide < 2; wide++) {
        for (size_t piece = 0; piece < count; piece++) {
            if (is_node_wide[cpu->label[piece]] == (wide == 1)) {
                cpu->order[place++] = (uint32_t)piece;
            }
        }
        cpu->own_count = wide == 0 ? place : cpu->own_count;
    }
    return IW_OK;
}

static iw_status order_pieces(const struct builder *b)
{
    struct iwi_recorded *recorded = b->recorded;
    bool is_node_wide[IW_NOISE_MAX_SOURCES];

    IW_TRY(find_node_wide(b->log, recorded, is_node_wide));
    for (size_t label = 0; label < recorded->label_count; label++) {
        recorded->has_own |= !is_node_wide[label];
        recorded->has_node_wide |= is_node_wide[label];
    }
    for (size_t i = 0; i < recorded->cpu_count && recorded->has_own && recorded->has_node_wide; i++) {
        IW_TRY(order_cpu(b->log, &recorded->cpus[i], is_node_wide));
    }
    return IW_OK;
}

/* ---- into the noise ---- */

static iw_status check_recording(const iw_log *log, const char *name, const iw_recording *recording)
{
    if (recording->probe == IW_PROBE_FTQ) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s' was recorded with FTQ, which shows how much work was done but not when detours "
                        "began and ended, so it cannot be replayed; record with selfish or fwq",
                        name);
    }
    return iwi_recording_check(log, name, recording, IW_ERR_RANGE);
}

/* One length for all, that of the shortest. One that was not watched at all would leave nothing of the
 * others. */
static iw_status choose_length(struct builder *b)
{
    int64_t longest_ns = 0;
    size_t shortest = 0;

    b->length_ns = INT64_MAX;
    for (size_t i = 0; i < b->count; i++) {
        int64_t length_ns;

        if (b->is_dropped == NULL) {
            IW_TRY(check_recording(b->log, b->names[i], b->recordings[i]));
        }
        length_ns = iwi_common_length_ns(b->recordings[i]);
        if (length_ns == 0 && b->count > 1) {
            return iwi_fail(b->log, IW_ERR_RANGE,
                            "'%s' has no recorded time on one of its CPUs, and all nodes are cut to the "
                            "shortest; remove the file, or record that node again",
                            b->names[i]);
        }
        shortest = length_ns < b->length_ns ? i : shortest;
        b->most_cpus =
            b->recordings[i]->cpu_count > b->most_cpus ? b->recordings[i]->cpu_count : b->most_cpus;
        b->length_ns = iwi_min(b->length_ns, length_ns);
        longest_ns = iwi_max(longest_ns, length_ns);
    }
    if (b->most_ns > 0) {
        b->length_ns = iwi_min(b->length_ns, b->most_ns);
    } else if (b->length_ns < longest_ns / 2) {
        iwi_warn(b->log,
                 "'%s' was recorded for %.3g s only, and all nodes are cut to the shortest; the longest has "
                 "%.3g s",
                 b->names[shortest], (double)b->length_ns / 1e9, (double)longest_ns / 1e9);
    }
    return IW_OK;
}

static iw_status build(struct builder *b, iw_noise *noise)
{
    IW_TRY(choose_length(b));
    if (*b->tallies == NULL) {
        IW_TRY(count_tallies(b->log, b->recordings, b->count, b->length_ns, b->tallies));
    }
    IW_TRY(labels_init(b->log, &b->labels, b->recordings, b->is_dropped, b->count, *b->tallies));
    if (!labels_have_time(&b->labels) && b->is_dropped != NULL) {
        return IW_OK;
    }
    if (!labels_have_time(&b->labels)) {
        iwi_warn(b->log,
                 b->length_ns > 0 ? "'%s' holds no detours, so it adds no noise"
                                  : "'%s' has no recorded time on one of its CPUs, so it adds no noise; "
                                    "record again, or leave that CPU out",
                 b->name);
        return IW_OK;
    }
    if (noise->count == IW_NOISE_MAX_SOURCES && !iwi_recorded_fold(noise)) {
        return iwi_fail(b->log, IW_ERR_RANGE, "'%s' is one noise source too many: at most %d can be added up",
                        b->name, IW_NOISE_MAX_SOURCES);
    }
    IW_TRY(labels_choose(b->log, &b->labels, IW_NOISE_MAX_SOURCES - noise->count));
    IW_TRY(build_traces(b));
    return order_pieces(b);
}

static void hand_over(struct builder *b, iw_noise *noise)
{
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the noise has the names of all labels that count */
    for (size_t label = 0; label < b->labels.count; label++) {
        const struct iwi_noise_source source = {
            .ops = label == 0 ? &iwi_source_recording : &iwi_source_recording_part,
            .name = b->labels.names[label],
            .nodes_together = noise->align == IW_ALIGN_WALL ? (uint32_t)b->recorded->node_count : 1,
            .u.recorded = {b->recorded, label}};

        iwi_source_commit(noise, &source);
        b->labels.names[label] = NULL;
    }
}

static iw_status add(struct builder *b, iw_noise *noise)
{
    iw_status status;

    if (b->count == 0) {
        return iwi_fail(b->log, IW_ERR_RANGE, "'%s' holds no recording of any node", b->name);
    }
    b->tallies = b->tallies == NULL ? &b->own_tallies : b->tallies;
    status = build(b, noise);
    free(b->own_tallies);
    if (status == IW_OK && b->is_dropped != NULL && b->recorded == NULL) {
        status = iw_noise_add(b->log, noise, "none");
    } else if (status == IW_OK) {
        hand_over(b, noise);
        noise->input_count++;
        iwi_noise_met_cpus(noise, b->most_cpus);
    } else {
        iwi_recorded_free(b->recorded);
    }
    labels_release(&b->labels);
    return status;
}

static struct builder builder_of(const iw_log *log, const struct iwi_recorded_input *input)
{
    return (struct builder){.log = log,
                            .name = input->name,
                            .names = input->names,
                            .recordings = input->recordings,
                            .count = input->count,
                            .most_ns = input->most_ns};
}

iw_status iwi_noise_add_input(const iw_log *log, iw_noise *noise, const struct iwi_recorded_input *input)
{
    struct builder b = builder_of(log, input);

    return add(&b, noise);
}

iw_status iwi_noise_add_rest(const iw_log *log, iw_noise *noise, const struct iwi_recorded_input *input,
                             const bool *const *is_dropped, struct iwi_source_tally **tallies)
{
    struct builder b = builder_of(log, input);

    b.is_dropped = is_dropped;
    b.tallies = tallies;
    return add(&b, noise);
}

iw_status iwi_noise_take_recordings(const iw_log *log, iw_noise *noise, const char *name,
                                    const char *const *names, iw_recording **recordings, size_t count)
{
    if (noise->align == IW_ALIGN_WALL && count > 1) {
        iw_wall_window window;

        IW_TRY(iw_recordings_cut_to_wall(log, names, recordings, count, &window));
    }

    struct builder b = {.log = log,
                        .name = name,
                        .names = names,
                        .recordings = (const iw_recording *const *)recordings,
                        .owned = recordings,
                        .count = count};

    return add(&b, noise);
}

iw_status iwi_noise_add_named_recording(const iw_log *log, iw_noise *noise, const char *name,
                                        const iw_recording *recording)
{
    return iwi_noise_add_input(log, noise, &(struct iwi_recorded_input){name, &name, &recording, 1, 0});
}

iw_status iw_noise_add_recording(const iw_log *log, iw_noise *noise, const iw_recording *recording)
{
    return iwi_noise_add_named_recording(log, noise, "recording", recording);
}

iw_status iw_noise_add_recordings(const iw_log *log, iw_noise *noise, const iw_recording *const *recordings,
                                  size_t count)
{
    const char **names = iwi_new_array(log, count, sizeof *names);
    iw_status status;

    if (names == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const char *host = iw_recording_get(recordings[i], "host");

        names[i] = host != NULL ? host : "recording";
    }
    status = iwi_noise_add_input(log, noise,
                                 &(struct iwi_recorded_input){"recordings", names, recordings, count, 0});
    free(names);
    return status;
}
