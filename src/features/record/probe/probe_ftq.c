/* Fixed time quantum: how much work fits into equal pieces of time; what lacks to the most is a detour.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/base.h"
#include "features/record/probe/probe.h"

/* Some tens of nanoseconds: short against any quantum, long against a reading of the clock. */
enum { WORK_OF_A_UNIT = 32, SPARE_ROOM = 16 };

static uint64_t room(const iw_measure_opts *opts)
{
    return (uint64_t)(opts->duration_ns / opts->quantum_ns) + SPARE_ROOM;
}

static void prepare(struct iwi_probe_run *probe)
{
    probe->work = WORK_OF_A_UNIT;
}

static void run(struct iwi_probe_run *probe)
{
    probe->clock->ops->ftq(probe->clock->state, probe->window, probe->work, probe->quantum, &probe->marks);
}

static int64_t most_units(const struct iwi_marks *marks)
{
    int64_t most = 1;

    for (size_t i = 0; i < marks->count; i++) {
        most = iwi_max(most, marks->value[i]);
    }
    return most;
}

static void take(const struct iwi_probe_run *probe, size_t first, size_t end, iw_detours *detours)
{
    iwi_samples_take(probe, first, end, 1.0, detours);
}

/* The time of the units that lack to the most. */
static double lost_of(const struct iwi_probe_run *probe, int64_t value, int64_t most)
{
    return (double)probe->quantum * (double)(most - value) / (double)most;
}

static iw_status finish(const iw_log *log, struct iwi_probe_run *probe, iw_detours *detours)
{
    const int64_t most = most_units(&probe->marks);
    const double unit = (double)probe->quantum / (double)most;

    detours->t_min_ns = iwi_clock_ns(probe->clock, unit);
    detours->threshold_ns = probe->threshold * detours->t_min_ns;
    return iwi_samples_finish(log, probe, probe->threshold * unit, lost_of, most, detours);
}

const struct iwi_probe_ops iwi_probe_ftq = {room, prepare, run, iwi_samples_begin, take, finish};
