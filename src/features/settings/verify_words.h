/* What documents about verified nodes share: `verify`, `check`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_VERIFY_WORDS_H
#define IWI_VERIFY_WORDS_H

#include <idlewave/verify.h>

#include "kit/doc/doc.h"

extern const struct iwi_schema iwi_verify_schema; /* iw_verify */

/* Sections: each mitigation with its state; what to do. */
void iwi_list_mitigations(struct iwi_document *doc, const iw_verify *verify);
void iwi_say_advice(struct iwi_document *doc, const iw_verify *verify);

#endif
