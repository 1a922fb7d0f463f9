/* The parts of the page of a what-if.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_HTML_WHATIF_H
#define IWI_HTML_WHATIF_H

#include "report/html/html.h"
#include "report/kinds/whatif_report.h"

/* What to do, the largest saving first; how many sources of it save more than chance would. */
size_t iwi_html_whatif_ranking(FILE *out, const json_t *whatif);

/* What else can be done: sets and classes of sources, co-scheduling, a reserved core. Nothing without them.
 */
void iwi_html_whatif_others(FILE *out, const json_t *whatif);

/* Every change with all its numbers. */
void iwi_html_whatif_table(FILE *out, const json_t *whatif);

/* `whatif`: an object of schema "idlewave.whatif/1". */
IW_NODISCARD iw_status iwi_whatif_html(const iw_log *log, const json_t *whatif, FILE *out);

#endif
