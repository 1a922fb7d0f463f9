/* Appends detours to a CPU of a recording, piece by piece.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DETOUR_BUILDER_H
#define IWI_DETOUR_BUILDER_H

#include <stdbool.h>

#include <idlewave/recording.h>

/* The caller sets the first four, the rest begins as 0. Arrays of the CPU are grown, never freed. */
struct iwi_detour_builder {
    const iw_log *log;
    iw_detours *cpu;     /* has no detours yet */
    int64_t *total_ns;   /* by source; all 0 while no detour is open */
    int64_t at_least_ns; /* shorter detours are only counted */
    uint64_t too_short;
    size_t detour_room, part_room;
    bool is_open; /* a detour is under way: */
    int64_t start_ns, end_ns;
    size_t first_part; /* its pieces are the part rows from here on */
};

/* The rows of one detour. */
struct iwi_detour_row {
    const iw_detours *cpu;
    size_t detour;
    size_t part, part_end; /* its parts */
};

/* Begins a detour; the one before must be closed. */
void iwi_detour_open(struct iwi_detour_builder *b, int64_t start_ns);

/* Its end moves on by `ns` of a source. */
IW_NODISCARD iw_status iwi_detour_add(struct iwi_detour_builder *b, uint32_t source, int64_t ns);

/* Ends the open detour, if there is one: it belongs to the source with most time in it (the first of equals).
 * Empty ones leave no trace. */
IW_NODISCARD iw_status iwi_detour_close(struct iwi_detour_builder *b);

/* Copies a detour and its parts as they are, `later_ns` later; map[source] is the new number of a source. */
IW_NODISCARD iw_status iwi_detour_copy(struct iwi_detour_builder *b, const struct iwi_detour_row *row,
                                       int64_t later_ns, const uint32_t *map);

/* Opens the last detour again. There must be one, and none open. */
IW_NODISCARD iw_status iwi_detour_reopen(struct iwi_detour_builder *b);

/* Takes [start, end) of one source. */
typedef iw_status (*iwi_piece_fn)(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source);

/* Who took a detour when: its parts in the order of their rows; what they leave belongs to its main source,
 * what they have beyond its end does not count. */
IW_NODISCARD iw_status iwi_detour_pieces(const struct iwi_detour_row *row, iwi_piece_fn take, void *arg);

static inline size_t iwi_detour_part_end(const iw_detours *cpu, size_t part, size_t detour)
{
    while (part < cpu->part_count && cpu->part_detour[part] == detour) {
        part++;
    }
    return part;
}

/* for (row = iwi_detour_first(cpu); row.detour < cpu->count; iwi_detour_next(&row)) */
static inline struct iwi_detour_row iwi_detour_first(const iw_detours *cpu)
{
    return (struct iwi_detour_row){cpu, 0, 0, iwi_detour_part_end(cpu, 0, 0)};
}

static inline void iwi_detour_next(struct iwi_detour_row *row)
{
    row->detour++;
    row->part = row->part_end;
    row->part_end = iwi_detour_part_end(row->cpu, row->part, row->detour);
}

#endif
