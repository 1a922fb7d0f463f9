/* Turns what the programs report into a recording: names of sources, and detours CPU by CPU.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DETOURS_H
#define IWI_DETOURS_H

#include <idlewave/recording.h>
#include <idlewave/watch.h>

#include <stddef.h>

#include "features/watch/bpf/bpf_shared.h"
#include "features/watch/kernel_side.h"
#include "features/watch/symbols.h"

/* An instant on both clocks: the programs know the first, recordings the second. */
struct iwi_instant {
    int64_t monotonic_ns, raw_ns;
};

/* How much of a CPU there is room for, and the sink has got. */
struct iwi_sent {
    size_t capacity[3], part_capacity[3]; /* of its columns */
    size_t sent, parts_sent;
};

struct iwi_detour_log {
    const iw_log *log;
    const iw_watch_opts *opts;
    struct iwi_kernel_side *side;
    iw_recording *recording;
    struct iwi_sent *places;              /* of each CPU of the recording */
    uint32_t *place_of;                   /* of each CPU number, UINT32_MAX: not watched */
    uint32_t source_of[IWI_BPF_SOURCES];  /* number in the recording; 0: not known yet */
    const iw_measure_sink *sink;          /* NULL: there is none, or it has failed */
    struct iwi_instant zero, before, now; /* of the last two drainings */
    struct iwi_symbols symbols;           /* for the stacks of detours that are told at once */
    struct iwi_user_stacks user_stacks;
};

/* `recording` has its CPUs. To be released also if it fails. */
IW_NODISCARD iw_status iwi_detour_log_begin(struct iwi_detour_log *detours);
void iwi_detour_log_release(struct iwi_detour_log *detours);

/* Takes all that has been reported until now. */
IW_NODISCARD iw_status iwi_detour_log_drain(struct iwi_detour_log *detours);

/* After the last event: takes what is still open on each CPU. */
IW_NODISCARD iw_status iwi_detour_log_end(struct iwi_detour_log *detours);

/* Gives the sink what it has not got yet. */
void iwi_detour_log_send(struct iwi_detour_log *detours);

/* Number of a source in the recording. */
IW_NODISCARD iw_status iwi_detour_log_source(struct iwi_detour_log *detours, uint32_t number,
                                             uint32_t *source_p);

/* ---- names of sources as recordings have them ---- */

void iwi_named_source(const struct iwi_bpf_name *name, iw_source *source);

#endif
