/* The sums of a watching, however it was done: of trace events, its sources in order, the rows that are kept.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/measure.h>

#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/watch/watch_run.h"

/* ---- rows that the job wanted, sources by their time ---- */

/* A row that the job wanted less than this part of the time of the most wanted one is left out of the
 * recording: simulations use no more of a recording than its shortest row has. */
static const double LEAST_WANTED = 0.5;

IWI_COMPARE(by_time, iw_watch_source, IWI_FALLING(time_ns))

void iwi_watch_sort_sources(iw_watch_result *result)
{
    iwi_sort(result->sources, result->source_count, by_time);
}

iw_status iwi_watch_keep_rows(const iw_log *log, iw_watch_result *result)
{
    iw_cpu_set kept = {{0}};
    uint64_t most_ns = 0;

    for (size_t i = 0; i < result->cpu_count; i++) {
        most_ns = result->cpus[i].wanted_ns > most_ns ? result->cpus[i].wanted_ns : most_ns;
    }
    for (size_t i = 0; i < result->cpu_count; i++) {
        iw_watch_cpu *row = &result->cpus[i];

        row->is_kept = most_ns > 0 && (double)row->wanted_ns >= LEAST_WANTED * (double)most_ns &&
                       row->cpu < IW_CPU_SET_MOST;
        if (row->is_kept) {
            iw_cpu_set_add(&kept, row->cpu);
        }
    }
    return !iw_cpu_set_is_empty(&kept) && iw_cpu_set_count(&kept) < result->cpu_count
               ? iw_recording_keep_cpus(log, "the watched job", &kept, &result->recording)
               : IW_OK;
}

/* ---- sums of what trace events have told ---- */

static size_t slot_of(int64_t ns)
{
    size_t slot = 0;

    while (slot + 1 < IW_WATCH_SLOTS && ns >> (slot + 1) != 0) {
        slot++;
    }
    return slot;
}

static void add(iw_watch_source *sum, int64_t ns)
{
    sum->count++;
    sum->time_ns += (uint64_t)ns;
    sum->slots[slot_of(ns)]++;
}

static void add_part(iw_watch_result *result, uint32_t source, int64_t *of_source)
{
    if (of_source[source] > 0) {
        add(&result->sources[source], of_source[source]);
        of_source[source] = 0;
    }
}

/* What each source has of a detour, in all of its parts; what they leave is its main source's. The array is
 * all 0 before and after. */
static void add_parts(iw_watch_result *result, const iw_detours *row, size_t detour, size_t first, size_t end,
                      int64_t *of_source)
{
    int64_t rest_ns = row->duration_ns[detour];

    for (size_t i = first; i < end; i++) {
        const int64_t part_ns = iwi_min(row->part_ns[i], rest_ns);

        of_source[row->part_source[i]] += part_ns;
        rest_ns -= part_ns;
    }
    of_source[row->source[detour]] += rest_ns;
    for (size_t i = first; i < end; i++) {
        add_part(result, row->part_source[i], of_source);
    }
    add_part(result, row->source[detour], of_source);
}

static void add_row(iw_watch_result *result, const iw_detours *row, int64_t *of_source)
{
    size_t part = 0;

    for (size_t i = 0; i < row->count; i++) {
        const size_t first = part;

        while (part < row->part_count && row->part_detour[part] == i) {
            part++;
        }
        add(&result->all, row->duration_ns[i]);
        add_parts(result, row, i, first, part, of_source);
    }
    result->totals.wanted_ns += (uint64_t)row->length_ns;
}

static uint64_t attribute(const iw_recording *recording, const char *name)
{
    const char *value = iw_recording_get(recording, name);

    return value != NULL ? strtoull(value, NULL, 10) : 0;
}

static void sum_up(iw_watch_result *result, int64_t *of_source)
{
    const iw_recording *recording = result->recording;

    for (size_t i = 0; i < recording->source_count; i++) {
        result->sources[i].source = recording->sources[i];
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        const uint64_t before_ns = result->all.time_ns, before = result->all.count;

        add_row(result, &recording->cpus[i], of_source);
        result->cpus[i] = (iw_watch_cpu){recording->cpus[i].cpu, (uint64_t)recording->cpus[i].length_ns,
                                         result->all.time_ns - before_ns, result->all.count - before, false};
    }
    result->totals.lost_ns = result->all.time_ns;
    result->totals.detours = result->all.count;
    result->totals.run_ns = result->totals.wanted_ns - result->totals.lost_ns;
    result->totals.wait_own_ns = attribute(recording, "wait_own_ns");
    result->losses.skipped = attribute(recording, "kernel_events_lost");
    result->source_count = recording->source_count;
    iwi_watch_sort_sources(result);
    while (result->source_count > 0 && result->sources[result->source_count - 1].count == 0) {
        result->source_count--;
    }
}

iw_status iwi_watch_events_add_up(const iw_log *log, iw_watch_result *result)
{
    int64_t *of_source = iwi_new_array(log, result->recording->source_count, sizeof *of_source);

    result->cpu_count = result->recording->cpu_count;
    result->cpus = iwi_new_array(log, result->cpu_count, sizeof *result->cpus);
    result->sources = iwi_new_array(log, result->recording->source_count, sizeof *result->sources);
    if (of_source == NULL || result->cpus == NULL || result->sources == NULL) {
        free(of_source);
        return IW_ERR_NOMEM;
    }
    sum_up(result, of_source);
    free(of_source);
    for (size_t i = 0; i < result->cpu_count; i++) { /* events are taken a moment before and after */
        result->watched_ns = iwi_max(result->watched_ns, (int64_t)result->cpus[i].wanted_ns);
    }
    return IW_OK;
}

void iw_watch_result_free(iw_watch_result *result)
{
    if (result != NULL) {
        iw_recording_free(result->recording);
        free(result->job);
        free(result->cpus);
        free(result->sources);
        free(result);
    }
}
