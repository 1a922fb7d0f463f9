/* Between the files on what-ifs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WHATIF_REPORT_H
#define IWI_WHATIF_REPORT_H

#include <idlewave/whatif.h>

#include "kit/doc/doc.h"

/* "all noise", "class irq (3)", "irq/eno1". */
const char *iwi_change_words(struct iwi_document *doc, const iw_change *change);

/* More than chance. */
static inline bool iwi_is_worth_it(const iw_change *change)
{
    return change->saving.low > 0;
}

/* The next change of that kind behind `change`, which is NULL at first; NULL: there is none. */
const iw_change *iwi_next_change(const iw_whatif *whatif, iw_change_kind kind, const iw_change *change);

/* ---- sentences, that add blocks where there is something to say ---- */

void iwi_say_whatif_verdict(struct iwi_document *doc, const iw_whatif *whatif);

/* That savings do not add up; what less noise does to the order of events; the smallest set for the target; a
 * core left to the operating system; co-scheduling. */
void iwi_say_whatif_facts(struct iwi_document *doc, const iw_whatif *whatif);
void iwi_say_whatif_certainty(struct iwi_document *doc, const iw_whatif *whatif);

/* ---- the figure ---- */

/* What each change saves. */
IW_NODISCARD iw_status iwi_whatif_figure(struct iwi_document *doc, const iw_whatif *whatif,
                                         struct iwi_figure **figure_p);

#endif
