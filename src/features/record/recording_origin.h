/* Where a recording comes from, as its attributes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORDING_ORIGIN_H
#define IWI_RECORDING_ORIGIN_H

#include <time.h>

#include "features/record/probe/probe.h"
#include "features/record/record.h"
#include "kit/machine/load.h"
#include "kit/machine/proc_counts.h"

/* One instant on two clocks, to within width_ns. */
struct iwi_wall_tie {
    int64_t raw_ns, wall_ns; /* CLOCK_MONOTONIC_RAW, CLOCK_REALTIME */
    int64_t width_ns;
};

/* What must be noted before measuring. */
struct iwi_recording_origin {
    const char *root; /* /proc and /sys are below it */
    time_t date;
    struct iwi_wall_tie wall;
    uint64_t *steal_ticks; /* of each CPU */
    struct iwi_proc_counts counts;
    struct iwi_load_reading load;
    int64_t load_raw_ns; /* when that was read */
    bool has_smi_count;
    uint64_t smi_count;
};

/* To be released also if it fails. */
IW_NODISCARD iw_status iwi_recording_origin_begin(const iw_log *log, const char *root,
                                                  const struct iwi_cpus *cpus,
                                                  struct iwi_recording_origin *origin);
void iwi_recording_origin_release(struct iwi_recording_origin *origin);

/* Attributes that are known before measuring, and those of `opts`; docs/reference/formats/noise-hdf5.md lists
 * them. */
IW_NODISCARD iw_status iwi_recording_origin_set(const iw_log *log, const struct iwi_recording_origin *origin,
                                                const iw_measure_opts *opts,
                                                const struct iwi_detour_collector *collector);

/* Who used so many CPUs in that time: load_*. */
IW_NODISCARD iw_status iwi_recording_origin_load(const iw_log *log, const struct iwi_load_used *load,
                                                 double elapsed_ms, size_t cpu_count,
                                                 iw_recording *recording);

/* Those that are known only at the end. */
IW_NODISCARD iw_status iwi_recording_origin_complete(const iw_log *log,
                                                     const struct iwi_recording_origin *origin,
                                                     const iw_measure_opts *opts,
                                                     const struct iwi_detour_collector *collector);

#endif
