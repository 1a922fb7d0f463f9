/* Who used the CPUs of a recording.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_LOAD_FACTS_H
#define IWI_LOAD_FACTS_H

#include <idlewave/caveat.h>

/* By the attributes load_*; without them it is not known. */
iw_load iwi_load_of(const iw_recording *recording);

/* Whether a source of the recording is a thread of the kernel, by the attribute kernel_threads. */
bool iwi_is_kernel_thread(const iw_recording *recording, size_t source);

#endif
