/* Which send of a trace belongs to which receive.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MESSAGE_PAIRS_H
#define IWI_MESSAGE_PAIRS_H

#include "core/base/base.h"
#include "core/program/trace.h"

#define IWI_NO_PARTNER UINT64_MAX

/* Call i of rank r has the number first[r] + i; partner[number] becomes the number of the other half of its
 * message, IWI_NO_PARTNER where there is none. `count`: of partners. */
IW_NODISCARD iw_status iwi_trace_pair_messages(const iw_log *log, const struct iw_trace *trace,
                                               const uint64_t *first, uint64_t *partner, uint64_t count);

#endif
