/* Which ranks do the same work, so that their times can be compared.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PEERS_H
#define IWI_PEERS_H

#include "features/explain/arrivals/visits.h"

/* What kind of visit it is, as a hash: operation, bytes, size of the group. */
uint64_t iwi_visit_kind(const struct iwi_visits *visits, const struct iwi_visit *visit);

/* Of each rank a number, the same for ranks that make the same kinds of visits equally often, in any order,
 * in the same stage, and that are connected by collectives. Without the last, a stage that waits for another
 * one where the file does not tell of it would seem to be busy. For the same reason groups of all ranks do
 * not connect them where the file has no messages, unless there are no other groups. */
IW_NODISCARD iw_status iwi_visits_peers(const struct iwi_visits *visits, uint64_t *peers);

#endif
