/* The detours of one recorded input that a job can meet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MET_H
#define IWI_MET_H

#include "features/simulate/reach.h"

/* Takes a detour; pieces of several sources that touch are one. */
typedef void (*iwi_met_fn)(void *arg, size_t node, int64_t start_ns, int64_t length_ns);

/* What the filter lets pass on CPUs that ranks meet, node by node and CPU by CPU. */
void iwi_met_detours(const iw_noise_set *set, const struct iwi_set_input *input,
                     const struct iwi_part_filter *filter, iwi_met_fn take, void *arg);

/* CPUs of all nodes that ranks meet. */
uint64_t iwi_met_cpus(const iw_noise_set *set, const struct iwi_set_input *input);

/* What one detour of a CPU is of an event: events that hit all CPUs of a node are recorded on each. */
double iwi_met_events(const iw_noise_set *set, const struct iwi_set_input *input);

/* How often all places of the job together meet one recorded detour, a second: E/W (stats/longest.h). E are
 * the cores of all ranks; where ranks of a node are hit together, the recorded CPUs of all simulated nodes;
 * where nodes are hit at the same time, those of one. 0: no time was watched. */
double iwi_met_rate_hz(const iw_noise_set *set, const struct iwi_set_input *input,
                       const struct iwi_exposure *exposure);

#endif
