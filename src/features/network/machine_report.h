/* What the files that show machines share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MACHINE_REPORT_H
#define IWI_MACHINE_REPORT_H

#include <idlewave/internal/machine.h>

#include "kit/doc/doc.h"

/* "24 GB/s", "no limit". */
const char *iwi_bandwidth_words(struct iwi_document *doc, double bytes_per_ns);

/* Boxes within boxes, as lstopo draws a node. */
IW_NODISCARD iw_status iwi_machine_figure(struct iwi_document *doc, const iw_net_machine *machine,
                                          struct iwi_figure **figure_p);

#endif
