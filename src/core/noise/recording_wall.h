/* When a recording was made, by the wall clock.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORDING_WALL_H
#define IWI_RECORDING_WALL_H

#include <idlewave/recording.h>

/* Time t of a recording is start_ns + t + drift * t on the wall clock. */
struct iwi_wall {
    int64_t start_ns; /* ns since 1970, UTC */
    double drift;     /* how much faster the wall clock went than the recording's own: 2e-5 is 20 ppm */
    double error_ns;  /* by the estimate of the kernel; NaN: not said */
    bool is_synchronised;
};

/* False: it does not say. */
bool iwi_recording_wall(const iw_recording *recording, struct iwi_wall *wall_p);

#endif
