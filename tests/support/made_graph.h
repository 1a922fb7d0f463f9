/* Random graphs as GOAL files say them, of any size, for tests and benchmarks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_GRAPH_H
#define IWT_MADE_GRAPH_H

#include "core/program/program.h"

struct iwt_graph_kind {
    uint32_t ranks, cpus, nics;
    uint64_t operations;   /* about so many: a message is two of them */
    uint32_t calc_percent; /* of the operations */
    uint32_t wild_percent; /* of the receives: from any source; some of them with any tag */
    uint32_t tags; /* only where it can deadlock; otherwise each message has its own, or that of wildcards */
    uint64_t most_bytes;
    bool has_exact_sizes; /* receives expect what they get; otherwise some expect half of it */
    iw_time most_ps;      /* a calc */
    iw_time grain_ps;     /* calcs are multiples of it: coarse ones end at the same instants */
    uint32_t dependences; /* at most, of an operation */
    bool is_shuffled;     /* operations need not come after what they require */
    bool can_deadlock; /* receives take messages meant for others; otherwise those from any source are posted
                          in their order, with a tag of their own, and so find enough messages */
};

/* The same graph for the same seed. Aborts when memory is short. */
iw_program *iwt_made_graph(uint64_t seed, const struct iwt_graph_kind *kind);

#endif
