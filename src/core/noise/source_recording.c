/* Recordings as a source of noise: each rank walks through the trace of its CPU, at the offset of its node or
 * of its copy of the node's CPUs; of several recorded nodes, each simulated one meets another.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Words: the CPU among those of all recorded nodes, and those of a walk. Where node-wide sources have an
 * offset of their own, the pieces of a CPU are two lists that are walked side by side: the place in the first
 * list and its start, and the same of the second.
 */
#include <idlewave/noise.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/hash.h"
#include "core/base/order.h"
#include "core/noise/detour_walk.h"
#include "core/noise/recording_noise.h"
#include "core/noise/source.h"

enum { CPU, PIECE, START, WIDE_PIECE, WIDE_START, WALK = PIECE, WORDS = WALK + IWI_WALK_WORDS };

static const struct iwi_recorded_cpu *cpu_of(const struct iwi_noise_source *source, const int64_t *words)
{
    return &source->u.recorded.recorded->cpus[words[CPU]];
}

size_t iwi_recorded_fewest_cpus(const struct iwi_recorded *recorded)
{
    size_t fewest = SIZE_MAX;

    for (size_t node = 0; node < recorded->node_count; node++) {
        const size_t count = recorded->first_cpu[node + 1] - recorded->first_cpu[node];

        fewest = count < fewest ? count : fewest;
    }
    return fewest;
}

void iwi_recorded_free(struct iwi_recorded *recorded)
{
    if (recorded == NULL) {
        return;
    }
    for (size_t i = 0; i < recorded->cpu_count; i++) {
        iwi_detour_trace_release(&recorded->cpus[i].trace);
        free(recorded->cpus[i].label);
        free(recorded->cpus[i].order);
    }
    free(recorded->cpus);
    free(recorded->first_cpu);
    free(recorded->busy_ps);
    free(recorded);
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

/* Finds the CPU that a seat meets; returns in which copy of them. */
static uint32_t take_seat(const struct iwi_recorded *recorded, const struct iwi_stream_origin *origin,
                          int64_t *words)
{
    const size_t node = recorded_node(recorded, origin), first = recorded->first_cpu[node];
    const size_t cpu_count = recorded->first_cpu[node + 1] - first;

    words[CPU] = (int64_t)(first + origin->seat % cpu_count);
    return (uint32_t)(origin->seat / cpu_count);
}

/* The copy whose offset a seat meets; 0: that of the node. */
static uint32_t copy_of(const struct iwi_recorded *recorded, const struct iwi_stream_origin *origin,
                        int64_t *words)
{
    const uint32_t copy = take_seat(recorded, origin, words);

    return origin->has_copies && recorded->has_own ? copy : 0;
}

static iw_time offset_of(const struct iwi_detour_trace *trace, const struct iwi_stream_origin *origin,
                         uint32_t copy)
{
    const struct iwi_stream_origin own = copy > 0 ? iwi_origin_of_copy(origin, copy) : *origin;

    return iwi_detour_trace_offset(trace, &own);
}

static iw_time begin(const struct iwi_noise_source *source, const struct iwi_stream_origin *origin,
                     int64_t *words)
{
    const uint32_t copy = copy_of(source->u.recorded.recorded, origin, words);
    const struct iwi_detour_trace *trace = &cpu_of(source, words)->trace;

    return iwi_detour_trace_begin_at(trace, origin->at_ps, offset_of(trace, origin, copy), &words[WALK]);
}

/* Where a stream begins in its trace. */
struct place {
    const struct iwi_detour_trace *trace;
    const uint32_t *mark;
    iw_time position;
    uint32_t copy;
};

/* Ranks of a node share their offset, and all traces have one length. Asks for what comes first in each. */
static void find_places(const struct iwi_noise_source *source, const struct iwi_stream_origin *origins,
                        size_t count, uint32_t lanes, int64_t *words, struct place *places)
{
    for (size_t k = 0; k < count; k++) {
        const struct iwi_stream_origin *origin = &origins[k];
        const uint32_t copy = copy_of(source->u.recorded.recorded, origin, words + k * WORDS);
        const struct iwi_detour_trace *trace = &cpu_of(source, words + k * WORDS)->trace;
        const bool is_known = lanes > 0 && k >= lanes && places[k - lanes].copy == copy &&
                              origins[k - lanes].draw.rank == origin->draw.rank &&
                              origins[k - lanes].node == origin->node;
        const iw_time position = is_known ? places[k - lanes].position : offset_of(trace, origin, copy);

        places[k] = (struct place){trace, &trace->index[position / trace->index_ps], position, copy};
        __builtin_prefetch(places[k].mark);
    }
}

static void begin_row(const struct iwi_noise_source *source, const struct iwi_stream_origin *origins,
                      size_t count, uint32_t lanes, int64_t *words, iw_time *next)
{
    struct place places[IWI_PICKED_MOST];

    find_places(source, origins, count, lanes, words, places);
    for (size_t k = 0; k < count; k++) {
        __builtin_prefetch(&places[k].trace->pieces[*places[k].mark]);
    }
    for (size_t k = 0; k < count; k++) {
        next[k] = iwi_detour_trace_begin_at(places[k].trace, origins[k].at_ps, places[k].position,
                                            words + k * WORDS + WALK);
    }
}

static iw_time step(const struct iwi_noise_source *source, struct iwi_draw_id draw, int64_t *words,
                    iw_time start)
{
    (void)draw;
    (void)start;
    return iwi_detour_trace_step(&cpu_of(source, words)->trace, &words[WALK]);
}

static iw_time end(const struct iwi_noise_source *source, const int64_t *words, iw_time start)
{
    (void)source;
    (void)start;
    return words[WALK + IWI_WALK_END];
}

static iw_time seek(const struct iwi_noise_source *source, struct iwi_draw_id draw, int64_t *words,
                    iw_time start, iw_time t)
{
    (void)draw;
    return iwi_detour_trace_seek(&cpu_of(source, words)->trace, &words[WALK], start, t);
}

static iw_time finish(const struct iwi_noise_source *source, int64_t *words, iw_time *next, iw_time t,
                      iw_time d)
{
    return iwi_detour_trace_finish(&cpu_of(source, words)->trace, &words[WALK], next, t, d);
}

static iw_time following(const int64_t *words)
{
    return words[WALK + IWI_WALK_FOLLOWING];
}

static void fetch(const struct iwi_noise_source *source, const int64_t *words)
{
    iwi_detour_trace_fetch(&cpu_of(source, words)->trace, &words[WALK]);
}

/* All memory is asked for before the first stream waits for it. */
static void seek_all(const struct iwi_noise_source *source, int64_t *words, iw_time *starts,
                     const iw_time *ts, size_t count)
{
    for (size_t k = 0; k < count; k += IWI_PICKED_MOST) {
        const size_t now = count - k < IWI_PICKED_MOST ? count - k : IWI_PICKED_MOST;
        const uint64_t behind = iwi_pick_behind(starts + k, ts + k, 0, now);

        IWI_FOR_PICKED (n, behind) {
            __builtin_prefetch(words + (k + n) * WORDS);
        }
        IWI_FOR_PICKED (n, behind) {
            fetch(source, words + (k + n) * WORDS);
        }
        IWI_FOR_PICKED (n, behind) {
            int64_t *own = words + (k + n) * WORDS;
            const iw_time start =
                iwi_detour_trace_seek(&cpu_of(source, own)->trace, &own[WALK], starts[k + n], ts[k + n]);

            starts[k + n] = iwi_min(start, IWI_LATEST);
        }
    }
}

static size_t label(const struct iwi_noise_source *source, const int64_t *words)
{
    return cpu_of(source, words)->label[words[WALK + IWI_WALK_PIECE]];
}

const struct iwi_source_ops iwi_source_recording = {
    .usage = "FILE",
    .example = "node.h5",
    .release = release,
    .share = share,
    .is_recorded = true,
    .words = WORDS,
    .begin = begin,
    .begin_row = begin_row,
    .step = step,
    .seek = seek,
    .seek_all = seek_all,
    .following = following,
    .fetch = fetch,
    .end = end,
    .label = label,
    .finish = finish,
};

/* ---- with an offset of its own for what hits all CPUs of a node ---- */

/* Some of the pieces of a trace, in their order. */
struct list {
    const struct iwi_detour_trace *trace;
    const uint32_t *pieces;
    size_t count;
};

static struct list own_list(const struct iwi_recorded_cpu *cpu)
{
    return (struct list){&cpu->trace, cpu->order, cpu->own_count};
}

static struct list wide_list(const struct iwi_recorded_cpu *cpu)
{
    return (struct list){&cpu->trace, cpu->order + cpu->own_count, cpu->trace.count - cpu->own_count};
}

static iw_time list_start(const struct list *list, int64_t place)
{
    return list->trace->pieces[list->pieces[place]].start_ps;
}

static iw_time list_length(const struct list *list, int64_t place)
{
    return list->trace->pieces[list->pieces[place]].duration_ps;
}

/* The first of the list that ends after `position` of the repetition that began at `base`. */
static iw_time list_place(const struct list *list, int64_t *place, iw_time base, iw_time position)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, list->count, iwi_detour_trace_piece_end(list->trace, list->pieces[at]) <= position);
    if (at == list->count) {
        base += list->trace->length_ps;
        at = 0;
    }
    *place = (int64_t)at;
    return base + list_start(list, *place);
}

static iw_time list_begin(const struct list *list, const struct iwi_stream_origin *origin, int64_t *place)
{
    const iw_time position = iwi_detour_trace_offset(list->trace, origin);

    *place = 0;
    return list->count > 0 ? list_place(list, place, origin->at_ps - position, position) : IWI_NEVER;
}

static iw_time list_step(const struct list *list, int64_t *place, iw_time start)
{
    const iw_time from = list_start(list, *place);

    if ((size_t)*place + 1 < list->count) {
        ++*place;
        return start + (list_start(list, *place) - from);
    }
    *place = 0;
    return start + (list_start(list, 0) + list->trace->length_ps - from);
}

static iw_time list_seek(const struct list *list, int64_t *place, iw_time start, iw_time t)
{
    const iw_time length = list->trace->length_ps;
    iw_time base;

    if (list->count == 0) {
        return IWI_NEVER;
    }
    for (int i = 0; i < IWI_NEAR_PIECES; i++) {
        if (start + list_length(list, *place) > t) {
            return start;
        }
        start = list_step(list, place, start);
    }
    if (start > t) {
        return start;
    }
    base = start - list_start(list, *place);
    base += (t - base) / length * length;
    return list_place(list, place, base, t - base);
}

/* Which of the two lists has the detour that begins first. */
static bool is_wide(const int64_t *words)
{
    return words[WIDE_START] < words[START];
}

static iw_time begin_both(const struct iwi_noise_source *source, const struct iwi_stream_origin *origin,
                          int64_t *words)
{
    const uint32_t copy = take_seat(source->u.recorded.recorded, origin, words);
    const struct list own = own_list(cpu_of(source, words)), wide = wide_list(cpu_of(source, words));
    const struct iwi_stream_origin of_copy = copy > 0 ? iwi_origin_of_copy(origin, copy) : *origin;

    words[START] = list_begin(&own, &of_copy, &words[PIECE]);
    words[WIDE_START] = list_begin(&wide, origin, &words[WIDE_PIECE]);
    return iwi_min(words[START], words[WIDE_START]);
}

static iw_time step_both(const struct iwi_noise_source *source, struct iwi_draw_id draw, int64_t *words,
                         iw_time start)
{
    (void)draw;
    if (is_wide(words)) {
        const struct list wide = wide_list(cpu_of(source, words));

        words[WIDE_START] = list_step(&wide, &words[WIDE_PIECE], start);
    } else {
        const struct list own = own_list(cpu_of(source, words));

        words[START] = list_step(&own, &words[PIECE], start);
    }
    return iwi_min(words[START], words[WIDE_START]);
}

static iw_time seek_both(const struct iwi_noise_source *source, struct iwi_draw_id draw, int64_t *words,
                         iw_time start, iw_time t)
{
    const struct list own = own_list(cpu_of(source, words)), wide = wide_list(cpu_of(source, words));

    (void)draw;
    (void)start;
    words[START] = list_seek(&own, &words[PIECE], words[START], t);
    words[WIDE_START] = list_seek(&wide, &words[WIDE_PIECE], words[WIDE_START], t);
    return iwi_min(words[START], words[WIDE_START]);
}

static uint32_t piece_of_both(const struct iwi_noise_source *source, const int64_t *words)
{
    const struct iwi_recorded_cpu *cpu = cpu_of(source, words);

    return is_wide(words) ? wide_list(cpu).pieces[words[WIDE_PIECE]] : own_list(cpu).pieces[words[PIECE]];
}

static iw_time end_both(const struct iwi_noise_source *source, const int64_t *words, iw_time start)
{
    return start + cpu_of(source, words)->trace.pieces[piece_of_both(source, words)].duration_ps;
}

static size_t label_both(const struct iwi_noise_source *source, const int64_t *words)
{
    return cpu_of(source, words)->label[piece_of_both(source, words)];
}

const struct iwi_source_ops iwi_source_recording_both = {
    .usage = "FILE",
    .example = "node.h5",
    .release = release,
    .share = share,
    .is_recorded = true,
    .words = 5,
    .begin = begin_both,
    .step = step_both,
    .seek = seek_both,
    .end = end_both,
    .label = label_both,
};

const struct iwi_source_ops iwi_source_recording_part = {
    .usage = "FILE",
    .example = "node.h5",
    .share = share,
    .is_recorded = true,
};

/* ---- making room ---- */

static void join_last_labels(struct iwi_recorded *recorded)
{
    const size_t last = --recorded->label_count;

    for (size_t i = 0; i < recorded->cpu_count; i++) {
        struct iwi_recorded_cpu *cpu = &recorded->cpus[i];
        iw_time *busy_ps = &recorded->busy_ps[i * IW_NOISE_MAX_SOURCES];

        for (size_t piece = 0; piece < cpu->trace.count; piece++) {
            cpu->label[piece] = (uint8_t)(cpu->label[piece] == last ? last - 1 : cpu->label[piece]);
        }
        busy_ps[last - 1] += busy_ps[last];
    }
}

static void remove_source(iw_noise *noise, size_t number)
{
    free(noise->sources[number].name);
    memmove(&noise->sources[number], &noise->sources[number + 1],
            (noise->count - number - 1) * sizeof noise->sources[0]);
    noise->count--;
    for (size_t i = 0; i < noise->clocked_count; i++) {
        noise->clocked[i] -= noise->clocked[i] > number;
    }
}

bool iwi_recorded_fold(iw_noise *noise)
{
    size_t number = noise->count;
    char *name;

    while (number > 0 && noise->sources[number - 1].ops != &iwi_source_recording_part) {
        number--;
    }
    name = number > 0 ? strdup(IWI_OTHER_SOURCES) : NULL;
    if (name == NULL) {
        return false;
    }
    number--;
    join_last_labels(noise->sources[number].u.recorded.recorded);
    remove_source(noise, number);
    free(noise->sources[number - 1].name);
    noise->sources[number - 1].name = name;
    return true;
}
