/* What merging and appending recordings share: checks, sources and attributes of several as one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORDING_JOIN_H
#define IWI_RECORDING_JOIN_H

#include <idlewave/recording.h>

/* As readers of noise files have it. */
enum { IWI_MOST_CPUS = 1 << 16 };

struct iwi_join {
    const iw_log *log;
    const iw_merge_input *inputs;
    size_t count;
    uint32_t **maps; /* by input and source: its number in the joined recording */
    size_t map_count;
    iw_recording *joined;
    iw_edit edit;
};

/* A recording without detours that has the sources and attributes of all inputs. */
IW_NODISCARD iw_status iwi_join_begin(struct iwi_join *j, size_t cpu_count);

/* Releases all; hands the recording over if all went well. Returns `status`. */
IW_NODISCARD iw_status iwi_join_end(struct iwi_join *j, iw_status status, iw_recording **recording_p,
                                    iw_edit *edit_p);

#endif
