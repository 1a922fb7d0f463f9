/* A recording as a coarser probe would have seen it: without its shortest detours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "features/recordings/compare/compare.h"

static bool is_kept(const iw_detours *cpu, size_t detour, double threshold_ns)
{
    return (double)cpu->duration_ns[detour] >= threshold_ns;
}

static size_t count_kept(const iw_detours *cpu, double threshold_ns)
{
    size_t count = 0;

    for (size_t i = 0; i < cpu->count; i++) {
        count += is_kept(cpu, i, threshold_ns);
    }
    return count;
}

static void release_cpu(iw_detours *cpu)
{
    free(cpu->start_ns);
    free(cpu->duration_ns);
    free(cpu->source);
    free(cpu->part_detour);
    free(cpu->part_source);
    free(cpu->part_ns);
}

static iw_status make_room(const iw_log *log, iw_detours *to, size_t count, size_t part_count)
{
    to->start_ns = iwi_new_array(log, count, sizeof *to->start_ns);
    to->duration_ns = iwi_new_array(log, count, sizeof *to->duration_ns);
    to->source = iwi_new_array(log, count, sizeof *to->source);
    to->part_detour = iwi_new_array(log, part_count, sizeof *to->part_detour);
    to->part_source = iwi_new_array(log, part_count, sizeof *to->part_source);
    to->part_ns = iwi_new_array(log, part_count, sizeof *to->part_ns);
    if (to->start_ns == NULL || to->duration_ns == NULL || to->source == NULL || to->part_detour == NULL ||
        to->part_source == NULL || to->part_ns == NULL) {
        release_cpu(to);
        return IW_ERR_NOMEM;
    }
    return IW_OK;
}

static void copy_kept(const iw_detours *from, double threshold_ns, iw_detours *to)
{
    size_t part = 0;

    to->count = to->part_count = 0;
    for (size_t i = 0; i < from->count; i++) {
        const bool keep = is_kept(from, i, threshold_ns);

        for (; part < from->part_count && from->part_detour[part] == i; part++) {
            if (keep) {
                to->part_detour[to->part_count] = to->count;
                to->part_source[to->part_count] = from->part_source[part];
                to->part_ns[to->part_count++] = from->part_ns[part];
            }
        }
        if (keep) {
            to->start_ns[to->count] = from->start_ns[i];
            to->duration_ns[to->count] = from->duration_ns[i];
            to->source[to->count++] = from->source[i];
        }
    }
}

iw_status iwi_without_short_new(const iw_log *log, const iw_recording *recording, double threshold_ns,
                                uint64_t *left_out_p, iw_recording **coarse_p)
{
    iw_recording *coarse = iwi_new_array(log, 1, sizeof *coarse);
    iw_detours *cpus = iwi_new_array(log, recording->cpu_count, sizeof *cpus);
    iw_status status = coarse != NULL && cpus != NULL ? IW_OK : IW_ERR_NOMEM;
    uint64_t left_out = 0;

    if (status != IW_OK) {
        free(coarse);
        free(cpus);
        return status;
    }
    *coarse = *recording;
    coarse->cpus = cpus;
    coarse->cpu_count = 0; /* those that have been filled */
    for (size_t c = 0; c < recording->cpu_count && status == IW_OK; c++) {
        const iw_detours *from = &recording->cpus[c];
        const size_t kept = count_kept(from, threshold_ns);

        cpus[c] = *from;
        if (kept < from->count) {
            status = make_room(log, &cpus[c], kept, from->part_count);
        }
        if (kept < from->count && status == IW_OK) {
            copy_kept(from, threshold_ns, &cpus[c]);
            left_out += from->count - kept;
        }
        coarse->cpu_count += status == IW_OK;
    }
    if (status != IW_OK) {
        iwi_without_short_free(coarse, recording);
        return status;
    }
    *left_out_p = left_out;
    *coarse_p = coarse;
    return IW_OK;
}

void iwi_without_short_free(iw_recording *coarse, const iw_recording *recording)
{
    if (coarse == NULL) {
        return;
    }
    for (size_t c = 0; c < coarse->cpu_count; c++) {
        if (coarse->cpus[c].start_ns != recording->cpus[c].start_ns) {
            release_cpu(&coarse->cpus[c]);
        }
    }
    free(coarse->cpus);
    free(coarse);
}
