/* Between the files on measured networks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_REPORT_H
#define IWI_NET_REPORT_H

#include <idlewave/internal/net_measure.h>

#include "kit/schema/schema.h"

extern const struct iwi_schema iwi_net_measured_schema; /* iw_net_measured */
IW_NODISCARD iw_status iwi_net_measured_check(const iw_log *log, const char *name, const void *subject);

#endif
