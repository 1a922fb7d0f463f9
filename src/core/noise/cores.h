/* Compute phases of ranks with several cores (docs/explanation/semantics.md, 13).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Core 0 also serves messages: its `next` and words are those of the rank (stream.h). An engine keeps as much
 * again for each of the others, which only compute.
 */
#ifndef IWI_CORES_H
#define IWI_CORES_H

#include "core/noise/stream.h"

/* The cores of one rank in one trial. */
struct iwi_cores {
    const iw_noise *noise;
    struct iwi_stream_id id; /* of core 0 */
    int64_t *words;          /* of core 0 */
    iw_time *next;
    int64_t *other_words; /* of cores 1, 2, ... */
    iw_time *other_next;
};

/* Sets all of them up at time 0. */
void iwi_cores_begin(const struct iwi_cores *cores);

/* When a compute phase (0 = first) of `work`, delayed by `delay`, that begins at t ends, detours and
 * per-phase noise of all cores included; IWI_LATEST if that is later. Adds end - t - work - delay to `lost`
 * unless NULL. */
iw_time iwi_cores_phase(const struct iwi_cores *cores, uint64_t phase, iw_time t, iw_time work, iw_time delay,
                        const struct iwi_lost *lost);

#endif
