/* What the forecasts for people share: numbers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FORECAST_REPORT_H
#define IWI_FORECAST_REPORT_H

#include "report/kinds/report.h"

/* Also of what nobody will wait for: "3.2 s", "5.4 min", "12 d", "3 y". */
const char *iwi_seconds_text(double seconds, char buf[IWI_NUMBER_SIZE]);

/* "1.5 MiB" */
const char *iwi_memory_text(double bytes, char buf[IWI_NUMBER_SIZE]);

#endif
