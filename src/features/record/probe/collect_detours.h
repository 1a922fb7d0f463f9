/* Brings in what the probe threads measure, piece by piece: names its sources, and hands it on.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_COLLECT_DETOURS_H
#define IWI_COLLECT_DETOURS_H

#include "features/record/attribution/attribution.h"
#include "features/record/probe/probe_threads.h"

/* How much of a CPU has been brought in. */
struct iwi_swath {
    size_t marks, detours, parts; /* not each mark stays a detour */
    size_t visible;               /* marks that are to be taken next */
};

struct iwi_detour_collector {
    const iw_log *log;
    const struct iwi_clock *clock;
    struct iwi_probe_threads *probe_threads;
    struct iwi_attributor *attribution;
    iw_recording *recording;
    const iw_measure_sink *sink; /* NULL: none, or it has failed */
    uint64_t zero;               /* tick at which the recording begins */
    struct iwi_swath *swaths;    /* one of each place */
};

/* Gives the recording's CPUs their arrays; all workers are prepared. */
IW_NODISCARD iw_status iwi_detour_collector_begin(struct iwi_detour_collector *collector);

/* Brings in all detours that have ended. A sink that fails is left alone from then on: what it has said, has
 * been logged, and the recording itself is not lost by that. */
IW_NODISCARD iw_status iwi_detour_collector_step(struct iwi_detour_collector *collector);

/* The last step, after the threads have ended, and what only the whole says. */
IW_NODISCARD iw_status iwi_detour_collector_finish(struct iwi_detour_collector *collector);

void iwi_detour_collector_release(struct iwi_detour_collector *collector);

#endif
