/* Recordings made by hand, for tests. Failures of allocation abort.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_RECORDING_H
#define IWT_MADE_RECORDING_H

#include <idlewave/recording.h>

/* CPUs 0, 1, ... that were watched for so long with t_min 20 ns and threshold 180 ns; rung tracefs, probe
 * selfish. Freed by iw_recording_free(). */
iw_recording *iwt_recording(size_t cpu_count, int64_t length_ns);

uint32_t iwt_source(iw_recording *recording, iw_class kind, const char *name);
void iwt_attribute(iw_recording *recording, const char *name, const char *value);

/* Appends to CPU number `cpu`. */
void iwt_detour(iw_recording *recording, size_t cpu, int64_t start_ns, int64_t duration_ns, uint32_t source);
void iwt_part(iw_recording *recording, size_t cpu, uint32_t source, int64_t part_ns); /* of the last detour */
void iwt_sample(iw_recording *recording, size_t cpu, int64_t start_ns, double sample);

#endif
