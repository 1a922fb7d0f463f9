/* The window engine: what is known of a schedule before it runs, and the run.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A message can be seen no earlier than `lookahead` after its send has started. So what happens within that
 * time after the earliest event of all ranks depends on nothing that is not known yet: each rank goes through
 * such a window of time by itself, in its own order of events, which is that of the event engine.
 */
#ifndef IWI_WINDOW_PLAN_H
#define IWI_WINDOW_PLAN_H

#include "core/sim/engine.h"

enum iwi_window_kind {
    IWI_WINDOW_CALC,
    IWI_WINDOW_PHASE, /* a calc that is a compute phase */
    IWI_WINDOW_SEND,
    IWI_WINDOW_SEND_TELLS, /* a send whose end lets receives be posted: at one instant after all others */
    IWI_WINDOW_RECV
};

/* By what a receive looks for a message. */
enum iwi_window_look { IWI_LOOK_EXACT, IWI_LOOK_ANY_SOURCE, IWI_LOOK_ANY_TAG, IWI_LOOK_ANY, IWI_LOOKS };

static inline enum iwi_window_look iwi_window_look_of(uint32_t peer, uint32_t tag)
{
    return (enum iwi_window_look)((peer == IWI_ANY ? IWI_LOOK_ANY_SOURCE : 0) |
                                  (tag == IWI_ANY ? IWI_LOOK_ANY_TAG : 0));
}

/* How the receives of a rank look for messages. A message that a wildcard may accept has to wait until the
 * rank sees it; of all others it is known at once which receive they meet. */
struct iwi_window_looks {
    uint64_t tags;    /* of receives from any source: bit tag % 64 */
    uint64_t sources; /* of receives with any tag: bit source % 64 */
    uint8_t all;      /* bits of enum iwi_window_look */
};

/* It posts receives from any source or with any tag. */
static inline bool iwi_window_is_wild(uint8_t looks)
{
    return (looks & ~(1 << IWI_LOOK_EXACT)) != 0;
}

/* Those by which a receive may find the message: bits of enum iwi_window_look. */
static inline uint8_t iwi_window_looks_for(const struct iwi_window_looks *looks, uint32_t source,
                                           uint32_t tag)
{
    const uint32_t others = (uint32_t)(looks->tags >> tag % 64 & 1) << IWI_LOOK_ANY_SOURCE |
                            (uint32_t)(looks->sources >> source % 64 & 1) << IWI_LOOK_ANY_TAG;

    return (uint8_t)(looks->all & (others | 1 << IWI_LOOK_EXACT | 1 << IWI_LOOK_ANY));
}

#define IWI_WINDOW_NO_PARTNER UINT32_MAX

struct iwi_window_plan {
    const struct iwi_schedule *schedule;
    iw_time lookahead;
    const char
        *immediate; /* why windows have no length: others learn of a message at once; NULL: they have */
    uint64_t immediate_node;   /* the first send of which that is so */
    bool has_rendezvous;       /* messages may be answered */
    uint32_t *first_successor; /* of each node, modulo 2^32; those of node n end where those of n + 1 begin */
    uint32_t *successors; /* as many as dependences; 2 * node within the rank, + 1 if a start is enough */
    struct iwi_window_looks *looks; /* of each rank */
    uint32_t *partners; /* of each node: if it is known before the run whom a send or a receive meets, the
                           number of that one within its rank; else IWI_WINDOW_NO_PARTNER */
};

/* NULL if the engine can run the schedule on this network, else why not; *node_p is the first operation of
 * which that is so, UINT64_MAX if it is none of them. */
const char *iwi_window_refusal(const struct iwi_schedule *schedule, const iw_net *net, uint64_t *node_p);

/* Of a schedule that is not refused. */
IW_NODISCARD iw_status iwi_window_plan_new(const iw_log *log, const struct iwi_schedule *schedule,
                                           const iw_net *net, iw_rendezvous rendezvous,
                                           struct iwi_window_plan **plan_p);
void iwi_window_plan_free(struct iwi_window_plan *plan);

/* One trial, or with job->member its block of it: all members have to call. Sets job->end_ps of the block's
 * ranks (from 0 on); nothing is explained, no steps are told. */
IW_NODISCARD iw_status iwi_window_run(const iw_log *log, const struct iwi_job *job,
                                      const struct iwi_window_plan *plan);

#endif
