/* What the readers of FWQ and FTQ share: quanta to recordings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_IMPORT_QUANTA_H
#define IWI_IMPORT_QUANTA_H

#include <idlewave/recording.h>

#include "kit/files/io/convert_child.h"

/* The quanta of one CPU; the arrays are the reader's. */
struct iwi_quanta {
    uint32_t cpu;
    size_t count;
    double *start_ns, *sample; /* ascending; as of iw_detours */
    double length_ns;
};

/* A new recording of these CPUs, which it sorts. What a quantum lost against the best of its CPU becomes a
 * detour at its begin, since where it was cannot be known. `path` is for messages: IW_ERR_RANGE, longer than
 * 240 h; IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_quanta_to_recording(const iw_log *log, const char *path, iw_probe probe,
                                               double quantum_ns, struct iwi_quanta *cpus, size_t count,
                                               iw_recording **recording_p);

/* ---- fixed time quanta from the text of FTQ, in memory: for the reader and its tests ---- */

/* `counts`: "time count" a line, or counts alone. Those may have `times`, in ticks, a line for each; NULL:
 * windows of equal length. */
IW_NODISCARD iw_status iwi_ftq_read(const struct iwi_import *counts, const struct iwi_import *times,
                                    iw_recording **recording_p);

#endif
