/* What merging and appending recordings share: checks, sources and attributes of several as one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/recording.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/noise/detour_builder.h"
#include "core/noise/recording_check.h"
#include "core/noise/recording_head.h"
#include "core/noise/source_table.h"

/* Longer lists of values are of no use to anybody. */
enum { MOST_VALUE_BYTES = 4096 };

static const char LOST_EVENTS[] = "kernel_events_lost";

static iw_status check_inputs(const struct iwi_join *j)
{
    const iw_recording *first = j->count > 0 ? j->inputs[0].recording : NULL;

    if (first == NULL) {
        return iwi_fail(j->log, IW_ERR_USAGE, "no recording to join");
    }
    for (size_t i = 0; i < j->count; i++) {
        const iw_recording *other = j->inputs[i].recording;

        IW_TRY(iwi_recording_check(j->log, j->inputs[i].name, other, IW_ERR_RANGE));
        if (other->probe != first->probe) {
            return iwi_fail(j->log, IW_ERR_RANGE,
                            "'%s' was recorded with %s, but '%s' with %s; only recordings of the same probe "
                            "can be joined",
                            j->inputs[i].name, iw_probe_name(other->probe), j->inputs[0].name,
                            iw_probe_name(first->probe));
        }
        if (other->quantum_ns != first->quantum_ns) {
            return iwi_fail(j->log, IW_ERR_RANGE,
                            "'%s' has quanta of %" PRId64 " ns, but '%s' of %" PRId64
                            " ns; only recordings with the same quantum can be joined",
                            j->inputs[i].name, other->quantum_ns, j->inputs[0].name, first->quantum_ns);
        }
    }
    return IW_OK;
}

static iw_status join_sources_of(struct iwi_join *j, size_t input, struct iwi_sources *table)
{
    const iw_recording *from = j->inputs[input].recording;
    uint32_t *map = iwi_new_array(j->log, from->source_count, sizeof *map);

    if (map == NULL) {
        return IW_ERR_NOMEM;
    }
    j->maps[input] = map;
    for (size_t s = 0; s < from->source_count; s++) {
        const iw_source *source = &from->sources[s];

        IW_TRY(iwi_sources_find(j->log, table, source->kind, source->name, strlen(source->name), &map[s]));
    }
    return IW_OK;
}

static iw_status join_sources(struct iwi_join *j)
{
    struct iwi_sources table = {.recording = j->joined};
    iw_status status = IW_OK;

    j->maps = iwi_new_array(j->log, j->count, sizeof *j->maps);
    if (j->maps == NULL) {
        return IW_ERR_NOMEM;
    }
    j->map_count = j->count;
    for (size_t i = 0; i < j->count && status == IW_OK; i++) {
        status = join_sources_of(j, i, &table);
    }
    iwi_sources_release(&table);
    return status;
}

/* Whether an input before number `end` has this value of the attribute too. */
static bool is_said_before(const struct iwi_join *j, size_t end, const char *name, const char *value)
{
    for (size_t i = 0; i < end; i++) {
        const char *other = iw_recording_get(j->inputs[i].recording, name);

        if (other != NULL && strcmp(other, value) == 0) {
            return true;
        }
    }
    return false;
}

/* "a | b": each value once, in the order of the inputs. */
static void write_values(const struct iwi_join *j, const char *name, FILE *out)
{
    size_t used = 0;

    for (size_t i = 0; i < j->count; i++) {
        const char *value = iw_recording_get(j->inputs[i].recording, name);

        if (value == NULL || is_said_before(j, i, name, value)) {
            continue;
        }
        if (used > 0 && used + strlen(value) > MOST_VALUE_BYTES) {
            (void)fputs(" | ...", out);
            return;
        }
        used += (size_t)fprintf(out, "%s%s", used > 0 ? " | " : "", value);
    }
}

static iw_status join_attribute(struct iwi_join *j, const char *name)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    iw_status status;

    if (out != NULL) {
        write_values(j, name, out);
    }
    if (out == NULL || fclose(out) != 0) {
        free(text);
        return iwi_fail(j->log, IW_ERR_NOMEM, "out of memory for attribute '%s'", name);
    }
    status = iw_recording_set(j->log, j->joined, name, text);
    free(text);
    return status;
}

/* The sum: how many events were lost in all that this was made from. */
static iw_status join_lost_events(struct iwi_join *j)
{
    char text[32];
    double sum = 0.0;

    for (size_t i = 0; i < j->count; i++) {
        const char *value = iw_recording_get(j->inputs[i].recording, LOST_EVENTS);

        sum += value != NULL ? strtod(value, NULL) : 0.0;
    }
    snprintf(text, sizeof text, "%.15g", sum);
    return iw_recording_set(j->log, j->joined, LOST_EVENTS, text);
}

static iw_status join_attributes(struct iwi_join *j)
{
    for (size_t i = 0; i < j->count; i++) {
        const iw_recording *from = j->inputs[i].recording;

        for (size_t a = 0; a < from->attribute_count; a++) {
            const char *name = from->attributes[a].name;

            if (iw_recording_get(j->joined, name) == NULL && (j->count == 1 || !iwi_is_of_the_whole(name))) {
                IW_TRY(strcmp(name, LOST_EVENTS) == 0 ? join_lost_events(j) : join_attribute(j, name));
            }
        }
    }
    return IW_OK;
}

iw_status iwi_join_begin(struct iwi_join *j, size_t cpu_count)
{
    IW_TRY(check_inputs(j));
    if (cpu_count > IWI_MOST_CPUS) {
        return iwi_fail(j->log, IW_ERR_RANGE, "%zu CPUs are too many; a noise file has at most %d", cpu_count,
                        IWI_MOST_CPUS);
    }
    IW_TRY(iw_recording_new(j->log, cpu_count, &j->joined));
    j->joined->probe = j->inputs[0].recording->probe;
    j->joined->quantum_ns = j->inputs[0].recording->quantum_ns;
    j->joined->attribution = j->inputs[0].recording->attribution;
    for (size_t i = 0; i < j->count; i++) {
        const iw_recording *from = j->inputs[i].recording;

        j->joined->attribution =
            from->attribution < j->joined->attribution ? from->attribution : j->joined->attribution;
        iwi_edit_count(&j->edit, from);
    }
    IW_TRY(join_sources(j));
    return join_attributes(j);
}

iw_status iwi_join_end(struct iwi_join *j, iw_status status, iw_recording **recording_p, iw_edit *edit_p)
{
    for (size_t i = 0; i < j->map_count; i++) {
        free(j->maps[i]);
    }
    free(j->maps);
    if (status != IW_OK) {
        iw_recording_free(j->joined);
        return status;
    }
    *recording_p = j->joined;
    *edit_p = j->edit;
    return IW_OK;
}

/* Puts the CPUs of several recordings into one, side by side. */

/* ---- numbers ---- */

/* A CPU of an input: its number there, and its place among all CPUs. */
struct numbered {
    uint32_t number;
    size_t place;
};

IWI_COMPARE(by_number_then_place, struct numbered, IWI_RISING(number), IWI_RISING(place))

/* Moves *next up to a number that none of the sorted CPUs has; *at follows it through them. */
static void skip_used(const struct numbered *sorted, size_t count, size_t *at, uint32_t *next)
{
    while (*at < count && sorted[*at].number <= *next) {
        *next += sorted[*at].number == *next;
        ++*at;
    }
}

/* numbers[place] of CPUs that come second and later gets the lowest number that none has. */
static size_t renumber(const struct numbered *sorted, size_t count, bool *is_taken, uint32_t *numbers)
{
    size_t at = 0, changed = 0;
    uint32_t next = 0;

    for (size_t i = 1; i < count; i++) {
        is_taken[sorted[i].place] = sorted[i].number == sorted[i - 1].number;
    }
    for (size_t place = 0; place < count; place++) {
        if (is_taken[place]) {
            skip_used(sorted, count, &at, &next);
            numbers[place] = next++;
            changed++;
        }
    }
    return changed;
}

static iw_status choose_numbers(struct iwi_join *j, uint32_t *numbers, size_t count)
{
    struct numbered *sorted = iwi_new_array(j->log, count, sizeof *sorted);
    bool *is_taken = iwi_new_array(j->log, count, sizeof *is_taken);

    if (sorted != NULL && is_taken != NULL) {
        for (size_t i = 0; i < count; i++) {
            sorted[i] = (struct numbered){numbers[i], i};
        }
        iwi_sort(sorted, count, by_number_then_place);
        j->edit.renumbered = renumber(sorted, count, is_taken, numbers);
    }
    free(is_taken);
    if (sorted == NULL || is_taken == NULL) {
        free(sorted);
        return IW_ERR_NOMEM;
    }
    free(sorted);
    return IW_OK;
}

/* ---- where the CPUs come from ---- */

/* "0-3", "0-3 as 4-7": CPUs of one input, those in a row together. */
static void write_numbers(const iw_recording *from, const iw_detours *to, FILE *out)
{
    for (size_t i = 0, next; i < from->cpu_count; i = next) {
        const uint32_t old = from->cpus[i].cpu, new = to[i].cpu;
        uint32_t more = 0;

        for (next = i + 1; next < from->cpu_count && from->cpus[next].cpu == old + more + 1 &&
                           to[next].cpu == new + more + 1;
             next++) {
            more++;
        }
        (void)fprintf(out, more > 0 ? "%s%" PRIu32 "-%" PRIu32 : "%s%" PRIu32, i > 0 ? ", " : "", old,
                      old + more);
        if (new != old) {
            (void)fprintf(out, more > 0 ? " as %" PRIu32 "-%" PRIu32 : " as %" PRIu32, new, new + more);
        }
    }
}

/* Attribute "merged": "a.h5: 0-3 | b.h5: 0-3 as 4-7". */
static iw_status tell_origins(struct iwi_join *j)
{
    char *text = NULL;
    size_t size, place = 0;
    FILE *out = open_memstream(&text, &size);
    iw_status status;

    for (size_t i = 0; out != NULL && i < j->count; i++) {
        (void)fprintf(out, "%s%s: ", i > 0 ? " | " : "", j->inputs[i].name);
        write_numbers(j->inputs[i].recording, &j->joined->cpus[place], out);
        place += j->inputs[i].recording->cpu_count;
    }
    if (out == NULL || fclose(out) != 0) {
        free(text);
        return iwi_fail(j->log, IW_ERR_NOMEM, "out of memory for the list of CPUs");
    }
    status = iw_recording_set(j->log, j->joined, "merged", text);
    free(text);
    return status;
}

/* ---- copying ---- */

static void *copy_of(const iw_log *log, const void *array, size_t count, size_t element_size)
{
    void *copy = iwi_new_array(log, count, element_size);

    if (copy != NULL && count > 0) {
        memcpy(copy, array, count * element_size);
    }
    return copy;
}

static void replace_numbers(uint32_t *sources, size_t count, const uint32_t *map)
{
    for (size_t i = 0; i < count; i++) {
        sources[i] = map[sources[i]];
    }
}

/* What has been copied before a failure is freed with the recording. */
static iw_status copy_cpu(const iw_log *log, const iw_detours *from, uint32_t number, const uint32_t *map,
                          iw_detours *to)
{
    *to = *from;
    to->cpu = number;
    to->start_ns = copy_of(log, from->start_ns, from->count, sizeof *from->start_ns);
    to->duration_ns = copy_of(log, from->duration_ns, from->count, sizeof *from->duration_ns);
    to->source = copy_of(log, from->source, from->count, sizeof *from->source);
    to->part_detour = copy_of(log, from->part_detour, from->part_count, sizeof *from->part_detour);
    to->part_source = copy_of(log, from->part_source, from->part_count, sizeof *from->part_source);
    to->part_ns = copy_of(log, from->part_ns, from->part_count, sizeof *from->part_ns);
    to->sample_start_ns =
        copy_of(log, from->sample_start_ns, from->sample_count, sizeof *from->sample_start_ns);
    to->sample = copy_of(log, from->sample, from->sample_count, sizeof *from->sample);
    if (to->start_ns == NULL || to->duration_ns == NULL || to->source == NULL || to->part_detour == NULL ||
        to->part_source == NULL || to->part_ns == NULL || to->sample_start_ns == NULL || to->sample == NULL) {
        return IW_ERR_NOMEM;
    }
    replace_numbers(to->source, to->count, map);
    replace_numbers(to->part_source, to->part_count, map);
    return IW_OK;
}

static iw_status copy_cpus(struct iwi_join *j, const uint32_t *numbers)
{
    size_t place = 0;

    for (size_t i = 0; i < j->count; i++) {
        const iw_recording *from = j->inputs[i].recording;

        for (size_t c = 0; c < from->cpu_count; c++, place++) {
            IW_TRY(copy_cpu(j->log, &from->cpus[c], numbers[place], j->maps[i], &j->joined->cpus[place]));
        }
    }
    return j->count > 1 ? tell_origins(j) : IW_OK;
}

static iw_status number_and_copy(struct iwi_join *j)
{
    uint32_t *numbers = iwi_new_array(j->log, j->joined->cpu_count, sizeof *numbers);
    size_t place = 0;
    iw_status status;

    if (numbers == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < j->count; i++) {
        for (size_t c = 0; c < j->inputs[i].recording->cpu_count; c++) {
            numbers[place++] = j->inputs[i].recording->cpus[c].cpu;
        }
    }
    status = choose_numbers(j, numbers, place);
    if (status == IW_OK) {
        status = copy_cpus(j, numbers);
    }
    free(numbers);
    return status;
}

iw_status iw_recording_merge(const iw_log *log, const iw_merge_input *inputs, size_t count,
                             iw_recording **recording_p, iw_edit *edit_p)
{
    struct iwi_join j = {.log = log, .inputs = inputs, .count = count, .edit = {.kind = IW_EDIT_MERGE}};
    size_t cpu_count = 0;
    iw_status status;

    for (size_t i = 0; i < count; i++) {
        cpu_count += inputs[i].recording->cpu_count;
    }
    status = iwi_join_begin(&j, cpu_count);
    if (status == IW_OK) {
        status = number_and_copy(&j);
    }
    return iwi_join_end(&j, status, recording_p, edit_p);
}

/* Puts recordings of the same CPUs one behind the other in time. */

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
            return iwi_fail(
                j->log, IW_ERR_RANGE,
                "'%s' is of CPUs %s, but '%s' of CPUs %s; only recordings of the same CPUs can be appended",
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
                return iwi_fail(j->log, IW_ERR_RANGE, "'%s' would end after 240 h, the limit of a noise file",
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
