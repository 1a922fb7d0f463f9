/* Nodes that compute faster or slower than others (docs/explanation/semantics.md, 15).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NODE_SPEED_H
#define IWI_NODE_SPEED_H

#include <idlewave/sim.h>

enum { IWI_FACTOR_UNIT = 1000000000 }; /* factors are whole numbers of billionths */

/* Whether a job of so many nodes can have them: it has no fewer than are to be slow, and no more than a file
 * names. IW_ERR_RANGE. */
IW_NODISCARD iw_status iwi_node_speeds_check(const iw_log *log, const iw_node_speeds *speeds, uint32_t nodes);

/* The factor of work of each node of a run; owned, freed by free(). `seed` is that of the simulation; laws
 * draw anew for each `trial`. */
IW_NODISCARD iw_status iwi_node_factors(const iw_log *log, const iw_node_speeds *speeds, uint32_t ranks,
                                        uint64_t seed, uint64_t trial, uint32_t replaced_nodes,
                                        int64_t **factors_p);

/* Whether it is "normal:..." or "slow:...", not the path of a file. */
bool iwi_node_speed_is_spec(const char *text);

/* Adds all that factors depend on but the seed and the ranks of a node: of a file its factors. */
struct iwi_hash;
void iwi_node_speeds_digest(const iw_node_speeds *speeds, struct iwi_hash *digest);

uint32_t iwi_node_speeds_ranks(const iw_node_speeds *speeds); /* of a node */

/* work * factor, rounded to the nearest picosecond; the product is below 2^93. */
static inline iw_time iwi_scaled_work(iw_time work, int64_t factor)
{
    __extension__ typedef __int128 wide;
    const wide scaled = ((wide)work * factor + IWI_FACTOR_UNIT / 2) / IWI_FACTOR_UNIT;

    return scaled < INT64_MAX / 2 ? (iw_time)scaled : INT64_MAX / 2;
}

#endif
