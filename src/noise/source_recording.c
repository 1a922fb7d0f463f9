/* A recording as a source of noise: each rank walks through the trace of its CPU, at the offset of its node.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Words: the number of the current piece, the CPU.
 */
#include <idlewave/noise.h>

#include "noise/recording_noise.h"
#include "noise/source.h"
#include "noise/trace_walk.h"

enum { PIECE, CPU };

static const struct iwi_recorded_cpu *cpu_of(const struct iwi_source *source, const int64_t *words)
{
    return &source->u.recorded.recorded->cpus[words[CPU]];
}

static void release(struct iwi_source *source)
{
    iwi_recorded_free(source->u.recorded.recorded);
}

/* Over the CPUs that the ranks of a node use, each as often as ranks do. */
static double share(const struct iwi_source *source, uint32_t ranks_per_node)
{
    const struct iwi_recorded *recorded = source->u.recorded.recorded;
    const uint32_t per_cpu = ranks_per_node / (uint32_t)recorded->cpu_count,
                   more_on = ranks_per_node % (uint32_t)recorded->cpu_count;
    double busy_ps = 0;

    for (size_t cpu = 0; cpu < recorded->cpu_count; cpu++) {
        busy_ps += (double)recorded->busy_ps[cpu * IW_NOISE_MAX_SOURCES + source->u.recorded.label] *
                   (double)(per_cpu + (cpu < more_on));
    }
    return busy_ps / ((double)ranks_per_node * (double)recorded->length_ps);
}

static iw_time begin(const struct iwi_source *source, const struct iwi_origin *origin, int64_t *words)
{
    words[CPU] = (int64_t)(origin->seat % source->u.recorded.recorded->cpu_count);
    return iwi_trace_begin(&cpu_of(source, words)->trace, origin, &words[PIECE]);
}

static iw_time step(const struct iwi_source *source, struct iwi_draw_id draw, int64_t *words, iw_time start)
{
    (void)draw;
    return iwi_trace_step(&cpu_of(source, words)->trace, &words[PIECE], start);
}

static iw_time end(const struct iwi_source *source, const int64_t *words, iw_time start)
{
    return start + cpu_of(source, words)->trace.duration_ps[words[PIECE]];
}

static iw_time seek(const struct iwi_source *source, struct iwi_draw_id draw, int64_t *words, iw_time start,
                    iw_time t)
{
    (void)draw;
    return iwi_trace_seek(&cpu_of(source, words)->trace, &words[PIECE], start, t);
}

static iw_time finish(const struct iwi_source *source, int64_t *words, iw_time *next, iw_time t, iw_time d)
{
    return iwi_trace_finish(&cpu_of(source, words)->trace, &words[PIECE], next, t, d);
}

static size_t label(const struct iwi_source *source, const int64_t *words)
{
    return cpu_of(source, words)->label[words[PIECE]];
}

const struct iwi_source_ops iwi_source_recording = {
    .usage = "FILE",
    .example = "node.h5",
    .release = release,
    .share = share,
    .is_recorded = true,
    .words = 2,
    .begin = begin,
    .step = step,
    .seek = seek,
    .end = end,
    .label = label,
    .finish = finish,
};

const struct iwi_source_ops iwi_source_recording_part = {
    .usage = "FILE",
    .example = "node.h5",
    .share = share,
    .is_recorded = true,
};
