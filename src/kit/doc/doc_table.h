/* Tables at a terminal.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DOC_TABLE_H
#define IWI_DOC_TABLE_H

#include "kit/doc/doc.h"

/* Columns as wide as what is in them; where that is too much the widest column of words is wrapped. 0
 * columns: 80. */
void iwi_table_write_text(const struct iwi_block *table, size_t columns, FILE *out);

#endif
