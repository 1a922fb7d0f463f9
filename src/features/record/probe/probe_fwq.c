/* Fixed work quantum: the same work again and again; what it takes longer than at best is a detour.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/record/probe/probe.h"

static const int64_t STEP_NS = 1000000;
enum { TRIES = 20, FIRST_WORK = 1000, LEAST_ROOM = 16 };

/* The clock of a CPU may rise after the calibration, so twice as many as it says. */
static uint64_t room(const iw_measure_opts *opts)
{
    return 2 * (uint64_t)(opts->duration_ns / opts->quantum_ns) + LEAST_ROOM;
}

/* Ticks that so much work takes at best. */
static uint64_t least_time(struct iwi_probe_run *probe, uint64_t work)
{
    const struct iwi_probe_window now = {.zero = 0, .end = UINT64_MAX};
    int64_t start[TRIES], value[TRIES];
    struct iwi_marks marks = {.start = start, .value = value, .room = TRIES};
    int64_t least = INT64_MAX;

    probe->clock->ops->fwq(probe->clock->state, &now, work, &marks);
    for (size_t i = 0; i < marks.count; i++) {
        least = iwi_min(least, value[i]);
    }
    return (uint64_t)iwi_max(least, 1);
}

/* In two steps: work of about a millisecond is timed well, also where a quantum is much longer. */
static void prepare(struct iwi_probe_run *probe)
{
    const uint64_t step = iwi_clock_ticks(probe->clock, STEP_NS);
    const uint64_t targets[] = {probe->quantum < step ? probe->quantum : step, probe->quantum};

    probe->work = FIRST_WORK;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        const double factor = (double)targets[i] / (double)least_time(probe, probe->work);

        probe->work = (uint64_t)iwi_max((int64_t)((double)probe->work * factor), 1);
    }
}

static void run(struct iwi_probe_run *probe)
{
    probe->clock->ops->fwq(probe->clock->state, probe->window, probe->work, &probe->marks);
}

static int64_t least_value(const struct iwi_marks *marks)
{
    int64_t least = INT64_MAX;

    for (size_t i = 0; i < marks->count; i++) {
        least = iwi_min(least, marks->value[i]);
    }
    return least;
}

static void take(const struct iwi_probe_run *probe, size_t first, size_t end, iw_detours *detours)
{
    iwi_samples_take(probe, first, end, iwi_clock_ns(probe->clock, 1.0), detours);
}

static double lost_of(const struct iwi_probe_run *probe, int64_t value, int64_t best)
{
    (void)probe;
    return (double)(value - best);
}

static iw_status finish(const iw_log *log, struct iwi_probe_run *probe, iw_detours *detours)
{
    const int64_t least = least_value(&probe->marks);
    const double tolerance = floor(probe->threshold * probe->t_min);

    detours->t_min_ns = iwi_clock_ns(probe->clock, (double)least);
    detours->threshold_ns = iwi_clock_ns(probe->clock, (double)least + tolerance);
    return iwi_samples_finish(log, probe, tolerance, lost_of, least, detours);
}

const struct iwi_probe_ops iwi_probe_fwq = {room, prepare, run, iwi_samples_begin, take, finish};
