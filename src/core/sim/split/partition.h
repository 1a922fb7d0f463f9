/* Which ranks of a program each member of a team has: contiguous blocks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PARTITION_H
#define IWI_PARTITION_H

#include "core/base/order.h"
#include "core/program/program.h"

struct iwi_partition {
    uint32_t ranks, members;
    uint32_t granule;  /* every block begins at a multiple of it: a power of two, or the base of a trace */
    uint32_t smallest; /* ranks of the smallest block; 0: somebody has none */
    uint32_t *first;   /* members + 1: member m has ranks first[m] ... first[m + 1] - 1 */
};

/* The member that has that rank. */
static inline uint32_t iwi_partition_owner(const struct iwi_partition *partition, uint32_t rank)
{
    size_t at;

    IWI_FIRST_NOT(at, 1, partition->members, partition->first[at] <= rank);
    return (uint32_t)at - 1;
}

#endif
