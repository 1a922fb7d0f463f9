/* What a member does of the replicas that it has only some ranks of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_TRACE_SHARE_H
#define IWI_FLOW_TRACE_SHARE_H

#include "core/sim/flow/flow_trace.h"
#include "core/sim/flow/flow_trace_values.h"

struct iwi_replica_share {
    uint32_t replica;
    struct iwi_trace_code code; /* its own steps (flow_trace_cut.c) and segments; all slots are local. The
                                   costs are the whole's */
    struct iwi_value_slots slots;
};

/* A contiguous block ends in the middle of at most two replicas, and no other block shares both with it. */
enum { IWI_MOST_SHARES = 2 };

struct iwi_replica_shares {
    struct iwi_replica_share part[IWI_MOST_SHARES];
    size_t count;
    struct iwi_values values; /* the peers of all parts */
};

/* Replicas from the first to before the second are here with all their ranks. */
static inline uint32_t iwi_trace_first_whole(const struct iwi_flow *flow, uint32_t base)
{
    return (uint32_t)(((uint64_t)flow->first_rank + base - 1) / base);
}

static inline uint32_t iwi_trace_end_whole(const struct iwi_flow *flow, uint32_t base)
{
    return (flow->first_rank + flow->ranks) / base;
}

/* For the member and the partition of `flow`. */
IW_NODISCARD iw_status iwi_trace_cut(const struct iwi_flow *flow, const struct iwi_trace_code *whole,
                                     struct iwi_values *values, struct iwi_replica_share *part);
void iwi_replica_shares_free(struct iwi_replica_shares *parts);

#endif
