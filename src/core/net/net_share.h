/* What net.c and net_share.c have of each other.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_SHARE_H
#define IWI_NET_SHARE_H

#include <idlewave/net.h>

#define IWI_NET_MAX_FS_PER_BYTE \
    INT64_C(1000000000) /* 1 us per byte: beyond that a value is a slip of the unit */

/* Refuses NICs without nodes, more active ranks than there are, tapers that are none. */
IW_NODISCARD iw_status iwi_net_check_sharing(const iw_log *log, const iw_net *net);

/* Raises L and g of segments as far as it takes that no message takes less time than a smaller one. */
void iwi_net_keep_rising(iw_net_costs *costs);

#endif
