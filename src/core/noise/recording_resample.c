/* Draws a recording anew from stretches of itself: how much another one of this node would differ.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/recording.h>

#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "core/noise/detour_builder.h"
#include "core/noise/recording_check.h"

struct resampler {
    const iw_log *log;
    const iw_recording *from;
    int64_t block_ns;
    size_t block_count;
    size_t *chosen;                   /* by place: the number of the stretch that stands there */
    struct iwi_detour_row *first_row; /* by stretch: its first detour on the CPU under way */
    uint32_t *map;                    /* sources keep their numbers */
    int64_t *total_ns;                /* of the builder */
    iw_recording *made;
    struct iwi_detour_builder builder; /* of the CPU under way */
    int64_t from_ns, to_ns;            /* the stretch under way */
};

static iw_status make_head(struct resampler *r)
{
    iw_source *sources;
    size_t room;

    IW_TRY(iw_recording_new(r->log, r->from->cpu_count, &r->made));
    sources = r->made->sources;
    room = r->made->source_count;
    r->made->probe = r->from->probe;
    r->made->attribution = r->from->attribution;
    IW_TRY(iwi_grow(r->log, (void **)&sources, &room, r->from->source_count, sizeof *sources));
    r->made->sources = sources;
    r->made->source_count = r->from->source_count;
    for (size_t i = 0; i < r->from->source_count; i++) {
        sources[i] = r->from->sources[i];
        r->map[i] = (uint32_t)i;
    }
    return IW_OK;
}

static void draw_blocks(struct resampler *r, uint64_t seed, uint64_t replicate)
{
    const struct iwi_draw_id draw = {.seed = seed, .trial = replicate, .purpose = IWI_DRAW_BOOTSTRAP};

    for (size_t place = 0; place < r->block_count; place++) {
        r->chosen[place] = (size_t)iwi_draw_below(draw, place, r->block_count);
    }
}

/* A detour that reaches into a stretch belongs to it with what lies in it. */
static void find_rows(struct resampler *r, const iw_detours *from)
{
    struct iwi_detour_row row = iwi_detour_first(from);

    for (size_t block = 0; block < r->block_count; block++) {
        const int64_t start_ns = (int64_t)block * r->block_ns;

        while (row.detour < from->count &&
               from->start_ns[row.detour] + from->duration_ns[row.detour] <= start_ns) {
            iwi_detour_next(&row);
        }
        r->first_row[block] = row;
    }
}

static iw_status take_piece(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    struct resampler *r = arg;

    return iwi_detour_add(&r->builder, r->map[source],
                          iwi_min(end_ns, r->to_ns) - iwi_max(start_ns, r->from_ns));
}

static iw_status copy_detour(struct resampler *r, const struct iwi_detour_row *row, int64_t later_ns)
{
    const int64_t start_ns = row->cpu->start_ns[row->detour];

    if (start_ns >= r->from_ns && start_ns + row->cpu->duration_ns[row->detour] <= r->to_ns) {
        return iwi_detour_copy(&r->builder, row, later_ns, r->map);
    }
    iwi_detour_open(&r->builder, iwi_max(start_ns, r->from_ns) + later_ns);
    IW_TRY(iwi_detour_pieces(row, take_piece, r));
    return iwi_detour_close(&r->builder);
}

static iw_status resample_cpu(struct resampler *r, const iw_detours *from, iw_detours *to)
{
    to->cpu = from->cpu;
    to->length_ns = r->block_ns * (int64_t)r->block_count;
    to->t_min_ns = from->t_min_ns;
    to->threshold_ns = from->threshold_ns;
    r->builder = (struct iwi_detour_builder){.log = r->log, .cpu = to, .total_ns = r->total_ns};
    find_rows(r, from);
    for (size_t place = 0; place < r->block_count; place++) {
        struct iwi_detour_row row = r->first_row[r->chosen[place]];

        r->from_ns = (int64_t)r->chosen[place] * r->block_ns;
        r->to_ns = r->from_ns + r->block_ns;
        for (; row.detour < from->count && from->start_ns[row.detour] < r->to_ns; iwi_detour_next(&row)) {
            IW_TRY(copy_detour(r, &row, (int64_t)place * r->block_ns - r->from_ns));
        }
    }
    return IW_OK;
}

static iw_status resample_all(struct resampler *r, uint64_t seed, uint64_t replicate)
{
    r->chosen = iwi_new_array(r->log, r->block_count, sizeof *r->chosen);
    r->first_row = iwi_new_array(r->log, r->block_count, sizeof *r->first_row);
    r->map = iwi_new_array(r->log, r->from->source_count, sizeof *r->map);
    r->total_ns = iwi_new_array(r->log, r->from->source_count, sizeof *r->total_ns);
    if (r->chosen == NULL || r->first_row == NULL || r->map == NULL || r->total_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(make_head(r));
    draw_blocks(r, seed, replicate);
    for (size_t i = 0; i < r->from->cpu_count; i++) {
        IW_TRY(resample_cpu(r, &r->from->cpus[i], &r->made->cpus[i]));
    }
    return IW_OK;
}

static iw_status check(const iw_log *log, const char *name, const iw_recording *recording, size_t block_count,
                       int64_t *block_ns_p)
{
    int64_t length_ns = recording->cpu_count > 0 ? INT64_MAX : 0;

    if (iw_probe_has_quanta(recording->probe)) {
        return iwi_fail(log, IW_ERR_USAGE, "'%s' was recorded with %s, whose samples cannot be resampled",
                        name, iw_probe_name(recording->probe));
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        length_ns = iwi_min(length_ns, recording->cpus[i].length_ns);
    }
    if (block_count < 2 || length_ns / (int64_t)block_count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' of %" PRId64 " ns cannot be cut into %zu stretches", name,
                        length_ns, block_count);
    }
    *block_ns_p = length_ns / (int64_t)block_count;
    return iwi_recording_check(log, name, recording, IW_ERR_RANGE);
}

iw_status iw_recording_resample(const iw_log *log, const char *name, const iw_recording *recording,
                                size_t block_count, uint64_t seed, uint64_t replicate,
                                iw_recording **recording_p)
{
    struct resampler r = {.log = log, .from = recording, .block_count = block_count};
    iw_status status;

    IW_TRY(check(log, name, recording, block_count, &r.block_ns));
    status = resample_all(&r, seed, replicate);
    free(r.chosen);
    free(r.first_row);
    free(r.map);
    free(r.total_ns);
    if (status != IW_OK) {
        iw_recording_free(r.made);
        return status;
    }
    *recording_p = r.made;
    return IW_OK;
}
