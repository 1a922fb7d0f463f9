/* Two ranks that exchange messages: one asks for batches of exchanges and times them, the other answers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MPI_NET_H
#define IWI_MPI_NET_H

#include <idlewave/internal/net_measure.h>
#include <mpi.h>

#include "mpi/net_place.h"

struct iwi_pair {
    MPI_Comm comm;
    int peer;
    uint64_t largest_bytes;
    bool is_nonblocking; /* both sides alike */
    char *send_buffer, *recv_buffer;
    double clock_cost_ns; /* of one reading of the clock */
};

enum iwi_batch_kind {
    IWI_BATCH_ROUND_TRIP = IW_NET_ROUND_TRIP,
    IWI_BATCH_TRAIN = IW_NET_TRAIN,
    IWI_BATCH_SEND = IW_NET_SEND,
    IWI_BATCH_RECV = IW_NET_RECV,
    IWI_BATCH_EXCHANGE = IW_NET_EXCHANGE,
    IWI_BATCH_SEND_POLLED,
    IWI_BATCH_RECV_POLLED,
    IWI_BATCH_EAGER_COMPUTING, /* 1 if the send ended in time, else 0 */
    IWI_BATCH_EAGER_INSIDE,
    IWI_BATCH_FRESH, /* new buffers: other pages, other places in caches */
    IWI_BATCH_END,
    IWI_BATCH_KINDS
};

struct iwi_message_batch {
    uint32_t kind, n, repetitions;
    uint32_t is_rendezvous; /* trains are sent by nonblocking calls: else each message would wait for the one
                               before */
    uint64_t bytes;
    int64_t pause_ns; /* d of SEND and RECV, between polls, or how long a receiver stays away */
};

#define IWI_MOST_BATCH 200 /* repetitions */
#define IWI_MOST_TRAIN 16
#define IWI_TRAIN_BYTES (UINT64_C(1) << 19) /* of a whole train, unless two messages are larger */

/* Allocates the buffers. IW_ERR_NOMEM, logged; nothing is exchanged. */
IW_NODISCARD iw_status iwi_pair_init(const iw_log *log, MPI_Comm comm, int peer, uint64_t largest_bytes,
                                     struct iwi_pair *pair);
void iwi_pair_release(struct iwi_pair *pair);

/* Asks for a batch and runs it; `values` gets batch->repetitions values, after one that is not counted. */
void iwi_pair_ask(struct iwi_pair *pair, const struct iwi_message_batch *batch, double *values);

/* Answers until IWI_BATCH_END. */
void iwi_pair_answer(struct iwi_pair *pair);

/* The median of up to 200 values; changes their order. */
double iwi_pair_median(double *values, size_t count);

/* How large a message may be that is sent although the receiver does not receive; net_eager.c. After
 * `late_ns` with fewer votes, and only to a power of two. */
iw_net_eager iwi_pair_eager(struct iwi_pair *pair, enum iwi_batch_kind question, int64_t late_ns);

int64_t iwi_net_now_ns(void);

/* Of one reading of that clock. */
double iwi_net_clock_cost_ns(void);

/* ---- looks at many pairs of ranks briefly, to find slow ones and typical ones ---- */

#define IWI_SCAN_SMALL_BYTES UINT64_C(8)
#define IWI_SCAN_LARGE_BYTES (UINT64_C(64) << 10)

/* Collective. Rank 0 gets the links in samples->links, by rank; suspects have been looked at again, alone.
 * IW_ERR_NOMEM on all ranks. */
IW_NODISCARD iw_status iwi_net_scan(const iw_log *log, MPI_Comm comm, const iw_net_plan *plan,
                                    const struct iwi_process_place *places, iw_net_samples *samples);

/* Waits for all ranks and leaves the CPU to others meanwhile. */
void iwi_quiet_barrier(MPI_Comm comm);

/* IW_OK if all ranks come with IW_OK, else the worst of theirs. */
IW_NODISCARD iw_status iwi_net_agree(MPI_Comm comm, iw_status status);

/* ---- measures one pair thoroughly: all quantities at many sizes, in rounds ---- */

/* Room for all series. IW_ERR_NOMEM, logged. */
IW_NODISCARD iw_status iwi_level_new(const iw_log *log, iw_net_level_samples *level);

/* The side that asks; the other one is in iwi_pair_answer(). `is_reporting`: plan->progress may be called,
 * from `done` to `done` + `share`. */
void iwi_level_measure(struct iwi_pair *pair, const iw_net_plan *plan, double seconds, bool is_reporting,
                       double done, double share, iw_net_level_samples *level);

/* Hand a level from one rank to another; `level` of the receiver is empty and made by iwi_level_new(). */
void iwi_level_send(MPI_Comm comm, int to, const iw_net_level_samples *level);
void iwi_level_recv(MPI_Comm comm, int from, iw_net_level_samples *level);

#endif
