/* FWQ and FTQ samples as detours: what each quantum lost against the best one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/facts/recording_stats.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"

static double best_sample(const iw_detours *cpu, iw_probe probe)
{
    double best = cpu->sample[0];

    for (size_t i = 1; i < cpu->sample_count; i++) {
        best = probe == IW_PROBE_FWQ ? fmin(best, cpu->sample[i]) : fmax(best, cpu->sample[i]);
    }
    return best;
}

static void fill_losses(iw_detours *cpu, iw_probe probe, int64_t quantum_ns)
{
    const double best = best_sample(cpu, probe);
    double watched_ns = 0.0;

    for (size_t i = 0; i < cpu->sample_count; i++) {
        const double share = probe == IW_PROBE_FTQ && best > 0.0 ? cpu->sample[i] / best : 1.0;
        const double loss_ns =
            probe == IW_PROBE_FWQ ? cpu->sample[i] - best : (1.0 - share) * (double)quantum_ns;

        cpu->duration_ns[i] = llround(loss_ns);
        watched_ns += probe == IW_PROBE_FWQ ? cpu->sample[i] : (double)quantum_ns;
    }
    cpu->length_ns = llround(watched_ns);
}

static iw_status take_cpu(const iw_log *log, const iw_recording *recording, iw_detours *cpu)
{
    cpu->count = cpu->sample_count;
    cpu->part_count = 0;
    cpu->start_ns = cpu->sample_start_ns;
    cpu->duration_ns = iwi_new_array(log, cpu->count, sizeof *cpu->duration_ns);
    cpu->source = iwi_new_array(log, cpu->count, sizeof *cpu->source);
    if (cpu->duration_ns == NULL || cpu->source == NULL) {
        return IW_ERR_NOMEM;
    }
    if (cpu->count > 0) {
        fill_losses(cpu, recording->probe, recording->quantum_ns);
    }
    return IW_OK;
}

iw_status iwi_losses_new(const iw_log *log, const iw_recording *recording, iw_recording **losses_p)
{
    iw_recording *losses = iwi_new_array(log, 1, sizeof *losses);
    iw_status status = IW_OK;

    if (losses == NULL) {
        return IW_ERR_NOMEM;
    }
    *losses = *recording;
    losses->cpu_count = 0; /* those that own something */
    losses->cpus = iwi_new_array(log, recording->cpu_count, sizeof *losses->cpus);
    if (losses->cpus == NULL) {
        status = IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < recording->cpu_count && status == IW_OK; i++) {
        losses->cpus[i] = recording->cpus[i];
        losses->cpu_count++;
        status = take_cpu(log, recording, &losses->cpus[i]);
    }
    if (status != IW_OK) {
        iwi_losses_free(losses);
        return status;
    }
    *losses_p = losses;
    return IW_OK;
}

void iwi_losses_free(iw_recording *losses)
{
    if (losses == NULL) {
        return;
    }
    for (size_t i = 0; i < losses->cpu_count; i++) {
        free(losses->cpus[i].duration_ns);
        free(losses->cpus[i].source);
    }
    free(losses->cpus);
    free(losses);
}
