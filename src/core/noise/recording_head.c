/* What recordings that are made from others share: their head, and lists of what there is, for messages.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/recording_head.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"

bool iwi_is_of_the_whole(const char *attribute)
{
    static const char *const names[] = {"start_raw_ns",         "start_wall_ns", "steal_ms",
                                        "involuntary_switches", "kernel_events", "kernel_events_matched",
                                        "recorder_ms",          "interrupts"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(attribute, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

int64_t iwi_common_length_ns(const iw_recording *recording)
{
    int64_t length_ns = recording->cpu_count > 0 ? INT64_MAX : 0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        length_ns = iwi_min(length_ns, recording->cpus[i].length_ns);
    }
    return length_ns;
}

void iwi_edit_count(iw_edit *edit, const iw_recording *recording)
{
    edit->recording_count++;
    edit->cpu_count += recording->cpu_count;
    for (size_t i = 0; i < recording->cpu_count; i++) {
        const iw_detours *cpu = &recording->cpus[i];

        edit->detour_count += cpu->count;
        edit->sample_count += cpu->sample_count;
        edit->watched_ns += (double)cpu->length_ns;
        for (size_t k = 0; k < cpu->count; k++) {
            edit->busy_ns += (double)cpu->duration_ns[k];
        }
    }
}

/* Appends `item`, with the separator where it is not the first; false, and "..." instead, if it does not fit.
 */
static bool append(char *buf, size_t size, const char *separator, const char *item)
{
    static const char more[] = "...";
    const size_t used = strlen(buf), need = strlen(separator) + strlen(item);

    if (used + need + strlen(separator) + sizeof more > size) {
        snprintf(buf + used, size - used, "%s%s", used > 0 ? separator : "", more);
        return false;
    }
    snprintf(buf + used, size - used, "%s%s", used > 0 ? separator : "", item);
    return true;
}

/* Sorts `numbers`. */
static void list_numbers(uint32_t *numbers, size_t count, char *buf, size_t size)
{
    char item[32];
    bool has_room = true;

    iwi_sort(numbers, count, iwi_compare_u32);
    for (size_t first = 0, next; first < count && has_room; first = next) {
        for (next = first + 1; next < count && numbers[next] - numbers[first] == next - first; next++) {
        }
        snprintf(item, sizeof item, next - first > 1 ? "%" PRIu32 "-%" PRIu32 : "%" PRIu32, numbers[first],
                 numbers[next - 1]);
        has_room = append(buf, size, ",", item);
    }
}

char *iwi_list_cpus(const iw_recording *recording, char *buf, size_t size)
{
    uint32_t *numbers = iwi_new_array(NULL, recording->cpu_count, sizeof *numbers);

    buf[0] = '\0';
    for (size_t i = 0; numbers != NULL && i < recording->cpu_count; i++) {
        numbers[i] = recording->cpus[i].cpu;
    }
    if (numbers != NULL) {
        list_numbers(numbers, recording->cpu_count, buf, size);
    }
    free(numbers);
    return buf;
}

char *iwi_source_text(const iw_source *source, char buf[IWI_SOURCE_TEXT_SIZE])
{
    snprintf(buf, IWI_SOURCE_TEXT_SIZE, "%s%s%s", iw_class_name(source->kind),
             source->name[0] != '\0' ? "/" : "", source->name);
    for (char *c = buf; *c != '\0'; c++) {
        *c = iscntrl((unsigned char)*c) ? '?' : *c; /* threads choose their names, terminals obey them */
    }
    return buf;
}

/* A source whose part is 0 ns counts too: it is there to be dropped. */
static void mark_used(const iw_recording *recording, bool *is_used)
{
    for (size_t i = 0; i < recording->cpu_count; i++) {
        const iw_detours *cpu = &recording->cpus[i];

        for (size_t k = 0; k < cpu->count; k++) {
            is_used[cpu->source[k]] = true;
        }
        for (size_t k = 0; k < cpu->part_count; k++) {
            is_used[cpu->part_source[k]] = true;
        }
    }
}

char *iwi_list_sources(const iw_recording *recording, char *buf, size_t size)
{
    bool *is_used = iwi_new_array(NULL, recording->source_count, sizeof *is_used), has_room = true;
    char text[IWI_SOURCE_TEXT_SIZE];

    buf[0] = '\0';
    if (is_used == NULL) {
        return buf;
    }
    mark_used(recording, is_used);
    for (size_t i = 0; i < recording->source_count && has_room; i++) {
        has_room = !is_used[i] || append(buf, size, ", ", iwi_source_text(&recording->sources[i], text));
    }
    free(is_used);
    return buf;
}
