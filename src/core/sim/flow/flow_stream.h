/* Streaming rounds: a run of passes, made one by one over all elements or several at once over parts of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_STREAM_H
#define IWI_FLOW_STREAM_H

#include "core/sim/flow/flow_pass.h"

enum {
    IWI_TILE = 8192,                  /* elements of a stretch: a power of two */
    IWI_EDGES = 8192,                 /* at most so many elements of all edges of a stretch */
    IWI_PASSES = 32,                  /* at most so many at once */
    IWI_PASS_LEVELS = IWI_PASSES + 2, /* those, and their neighbours */
    IWI_COPIED = 1 << 15,             /* elements copied together */
    IWI_WINDOW = 1 << 14              /* the same, with all that rendezvous needs: a power of two */
};

_Static_assert((int)IWI_EDGES <= (int)IWI_TILE && (int)IWI_EDGES <= (int)IWI_WINDOW,
               "shifts must be no longer than stretches, edges than blocks");

/* Which copy is which; of cpu and posted there are two, for odd and even passes. */
enum {
    IWI_COPY_CPU,
    IWI_COPY_POSTED = 2,
    IWI_COPY_NEXT_DETOUR = 4,
    IWI_COPY_SEND_GAP,
    IWI_COPY_RECV_GAP,
    IWI_COPIES
};

/* Room for working in the cache. */
struct iwi_stream {
    iw_time now[2][IWI_EDGES + IWI_TILE]; /* of a stretch, after its edge */
    iw_time edges[IWI_EDGES];
    iw_time kept[IWI_COPIES][IWI_EDGES],
        first[IWI_COPIES][IWI_EDGES]; /* what parts need and others changed */
    int64_t *kept_words;
    iw_time lasted; /* about as long as the passes of a stretch take; for what is fetched ahead */
    iw_time copies[IWI_COPIES][IWI_COPIED];
};

/* The passes of a streaming run, numbered from 0: pass p receives round first + p - 1 (not pass 0) and sends
 * round first + p (not the last). */
struct iwi_run {
    struct iwi_flow *flow;
    const struct iwi_operation *op;
    uint64_t first, last_pass;
    bool is_rendezvous;
};

struct iwi_pass iwi_run_pass(const struct iwi_run *run, uint64_t number);

/* Each makes the pass `number` and as many after it as can be made with it, and tells how many: 0 or at
 * least 2. Tiles and windows: passes with short shifts; columns: with shifts that are multiples of one
 * number; on a partition tiles, and columns that members pass each other. */
size_t iwi_pass_columns(const struct iwi_run *run, uint64_t number);
IW_NODISCARD iw_status iwi_exchange_columns(const struct iwi_run *run, uint64_t number, size_t *count_p);

#endif
