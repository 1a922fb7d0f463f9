/* What the forecasts for people share: numbers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FORECAST_REPORT_H
#define IWI_FORECAST_REPORT_H

#include "report/doc/doc.h"

/* Also of what nobody will wait for: "3.2 s", "5.4 min", "12 d", "3 y". */
const char *iwi_seconds(struct iwi_document *doc, double seconds);

/* "1.5 MiB" */
const char *iwi_memory_size(struct iwi_document *doc, double bytes);

#endif
