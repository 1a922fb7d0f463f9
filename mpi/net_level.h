/* Measures one pair thoroughly: all quantities at many sizes, in rounds.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_LEVEL_H
#define IWI_NET_LEVEL_H

#include "mpi/net_pair.h"

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
