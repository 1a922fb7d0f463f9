/* Puts the CPUs of several recordings into one, side by side.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/recording.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/noise/recording_join.h"

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
