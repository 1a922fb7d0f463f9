/* Kernel tracepoints that say what runs on a CPU: which there are, and what their records mean.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Records come from a tracefs instance or from perf; both carry the same bytes, decoded by libtraceevent.
 */
#ifndef IWI_KERNEL_EVENTS_H
#define IWI_KERNEL_EVENTS_H

#include <event-parse.h>

#include "features/record/attribution/rung.h"

struct iwi_kernel_events;

/* Learns the formats of all events of the table that this kernel has. `tracing` is an open folder of tracefs.
 * Refuses (rung->reason) where sched_switch, without which nothing can be said, is missing. */
IW_NODISCARD iw_status iwi_kernel_events_new(struct iwi_rung_state *rung, int tracing,
                                             struct iwi_kernel_events **events_p);
void iwi_kernel_events_free(struct iwi_kernel_events *events);

/* The events found: "sched/sched_switch" and its number; NULL behind the last. */
const char *iwi_kernel_events_name(const struct iwi_kernel_events *events, size_t index, int *id_p);

/* One record of a CPU's place, `tick` already on the rung's clock. Records of unknown kinds are passed over.
 */
IW_NODISCARD iw_status iwi_kernel_events_take(struct iwi_kernel_events *events, size_t place, uint64_t tick,
                                              void *data, size_t size);

/* Events of that place were lost at `tick`. */
IW_NODISCARD iw_status iwi_kernel_events_reset(struct iwi_kernel_events *events, size_t place, uint64_t tick);

#endif
