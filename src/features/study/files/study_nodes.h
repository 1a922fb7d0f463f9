/* Which ranks of a study's system share a node.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_STUDY_NODES_H
#define IWI_STUDY_NODES_H

#include <idlewave/study.h>

/* For patterns: what the network says, else the system. */
static inline iw_nodes iwi_study_nodes(const iw_study_system *system)
{
    const iw_nodes nodes = iw_net_nodes(&system->net);

    return nodes.ranks > 0 ? nodes : (iw_nodes){.ranks = system->ranks_per_node};
}

#endif
