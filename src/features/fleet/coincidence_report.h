/* Between the files on nodes that are hit together.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_COINCIDENCE_REPORT_H
#define IWI_COINCIDENCE_REPORT_H

#include <idlewave/coincidence.h>

#include "kit/doc/doc.h"

/* How many nodes a source that coincides hit at once, over time. */
void iwi_coincidence_show_figure(struct iwi_document *doc, const iw_coincidence *coincidence,
                                 const iw_coincidence_source *source);

#endif
