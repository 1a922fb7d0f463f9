/* Probes: what runs on a CPU while it is watched, and how the detours are read off it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A probe is one file with one ops struct and one line in probe.c.
 */
#ifndef IWI_PROBE_H
#define IWI_PROBE_H

#include <idlewave/measure.h>

#include "features/record/clock/clock.h"

/* One CPU's part. Only its own thread touches it while it measures. */
struct iwi_probe_run {
    const struct iwi_probe_ops *ops;
    struct iwi_clock *clock;
    const struct iwi_probe_window *window;
    double threshold; /* times t_min */
    uint64_t quantum; /* ticks */
    /* Set by iwi_probe_prepare(), in ticks: */
    double t_min;       /* of the selfish loop */
    double least_read;  /* of two readings with nothing between them */
    uint64_t work;      /* iterations of a piece of work */
    uint64_t tolerance; /* selfish: longer gaps are kept */
    struct iwi_marks marks;
    bool is_start_lent, is_value_lent; /* these arrays of the marks belong to the recording now */
};

struct iwi_probe_ops {
    /* Marks that fit a recording of so long. */
    uint64_t (*room)(const iw_measure_opts *opts);
    /* Finds what the loop needs to know; the thread is pinned. */
    void (*prepare)(struct iwi_probe_run *probe);
    void (*run)(struct iwi_probe_run *probe);
    /* Before the window: what is known already, and arrays with room for all marks; those of the marks are
     * lent where they can serve. */
    iw_status (*begin)(const iw_log *log, struct iwi_probe_run *probe, iw_detours *detours);
    /* Marks first..end-1 become detours or samples, in the clock's ticks no more but in ns. Called while the
     * loop runs, and once after it. */
    void (*take)(const struct iwi_probe_run *probe, size_t first, size_t end, iw_detours *detours);
    /* After all marks have been taken: what only the whole says. */
    iw_status (*finish)(const iw_log *log, struct iwi_probe_run *probe, iw_detours *detours);
};

extern const struct iwi_probe_ops iwi_probe_selfish, iwi_probe_fwq, iwi_probe_ftq;

/* Never NULL for the values of the enum. */
const struct iwi_probe_ops *iwi_probe_ops_of(iw_probe probe);

/* Bytes of one mark and of what becomes of it. */
enum { IWI_MARK_BYTES = 48 };

/* On the pinned thread: room for so many marks, touched so that it is near this CPU and nothing is paged in
 * later; t_min; what the probe needs besides. Nothing is logged; IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_probe_prepare(struct iwi_probe_run *probe, size_t room);

void iwi_probe_release(struct iwi_probe_run *probe);

/* ---- for probes that take a sample in each quantum: their begin(), take() with values times `scale`, ----
 */

/* and finish(): quanta that lost more than `tolerance` ticks against the best become detours. */
typedef double (*iwi_lost_fn)(const struct iwi_probe_run *probe, int64_t value, int64_t best);

#endif
