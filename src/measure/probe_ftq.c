/* Fixed time quantum: how much work fits into equal pieces of time; what lacks to the most is a detour.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "base/base.h"
#include "measure/probe.h"

/* Some tens of nanoseconds: short against any quantum, long against a reading of the clock. */
enum { WORK_OF_A_UNIT = 32, SPARE_ROOM = 16 };

static uint64_t room(const iw_measure_opts *opts)
{
    return (uint64_t)(opts->duration_ns / opts->quantum_ns) + SPARE_ROOM;
}

static void prepare(struct iwi_probe *probe)
{
    probe->work = WORK_OF_A_UNIT;
}

static void run(struct iwi_probe *probe)
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

/* Quanta that lack more units than the tolerance; the time of the units that lack, set to the beginning. */
static void find_detours(const struct iwi_probe *probe, int64_t most, double tolerance, iw_detours *detours)
{
    const struct iwi_marks *marks = &probe->marks;

    for (size_t i = 0; i < marks->count; i++) {
        const int64_t lacking = most - marks->value[i];

        if ((double)lacking > tolerance) {
            const double lost = (double)probe->quantum * (double)lacking / (double)most;
            const uint64_t start = (uint64_t)marks->start[i];
            const int64_t start_ns = iwi_clock_whole_ns(probe->clock, start);

            detours->start_ns[detours->count] = start_ns;
            detours->duration_ns[detours->count++] =
                iwi_clock_whole_ns(probe->clock, start + (uint64_t)lost) - start_ns;
        }
    }
}

static iw_status finish(const iw_log *log, struct iwi_probe *probe, iw_detours *detours)
{
    const int64_t most = most_units(&probe->marks);

    IW_TRY(iwi_samples_new(log, detours, probe->marks.count));
    find_detours(probe, most, probe->threshold, detours);
    iwi_samples_take(probe, 1.0, detours);
    detours->t_min_ns = iwi_clock_ns(probe->clock, (double)probe->quantum / (double)most);
    detours->threshold_ns = probe->threshold * detours->t_min_ns;
    return IW_OK;
}

const struct iwi_probe_ops iwi_probe_ftq = {room, prepare, run, finish};
