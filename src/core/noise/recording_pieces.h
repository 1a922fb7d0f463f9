/* Cuts the detours of a CPU into pieces of one source each.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORDING_PIECES_H
#define IWI_RECORDING_PIECES_H

#include <idlewave/recording.h>

/* Takes [start, end) of one recorded source; never empty, ascending, disjoint. */
typedef void (*iwi_give_piece)(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source);

struct iwi_piece_sink {
    iwi_give_piece take;
    void *arg;
    int64_t length_ns; /* what comes later is cut off */
};

/* Parts come first, in the order of their rows; what is left of a detour belongs to its main source. */
void iwi_cut_detours(const iw_detours *detours, const struct iwi_piece_sink *sink);

#endif
