/* The parts of the page of one simulation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_HTML_RESULT_H
#define IWI_HTML_RESULT_H

#include "report/html/html.h"
#include "report/kinds/result_report.h"

/* What hurt most on it; nothing if nothing did. */
void iwi_html_result_worst(FILE *out, const json_t *explain);

/* `result`: an object of schema "idlewave.simulate/2". */
IW_NODISCARD iw_status iwi_result_html(const iw_log *log, const json_t *result, FILE *out);

#endif
