/* Who used the CPUs of a recording.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_LOAD_FACTS_H
#define IWI_LOAD_FACTS_H

#include <idlewave/analysis.h>

/* By the attributes load_*; without them it is not known. */
iw_load iwi_load_of(const iw_recording *recording);

#endif
