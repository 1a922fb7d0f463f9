/* A plan's detours as a recording, for those who compare what was made with what was to be made.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/fidelity.h>

#include <string.h>

#include "core/base/base.h"
#include "features/replay/inject_plan.h"

iw_status iw_inject_plan_recording(const iw_log *log, const iw_inject_plan *plan, iw_recording **recording_p)
{
    iw_recording *recording;
    iw_detours *cpu;

    IW_TRY(iw_recording_new(log, 1, &recording));
    cpu = &recording->cpus[0];
    cpu->length_ns = plan->facts.length_ns;
    cpu->start_ns = iwi_new_array(log, plan->count, sizeof *cpu->start_ns);
    cpu->duration_ns = iwi_new_array(log, plan->count, sizeof *cpu->duration_ns);
    cpu->source = iwi_new_array(log, plan->count, sizeof *cpu->source);
    if (plan->count > 0 && (cpu->start_ns == NULL || cpu->duration_ns == NULL || cpu->source == NULL)) {
        iw_recording_free(recording);
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < plan->count; i++) {
        cpu->start_ns[i] = plan->start_ns[i];
        cpu->duration_ns[i] = plan->duration_ns[i];
    }
    cpu->count = plan->count;
    *recording_p = recording;
    return IW_OK;
}
