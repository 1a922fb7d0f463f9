/* What collectives pay for the noise of a recording: found, and said.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NOISE_COST_H
#define IWI_NOISE_COST_H

#include <idlewave/analysis.h>

#include "kit/doc/doc.h"

/* By simulation. A recording that cannot be simulated, or not on so many ranks, has no costs: cost_p->network
 * is NULL then. */
IW_NODISCARD iw_status iwi_noise_cost_find(const iw_recording *recording, iw_noise_cost *cost_p);

/* Goes on with the verdict: " On 1,024 ranks of hdr-fat-tree a barrier takes ...". */
void iwi_say_noise_cost(struct iwi_document *doc, const iw_noise_report *report);

/* Goes on with a note: how that was found, and how sure it is. */
void iwi_say_noise_cost_origin(struct iwi_document *doc, const iw_noise_report *report);

#endif
