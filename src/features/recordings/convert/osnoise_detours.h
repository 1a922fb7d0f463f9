/* Events of the kernel's osnoise tracer to detours with their parts; the readers of text and of trace.dat
 * only find the events.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A sample is a gap that the tracer's loop saw; noise events within it say what took its time, each without
 * what interrupted it in turn. What they leave is time that the kernel did not see. A trace without samples
 * (NO_OSNOISE_WORKLOAD) has only noise events: those that interrupt each other are one detour.
 */
#ifndef IWI_OSNOISE_DETOURS_H
#define IWI_OSNOISE_DETOURS_H

#include "core/base/base.h"
#include "core/noise/source_table.h"

enum iwi_osnoise_kind {
    IWI_OSNOISE_PERIOD, /* the tracer was at work, from start on */
    IWI_OSNOISE_SAMPLE,
    IWI_OSNOISE_NOISE
};

struct iwi_osnoise_event {
    enum iwi_osnoise_kind kind;
    uint32_t cpu;
    uint32_t source;               /* of noise */
    int64_t start_ns, duration_ns; /* start: since boot, at least 0; duration: at most 240 h */
    uint64_t interference;         /* noise events that the kernel counted in a sample or period */
};

struct iwi_osnoise {
    const iw_log *log;
    const char *path;
    iw_recording *recording;
    struct iwi_sources sources;
    struct iwi_osnoise_event *events;
    size_t count, capacity;
    uint64_t lost; /* events that the kernel had no room for */
};

IW_NODISCARD iw_status iwi_osnoise_init(const iw_log *log, const char *path, struct iwi_osnoise *osnoise);

/* Takes over a copy; `start_ns` may be anything. Times out of range are refused. */
IW_NODISCARD iw_status iwi_osnoise_add(struct iwi_osnoise *osnoise, const struct iwi_osnoise_event *event);

/* Makes the recording of all events and leaves `osnoise` released, whatever happens. */
IW_NODISCARD iw_status iwi_osnoise_finish(struct iwi_osnoise *osnoise, iw_recording **recording_p);

void iwi_osnoise_release(struct iwi_osnoise *osnoise);

#endif
