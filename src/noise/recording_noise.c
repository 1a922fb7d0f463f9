/* Makes noise of a recording: one trace a CPU, its pieces labelled with the sources that took the time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "noise/recording_noise.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "noise/recording_check.h"
#include "noise/source.h"

enum { LABEL_NAME_SIZE = IW_SOURCE_NAME_SIZE + 16, NO_LABEL = UINT8_MAX };

static const char other_name[] = "other";

struct builder {
    const iw_log *log;
    const char *name;
    const iw_recording *recording;
    int64_t length_ns;  /* the same for all CPUs */
    double *total_ns;   /* by recorded source */
    uint8_t *label;     /* by recorded source; those without one of their own share the last */
    size_t label_count; /* with "other", if there is one */
    char *label_names[IW_NOISE_MAX_SOURCES];
    struct iwi_recorded *recorded;
};

/* ---- detours to pieces ---- */

/* Takes [start, end) of one recorded source; never empty, ascending, disjoint. */
typedef void (*piece_fn)(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source);

struct piece_sink {
    piece_fn take;
    void *arg;
    int64_t length_ns;
};

/* Cuts at the length; returns where the piece ends. */
static int64_t give_piece(const struct piece_sink *sink, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    const int64_t cut_ns = iwi_min(end_ns, sink->length_ns);

    if (cut_ns > start_ns) {
        sink->take(sink->arg, start_ns, cut_ns, source);
    }
    return end_ns;
}

/* Parts come first, in the order of their rows; what is left of a detour belongs to its main source. */
static void cut_detours(const iw_detours *detours, const struct piece_sink *sink)
{
    size_t part = 0;

    for (size_t i = 0; i < detours->count && detours->start_ns[i] < sink->length_ns; i++) {
        const int64_t end_ns = detours->start_ns[i] + detours->duration_ns[i];
        int64_t at_ns = detours->start_ns[i];

        for (; part < detours->part_count && detours->part_detour[part] == i; part++) {
            at_ns = give_piece(sink, at_ns, iwi_min(end_ns, at_ns + detours->part_ns[part]),
                               detours->part_source[part]);
        }
        (void)give_piece(sink, at_ns, end_ns, detours->source[i]);
    }
}

/* ---- which sources get labels of their own ---- */

static void add_to_total(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    double *total_ns = arg;

    total_ns[source] += (double)(end_ns - start_ns);
}

static iw_status sum_totals(struct builder *b)
{
    b->total_ns = iwi_new_array(b->log, b->recording->source_count, sizeof *b->total_ns);
    b->label = iwi_new_array(b->log, b->recording->source_count, sizeof *b->label);
    if (b->total_ns == NULL || b->label == NULL) {
        return IW_ERR_NOMEM;
    }
    memset(b->label, NO_LABEL, b->recording->source_count);
    for (size_t i = 0; i < b->recording->cpu_count; i++) {
        cut_detours(&b->recording->cpus[i], &(struct piece_sink){add_to_total, b->total_ns, b->length_ns});
    }
    return IW_OK;
}

static iw_status name_label(struct builder *b, size_t label, const iw_source *source)
{
    char text[LABEL_NAME_SIZE];

    if (source == NULL) {
        snprintf(text, sizeof text, "%s", other_name);
    } else {
        snprintf(text, sizeof text, "%s%s%s", iw_class_name(source->kind), source->name[0] != '\0' ? " " : "",
                 source->name);
    }
    for (char *c = text; *c != '\0'; c++) {
        *c = iscntrl((unsigned char)*c) ? '?' : *c; /* threads choose their names, terminals obey them */
    }
    b->label_names[label] = strdup(text);
    if (b->label_names[label] == NULL) {
        return iwi_fail(b->log, IW_ERR_NOMEM, "out of memory for the name of a noise source");
    }
    return IW_OK; /* NOLINT(clang-analyzer-unix.Malloc): hand_over() or discard() takes the name */
}

/* The largest source without a label; source_count if all that took time have one. */
static size_t largest_source(const struct builder *b)
{
    size_t largest = b->recording->source_count;

    for (size_t i = 0; i < b->recording->source_count; i++) {
        if (b->label[i] == NO_LABEL && b->total_ns[i] > 0 &&
            (largest == b->recording->source_count || b->total_ns[i] > b->total_ns[largest])) {
            largest = i;
        }
    }
    return largest;
}

static iw_status choose_labels(struct builder *b, size_t room)
{
    const size_t source_count = b->recording->source_count;
    size_t with_time = 0, own;

    for (size_t i = 0; i < source_count; i++) {
        with_time += b->total_ns[i] > 0;
    }
    own = with_time <= room ? with_time : room - 1;
    for (size_t label = 0; label < own; label++) {
        const size_t source = largest_source(b);

        b->label[source] = (uint8_t)label;
        IW_TRY(name_label(b, label, &b->recording->sources[source]));
    }
    for (size_t i = 0; i < source_count; i++) {
        b->label[i] = b->label[i] == NO_LABEL ? (uint8_t)own : b->label[i];
    }
    b->label_count = own;
    if (own < with_time) {
        IW_TRY(name_label(b, own, NULL));
        b->label_count = own + 1;
    }
    return IW_OK;
}

/* ---- pieces to traces ---- */

struct trace_filler {
    const struct builder *builder;
    struct iwi_recorded_cpu *cpu;
    iw_time *busy_ps; /* by label */
};

static void add_to_trace(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    const struct trace_filler *filler = arg;
    const uint8_t label = filler->builder->label[source];
    const iw_time start_ps = start_ns * IW_PS_PER_NS, duration_ps = (end_ns - start_ns) * IW_PS_PER_NS;
    struct iwi_recorded_cpu *cpu = filler->cpu;
    struct iwi_trace *trace = &cpu->trace;
    const size_t n = trace->count;

    filler->busy_ps[label] += duration_ps;
    trace->free_ps -= duration_ps;
    if (n > 0 && cpu->label[n - 1] == label &&
        trace->start_ps[n - 1] + trace->duration_ps[n - 1] == start_ps) {
        trace->duration_ps[n - 1] += duration_ps;
        return;
    }
    trace->start_ps[n] = start_ps;
    trace->duration_ps[n] = duration_ps;
    trace->free_before_ps[n] = start_ps - (trace->length_ps - trace->free_ps - duration_ps);
    cpu->label[n] = label;
    trace->count++;
}

static iw_status build_cpu(struct builder *b, size_t index)
{
    const iw_detours *detours = &b->recording->cpus[index];
    const size_t most = detours->count + detours->part_count;
    struct iwi_recorded_cpu *cpu = &b->recorded->cpus[index];
    struct trace_filler filler = {b, cpu, &b->recorded->busy_ps[index * IW_NOISE_MAX_SOURCES]};

    cpu->trace = (struct iwi_trace){.start_ps = iwi_new_array(b->log, most, sizeof(iw_time)),
                                    .duration_ps = iwi_new_array(b->log, most, sizeof(iw_time)),
                                    .free_before_ps = iwi_new_array(b->log, most, sizeof(iw_time)),
                                    .length_ps = b->recorded->length_ps,
                                    .free_ps = b->recorded->length_ps};
    cpu->label = iwi_new_array(b->log, most, sizeof *cpu->label);
    if (cpu->trace.start_ps == NULL || cpu->trace.duration_ps == NULL || cpu->trace.free_before_ps == NULL ||
        cpu->label == NULL) {
        return IW_ERR_NOMEM;
    }
    cut_detours(detours, &(struct piece_sink){add_to_trace, &filler, b->length_ns});
    if (cpu->trace.count > 0 && cpu->trace.free_ps == 0) {
        return iwi_fail(b->log, IW_ERR_RANGE,
                        "'%s': the detours of CPU %" PRIu32 " fill the whole length of %" PRId64
                        " ns, so no time is left to work",
                        b->name, detours->cpu, b->length_ns);
    }
    return IW_OK;
}

static iw_status build_traces(struct builder *b)
{
    const size_t cpu_count = b->recording->cpu_count;
    struct iwi_recorded *recorded = iwi_new_array(b->log, 1, sizeof *recorded);

    if (recorded == NULL) {
        return IW_ERR_NOMEM;
    }
    b->recorded = recorded;
    recorded->label_count = b->label_count;
    recorded->length_ps = b->length_ns * IW_PS_PER_NS;
    recorded->cpus = iwi_new_array(b->log, cpu_count, sizeof *recorded->cpus);
    recorded->busy_ps = iwi_new_array(b->log, cpu_count, IW_NOISE_MAX_SOURCES * sizeof(iw_time));
    if (recorded->cpus == NULL || recorded->busy_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    recorded->cpu_count = cpu_count;
    for (size_t i = 0; i < cpu_count; i++) {
        IW_TRY(build_cpu(b, i));
    }
    return IW_OK;
}

void iwi_recorded_free(struct iwi_recorded *recorded)
{
    if (recorded == NULL) {
        return;
    }
    for (size_t i = 0; i < recorded->cpu_count; i++) {
        iwi_trace_release(&recorded->cpus[i].trace);
        free(recorded->cpus[i].label);
    }
    free(recorded->cpus);
    free(recorded->busy_ps);
    free(recorded);
}

/* ---- into the noise ---- */

static int64_t common_length_ns(const iw_recording *recording)
{
    int64_t length_ns = recording->cpu_count > 0 ? INT64_MAX : 0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        length_ns = iwi_min(length_ns, recording->cpus[i].length_ns);
    }
    return length_ns;
}

static iw_status build(struct builder *b, iw_noise *noise)
{
    IW_TRY(sum_totals(b));
    if (largest_source(b) == b->recording->source_count) {
        iwi_warn(b->log, "'%s' holds no detours, so it adds no noise", b->name);
        return IW_OK;
    }
    if (noise->count == IW_NOISE_MAX_SOURCES && !iwi_recorded_fold(noise)) {
        return iwi_fail(b->log, IW_ERR_RANGE, "'%s' is one noise source too many: at most %d can be added up",
                        b->name, IW_NOISE_MAX_SOURCES);
    }
    IW_TRY(choose_labels(b, IW_NOISE_MAX_SOURCES - noise->count));
    return build_traces(b);
}

static void hand_over(struct builder *b, iw_noise *noise)
{
    for (size_t label = 0; label < b->label_count; label++) {
        const struct iwi_source source = {.ops =
                                              label == 0 ? &iwi_source_recording : &iwi_source_recording_part,
                                          .name = b->label_names[label],
                                          .u.recorded = {b->recorded, label}};

        iwi_source_commit(noise, &source);
    }
}

static void discard(struct builder *b)
{
    for (size_t label = 0; label < IW_NOISE_MAX_SOURCES; label++) {
        free(b->label_names[label]);
    }
    iwi_recorded_free(b->recorded);
}

iw_status iwi_noise_add_recording(const iw_log *log, iw_noise *noise, const char *name,
                                  const iw_recording *recording)
{
    struct builder b = {
        .log = log, .name = name, .recording = recording, .length_ns = common_length_ns(recording)};
    iw_status status;

    if (recording->probe == IW_PROBE_FTQ) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s' was recorded with FTQ, which tells how much work was done but not when detours "
                        "began and ended, so there is nothing to replay: record with selfish or fwq",
                        name);
    }
    IW_TRY(iwi_recording_check(log, name, recording, IW_ERR_RANGE));
    status = build(&b, noise);
    if (status == IW_OK) {
        hand_over(&b, noise);
    } else {
        discard(&b);
    }
    free(b.total_ns);
    free(b.label); /* NOLINT(clang-analyzer-unix.Malloc): hand_over() gave the names to the noise */
    return status;
}

iw_status iw_noise_add_recording(const iw_log *log, iw_noise *noise, const iw_recording *recording)
{
    return iwi_noise_add_recording(log, noise, "recording", recording);
}

/* ---- making room ---- */

static void join_last_labels(struct iwi_recorded *recorded)
{
    const size_t last = --recorded->label_count;

    for (size_t i = 0; i < recorded->cpu_count; i++) {
        struct iwi_recorded_cpu *cpu = &recorded->cpus[i];
        iw_time *busy_ps = &recorded->busy_ps[i * IW_NOISE_MAX_SOURCES];

        for (size_t piece = 0; piece < cpu->trace.count; piece++) {
            cpu->label[piece] = (uint8_t)(cpu->label[piece] == last ? last - 1 : cpu->label[piece]);
        }
        busy_ps[last - 1] += busy_ps[last];
    }
}

static void remove_source(iw_noise *noise, size_t number)
{
    free(noise->sources[number].name);
    memmove(&noise->sources[number], &noise->sources[number + 1],
            (noise->count - number - 1) * sizeof noise->sources[0]);
    noise->count--;
    for (size_t i = 0; i < noise->clocked_count; i++) {
        noise->clocked[i] -= noise->clocked[i] > number;
    }
}

bool iwi_recorded_fold(iw_noise *noise)
{
    size_t number = noise->count;
    char *name;

    while (number > 0 && noise->sources[number - 1].ops != &iwi_source_recording_part) {
        number--;
    }
    name = number > 0 ? strdup(other_name) : NULL;
    if (name == NULL) {
        return false;
    }
    number--;
    join_last_labels(noise->sources[number].u.recorded.recorded);
    remove_source(noise, number);
    free(noise->sources[number - 1].name);
    noise->sources[number - 1].name = name;
    return true;
}
