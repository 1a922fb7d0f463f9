/* What the writers of fresh recordings share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORD_H
#define IWI_RECORD_H

#include <idlewave/recording.h>

/* Detours this long disturb a barrier: about one of its rounds. The default of `noise show`. */
#define IWI_RECORD_LONG_NS 20000.0

/* How fine the recording is, on its finest CPU. */
struct iwi_resolution {
    double t_min_ns, threshold_ns;
    double limit_hz; /* 1/(2 t_min): faster noise cannot be seen */
};

struct iwi_resolution iwi_resolution(const iw_recording *recording);

#endif
