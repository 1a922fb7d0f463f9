/* Numbers about recordings: what the facts and the reports share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORDING_STATS_H
#define IWI_RECORDING_STATS_H

#include <stdbool.h>

#include <idlewave/recording.h>

/* Whether the detours have known sources. Synthetic and converted recordings may list sources that no method
 * had to tell apart. */
static inline bool iwi_names_sources(const iw_recording *recording)
{
    return recording->attribution != IW_ATTRIBUTION_LEVEL_NONE || recording->source_count > 1;
}

/* FWQ and FTQ as detours, one a quantum: what it lost against the best one of its CPU. FWQ: its duration less
 * the shortest; FTQ: the part of the quantum that does the work missing to the most. The watched time is that
 * of the quanta. Borrows from `recording`; to be freed by iwi_losses_free(). */
IW_NODISCARD iw_status iwi_losses_new(const iw_log *log, const iw_recording *recording,
                                      iw_recording **losses_p);
void iwi_losses_free(iw_recording *losses);

/* Visits each source of each detour of a CPU once, in the order of time. What the parts of a detour leave
 * open counts for its largest source, so that the times add up to the detours. */
typedef void (*iwi_occurrence_fn)(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns);
void iwi_each_occurrence(const iw_detours *cpu, iwi_occurrence_fn visit, void *arg);

#endif
