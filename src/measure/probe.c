/* What all probes share: their memory, and the undisturbed time of the selfish loop.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "measure/probe.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

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

static int64_t *new_touched(size_t count)
{
    const size_t step = TOUCH_STEP_BYTES / sizeof(int64_t);
    int64_t *array = calloc(count > 0 ? count : 1, sizeof *array);

    for (size_t i = 0; array != NULL && i < count; i += step) {
        ((volatile int64_t *)array)[i] = 0;
    }
    return array;
}

iw_status iwi_probe_prepare(struct iwi_probe *probe, size_t room)
{
    probe->marks = (struct iwi_marks){.start = new_touched(room), .value = new_touched(room), .room = room};
    if (probe->marks.start == NULL || probe->marks.value == NULL) {
        iwi_probe_release(probe);
        return IW_ERR_NOMEM;
    }
    probe->t_min = find_t_min(probe->clock);
    probe->least_read = (double)probe->clock->ops->least_read(probe->clock->state, READ_ITERATIONS);
    probe->ops->prepare(probe);
    return IW_OK;
}

void iwi_probe_release(struct iwi_probe *probe)
{
    free(probe->marks.start);
    free(probe->marks.value);
    probe->marks.start = probe->marks.value = NULL;
}

int64_t *iwi_marks_take(int64_t **array_p, size_t count)
{
    int64_t *array = *array_p;
    int64_t *cut = realloc(array, (count > 0 ? count : 1) * sizeof *array);

    *array_p = NULL;
    return cut != NULL ? cut : array;
}

iw_status iwi_samples_new(const iw_log *log, iw_detours *detours, size_t count)
{
    detours->start_ns = iwi_new_array(log, count, sizeof *detours->start_ns);
    detours->duration_ns = iwi_new_array(log, count, sizeof *detours->duration_ns);
    detours->source = iwi_new_array(log, count, sizeof *detours->source);
    detours->sample = iwi_new_array(log, count, sizeof *detours->sample);
    return detours->start_ns != NULL && detours->duration_ns != NULL && detours->source != NULL &&
                   detours->sample != NULL
               ? IW_OK
               : IW_ERR_NOMEM;
}

void iwi_samples_take(struct iwi_probe *probe, double scale, iw_detours *detours)
{
    struct iwi_marks *marks = &probe->marks;

    for (size_t i = 0; i < marks->count; i++) {
        detours->sample[i] = scale * (double)marks->value[i];
        marks->start[i] = iwi_clock_whole_ns(probe->clock, (uint64_t)marks->start[i]);
    }
    detours->sample_count = marks->count;
    detours->sample_start_ns = iwi_marks_take(&marks->start, marks->count);
    detours->length_ns = iwi_clock_whole_ns(probe->clock, marks->last);
}
