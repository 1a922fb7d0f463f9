/* Cuts the detours of a CPU into pieces of one source each.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORDING_PIECES_H
#define IWI_RECORDING_PIECES_H

#include <idlewave/recording.h>

#include "core/base/base.h"
#include "core/base/order.h"

/* Takes [start, end) of one recorded source; never empty, ascending, disjoint. */
typedef void (*iwi_give_piece)(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source);

struct iwi_piece_sink {
    iwi_give_piece take;
    void *arg;
    int64_t length_ns;      /* what comes later is cut off */
    const bool *is_dropped; /* by source: what is not given; NULL: all is */
};

/* Cuts at the length; returns where the piece ends. */
static inline __attribute__((always_inline)) int64_t iwi_give_cut_piece(const struct iwi_piece_sink *sink,
                                                                        int64_t start_ns, int64_t end_ns,
                                                                        uint32_t source)
{
    const int64_t cut_ns = iwi_min(end_ns, sink->length_ns);

    if (cut_ns > start_ns && (sink->is_dropped == NULL || !sink->is_dropped[source])) {
        (*sink->take)(sink->arg, start_ns, cut_ns, source);
    }
    return end_ns;
}

/* Parts come first, in the order of their rows; what is left of a detour belongs to its main source. Here, so
 * that compilers put what takes the pieces in its place: they are many. Of what is dropped only the source is
 * read. */
static inline __attribute__((always_inline)) void iwi_cut_detours(const iw_detours *detours,
                                                                  const struct iwi_piece_sink *sink)
{
    size_t part = 0, count;

    IWI_FIRST_NOT(count, 0, detours->count, detours->start_ns[count] < sink->length_ns);
    for (size_t i = 0; i < count; i++) {
        const bool has_parts = part < detours->part_count && detours->part_detour[part] == i;
        int64_t at_ns, end_ns;

        if (!has_parts && sink->is_dropped != NULL && sink->is_dropped[detours->source[i]]) {
            continue;
        }
        at_ns = detours->start_ns[i];
        end_ns = at_ns + detours->duration_ns[i];
        for (; part < detours->part_count && detours->part_detour[part] == i; part++) {
            at_ns = iwi_give_cut_piece(sink, at_ns, iwi_min(end_ns, at_ns + detours->part_ns[part]),
                                       detours->part_source[part]);
        }
        (void)iwi_give_cut_piece(sink, at_ns, end_ns, detours->source[i]);
    }
}

#endif
