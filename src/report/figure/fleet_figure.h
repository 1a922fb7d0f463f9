/* The figures of a fleet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLEET_FIGURE_H
#define IWI_FLEET_FIGURE_H

#include "report/figure/figure.h"
#include "report/kinds/fleet_report.h"

/* How many nodes have how much; *figure_p is NULL where no node has any. */
IW_NODISCARD iw_status iwi_fleet_figure(const iw_log *log, const iw_fleet *fleet, iw_fleet_metric metric,
                                        const char *title, struct iwi_figure **figure_p);

#endif
