/* Columns: elements that differ by multiples of one number, some of them side by side.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_COLUMNS_H
#define IWI_FLOW_COLUMNS_H

#include "core/sim/flow/flow_stream.h"

/* Of elements: `width` neighbours of each stretch of `stride`, a row. */
struct iwi_columns {
    size_t rows, width, stride;
    bool has_gaps, is_rendezvous;
};

/* How many passes from `number` on can be made on columns of so many elements, with shifts as they are among
 * copies, and the shape. */
size_t iwi_columns_find(const struct iwi_run *run, uint64_t number, size_t elements, struct iwi_pass *passes,
                        struct iwi_columns *shape);

/* The first `rows` rows of an array to a copy of them one behind the other, or back. */
void iwi_columns_copy(iw_time *array, iw_time *copy, struct iwi_columns shape, size_t rows, bool is_back);

#endif
