/* Selfish detour: a loop that does nothing but read the clock; gaps in its readings are detours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/record/probe/probe.h"

/* More detours than this a second are rare at the default threshold: busy virtual machines had 27,000. */
static const uint64_t ROOM_PER_SECOND = 50000, LEAST_ROOM = UINT64_C(1) << 16;

static uint64_t room(const iw_measure_opts *opts)
{
    const uint64_t seconds = (uint64_t)opts->duration_ns / 1000000000 + 1;

    return LEAST_ROOM + seconds * ROOM_PER_SECOND;
}

static void prepare(struct iwi_probe_run *probe)
{
    const double tolerance = ceil(probe->threshold * probe->t_min);

    probe->tolerance = (uint64_t)fmax(tolerance, 2.0); /* a gap of one tick of a coarse clock says nothing */
}

static void run(struct iwi_probe_run *probe)
{
    probe->clock->ops->selfish(probe->clock->state, probe->window, probe->tolerance, &probe->marks);
}

static iw_status begin(const iw_log *log, struct iwi_probe_run *probe, iw_detours *detours)
{
    detours->source = iwi_new_array(log, probe->marks.room, sizeof *detours->source);
    detours->start_ns = probe->marks.start;
    detours->duration_ns = probe->marks.value;
    probe->is_start_lent = probe->is_value_lent = true;
    detours->t_min_ns = iwi_clock_ns(probe->clock, probe->t_min);
    detours->threshold_ns = iwi_clock_ns(probe->clock, (double)probe->tolerance);
    return detours->source != NULL ? IW_OK : IW_ERR_NOMEM;
}

/* Both ends are rounded, so what did not overlap does not afterwards. There are at most as many detours as
 * marks before the first, so none is overwritten before it is read. */
static void take(const struct iwi_probe_run *probe, size_t first, size_t end, iw_detours *detours)
{
    const uint64_t t_min = (uint64_t)probe->t_min;

    for (size_t i = first; i < end; i++) {
        const uint64_t start = (uint64_t)detours->start_ns[i];
        const uint64_t duration = (uint64_t)detours->duration_ns[i] - t_min;
        const size_t at = detours->count++;

        detours->start_ns[at] = iwi_clock_whole_ns(probe->clock, start);
        detours->duration_ns[at] = iwi_clock_whole_ns(probe->clock, start + duration) - detours->start_ns[at];
    }
}

/* After the first detour without room nothing is known any more: the recording counts until there. */
static iw_status finish(const iw_log *log, struct iwi_probe_run *probe, iw_detours *detours)
{
    const struct iwi_marks *marks = &probe->marks;

    (void)log;
    detours->dropped = marks->dropped;
    detours->length_ns =
        iwi_clock_whole_ns(probe->clock, marks->dropped > 0 ? marks->first_dropped : marks->last);
    detours->start_ns = iwi_trim(detours->start_ns, detours->count, sizeof *detours->start_ns);
    detours->duration_ns = iwi_trim(detours->duration_ns, detours->count, sizeof *detours->duration_ns);
    detours->source = iwi_trim(detours->source, detours->count, sizeof *detours->source);
    return IW_OK;
}

const struct iwi_probe_ops iwi_probe_selfish = {room, prepare, run, begin, take, finish};
