/* What all probes share: their memory, and the undisturbed time of the selfish loop.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/probe/probe.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"

/* Selfish detour: a loop that does nothing but read the clock; gaps in its readings are detours. */

/* More detours than this a second are rare at the default threshold: busy virtual machines had 27,000. */
static const uint64_t ROOM_PER_SECOND = 50000, LEAST_ROOM = UINT64_C(1) << 16;

static iw_status samples_begin(const iw_log *log, struct iwi_probe_run *probe, iw_detours *detours);
static void *trim(void *array, size_t count, size_t element_size);
static void samples_take(const struct iwi_probe_run *probe, size_t first, size_t end, double scale,
                         iw_detours *detours);
static iw_status samples_finish(const iw_log *log, const struct iwi_probe_run *probe, double tolerance,
                                iwi_lost_fn lost_of, int64_t best, iw_detours *detours);

static uint64_t selfish_room(const iw_measure_opts *opts)
{
    const uint64_t seconds = (uint64_t)opts->duration_ns / 1000000000 + 1;

    return LEAST_ROOM + seconds * ROOM_PER_SECOND;
}

static void selfish_prepare(struct iwi_probe_run *probe)
{
    const double tolerance = ceil(probe->threshold * probe->t_min);

    probe->tolerance = (uint64_t)fmax(tolerance, 2.0); /* a gap of one tick of a coarse clock says nothing */
}

static void selfish_run(struct iwi_probe_run *probe)
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
static void selfish_take(const struct iwi_probe_run *probe, size_t first, size_t end, iw_detours *detours)
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

/* After the first detour without selfish_room nothing is known any more: the recording counts until there. */
static iw_status selfish_finish(const iw_log *log, struct iwi_probe_run *probe, iw_detours *detours)
{
    const struct iwi_marks *marks = &probe->marks;

    (void)log;
    detours->dropped = marks->dropped;
    detours->length_ns =
        iwi_clock_whole_ns(probe->clock, marks->dropped > 0 ? marks->first_dropped : marks->last);
    detours->start_ns = trim(detours->start_ns, detours->count, sizeof *detours->start_ns);
    detours->duration_ns = trim(detours->duration_ns, detours->count, sizeof *detours->duration_ns);
    detours->source = trim(detours->source, detours->count, sizeof *detours->source);
    return IW_OK;
}

const struct iwi_probe_ops iwi_probe_selfish = {selfish_room, selfish_prepare, selfish_run,
                                                begin,        selfish_take,    selfish_finish};

/* Fixed work quantum: the same work again and again; what it takes longer than at best is a detour. */

static const int64_t STEP_NS = 1000000;
enum { TRIES = 20, FIRST_WORK = 1000, LEAST_QUANTA = 16 };

/* The clock of a CPU may rise after the calibration, so twice as many as it says. */
static uint64_t fwq_room(const iw_measure_opts *opts)
{
    return 2 * (uint64_t)(opts->duration_ns / opts->quantum_ns) + LEAST_QUANTA;
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
static void fwq_prepare(struct iwi_probe_run *probe)
{
    const uint64_t step = iwi_clock_ticks(probe->clock, STEP_NS);
    const uint64_t targets[] = {probe->quantum < step ? probe->quantum : step, probe->quantum};

    probe->work = FIRST_WORK;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        const double factor = (double)targets[i] / (double)least_time(probe, probe->work);

        probe->work = (uint64_t)iwi_max((int64_t)((double)probe->work * factor), 1);
    }
}

static void fwq_run(struct iwi_probe_run *probe)
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

static void fwq_take(const struct iwi_probe_run *probe, size_t first, size_t end, iw_detours *detours)
{
    samples_take(probe, first, end, iwi_clock_ns(probe->clock, 1.0), detours);
}

static double fwq_lost_of(const struct iwi_probe_run *probe, int64_t value, int64_t best)
{
    (void)probe;
    return (double)(value - best);
}

static iw_status fwq_finish(const iw_log *log, struct iwi_probe_run *probe, iw_detours *detours)
{
    const int64_t least = least_value(&probe->marks);
    const double tolerance = floor(probe->threshold * probe->t_min);

    detours->t_min_ns = iwi_clock_ns(probe->clock, (double)least);
    detours->threshold_ns = iwi_clock_ns(probe->clock, (double)least + tolerance);
    return samples_finish(log, probe, tolerance, fwq_lost_of, least, detours);
}

const struct iwi_probe_ops iwi_probe_fwq = {fwq_room,      fwq_prepare, fwq_run,
                                            samples_begin, fwq_take,    fwq_finish};

/* Fixed time quantum: how much work fits into equal pieces of time; what lacks to the most is a detour. */

/* Some tens of nanoseconds: short against any quantum, long against a reading of the clock. */
enum { WORK_OF_A_UNIT = 32, SPARE_ROOM = 16 };

static uint64_t ftq_room(const iw_measure_opts *opts)
{
    return (uint64_t)(opts->duration_ns / opts->quantum_ns) + SPARE_ROOM;
}

static void ftq_prepare(struct iwi_probe_run *probe)
{
    probe->work = WORK_OF_A_UNIT;
}

static void ftq_run(struct iwi_probe_run *probe)
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

static void ftq_take(const struct iwi_probe_run *probe, size_t first, size_t end, iw_detours *detours)
{
    samples_take(probe, first, end, 1.0, detours);
}

/* The time of the units that lack to the most. */
static double ftq_lost_of(const struct iwi_probe_run *probe, int64_t value, int64_t most)
{
    return (double)probe->quantum * (double)(most - value) / (double)most;
}

static iw_status ftq_finish(const iw_log *log, struct iwi_probe_run *probe, iw_detours *detours)
{
    const int64_t most = most_units(&probe->marks);
    const double unit = (double)probe->quantum / (double)most;

    detours->t_min_ns = iwi_clock_ns(probe->clock, unit);
    detours->threshold_ns = probe->threshold * detours->t_min_ns;
    return samples_finish(log, probe, probe->threshold * unit, ftq_lost_of, most, detours);
}

const struct iwi_probe_ops iwi_probe_ftq = {ftq_room,      ftq_prepare, ftq_run,
                                            samples_begin, ftq_take,    ftq_finish};

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

/* Gives back what `count` elements do not need; the array itself if that fails. */
static void *trim(void *array, size_t count, size_t element_size)
{
    void *trimmed = realloc(array, (count > 0 ? count : 1) * element_size);

    return trimmed != NULL ? trimmed : array;
}

static iw_status samples_begin(const iw_log *log, struct iwi_probe_run *probe, iw_detours *detours)
{
    detours->sample = iwi_new_array(log, probe->marks.room, sizeof *detours->sample);
    detours->sample_start_ns = probe->marks.start;
    probe->is_start_lent = true;
    detours->t_min_ns = iwi_clock_ns(probe->clock, probe->t_min); /* finish() knows better */
    return detours->sample != NULL ? IW_OK : IW_ERR_NOMEM;
}

static void samples_take(const struct iwi_probe_run *probe, size_t first, size_t end, double scale,
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

static iw_status samples_finish(const iw_log *log, const struct iwi_probe_run *probe, double tolerance,
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
    detours->sample = trim(detours->sample, count, sizeof *detours->sample);
    detours->sample_start_ns = trim(detours->sample_start_ns, count, sizeof *detours->sample_start_ns);
    return IW_OK;
}
