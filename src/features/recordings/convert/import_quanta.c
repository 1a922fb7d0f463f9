/* Quanta of FWQ and FTQ, as other tools have measured them, to recordings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/convert/import_quanta.h"

#include <idlewave/time.h>

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/recordings/convert/convert_rows.h"

IWI_COMPARE(by_cpu, struct iwi_quanta, IWI_RISING(cpu))

static double best_of(const struct iwi_quanta *quanta, iw_probe probe)
{
    double best = quanta->sample[0];

    for (size_t i = 1; i < quanta->count; i++) {
        best = probe == IW_PROBE_FWQ ? fmin(best, quanta->sample[i]) : fmax(best, quanta->sample[i]);
    }
    return best;
}

static double loss_of(iw_probe probe, double quantum_ns, double sample, double best)
{
    if (probe == IW_PROBE_FWQ) {
        return sample - best;
    }
    return best > 0 ? (1 - sample / best) * quantum_ns : 0;
}

/* Of FWQ, t_min is the work at best; of FTQ it is one unit of work. */
static void find_detours(const struct iwi_quanta *quanta, iw_probe probe, double quantum_ns, iw_detours *cpu)
{
    const double best = best_of(quanta, probe);

    cpu->t_min_ns = probe == IW_PROBE_FWQ ? best : quantum_ns / fmax(best, 1);
    cpu->threshold_ns = cpu->t_min_ns;
    for (size_t i = 0; i < quanta->count; i++) {
        const int64_t next_ns = i + 1 < quanta->count ? cpu->sample_start_ns[i + 1] : cpu->length_ns;
        const int64_t lost_ns = iwi_min(llround(loss_of(probe, quantum_ns, quanta->sample[i], best)),
                                        next_ns - cpu->sample_start_ns[i]);

        if (lost_ns > 0) {
            cpu->start_ns[cpu->count] = cpu->sample_start_ns[i];
            cpu->duration_ns[cpu->count++] = lost_ns;
        }
    }
}

static iw_status fill_cpu(const iw_log *log, const struct iwi_quanta *quanta, iw_probe probe,
                          double quantum_ns, iw_detours *cpu)
{
    cpu->cpu = quanta->cpu;
    cpu->length_ns = llround(quanta->length_ns);
    cpu->sample_start_ns = iwi_new_array(log, quanta->count, sizeof *cpu->sample_start_ns);
    cpu->sample = iwi_new_array(log, quanta->count, sizeof *cpu->sample);
    cpu->start_ns = iwi_new_array(log, quanta->count, sizeof *cpu->start_ns);
    cpu->duration_ns = iwi_new_array(log, quanta->count, sizeof *cpu->duration_ns);
    cpu->source = iwi_new_array(log, quanta->count, sizeof *cpu->source);
    if (cpu->sample_start_ns == NULL || cpu->sample == NULL || cpu->start_ns == NULL ||
        cpu->duration_ns == NULL || cpu->source == NULL) {
        return IW_ERR_NOMEM;
    }
    cpu->sample_count = quanta->count;
    for (size_t i = 0; i < quanta->count; i++) {
        cpu->sample_start_ns[i] = iwi_min(llround(quanta->start_ns[i]), cpu->length_ns);
        cpu->sample[i] = quanta->sample[i];
    }
    find_detours(quanta, probe, quantum_ns, cpu);
    return IW_OK;
}

static iw_status check_length(const iw_log *log, const char *path, const struct iwi_quanta *cpus,
                              size_t count)
{
    const int64_t most_ns = IW_TIME_INPUT_MAX / IW_PS_PER_NS;

    for (size_t i = 0; i < count; i++) {
        if (!(cpus[i].length_ns <= (double)most_ns)) {
            return iwi_fail(log, IW_ERR_RANGE, "'%s': the quanta of a CPU take longer than 240h", path);
        }
    }
    return IW_OK;
}

iw_status iwi_quanta_to_recording(const iw_log *log, const char *path, iw_probe probe, double quantum_ns,
                                  struct iwi_quanta *cpus, size_t count, iw_recording **recording_p)
{
    iw_recording *recording;
    iw_status status;

    IW_TRY(check_length(log, path, cpus, count));
    IW_TRY(iw_recording_new(log, 0, &recording));
    iwi_sort(cpus, count, by_cpu);
    status = iwi_recording_set_cpus(log, recording, count);
    for (size_t i = 0; i < count && status == IW_OK; i++) {
        status = fill_cpu(log, &cpus[i], probe, quantum_ns, &recording->cpus[i]);
    }
    if (status != IW_OK) {
        iw_recording_free(recording);
        return status;
    }
    recording->probe = probe;
    recording->quantum_ns = iwi_max(llround(quantum_ns), 1);
    *recording_p = recording;
    return IW_OK;
}
