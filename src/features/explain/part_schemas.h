/* Tables of the parts of an explanation, each defined beside its document: explanation_doc.c joins them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PART_SCHEMAS_H
#define IWI_PART_SCHEMAS_H

#include "kit/schema/schema.h"

extern const struct iwi_schema iwi_waits_schema, iwi_blame_schema, iwi_stragglers_schema;

#endif
