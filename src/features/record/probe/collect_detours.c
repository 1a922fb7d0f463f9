/* Takes marks while the probe threads go on making them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Marks are read before the kernel's events are fetched: whatever happened in a detour that has ended is then
 * among them.
 */
#include "features/record/probe/probe.h"

#include <stdlib.h>

#include "core/base/base.h"

iw_status iwi_detour_collector_begin(struct iwi_detour_collector *collector)
{
    collector->swaths =
        iwi_new_array(collector->log, collector->probe_threads->count, sizeof *collector->swaths);
    if (collector->swaths == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < collector->probe_threads->count; i++) {
        struct iwi_worker *worker = &collector->probe_threads->workers[i];
        iw_detours *cpu = &collector->recording->cpus[i];

        cpu->cpu = worker->cpu;
        IW_TRY(worker->probe.ops->begin(collector->log, &worker->probe, cpu));
    }
    return IW_OK;
}

/* Known up to here; unless room has ended before. */
static int64_t length_so_far_ns(const struct iwi_detour_collector *collector, const struct iwi_marks *marks)
{
    const uint64_t now = iwi_clock_now(collector->clock) - collector->zero;
    const bool is_full = atomic_load_explicit(&marks->dropped, memory_order_acquire) > 0;

    return iwi_clock_whole_ns(collector->clock, is_full ? marks->first_dropped : now);
}

/* Part numbers counted from the batch's first detour. */
static uint64_t *relative_numbers(const struct iwi_detour_collector *collector, const iw_detours *cpu,
                                  size_t first_part, size_t first_detour)
{
    const size_t count = cpu->part_count - first_part;
    uint64_t *numbers = iwi_new_array(collector->log, count, sizeof *numbers);

    for (size_t i = 0; numbers != NULL && i < count; i++) {
        numbers[i] = cpu->part_detour[first_part + i] - first_detour;
    }
    return numbers;
}

/* What the sink has not got yet of a CPU; `from`: what it has. */
static iw_status send(const struct iwi_detour_collector *collector, size_t place,
                      const struct iwi_swath *from)
{
    const struct iwi_marks *marks = &collector->probe_threads->workers[place].probe.marks;
    const iw_detours *cpu = &collector->recording->cpus[place];
    iw_detours batch = *cpu;
    iw_status status;

    batch.length_ns = length_so_far_ns(collector, marks);
    batch.dropped = atomic_load(&marks->dropped);
    if (cpu->count > 0) {
        batch.count -= from->detours;
        batch.start_ns += from->detours;
        batch.duration_ns += from->detours;
        batch.source += from->detours;
    }
    if (cpu->sample_count > 0) {
        batch.sample_count -= from->marks;
        batch.sample_start_ns += from->marks;
        batch.sample += from->marks;
    }
    if (cpu->part_count > 0) {
        batch.part_count -= from->parts;
        batch.part_source += from->parts;
        batch.part_ns += from->parts;
    }
    batch.part_detour = relative_numbers(collector, cpu, from->parts, from->detours);
    status = batch.part_detour != NULL
                 ? collector->sink->append(collector->sink->arg, collector->recording, place, &batch)
                 : IW_ERR_NOMEM;
    free(batch.part_detour);
    return status;
}

static iw_status take(struct iwi_detour_collector *collector, size_t place)
{
    const struct iwi_probe_run *probe = &collector->probe_threads->workers[place].probe;
    iw_detours *cpu = &collector->recording->cpus[place];
    struct iwi_swath *swath = &collector->swaths[place];
    const struct iwi_swath from = *swath;

    probe->ops->take(probe, swath->marks, swath->visible, cpu);
    if (collector->recording->probe == IW_PROBE_SELFISH) {
        IW_TRY(iwi_attribute_detours(collector->attribution, place, collector->zero, swath->detours,
                                     cpu->count));
    }
    if (atomic_load(&probe->marks.dropped) > 0) {
        iwi_attribution_forget(collector->attribution, place);
    }
    swath->marks = swath->visible;
    swath->detours = cpu->count;
    swath->parts = cpu->part_count;
    if (collector->sink != NULL && send(collector, place, &from) != IW_OK) {
        collector->sink = NULL;
    }
    return IW_OK;
}

iw_status iwi_detour_collector_step(struct iwi_detour_collector *collector)
{
    for (size_t i = 0; i < collector->probe_threads->count; i++) {
        const struct iwi_marks *marks = &collector->probe_threads->workers[i].probe.marks;

        collector->swaths[i].visible = atomic_load_explicit(&marks->count, memory_order_acquire);
    }
    IW_TRY(iwi_attribution_drain(collector->attribution));
    for (size_t i = 0; i < collector->probe_threads->count; i++) {
        IW_TRY(take(collector, i));
    }
    if (collector->sink != NULL && collector->sink->flush(collector->sink->arg) != IW_OK) {
        collector->sink = NULL;
    }
    return IW_OK;
}

iw_status iwi_detour_collector_finish(struct iwi_detour_collector *collector)
{
    IW_TRY(iwi_detour_collector_step(collector));
    for (size_t i = 0; i < collector->probe_threads->count; i++) {
        struct iwi_worker *worker = &collector->probe_threads->workers[i];
        iw_detours *cpu = &collector->recording->cpus[i];

        IW_TRY(worker->probe.ops->finish(collector->log, &worker->probe, cpu));
        if (cpu->length_ns <= 0) {
            return iwi_fail(collector->log, IW_ERR_IO, "CPU %" PRIu32 ": ended before anything was measured",
                            worker->cpu);
        }
    }
    return IW_OK;
}

void iwi_detour_collector_release(struct iwi_detour_collector *collector)
{
    free(collector->swaths);
}
