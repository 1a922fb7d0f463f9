/* How far a graph is from being a program (docs/explanation/semantics.md, 8).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_IN_ORDER_H
#define IWI_IN_ORDER_H

#include "core/program/program.h"

struct iwi_disorder {
    uint32_t ranks; /* whose operations are not in order; 0: the graph is a program */
    uint32_t rank;  /* the first of them */
    uint64_t node;  /* its first operation that is out of order; counted within the rank */
};

/* The operations of one rank; node n depends on deps[first[n]] ... deps[first[n + 1] - 1]. */
struct iwi_rank_graph {
    struct iwi_node *nodes;
    uint64_t count;
    const uint64_t *first; /* count + 1 */
    const struct iwi_dep *deps;
};

/* It is in order, in the shape of a program; `is_open` has room for all nodes. */
bool iwi_rank_is_in_order(const struct iwi_rank_graph *rank, bool *is_open);

/* A node of a rank in order becomes that of the program. It keeps those of its dependences, begin ... end -
 * 1, that are on messages which it completes: they go to `to`, which may be where they are, or before.
 * Returns how many. In the order of nodes. */
uint64_t iwi_rank_put_in_order(const struct iwi_rank_graph *rank, uint64_t node, uint64_t begin, uint64_t end,
                               struct iwi_dep *to);

/* Of a DAG on one CPU a rank. */
IW_NODISCARD iw_status iwi_schedule_find_disorder(const iw_log *log, const struct iwi_schedule *dag,
                                                  struct iwi_disorder *disorder_p);

#endif
