/* Calibration in two: meeting detours, which measures, and what they say of costs, which does not.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_INJECT_CALIBRATE_H
#define IWI_INJECT_CALIBRATE_H

#include <stddef.h>

#include <idlewave/internal/inject.h>

/* One detour as the thread met it. */
struct iwi_met_detour {
    double spin_ns, seen_ns, late_ns,
        leave_ns; /* leave: from the end of the spin to the thread's next reading */
};

struct iwi_calibration {
    struct iwi_met_detour *meetings;
    double *column; /* scratch, as long */
    size_t room, count;
};

/* IW_ERR_UNSUPPORTED if too few were met. Sorts them. */
IW_NODISCARD iw_status iwi_inject_evaluate(const iw_log *log, struct iwi_calibration *trial,
                                           iw_inject_costs *costs_p);

#endif
