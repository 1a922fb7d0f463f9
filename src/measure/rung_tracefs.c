/* The rung of kernel events: what runs on the watched CPUs, from entries, exits and switches.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "measure/instance.h"

static iw_status set_up(struct iwi_rung *rung)
{
    struct iwi_instance *instance;

    IW_TRY(iwi_instance_new(rung));
    instance = rung->state;
    IW_TRY(iwi_kernel_events_new(rung, instance->tracing, &instance->events));
    IW_TRY(iwi_instance_make(instance, NULL, 0));
    return iwi_instance_start(instance);
}

static iw_status open_tracefs(struct iwi_rung *rung)
{
    const iw_status status = set_up(rung);

    if (status != IW_OK) {
        iwi_instance_close(rung);
    }
    return status;
}

const struct iwi_rung_ops iwi_rung_tracefs = {.rung = IW_RUNG_TRACEFS,
                                              .sees_all = true,
                                              .open = open_tracefs,
                                              .drain = iwi_instance_drain,
                                              .close = iwi_instance_close};
