/* Adds up what the programs have counted.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/watch_result.h"

#include "core/base/base.h"
#include "features/watch/watch_rows.h"

_Static_assert((int)IW_WATCH_SLOTS == (int)IWI_BPF_SLOTS, "the same histograms");
_Static_assert((int)IW_WATCH_MOST_PARTS == (int)IWI_BPF_PARTS, "the same detours");

static void add_sum(iw_watch_source *to, const struct iwi_bpf_sum *from)
{
    to->count += from->count;
    to->time_ns += from->ns;
    for (size_t i = 0; i < IW_WATCH_SLOTS; i++) {
        to->slots[i] += from->slots[i];
    }
}

static void add_cpu(iw_watch_result *result, const struct iwi_bpf_cpu *cpu)
{
    const struct iwi_bpf_totals *from = &cpu->totals;
    iw_watch_totals *to = &result->totals;

    to->wanted_ns += from->wanted_ns;
    to->lost_ns += cpu->all.ns;
    to->detours += cpu->all.count;
    to->run_ns += from->run_ns;
    to->wait_ns += from->wait_ns;
    to->wait_own_ns += from->wait_own_ns;
    to->wait_waking_ns += from->wait_waking_ns;
    to->throttled_ns += from->throttled_ns;
    to->steal_unplaced_ns += from->steal_unplaced_ns;
    to->nmi_count += from->nmi_count;
    to->nmi_ns += from->nmi_ns;
    to->slices += from->slices;
    to->migrations += from->migrations;
    result->losses.detours += from->lost;
    result->losses.time_ns += from->lost_ns;
    result->losses.parts += from->parts_joined;
    result->losses.names += from->names_lost;
    result->losses.threads += from->threads_lost;
    result->losses.skipped += from->switches_missed;
    add_sum(&result->all, &cpu->all);
}

static void add_cpus(const struct iwi_detour_log *detours, iw_watch_result *result)
{
    for (size_t i = 0; i < result->cpu_count; i++) {
        const uint32_t number = detours->recording->cpus[i].cpu;
        const struct iwi_bpf_cpu *cpu = &detours->side->cpus[number];

        result->cpus[i] = (iw_watch_cpu){number, cpu->totals.wanted_ns, cpu->all.ns, cpu->all.count,
                                         result->cpus[i].is_kept};
        add_cpu(result, cpu);
    }
}

/* Sources of one name, as those of the same thread on several CPUs, are one source of the recording. */
static iw_status add_sources(struct iwi_detour_log *detours, iw_watch_result *result)
{
    size_t used = 0;

    for (uint32_t number = 0; number < IWI_BPF_SOURCES; number++) {
        struct iwi_bpf_sum shared = detours->side->sums[number];
        iw_watch_source sum = {.count = 0};
        uint32_t source;

        add_sum(&sum, &shared);
        for (size_t i = 0; number < IWI_BPF_FIXED && i < result->cpu_count; i++) {
            add_sum(&sum, &detours->side->cpus[result->cpus[i].cpu].sums[number]);
        }
        if (sum.count == 0) {
            continue;
        }
        IW_TRY(iwi_detour_log_source(detours, number, &source));
        sum.source = detours->recording->sources[source];
        result->sources[used++] = sum;
    }
    result->source_count = used;
    iwi_watch_sort_sources(result);
    return IW_OK;
}

iw_status iwi_watch_result_add_up(struct iwi_detour_log *detours, iw_watch_result *result)
{
    if (result->cpus == NULL) {
        result->cpu_count = detours->recording->cpu_count;
        result->cpus = iwi_new_array(detours->log, result->cpu_count, sizeof *result->cpus);
        result->sources = iwi_new_array(detours->log, IWI_BPF_SOURCES, sizeof *result->sources);
    }
    if (result->cpus == NULL || result->sources == NULL) {
        return IW_ERR_NOMEM;
    }
    result->totals = (iw_watch_totals){.wanted_ns = 0};
    result->losses = (iw_watch_losses){.skipped = 0};
    result->all = (iw_watch_source){.count = 0};
    add_cpus(detours, result);
    return add_sources(detours, result);
}

iw_status iwi_watch_result_fill(struct iwi_detour_log *detours, iw_watch_result *result)
{
    IW_TRY(iwi_watch_result_add_up(detours, result));
    result->losses.skipped += iwi_kernel_side_skipped(detours->side);
    return IW_OK;
}
