/* Recorded noise: the detours of a file or of arrays, repeated after the length of the recording.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Words: those of a walk.
 */
#include <idlewave/noise.h>

#include <stdlib.h>

#include "core/base/base.h"
#include "core/noise/detour_walk.h"
#include "core/noise/source.h"
#include "core/noise/stream.h"

static void release(struct iwi_noise_source *source)
{
    iwi_detour_trace_release(&source->u.trace);
}

static double share(const struct iwi_noise_source *source, uint32_t cores_per_node)
{
    const struct iwi_detour_trace *trace = &source->u.trace;

    (void)cores_per_node;
    return trace->count > 0 ? 1 - (double)trace->free_ps / (double)trace->length_ps : 0;
}

static iw_time begin(const struct iwi_noise_source *source, const struct iwi_stream_origin *origin,
                     int64_t *words)
{
    if (origin->seat > 0 && origin->has_copies) { /* a text has one CPU */
        const struct iwi_stream_origin own = iwi_origin_of_copy(origin, origin->seat);

        return iwi_detour_trace_begin(&source->u.trace, &own, words);
    }
    return iwi_detour_trace_begin(&source->u.trace, origin, words);
}

static iw_time step(const struct iwi_noise_source *source, struct iwi_draw_id draw, int64_t *words,
                    iw_time start)
{
    (void)draw;
    (void)start;
    return iwi_detour_trace_step(&source->u.trace, words);
}

static iw_time end(const struct iwi_noise_source *source, const int64_t *words, iw_time start)
{
    (void)source;
    (void)start;
    return words[IWI_WALK_END];
}

static iw_time seek(const struct iwi_noise_source *source, struct iwi_draw_id draw, int64_t *words,
                    iw_time start, iw_time t)
{
    (void)draw;
    return iwi_detour_trace_seek(&source->u.trace, words, start, t);
}

static iw_time following(const int64_t *words)
{
    return words[IWI_WALK_FOLLOWING];
}

static void fetch(const struct iwi_noise_source *source, const int64_t *words)
{
    iwi_detour_trace_fetch(&source->u.trace, words);
}

static iw_time finish(const struct iwi_noise_source *source, int64_t *words, iw_time *next, iw_time t,
                      iw_time d)
{
    return iwi_detour_trace_finish(&source->u.trace, words, next, t, d);
}

/* A text, or a recording of one CPU, whose sources of noise stand side by side; else NULL. */
static const struct iwi_detour_trace *only_trace(const iw_noise *noise)
{
    const struct iwi_noise_source *first = &noise->sources[0];

    if (noise->count == 1 && first->ops == &iwi_source_trace) {
        return &first->u.trace;
    }
    if (noise->count == 0 || !iwi_source_is_recording(first) || first->u.recorded.recorded->node_count != 1 ||
        first->u.recorded.recorded->first_cpu[1] != 1) {
        return NULL;
    }
    for (size_t i = 1; i < noise->count; i++) {
        if (noise->sources[i].ops != &iwi_source_recording_part) {
            return NULL;
        }
    }
    return &first->u.recorded.recorded->cpus[0].trace;
}

bool iwi_noise_trace_view(const iw_noise *noise, struct iwi_detour_trace_view *view_p)
{
    const struct iwi_detour_trace *trace = only_trace(noise);

    if (trace == NULL) {
        return false;
    }
    *view_p = (struct iwi_detour_trace_view){trace->pieces, trace->count, trace->length_ps};
    return true;
}

iw_time iwi_noise_trace_offset(const iw_noise *noise, struct iwi_stream_id id)
{
    const uint32_t seat = id.rank % noise->cores_per_node;
    struct iwi_stream_origin origin = {.draw = iwi_source_draw(noise, 0, id),
                                       .shift_ps = iwi_noise_shift(noise, id)};
    const struct iwi_detour_trace *trace = only_trace(noise);

    origin.draw.purpose = IWI_DRAW_OFFSET;
    if (seat > 0 && iwi_noise_has_copies(noise)) {
        origin = iwi_origin_of_copy(&origin, seat);
    }
    return trace != NULL ? iwi_detour_trace_offset(trace, &origin) : 0;
}

const struct iwi_source_ops iwi_source_trace = {
    .usage = "FILE",
    .example = "node.noise",
    .parse = iwi_detour_trace_load,
    .release = release,
    .share = share,
    .is_recorded = true,
    .words = IWI_WALK_WORDS,
    .begin = begin,
    .step = step,
    .seek = seek,
    .following = following,
    .fetch = fetch,
    .end = end,
    .finish = finish,
};
