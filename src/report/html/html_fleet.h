/* The page of a fleet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_HTML_FLEET_H
#define IWI_HTML_FLEET_H

#include <idlewave/fleet.h>

#include "report/html/html.h"

struct iwi_fleet_page {
    const iw_fleet *fleet;
    const char *name; /* of the folder */
};

IW_NODISCARD iw_status iwi_fleet_html(const iw_log *log, const struct iwi_fleet_page *page, FILE *out);

#endif
