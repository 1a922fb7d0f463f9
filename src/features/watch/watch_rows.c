/* Sorts the sources of a watching, and chooses the rows of its recording.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/watch_rows.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"

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
