/* What a recording says in numbers: for all of it, by source and by CPU.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/stats/select.h"
#include "features/recordings/source_rows.h"
#include "kit/facts/load_facts.h"
#include "kit/facts/recording_stats.h"

iw_noise_row iwi_noise_row_of(double *durations_ns, size_t count, double watched_ns)
{
    iw_noise_row row = {.count = count};
    double sum_ns = 0.0;

    if (count == 0) {
        return row;
    }
    for (size_t i = 0; i < count; i++) {
        sum_ns += durations_ns[i];
        row.max_ns = fmax(row.max_ns, durations_ns[i]);
    }
    row.median_ns = iwi_select_quantile(durations_ns, count, 0.5);
    row.p99_ns = iwi_select_quantile(durations_ns, count, 0.99);
    if (watched_ns > 0.0) {
        row.rate_hz = (double)count / watched_ns * 1e9;
        row.share = sum_ns / watched_ns;
    }
    return row;
}

static size_t count_detours(const iw_recording *recording)
{
    size_t count = 0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        count += recording->cpus[i].count;
    }
    return count;
}

/* The rows of all CPUs, and of all of them together. */
static iw_status describe_cpus(const iw_log *log, const iw_recording *recording, iw_noise_facts *facts)
{
    const size_t count = count_detours(recording);
    double *durations_ns = iwi_new_array(log, count, sizeof *durations_ns);
    double *own = durations_ns;

    if (durations_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t c = 0; c < recording->cpu_count; c++) {
        const iw_detours *cpu = &recording->cpus[c];

        for (size_t i = 0; i < cpu->count; i++) {
            own[i] = (double)cpu->duration_ns[i];
        }
        facts->cpus[c] = (iw_noise_cpu){
            cpu->cpu,          cpu->length_ns, cpu->t_min_ns,
            cpu->threshold_ns, cpu->dropped,   iwi_noise_row_of(own, cpu->count, (double)cpu->length_ns)};
        own += cpu->count;
    }
    facts->all = iwi_noise_row_of(durations_ns, count, facts->watched_ns);
    free(durations_ns);
    return IW_OK;
}

/* The numbers that need no rows. */
static void sum_up(const iw_recording *recording, iw_noise_facts *facts)
{
    int64_t shortest_ns = recording->cpu_count > 0 ? recording->cpus[0].length_ns : 0;

    for (size_t c = 0; c < recording->cpu_count; c++) {
        facts->watched_ns += (double)recording->cpus[c].length_ns;
        facts->dropped += recording->cpus[c].dropped;
        shortest_ns = iwi_min(shortest_ns, recording->cpus[c].length_ns);
    }
    facts->rare_limit_ns = (double)shortest_ns / 3.0;
}

/* Larger shares first, equal ones in the order of their numbers. */
IWI_COMPARE(compare_sources, iw_noise_origin, IWI_FALLING(row.share), IWI_RISING(number))

/* Leaves those that took time. */
static void order_sources(iw_noise_facts *facts)
{
    size_t count = 0;

    for (size_t s = 0; s < facts->source_count; s++) {
        if (facts->sources[s].row.count > 0) {
            facts->sources[count++] = facts->sources[s];
        }
    }
    facts->source_count = count;
    iwi_sort(facts->sources, count, compare_sources);
}

/* `detours` has detours, whatever the probe was. Quanta know no sources, and their period is the probe's. */
static iw_status describe(const iw_log *log, const iw_recording *detours, iw_noise_facts *facts)
{
    facts->sources = iwi_new_array(log, detours->source_count, sizeof *facts->sources);
    facts->cpus = iwi_new_array(log, detours->cpu_count, sizeof *facts->cpus);
    if (facts->sources == NULL || facts->cpus == NULL) {
        return IW_ERR_NOMEM;
    }
    facts->source_count = detours->source_count;
    facts->cpu_count = detours->cpu_count;
    for (size_t s = 0; s < facts->source_count; s++) {
        facts->sources[s] = (iw_noise_origin){.source = detours->sources[s],
                                              .number = (uint32_t)s,
                                              .is_kernel = iwi_is_kernel_thread(detours, s)};
    }
    sum_up(detours, facts);
    IW_TRY(describe_cpus(log, detours, facts));
    if (iw_probe_has_quanta(detours->probe)) {
        facts->sources[0].row = facts->all;
    } else {
        IW_TRY(iwi_describe_sources(log, detours, facts));
    }
    order_sources(facts);
    return IW_OK;
}

iw_status iw_noise_facts_new(const iw_log *log, const iw_recording *recording, iw_noise_facts **facts_p)
{
    iw_noise_facts *facts = iwi_new_array(log, 1, sizeof *facts);
    iw_recording *losses = NULL;
    iw_status status = facts != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK && iw_probe_has_quanta(recording->probe)) {
        status = iwi_losses_new(log, recording, &losses);
    }
    if (status == IW_OK) {
        *facts = (iw_noise_facts){.probe = recording->probe,
                                  .rung = recording->rung,
                                  .has_sources = iwi_names_sources(recording),
                                  .quantum_ns = recording->quantum_ns,
                                  .attribute_count = recording->attribute_count,
                                  .attributes = recording->attributes,
                                  .load = iwi_load_of(recording)};
        status = describe(log, losses != NULL ? losses : recording, facts);
    }
    for (size_t c = 0; status == IW_OK && c < facts->cpu_count; c++) {
        facts->cpus[c].length_ns = recording->cpus[c].length_ns;
    }
    iwi_losses_free(losses);
    if (status != IW_OK) {
        iw_noise_facts_free(facts);
        return status;
    }
    *facts_p = facts;
    return IW_OK;
}

void iw_noise_facts_free(iw_noise_facts *facts)
{
    if (facts != NULL) {
        free(facts->sources);
        free(facts->cpus);
        free(facts);
    }
}
