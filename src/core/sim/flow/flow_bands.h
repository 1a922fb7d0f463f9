/* Runs of ranks whose neighbours in one direction of a grid are all at the same distance.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In rank order, the lines of a direction lie in bands of size * stride ranks. In each band the ranks whose
 * neighbour is further on in it are one run, those whose neighbour is around the end another.
 */
#ifndef IWI_FLOW_BANDS_H
#define IWI_FLOW_BANDS_H

#include "core/program/program.h"

/* Ranks of one run have their neighbours `offset` after them, or none. */
struct iwi_band_run {
    int64_t offset;
    bool has_peer;
};

struct iwi_bands {
    struct iwi_band_run runs[2]; /* of each band, in the order of ranks */
    uint64_t counts[2];          /* ranks of each; one may be empty */
    /* where it is: */
    uint32_t at;   /* which run */
    uint64_t left; /* of it; not 0 */
};

static inline void iwi_bands_settle(struct iwi_bands *bands)
{
    while (bands->left == 0) {
        bands->at = !bands->at;
        bands->left = bands->counts[bands->at];
    }
}

/* From `rank` on. Back: who sends in that direction, instead of who receives. */
static inline struct iwi_bands iwi_bands_from(const struct iwi_direction *direction, bool is_back,
                                              uint32_t rank)
{
    const int64_t size = direction->size, stride = direction->stride;
    const int64_t step = is_back ? -direction->step : direction->step, length = step < 0 ? -step : step;
    const uint32_t inside = step > 0 ? 0 : 1; /* which run stays inside the band */
    const uint64_t place = rank % (uint64_t)(size * stride);
    struct iwi_bands bands = {.at = 0};

    if (length >= size) {
        bands.counts[0] = (uint64_t)(size * stride);
    } else {
        bands.runs[inside] = (struct iwi_band_run){step * stride, true};
        bands.counts[inside] = (uint64_t)((size - length) * stride);
        bands.runs[!inside] =
            (struct iwi_band_run){(step > 0 ? step - size : step + size) * stride, direction->is_closed};
        bands.counts[!inside] = (uint64_t)(length * stride);
    }
    bands.at = place >= bands.counts[0];
    bands.left = bands.counts[bands.at] - (place - (bands.at ? bands.counts[0] : 0));
    return bands;
}

/* So many ranks further; at most `left`. */
static inline void iwi_bands_skip(struct iwi_bands *bands, uint64_t count)
{
    bands->left -= count;
    iwi_bands_settle(bands);
}

#endif
