/* Puts recordings of the same CPUs one behind the other in time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/recording.h>

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/noise/detour_builder.h"
#include "core/noise/recording_head.h"
#include "core/noise/recording_join.h"

enum { LIST_SIZE = 200 };

/* One CPU of one input on its way to its place. */
struct appender {
    struct iwi_detour_builder builder;
    const uint32_t *map;
    int64_t end_ns;   /* of the input: what lies behind is cut off */
    int64_t later_ns; /* where its time 0 goes */
};

static const iw_detours *find_cpu(const iw_recording *recording, uint32_t number)
{
    for (size_t i = 0; i < recording->cpu_count; i++) {
        if (recording->cpus[i].cpu == number) {
            return &recording->cpus[i];
        }
    }
    return NULL;
}

static iw_status check_cpus(const struct iwi_join *j)
{
    const iw_recording *first = j->inputs[0].recording;
    char ours[LIST_SIZE], theirs[LIST_SIZE];

    for (size_t i = 1; i < j->count; i++) {
        const iw_recording *other = j->inputs[i].recording;
        bool is_same = other->cpu_count == first->cpu_count;

        for (size_t c = 0; c < first->cpu_count && is_same; c++) {
            is_same = find_cpu(other, first->cpus[c].cpu) != NULL;
        }
        if (!is_same) {
            return iwi_fail(j->log, IW_ERR_RANGE,
                            "'%s' is of CPUs %s, but '%s' of CPUs %s: only recordings of the same CPUs can "
                            "follow each other",
                            j->inputs[i].name, iwi_list_cpus(other, theirs, sizeof theirs), j->inputs[0].name,
                            iwi_list_cpus(first, ours, sizeof ours));
        }
    }
    return IW_OK;
}

/* Where an input ends: with its shortest CPU, so that all CPUs go on at the same instant. */
static int64_t shortest_ns(const iw_recording *recording)
{
    int64_t shortest = recording->cpu_count > 0 ? INT64_MAX : 0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        shortest = iwi_min(shortest, recording->cpus[i].length_ns);
    }
    return shortest;
}

static iw_status check_length(const struct iwi_join *j)
{
    const int64_t most_ns = IW_TIME_INPUT_MAX / IW_PS_PER_NS;
    int64_t sum_ns = 0;

    for (size_t i = 0; i < j->count; i++) {
        const iw_recording *recording = j->inputs[i].recording;

        for (size_t c = 0; c < recording->cpu_count; c++) {
            const iw_detours *cpu = &recording->cpus[c];
            const int64_t last_ns =
                cpu->count > 0 ? cpu->start_ns[cpu->count - 1] + cpu->duration_ns[cpu->count - 1] : 0;

            if (sum_ns + iwi_max(cpu->length_ns, last_ns) > most_ns) {
                return iwi_fail(j->log, IW_ERR_RANGE,
                                "'%s' would end after 240 h, longer than a noise file may be",
                                j->inputs[i].name);
            }
        }
        sum_ns += shortest_ns(recording);
    }
    return IW_OK;
}

static iw_status add_piece(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    struct appender *a = arg;

    return iwi_detour_add(&a->builder, a->map[source], iwi_min(end_ns, a->end_ns) - start_ns);
}

/* A detour that goes on where the one before it was cut by the seam. */
static bool is_continued(const struct appender *a, int64_t start_ns)
{
    const iw_detours *cpu = a->builder.cpu;

    return start_ns == 0 && a->later_ns > 0 && cpu->count > 0 &&
           cpu->start_ns[cpu->count - 1] + cpu->duration_ns[cpu->count - 1] == a->later_ns;
}

static iw_status append_detour(struct appender *a, const struct iwi_detour_row *row)
{
    const int64_t start_ns = row->cpu->start_ns[row->detour];
    const bool is_cut = start_ns + row->cpu->duration_ns[row->detour] > a->end_ns;

    if (is_continued(a, start_ns)) {
        IW_TRY(iwi_detour_reopen(&a->builder));
    } else if (is_cut) {
        iwi_detour_open(&a->builder, start_ns + a->later_ns);
    } else {
        return iwi_detour_copy(&a->builder, row, a->later_ns, a->map);
    }
    IW_TRY(iwi_detour_pieces(row, add_piece, a));
    return iwi_detour_close(&a->builder);
}

static void append_samples(const struct appender *a, const iw_detours *from, iw_detours *to)
{
    for (size_t i = 0; i < from->sample_count && from->sample_start_ns[i] < a->end_ns; i++) {
        to->sample_start_ns[to->sample_count] = from->sample_start_ns[i] + a->later_ns;
        to->sample[to->sample_count++] = from->sample[i];
    }
}

static iw_status append_cpu(struct appender *a, const iw_detours *from)
{
    iw_detours *to = a->builder.cpu;

    for (struct iwi_detour_row row = iwi_detour_first(from);
         row.detour < from->count && from->start_ns[row.detour] < a->end_ns; iwi_detour_next(&row)) {
        IW_TRY(append_detour(a, &row));
    }
    append_samples(a, from, to);
    to->dropped += a->end_ns >= from->length_ns ? from->dropped : 0;
    to->length_ns = a->later_ns + iwi_min(a->end_ns, from->length_ns);
    to->t_min_ns = fmin(to->t_min_ns, from->t_min_ns);
    to->threshold_ns = fmax(to->threshold_ns, from->threshold_ns);
    return IW_OK;
}

static iw_status begin_cpu(const struct iwi_join *j, size_t index)
{
    const iw_detours *first = &j->inputs[0].recording->cpus[index];
    iw_detours *to = &j->joined->cpus[index];
    size_t samples = 0;

    for (size_t i = 0; i < j->count; i++) {
        samples += find_cpu(j->inputs[i].recording, first->cpu)->sample_count;
    }
    to->cpu = first->cpu;
    to->t_min_ns = first->t_min_ns;
    to->sample_start_ns = iwi_new_array(j->log, samples, sizeof *to->sample_start_ns);
    to->sample = iwi_new_array(j->log, samples, sizeof *to->sample);
    return to->sample_start_ns != NULL && to->sample != NULL ? IW_OK : IW_ERR_NOMEM;
}

static iw_status join_cpu(const struct iwi_join *j, size_t index, int64_t *total_ns)
{
    iw_detours *to = &j->joined->cpus[index];
    struct appender a = {.builder = {.log = j->log, .cpu = to, .total_ns = total_ns}};

    IW_TRY(begin_cpu(j, index));
    for (size_t i = 0; i < j->count; i++) {
        const iw_recording *from = j->inputs[i].recording;
        const int64_t shortest = shortest_ns(from);

        a.map = j->maps[i];
        a.end_ns = i + 1 < j->count ? shortest : INT64_MAX;
        IW_TRY(append_cpu(&a, find_cpu(from, to->cpu)));
        a.later_ns += shortest;
    }
    return IW_OK;
}

static iw_status join_all(struct iwi_join *j)
{
    int64_t *total_ns = iwi_new_array(j->log, j->joined->source_count, sizeof *total_ns);
    iw_status status = total_ns != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t i = 0; i < j->joined->cpu_count && status == IW_OK; i++) {
        status = join_cpu(j, i, total_ns);
    }
    free(total_ns);
    return status;
}

iw_status iw_recording_append(const iw_log *log, const iw_merge_input *inputs, size_t count,
                              iw_recording **recording_p, iw_edit *edit_p)
{
    struct iwi_join j = {.log = log, .inputs = inputs, .count = count, .edit = {.kind = IW_EDIT_APPEND}};
    iw_status status = iwi_join_begin(&j, count > 0 ? inputs[0].recording->cpu_count : 0);

    if (status == IW_OK) {
        status = check_cpus(&j);
    }
    if (status == IW_OK) {
        status = check_length(&j);
    }
    if (status == IW_OK) {
        status = join_all(&j);
    }
    return iwi_join_end(&j, status, recording_p, edit_p);
}
