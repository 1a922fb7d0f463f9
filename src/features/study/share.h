/* What a process may use of its node, with others of the same study beside it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SHARE_H
#define IWI_SHARE_H

#include <idlewave/study.h>

/* Those asked for, or as many as CPUs are for each process of this node. */
uint32_t iwi_study_threads(const iw_study_opts *opts);

/* Of `own` CPUs that this process may run on, when `processes` share a node where their launcher may run on
 * `node` of them: bound to some of them or not, nobody gets more than the even part. At least 1. */
uint32_t iwi_share_of_cpus(uint32_t own, uint32_t node, uint32_t processes);

/* Memory that cells may take together: half of what is available, in even parts for the processes of this
 * node. */
uint64_t iwi_study_budget_bytes(const iw_study_opts *opts);

#endif
