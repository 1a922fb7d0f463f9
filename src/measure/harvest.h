/* Brings in what the crew measures, piece by piece: names its sources, and hands it on.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_HARVEST_H
#define IWI_HARVEST_H

#include "measure/attribution.h"
#include "measure/crew.h"

/* How much of a CPU has been brought in. */
struct iwi_swath {
    size_t marks, parts;
    size_t visible; /* marks that are to be taken next */
};

struct iwi_harvest {
    const iw_log *log;
    const struct iwi_clock *clock;
    struct iwi_crew *crew;
    struct iwi_attribution *attribution;
    iw_recording *recording;
    const iw_measure_sink *sink; /* NULL: none, or it has failed */
    uint64_t zero;               /* tick at which the recording begins */
    struct iwi_swath *swaths;    /* one of each place */
};

/* Gives the recording's CPUs their arrays; all workers are prepared. */
IW_NODISCARD iw_status iwi_harvest_begin(struct iwi_harvest *harvest);

/* Brings in all detours that have ended. A sink that fails is left alone from then on: what it has said, has
 * been logged, and the recording itself is not lost by that. */
IW_NODISCARD iw_status iwi_harvest_step(struct iwi_harvest *harvest);

/* The last step, after the crew has ended, and what only the whole says. */
IW_NODISCARD iw_status iwi_harvest_finish(struct iwi_harvest *harvest);

void iwi_harvest_release(struct iwi_harvest *harvest);

#endif
