/* What other features use of verified nodes: tables and sections of documents.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SETTINGS_H
#define IWI_SETTINGS_H

#include <idlewave/verify.h>

#include "kit/doc/doc.h"

extern const struct iwi_schema iwi_verify_schema; /* iw_verify */

/* A section of each mitigation with its state; items of what to do. */
void iwi_list_mitigations(struct iwi_document *doc, const iw_verify *verify);
void iwi_list_advice(struct iwi_document *doc, const iw_verify *verify);

#endif
