/* Rounds in which every rank exchanges messages of one size with its neighbours in a grid: halos.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_GRID_H
#define IWI_FLOW_GRID_H

#include "core/program/program.h"
#include "core/sim/flow/flow_round.h"

/* In rank order, the lines of a direction lie in bands of size * stride ranks. In each band the ranks whose
 * neighbour is further on in it are one run, those whose neighbour is around the end another. */

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

enum {
    IWI_GRID_BLOCK = 128,             /* elements that are evaluated together */
    IWI_GRID_FAN = 16,                /* at most so many directions */
    IWI_GRID_LINES = 2 * IWI_GRID_FAN /* what ranks need of others: see iwi_grid_line() */
};

/* What a message costs at a level. */
struct iwi_grid_price {
    struct iwi_cost cost;
    iw_time notice, handshake; /* of a rendezvous */
};

struct iwi_halo_grid {
    struct iwi_flow *flow;
    uint32_t fan;
    struct iwi_direction directions[IWI_GRID_FAN];
    struct iwi_grid_price prices[IW_NET_INNER_MAX + 1];
    bool is_closed;     /* every rank has all neighbours */
    bool is_rendezvous; /* all messages are */
    /* On a partition: what ranks of other members have sent, or posted, one line after the other, each in the
     * order of the ranks here that need it. */
    const iw_time *away[IWI_GRID_LINES];
};

/* Line k < fan: when the sends in direction k were over, for those who receive them. Line fan + k: when these
 * posted their receives, for those who send to them. */
static inline uint32_t iwi_grid_lines(const struct iwi_halo_grid *grid)
{
    return grid->is_rendezvous ? 2 * grid->fan : grid->fan;
}

/* Where the ranks that need values of a line find those who have them; or the other way round. */
static inline struct iwi_bands iwi_grid_line(const struct iwi_halo_grid *grid, uint32_t line, bool is_giving)
{
    return iwi_bands_from(&grid->directions[line % grid->fan], (line < grid->fan) != is_giving,
                          grid->flow->first_rank);
}

/* Of `count` ranks, those whose peers, from `peer` on, are all here, or all elsewhere: how many of the first;
 * *is_away_p: which. */
static inline uint32_t iwi_grid_here(const struct iwi_flow *flow, uint32_t peer, uint32_t count,
                                     bool *is_away_p)
{
    const uint32_t end = flow->first_rank + flow->ranks;
    uint32_t most = count;

    *is_away_p = peer < flow->first_rank || peer >= end;
    if (peer < flow->first_rank) {
        most = flow->first_rank - peer;
    } else if (peer < end) {
        most = end - peer;
    }
    return count < most ? count : most;
}

/* In this round of neighbours all ranks do the same, if they begin it together. */
bool iwi_grid_is_alike(const struct iwi_operation *op, uint64_t index, const struct iwi_round *round);

/* This round can be evaluated here: nobody looks at what single ranks do. */
bool iwi_flow_is_grid(const struct iwi_flow *flow, const struct iwi_round_run *run);

IW_NODISCARD iw_status iwi_flow_grid(struct iwi_flow *flow, const struct iwi_round_run *run);

/* On a partition, after all sends: what others need goes out, what is needed comes, into grid->away. */
IW_NODISCARD iw_status iwi_exchange_grid(struct iwi_halo_grid *grid);

#endif
