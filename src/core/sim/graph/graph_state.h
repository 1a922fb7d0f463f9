/* The state of one run of a graph by windows: shared by the graph_*.c files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GRAPH_STATE_H
#define IWI_GRAPH_STATE_H

#include "core/sim/graph/graph.h"
#include "core/sim/graph/graph_cpu.h"
#include "core/sim/graph/graph_queue.h"
#include "core/sim/graph/graph_wheel.h"

#define IWI_GRAPH_NONE UINT32_MAX
#define IWI_GRAPH_DONE UINT32_MAX
#define IWI_GRAPH_ARRIVED (UINT32_C(1) << 31)

/* Of a node. A send that is done has the arrival of its message as `time`. */
struct graph_node {
    iw_time time;  /* what it requires is there from then on; of a receive that is posted: when it was */
    uint32_t open; /* dependences not satisfied; IWI_GRAPH_ARRIVED is added for a receive that meets a node
                      and whose message has been delivered; IWI_GRAPH_DONE: the CPU has taken it */
    uint32_t also; /* the cause of `time` (iwi_graph_post()); in a channel: the next that waits; receive of a
                      channel that has met its message: the send */
};

/* Of a rank: two cache lines. */
struct graph_rank {
    iw_time turn; /* when it has something to do next; INT64_MAX: nothing is known of */
    struct graph_cpu cpu;
    uint32_t first; /* its first node */
    uint32_t cause; /* as in iwi_graph_post(): of what the CPU does now */
    struct iwi_graph_queue queue;
};

/* A message on its way to the rank that receives it. */
struct graph_mail {
    iw_time arrival;
    uint32_t rank;
    struct iwi_graph_link link; /* IWI_MEETS_NODE: the receive; IWI_MEETS_CHANNEL: the send */
};

/* Those of one (source, destination, tag) that wait for a partner, in the order of starting or of posting:
 * all of them sends, or all receives. */
struct graph_channel {
    uint32_t first, last; /* first IWI_GRAPH_NONE: none waits */
    bool are_sends;
};

/* Neighbouring ranks, as many as fit into the cache together: a window runs block by block. */
struct graph_block {
    struct iwi_wheel wheel;
    struct graph_mail *mail; /* to be delivered */
    size_t mail_count, mail_capacity;
    iw_time mail_first; /* the earliest arrival; INT64_MAX: there is none */
};

/* A block has at least 2^IWI_GRAPH_BLOCK_SHIFT ranks; there are at most IWI_GRAPH_BLOCKS. */
enum { IWI_GRAPH_BLOCK_SHIFT = 10, IWI_GRAPH_BLOCKS = 64 };

struct graph_run {
    const iw_log *log;
    const struct iwi_job *job;
    const struct iwi_windows *windows;
    const struct iwi_schedule *schedule;
    struct graph_cpus cpus;
    iw_time lookahead, window_end;
    struct graph_node *nodes;
    struct graph_rank *ranks;
    struct graph_channel *channels;
    struct graph_block *blocks;
    uint32_t block_count, block_shift; /* block of a rank: rank >> block_shift */
    uint64_t done;                     /* nodes */
    bool is_set_up;
};

/* ---- graph_setup.c ---- */

IW_NODISCARD iw_status iwi_graph_setup(struct graph_run *run);
void iwi_graph_release(struct graph_run *run);

/* Nothing is left to do: IW_ERR_DEADLOCK (logged) unless all nodes are done. Warns of messages that nobody
 * received. */
IW_NODISCARD iw_status iwi_graph_check_end(const struct graph_run *run);

#endif
