/* Probes: what runs on a CPU while it is watched, and how the detours are read off it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A probe is one file with one ops struct and one line in probe.c.
 */
#ifndef IWI_PROBE_H
#define IWI_PROBE_H

#include <idlewave/measure.h>

#include "measure/clock.h"

/* One CPU's part. Only its own thread touches it while it measures. */
struct iwi_probe {
    const struct iwi_probe_ops *ops;
    struct iwi_clock *clock;
    const struct iwi_window *window;
    double threshold; /* times t_min */
    uint64_t quantum; /* ticks */
    /* Set by iwi_probe_prepare(), in ticks: */
    double t_min;       /* of the selfish loop */
    double least_read;  /* of two readings with nothing between them */
    uint64_t work;      /* iterations of a piece of work */
    uint64_t tolerance; /* selfish: longer gaps are kept */
    struct iwi_marks marks;
};

struct iwi_probe_ops {
    /* Marks that fit a recording of so long. */
    uint64_t (*room)(const iw_measure_opts *opts);
    /* Finds what the loop needs to know; the thread is pinned. */
    void (*prepare)(struct iwi_probe *probe);
    void (*run)(struct iwi_probe *probe);
    /* Marks to detours; takes over the arrays of the marks it needs. */
    iw_status (*finish)(const iw_log *log, struct iwi_probe *probe, iw_detours *detours);
};

extern const struct iwi_probe_ops iwi_probe_selfish, iwi_probe_fwq, iwi_probe_ftq;

/* Never NULL for the values of the enum. */
const struct iwi_probe_ops *iwi_probe_ops_of(iw_probe probe);

/* Bytes of one mark. */
enum { IWI_MARK_BYTES = 16 };

/* On the pinned thread: room for so many marks, touched so that it is near this CPU and nothing is paged in
 * later; t_min; what the probe needs besides. Nothing is logged; IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_probe_prepare(struct iwi_probe *probe, size_t room);

void iwi_probe_release(struct iwi_probe *probe);

/* Hands an array of the marks over, cut to `count` elements. */
int64_t *iwi_marks_take(int64_t **array_p, size_t count);

/* For probes that take a sample in each quantum: room for them and for as many detours of unknown source, */
IW_NODISCARD iw_status iwi_samples_new(const iw_log *log, iw_detours *detours, size_t count);

/* and once the detours have been found, the samples, values times `scale`. */
void iwi_samples_take(struct iwi_probe *probe, double scale, iw_detours *detours);

#endif
