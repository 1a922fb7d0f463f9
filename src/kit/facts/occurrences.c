/* Walks over the sources of a CPU's detours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/facts/recording_stats.h"

#include "core/base/base.h"

/* The time of the source of part `first` in the parts [first, end); 0 if an earlier one was the same. */
static int64_t time_of_source(const iw_detours *cpu, size_t begin, size_t first, size_t end)
{
    int64_t time_ns = 0;

    for (size_t i = begin; i < first; i++) {
        if (cpu->part_source[i] == cpu->part_source[first]) {
            return 0;
        }
    }
    for (size_t i = first; i < end; i++) {
        time_ns += cpu->part_source[i] == cpu->part_source[first] ? cpu->part_ns[i] : 0;
    }
    return time_ns;
}

/* One detour whose parts are [begin, end). */
static void visit_parts(const iw_detours *cpu, size_t detour, size_t begin, size_t end,
                        iwi_occurrence_fn visit, void *arg)
{
    const uint32_t largest = cpu->source[detour];
    int64_t open_ns = cpu->duration_ns[detour], largest_ns = 0;

    for (size_t i = begin; i < end; i++) {
        open_ns -= cpu->part_ns[i];
    }
    for (size_t i = begin; i < end; i++) {
        const int64_t time_ns = time_of_source(cpu, begin, i, end);

        if (cpu->part_source[i] == largest) {
            largest_ns += time_ns;
        } else if (time_ns > 0) {
            visit(arg, cpu->part_source[i], cpu->start_ns[detour], time_ns);
        }
    }
    largest_ns += iwi_max(open_ns, 0);
    if (largest_ns > 0) {
        visit(arg, largest, cpu->start_ns[detour], largest_ns);
    }
}

void iwi_each_occurrence(const iw_detours *cpu, iwi_occurrence_fn visit, void *arg)
{
    size_t part = 0;

    for (size_t i = 0; i < cpu->count; i++) {
        const size_t begin = part;

        while (part < cpu->part_count && cpu->part_detour[part] == i) {
            part++;
        }
        if (part > begin) {
            visit_parts(cpu, i, begin, part, visit, arg);
        } else {
            visit(arg, cpu->source[i], cpu->start_ns[i], cpu->duration_ns[i]);
        }
    }
}
