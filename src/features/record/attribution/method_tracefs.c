/* The method of kernel events: what runs on the watched CPUs, from entries, exits and switches.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/attribution/attribution.h"
#include "features/record/kernel/tracefs_instance.h"

static iw_status set_up(struct iwi_method *method)
{
    struct iwi_tracefs_instance *instance;

    IW_TRY(iwi_tracefs_instance_new(method));
    instance = method->state;
    IW_TRY(iwi_kernel_events_new(method, instance->tracing, &instance->events));
    IW_TRY(iwi_tracefs_instance_make(instance, NULL, 0));
    return iwi_tracefs_instance_start(instance);
}

static iw_status open_tracefs(struct iwi_method *method)
{
    const iw_status status = set_up(method);

    if (status != IW_OK) {
        iwi_tracefs_instance_close(method);
    }
    return status;
}

const struct iwi_method_ops iwi_method_tracefs = {.attribution = IW_ATTRIBUTION_LEVEL_TRACEFS,
                                                  .sees_all = true,
                                                  .open = open_tracefs,
                                                  .drain = iwi_tracefs_instance_drain,
                                                  .close = iwi_tracefs_instance_close};
