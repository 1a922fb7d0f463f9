/* The order in which messages can have been sent.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_READ_REPLAY_H
#define IWI_TRACE_READ_REPLAY_H

#include "kit/files/trace/trace_read.h"

#define IWI_LINK_NONE UINT32_MAX       /* nothing to wait for */
#define IWI_LINK_POOL (UINT32_MAX - 1) /* the other side is not known */

/* The other side of a message: a rank and its call. In the pool: of a receive, how many receives of its
 * rank's pool end before it; of a send, set by the replay: its place among all. */
struct iwi_message_end {
    uint64_t call;
    uint32_t rank;
};

/* links[rank][call]: for each call of the trace. */
IW_NODISCARD iw_status iwi_trace_replay(const iw_log *log, const struct iw_trace *trace,
                                        struct iwi_message_end **links);

#endif
