/* A network by value, as our own code has it; programs have it by pointer, so that it can grow.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_H
#define IWI_NET_H

#include <idlewave/net.h>

#define IWI_NET_DEFAULT_S_BYTES (UINT64_C(65) * 1024) /* as in Table III of the 2010 paper */

#define IWI_NET_MOST_FS_PER_BYTE \
    INT64_C(1000000000) /* 1 us per byte: beyond that a value is a slip of the unit */

/* Frees what copies of a network share: its list and its series. Built-in networks have none. */
void iwi_net_release(iw_net *net);

/* The network as a simulation prices it: NICs and tapers made part of G (docs/explanation/semantics.md, rule
 * 12), and gone; NICs with queues stay. Doing it again changes nothing. IW_ERR_RANGE as iw_net_check(). `net`
 * and `effective_p` may be one. */
IW_NODISCARD iw_status iwi_net_effective(const iw_log *log, const iw_net *net, iw_net *effective_p);

#endif
