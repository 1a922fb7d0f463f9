/* Recordings as a source of noise: each rank walks through the trace of its CPU, at the offset of its node;
 * of several recorded nodes, each simulated one meets another.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Words: the number of the current piece, the CPU among those of all recorded nodes.
 */
#include <idlewave/noise.h>

#include "core/base/hash.h"
#include "core/noise/detour_walk.h"
#include "core/noise/recording_noise.h"
#include "core/noise/source.h"

enum { PIECE, CPU };

static const struct iwi_recorded_cpu *cpu_of(const struct iwi_noise_source *source, const int64_t *words)
{
    return &source->u.recorded.recorded->cpus[words[CPU]];
}

static void release(struct iwi_noise_source *source)
{
    iwi_recorded_free(source->u.recorded.recorded);
}

/* Over the CPUs of a node that cores of its ranks are, each as often as it is one. */
static double busy_ps_of_node(const struct iwi_noise_source *source, size_t node, uint32_t cores_per_node)
{
    const struct iwi_recorded *recorded = source->u.recorded.recorded;
    const size_t first = recorded->first_cpu[node];
    const uint32_t cpu_count = (uint32_t)(recorded->first_cpu[node + 1] - first);
    const uint32_t per_cpu = cores_per_node / cpu_count, more_on = cores_per_node % cpu_count;
    double busy_ps = 0;

    for (size_t cpu = 0; cpu < cpu_count; cpu++) {
        busy_ps +=
            (double)recorded->busy_ps[(first + cpu) * IW_NOISE_MAX_SOURCES + source->u.recorded.label] *
            (double)(per_cpu + (cpu < more_on));
    }
    return busy_ps;
}

static double share(const struct iwi_noise_source *source, uint32_t cores_per_node)
{
    const struct iwi_recorded *recorded = source->u.recorded.recorded;
    double busy_ps = 0;

    for (size_t node = 0; node < recorded->node_count; node++) {
        busy_ps += busy_ps_of_node(source, node, cores_per_node);
    }
    return busy_ps / ((double)recorded->node_count * (double)cores_per_node * (double)recorded->length_ps);
}

/* A permutation of 0 ... count - 1 that `key` chooses, evaluated at one place without storing it: in each
 * round numbers are paired by x + y = sum mod count, and a pair changes places or not by a random bit of its
 * larger number ("swap or not", Hoang, Morris and Rogaway 2012). */
static uint64_t permute(uint64_t at, uint64_t count, uint64_t key)
{
    const unsigned bits = 64U - (unsigned)__builtin_clzll(count);

    for (unsigned round = 0; round < 8 + 3 * bits; round++) {
        const uint64_t own = iwi_mix(key += UINT64_C(0x9e3779b97f4a7c15)), sum = iwi_scale_below(own, count);
        const uint64_t partner = sum >= at ? sum - at : sum + count - at;

        if (iwi_mix(own ^ (uint64_t)iwi_max((int64_t)at, (int64_t)partner)) >> 63) {
            at = partner;
        }
    }
    return at;
}

/* Nodes 0 ... K - 1 of the simulated ones meet all K recorded ones, the next K again in another order. */
static size_t recorded_node(const struct iwi_recorded *recorded, const struct iwi_stream_origin *origin)
{
    const uint64_t count = recorded->node_count;
    struct iwi_draw_id draw = origin->draw;

    if (count == 1) {
        return 0;
    }
    draw.purpose = IWI_DRAW_NODE;
    draw.rank = 0;
    return (size_t)permute(origin->node % count, count, iwi_draw(draw, origin->node / count));
}

static iw_time begin(const struct iwi_noise_source *source, const struct iwi_stream_origin *origin,
                     int64_t *words)
{
    const struct iwi_recorded *recorded = source->u.recorded.recorded;
    const size_t node = recorded_node(recorded, origin), first = recorded->first_cpu[node];

    words[CPU] = (int64_t)(first + origin->seat % (recorded->first_cpu[node + 1] - first));
    return iwi_detour_trace_begin(&cpu_of(source, words)->trace, origin, &words[PIECE]);
}

static iw_time step(const struct iwi_noise_source *source, struct iwi_draw_id draw, int64_t *words,
                    iw_time start)
{
    (void)draw;
    return iwi_detour_trace_step(&cpu_of(source, words)->trace, &words[PIECE], start);
}

static iw_time end(const struct iwi_noise_source *source, const int64_t *words, iw_time start)
{
    return start + cpu_of(source, words)->trace.duration_ps[words[PIECE]];
}

static iw_time seek(const struct iwi_noise_source *source, struct iwi_draw_id draw, int64_t *words,
                    iw_time start, iw_time t)
{
    (void)draw;
    return iwi_detour_trace_seek(&cpu_of(source, words)->trace, &words[PIECE], start, t);
}

static iw_time finish(const struct iwi_noise_source *source, int64_t *words, iw_time *next, iw_time t,
                      iw_time d)
{
    return iwi_detour_trace_finish(&cpu_of(source, words)->trace, &words[PIECE], next, t, d);
}

static size_t label(const struct iwi_noise_source *source, const int64_t *words)
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
