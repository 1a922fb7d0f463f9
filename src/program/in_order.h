/* How far a graph is from being a program (docs/explanation/semantics.md, 8).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_IN_ORDER_H
#define IWI_IN_ORDER_H

#include "program/program.h"

struct iwi_disorder {
    uint32_t ranks; /* whose operations are not in order; 0: the graph is a program */
    uint32_t rank;  /* the first of them */
    uint64_t node;  /* its first operation that is out of order; counted within the rank */
};

/* Of a DAG on one CPU a rank. */
IW_NODISCARD iw_status iwi_schedule_find_disorder(const iw_log *log, const struct iwi_schedule *dag,
                                                  struct iwi_disorder *disorder_p);

#endif
