/* What a member does of the replicas that it has only some ranks of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_TRACE_SHARE_H
#define IWI_FLOW_TRACE_SHARE_H

#include "core/sim/flow/flow_state.h"
#include "core/sim/flow/flow_trace.h"

/* Values that members hand each other inside a replica: the times of all lanes of one slot. They go in
 * batches. Sender and receiver know from the program which value comes n-th between them, so that a batch has
 * only the number of its first. */

struct iwi_value_peer {
    uint32_t member;
    uint32_t *slots; /* where each of its values goes, in the order in which they come */
    size_t slot_count, slot_capacity;
    uint64_t emitted, taken; /* of this run */
    struct iwi_bytes in;     /* the batch that is being taken, from in_at on */
    size_t in_at;
    struct iwi_bytes out; /* the batch that is being filled */
    bool is_unsent;       /* is in iwi_values.unsent */
};

/* A batch under way. */
struct iwi_value_flight {
    struct iwi_transfer transfer;
    void *data;
};

struct iwi_values {
    const iw_log *log;
    struct iwi_member *member;
    uint32_t lanes;
    struct iwi_value_peer *peers;
    size_t peer_count, peer_capacity;
    uint32_t *unsent; /* peers that may have something in `out` */
    size_t unsent_count;
    struct iwi_value_flight *flights;
    size_t flight_count, flight_capacity;
    size_t old_count; /* the first of them went out before the last iwi_values_settle() */
};

/* Once all peers are there. */
IW_NODISCARD iw_status iwi_values_start(struct iwi_values *values);
void iwi_values_release(struct iwi_values *values);

/* Back to the first value of each peer: all of the run before have been taken. */
void iwi_values_restart(struct iwi_values *values);

/* `slots` are all of their sender or receiver. */
IW_NODISCARD iw_status iwi_values_emit(struct iwi_values *values, uint32_t peer, const iw_time *slots,
                                       uint32_t slot);
/* Sends all that was emitted. */
IW_NODISCARD iw_status iwi_values_flush(struct iwi_values *values);

/* Takes values of a peer into their slots until `count` of this run have come. Flushes before it waits. */
IW_NODISCARD iw_status iwi_values_take(struct iwi_values *values, uint32_t peer, uint64_t count,
                                       iw_time *slots);

/* Waits for batches that went out before the last call, whose receivers come to take them without any help
 * of this member. */
IW_NODISCARD iw_status iwi_values_settle(struct iwi_values *values);

struct iwi_replica_share {
    uint32_t replica;
    struct iwi_trace_code code; /* its own steps (flow_trace_cut.c) and segments; all slots are local. The
                                   costs are the whole's */
    iw_time *slots;
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

/* Replicas side by side (flow_trace_rows.c). */
struct iwi_trace_rows;

/* For one run of the flow; *rows_p stays NULL where each replica has to go alone. Also after a failure it is
 * to be freed. */
IW_NODISCARD iw_status iwi_trace_rows_new(struct iwi_flow *flow, const struct iwi_trace_code *code,
                                          struct iwi_trace_rows **rows_p);
void iwi_trace_rows_free(struct iwi_trace_rows *rows);

/* Steps begin ... end - 1 of replicas from *replica_p on, which becomes the first one that is still to do:
 * few are left, or the steps are not for rows. */
IW_NODISCARD iw_status iwi_trace_rows_run(struct iwi_trace_rows *rows, uint64_t begin, uint64_t end,
                                          uint32_t *replica_p, uint32_t replica_end);

#endif
