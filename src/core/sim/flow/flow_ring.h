/* Rounds of a ring, rank by rank instead of round by round: between two disturbances nothing is walked.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Pass p of a rank receives what its neighbour sent in pass p - 1, and sends on (flow_stream.h counts passes
 * alike). When the passes of a rank end is a piecewise linear function of p, a track: undisturbed, a rank
 * takes as long for a pass as for the one before. A rank's track follows from its neighbour's and its own
 * detours in as many steps as these have pieces (docs/decisions/0042-rings-rank-by-rank.md).
 */
#ifndef IWI_FLOW_RING_H
#define IWI_FLOW_RING_H

#include "core/sim/flow/flow_state.h"

/* ---- which rounds are a ring ---- */

enum { IWI_RING_STRETCHES = 4 };

/* Rounds begin ... end - 1 have the same blocks, and each passes on what the one before brought. */
struct iwi_ring_stretch {
    uint64_t begin, end;
    uint32_t behind; /* in round `begin`: rank r sends block r - behind */
    struct iwi_block_sizes blocks;
    bool is_reducing;
    struct iwi_cost costs[3][IW_NET_INNER_MAX + 1]; /* of the sizes of blocks, by level */
    iw_time reduce[3];
};

struct iwi_ring {
    uint64_t begin, end; /* rounds */
    uint32_t ranks;
    size_t stretch_count;
    struct iwi_ring_stretch stretches[IWI_RING_STRETCHES];
};

/* Rounds index ... ring->end - 1 are a ring of eager messages that is best taken rank by rank. */
bool iwi_ring_find(const struct iwi_flow *flow, const struct iwi_operation *op,
                   const struct iwi_flow_group *group, uint64_t index, uint64_t round_count,
                   struct iwi_ring *ring);

/* What a pass costs a rank, and up to which pass (exclusive) it costs the same. */
struct iwi_ring_costs {
    uint64_t end;
    bool has_send;
    iw_time wire, receive, reduce, send, in_gap, out_gap;
    iw_time receive_touch, send_touch; /* as in struct iwi_cost */
};
struct iwi_ring_costs iwi_ring_costs_at(const struct iwi_ring *ring, uint32_t rank, uint32_t in_level,
                                        uint32_t out_level, uint64_t pass);

/* ---- tracks ---- */

/* Passes from `first` on, up to the next piece, end at value, value + slope, ... */
struct iwi_track_piece {
    uint64_t first;
    iw_time value, slope;
};

/* Behind its pieces is one more, of which only `first` counts: the pass after the last. */
struct iwi_track {
    struct iwi_track_piece *pieces;
    size_t count;
    uint64_t end; /* while it grows: the pass after the last so far */
};

/* One rank on its way. */
struct iwi_runner {
    struct iwi_flow *flow;
    const struct iwi_ring *ring;
    uint32_t rank, world; /* of the ring, of the program */
    size_t at;            /* its element */
    uint32_t in_level, out_level;
};

/* Pass 0: sends without having received. */
void iwi_runner_start(const struct iwi_runner *runner);

/* Passes first ... end - 1, with what the neighbour did in those before; `out` gets this rank's. */
void iwi_runner_run(const struct iwi_runner *runner, uint64_t first, uint64_t end, const struct iwi_track *in,
                    struct iwi_track *out);

/* All ranks and lanes, all rounds of the ring (flow_laps.c). */
IW_NODISCARD iw_status iwi_flow_ring(struct iwi_flow *flow, const struct iwi_flow_group *group,
                                     const struct iwi_ring *ring);

#endif
