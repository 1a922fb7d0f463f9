/* What all probes share: their memory, and the undisturbed time of the selfish loop.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/probe/probe.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"

/* t_min is sought for so long, in batches: CPUs need some of it to reach their full clock. */
static const int64_t BATCH_NS = 1000000;
enum { BATCHES = 50, READ_ITERATIONS = 20000, TOUCH_STEP_BYTES = 4096 };

const struct iwi_probe_ops *iwi_probe_ops_of(iw_probe probe)
{
    static const struct iwi_probe_ops *const probes[] = {
        [IW_PROBE_SELFISH] = &iwi_probe_selfish,
        [IW_PROBE_FWQ] = &iwi_probe_fwq,
        [IW_PROBE_FTQ] = &iwi_probe_ftq,
    };

    return probes[probe];
}

/* The smallest gap; of a clock so coarse that this is 0 ticks, the mean of the quickest batch. */
static double find_t_min(const struct iwi_clock *clock)
{
    const uint64_t batch = iwi_clock_ticks(clock, BATCH_NS);
    uint64_t gap = UINT64_MAX;
    double mean = HUGE_VAL;

    for (int i = 0; i < BATCHES; i++) {
        const _Atomic uint64_t end = iwi_clock_now(clock) + batch;
        const struct iwi_least least = clock->ops->least(clock->state, &end);

        gap = least.gap < gap ? least.gap : gap;
        mean = fmin(mean, (double)least.elapsed / (double)least.iterations);
    }
    return gap > 0 ? (double)gap : mean;
}

/* The window may be ended before it opens: then nothing more needs to be prepared. */
static bool is_ended(const struct iwi_probe_run *probe)
{
    return atomic_load_explicit(&probe->window->end, memory_order_relaxed) == 0;
}

static int64_t *new_touched(const struct iwi_probe_run *probe, size_t count)
{
    const size_t step = TOUCH_STEP_BYTES / sizeof(int64_t);
    int64_t *array = calloc(count > 0 ? count : 1, sizeof *array);

    for (size_t i = 0; array != NULL && i < count && !is_ended(probe); i += step) {
        ((volatile int64_t *)array)[i] = 0;
    }
    return array;
}

iw_status iwi_probe_prepare(struct iwi_probe_run *probe, size_t room)
{
    probe->marks = (struct iwi_marks){
        .start = new_touched(probe, room), .value = new_touched(probe, room), .room = room};
    if (probe->marks.start == NULL || probe->marks.value == NULL) {
        iwi_probe_release(probe);
        return IW_ERR_NOMEM;
    }
    probe->t_min = find_t_min(probe->clock);
    probe->least_read = (double)probe->clock->ops->least_read(probe->clock->state, READ_ITERATIONS);
    probe->ops->prepare(probe);
    return IW_OK;
}

void iwi_probe_release(struct iwi_probe_run *probe)
{
    if (!probe->is_start_lent) {
        free(probe->marks.start);
    }
    if (!probe->is_value_lent) {
        free(probe->marks.value);
    }
    probe->marks.start = probe->marks.value = NULL;
}

void *iwi_trim(void *array, size_t count, size_t element_size)
{
    void *trimmed = realloc(array, (count > 0 ? count : 1) * element_size);

    return trimmed != NULL ? trimmed : array;
}

iw_status iwi_samples_begin(const iw_log *log, struct iwi_probe_run *probe, iw_detours *detours)
{
    detours->sample = iwi_new_array(log, probe->marks.room, sizeof *detours->sample);
    detours->sample_start_ns = probe->marks.start;
    probe->is_start_lent = true;
    detours->t_min_ns = iwi_clock_ns(probe->clock, probe->t_min); /* finish() knows better */
    return detours->sample != NULL ? IW_OK : IW_ERR_NOMEM;
}

void iwi_samples_take(const struct iwi_probe_run *probe, size_t first, size_t end, double scale,
                      iw_detours *detours)
{
    for (size_t i = first; i < end; i++) {
        detours->sample[i] = scale * (double)probe->marks.value[i];
        detours->sample_start_ns[i] = iwi_clock_whole_ns(probe->clock, (uint64_t)detours->sample_start_ns[i]);
    }
    detours->sample_count = end;
}

/* A detour is set to the beginning of its quantum: where it was in it cannot be known. */
static void find_detours(const struct iwi_probe_run *probe, double tolerance, iwi_lost_fn lost_of,
                         int64_t best, iw_detours *detours)
{
    const size_t count = detours->sample_count;

    for (size_t i = 0; i < count; i++) {
        const double lost = lost_of(probe, probe->marks.value[i], best);
        const int64_t start_ns = detours->sample_start_ns[i];
        const int64_t next_ns = i + 1 < count ? detours->sample_start_ns[i + 1] : detours->length_ns;

        if (lost > tolerance) {
            const int64_t lost_ns = iwi_clock_whole_ns(probe->clock, (uint64_t)lost);

            detours->start_ns[detours->count] = start_ns;
            detours->duration_ns[detours->count++] = iwi_min(lost_ns, next_ns - start_ns);
        }
    }
}

iw_status iwi_samples_finish(const iw_log *log, const struct iwi_probe_run *probe, double tolerance,
                             iwi_lost_fn lost_of, int64_t best, iw_detours *detours)
{
    const size_t count = detours->sample_count;

    detours->length_ns = iwi_clock_whole_ns(probe->clock, probe->marks.last);
    detours->start_ns = iwi_new_array(log, count, sizeof *detours->start_ns);
    detours->duration_ns = iwi_new_array(log, count, sizeof *detours->duration_ns);
    detours->source = iwi_new_array(log, count, sizeof *detours->source);
    if (detours->start_ns == NULL || detours->duration_ns == NULL || detours->source == NULL) {
        return IW_ERR_NOMEM;
    }
    find_detours(probe, tolerance, lost_of, best, detours);
    detours->sample = iwi_trim(detours->sample, count, sizeof *detours->sample);
    detours->sample_start_ns = iwi_trim(detours->sample_start_ns, count, sizeof *detours->sample_start_ns);
    return IW_OK;
}
