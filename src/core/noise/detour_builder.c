/* Appends detours to a CPU of a recording: pieces of sources become detours with parts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/detour_builder.h"

#include "core/base/base.h"

static iw_status make_detour_room(struct iwi_detour_builder *b)
{
    iw_detours *cpu = b->cpu;
    size_t room[3] = {b->detour_room, b->detour_room, b->detour_room};

    if (cpu->count < b->detour_room) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(b->log, (void **)&cpu->start_ns, &room[0], cpu->count + 1, sizeof *cpu->start_ns));
    IW_TRY(iwi_grow(b->log, (void **)&cpu->duration_ns, &room[1], cpu->count + 1, sizeof *cpu->duration_ns));
    IW_TRY(iwi_grow(b->log, (void **)&cpu->source, &room[2], cpu->count + 1, sizeof *cpu->source));
    b->detour_room = room[0]; /* all alike */
    return IW_OK;
}

static iw_status make_part_room(struct iwi_detour_builder *b)
{
    iw_detours *cpu = b->cpu;
    size_t room[3] = {b->part_room, b->part_room, b->part_room};
    const size_t need = cpu->part_count + 1;

    if (cpu->part_count < b->part_room) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(b->log, (void **)&cpu->part_detour, &room[0], need, sizeof *cpu->part_detour));
    IW_TRY(iwi_grow(b->log, (void **)&cpu->part_source, &room[1], need, sizeof *cpu->part_source));
    IW_TRY(iwi_grow(b->log, (void **)&cpu->part_ns, &room[2], need, sizeof *cpu->part_ns));
    b->part_room = room[0];
    return IW_OK;
}

static iw_status put_detour(struct iwi_detour_builder *b, int64_t start_ns, int64_t duration_ns,
                            uint32_t source)
{
    iw_detours *cpu = b->cpu;

    IW_TRY(make_detour_room(b));
    cpu->start_ns[cpu->count] = start_ns;
    cpu->duration_ns[cpu->count] = duration_ns;
    cpu->source[cpu->count] = source;
    cpu->count++;
    return IW_OK;
}

/* A part of the detour that comes next. */
static iw_status put_part(struct iwi_detour_builder *b, uint32_t source, int64_t part_ns)
{
    iw_detours *cpu = b->cpu;

    IW_TRY(make_part_room(b));
    cpu->part_detour[cpu->part_count] = cpu->count;
    cpu->part_source[cpu->part_count] = source;
    cpu->part_ns[cpu->part_count] = part_ns;
    cpu->part_count++;
    return IW_OK;
}

void iwi_detour_open(struct iwi_detour_builder *b, int64_t start_ns)
{
    b->is_open = true;
    b->start_ns = b->end_ns = start_ns;
    b->first_part = b->cpu->part_count;
}

iw_status iwi_detour_add(struct iwi_detour_builder *b, uint32_t source, int64_t ns)
{
    iw_detours *cpu = b->cpu;
    const size_t last = cpu->part_count - 1; /* only used where there is one */

    if (ns <= 0) {
        return IW_OK;
    }
    if (cpu->part_count > b->first_part && cpu->part_source[last] == source) {
        cpu->part_ns[last] += ns;
    } else {
        IW_TRY(put_part(b, source, ns));
    }
    b->total_ns[source] += ns;
    b->end_ns += ns;
    return IW_OK;
}

/* The source with most time in the open detour; its totals are 0 again. */
static uint32_t settle_main_source(struct iwi_detour_builder *b)
{
    const iw_detours *cpu = b->cpu;
    uint32_t main_source = 0;
    int64_t most_ns = 0;

    for (size_t i = b->first_part; i < cpu->part_count; i++) {
        const uint32_t source = cpu->part_source[i];

        if (b->total_ns[source] > most_ns) {
            main_source = source;
            most_ns = b->total_ns[source];
        }
    }
    for (size_t i = b->first_part; i < cpu->part_count; i++) {
        b->total_ns[cpu->part_source[i]] = 0;
    }
    return main_source;
}

iw_status iwi_detour_close(struct iwi_detour_builder *b)
{
    const int64_t duration_ns = b->end_ns - b->start_ns;
    uint32_t source;

    if (!b->is_open) {
        return IW_OK;
    }
    b->is_open = false;
    source = settle_main_source(b);
    if (duration_ns == 0 || duration_ns < b->at_least_ns) {
        b->too_short += duration_ns > 0;
        b->cpu->part_count = b->first_part;
        return IW_OK;
    }
    if (b->cpu->part_count == b->first_part + 1) { /* of one source alone */
        b->cpu->part_count = b->first_part;
    }
    return put_detour(b, b->start_ns, duration_ns, source);
}

iw_status iwi_detour_copy(struct iwi_detour_builder *b, const struct iwi_detour_row *row, int64_t later_ns,
                          const uint32_t *map)
{
    const iw_detours *from = row->cpu;
    const size_t i = row->detour;

    if (from->duration_ns[i] < b->at_least_ns) {
        b->too_short++;
        return IW_OK;
    }
    for (size_t part = row->part; part < row->part_end; part++) {
        IW_TRY(put_part(b, map[from->part_source[part]], from->part_ns[part]));
    }
    return put_detour(b, from->start_ns[i] + later_ns, from->duration_ns[i], map[from->source[i]]);
}

iw_status iwi_detour_pieces(const struct iwi_detour_row *row, iwi_piece_fn take, void *arg)
{
    const iw_detours *cpu = row->cpu;
    const size_t i = row->detour;
    const int64_t end_ns = cpu->start_ns[i] + cpu->duration_ns[i];
    int64_t at_ns = cpu->start_ns[i];

    for (size_t part = row->part; part < row->part_end && at_ns < end_ns; part++) {
        const int64_t next_ns = iwi_min(end_ns, at_ns + cpu->part_ns[part]);

        IW_TRY(take(arg, at_ns, next_ns, cpu->part_source[part]));
        at_ns = next_ns;
    }
    return at_ns < end_ns ? take(arg, at_ns, end_ns, cpu->source[i]) : IW_OK;
}

static iw_status add_piece(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    return iwi_detour_add(arg, source, end_ns - start_ns);
}

/* Rows are written no earlier than they have been read: pieces are at most one more than rows, and that one,
 * the rest, is written last. */
iw_status iwi_detour_reopen(struct iwi_detour_builder *b)
{
    iw_detours *cpu = b->cpu;
    struct iwi_detour_row last = {cpu, cpu->count - 1, cpu->part_count, cpu->part_count};

    while (last.part > 0 && cpu->part_detour[last.part - 1] == last.detour) {
        last.part--;
    }
    cpu->count--;
    cpu->part_count = last.part;
    iwi_detour_open(b, cpu->start_ns[last.detour]);
    return iwi_detour_pieces(&last, add_piece, b);
}
