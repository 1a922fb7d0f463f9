/* Selfish detour: a loop that does nothing but read the clock; gaps in its readings are detours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "base/base.h"
#include "measure/probe.h"

/* More detours than this a second are rare at the default threshold, on any machine. */
static const uint64_t ROOM_PER_SECOND = 20000, LEAST_ROOM = UINT64_C(1) << 16;

static uint64_t room(const iw_measure_opts *opts)
{
    const uint64_t seconds = (uint64_t)opts->duration_ns / 1000000000 + 1;

    return LEAST_ROOM + seconds * ROOM_PER_SECOND;
}

static void prepare(struct iwi_probe *probe)
{
    const double tolerance = ceil(probe->threshold * probe->t_min);

    probe->tolerance = (uint64_t)fmax(tolerance, 2.0); /* a gap of one tick of a coarse clock says nothing */
}

static void run(struct iwi_probe *probe)
{
    probe->clock->ops->selfish(probe->clock->state, probe->window, probe->tolerance, &probe->marks);
}

/* Ticks to nanoseconds in place. Both ends are rounded, so what did not overlap does not afterwards. */
static void convert(const struct iwi_probe *probe)
{
    const struct iwi_marks *marks = &probe->marks;
    const uint64_t t_min = (uint64_t)probe->t_min;

    for (size_t i = 0; i < marks->count; i++) {
        const uint64_t start = (uint64_t)marks->start[i], duration = (uint64_t)marks->value[i] - t_min;

        marks->start[i] = iwi_clock_whole_ns(probe->clock, start);
        marks->value[i] = iwi_clock_whole_ns(probe->clock, start + duration) - marks->start[i];
    }
}

/* After the first detour without room nothing is known any more: the recording counts until there. */
static iw_status finish(const iw_log *log, struct iwi_probe *probe, iw_detours *detours)
{
    struct iwi_marks *marks = &probe->marks;
    const uint64_t length = marks->dropped > 0 ? marks->first_dropped : marks->last;

    detours->source = iwi_new_array(log, marks->count, sizeof *detours->source);
    if (detours->source == NULL) {
        return IW_ERR_NOMEM;
    }
    convert(probe);
    detours->count = marks->count;
    detours->start_ns = iwi_marks_take(&marks->start, marks->count);
    detours->duration_ns = iwi_marks_take(&marks->value, marks->count);
    detours->dropped = marks->dropped;
    detours->length_ns = iwi_clock_whole_ns(probe->clock, length);
    detours->t_min_ns = iwi_clock_ns(probe->clock, probe->t_min);
    detours->threshold_ns = iwi_clock_ns(probe->clock, (double)probe->tolerance);
    return IW_OK;
}

const struct iwi_probe_ops iwi_probe_selfish = {room, prepare, run, finish};
