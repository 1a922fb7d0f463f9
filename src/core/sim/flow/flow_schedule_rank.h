/* The run of a stored in-order schedule by the flow engine.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Without wildcards the k-th send meets the k-th receive on (source, destination, tag), in the order of their
 * programs. So partners do not depend on time, and any order of evaluation that respects the dependences
 * gives the same times.
 */
#ifndef IWI_FLOW_SCHEDULE_RANK_H
#define IWI_FLOW_SCHEDULE_RANK_H

#include "core/sim/flow/flow_channels.h"
#include "core/sim/flow/flow_requests.h"
#include "core/sim/flow/flow_state.h"

/* One rank on its way through its operations. */
struct schedule_rank {
    uint64_t next;      /* operation, of all */
    uint64_t phases;    /* compute phases begun */
    uint64_t satisfied; /* so many requests of its wait need nothing more */
    struct iwi_flow_requests requests;
    /* what it waits for: the send, or the posting, of a message */
    uint32_t source, dest, tag, number;
    bool is_waiting;
    bool is_begun; /* its next operation has been issued or posted, as message `number` */
};

struct schedule_run {
    struct iwi_flow *flow;
    const struct iwi_schedule *schedule;
    struct schedule_rank *ranks;
    struct iwi_channels channels;
    uint32_t *work; /* ranks that can go on */
    size_t work_count;
};

#endif
