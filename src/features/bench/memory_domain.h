/* The cores that share a memory domain, and the caches between them and it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MEMORY_DOMAIN_H
#define IWI_MEMORY_DOMAIN_H

#include <idlewave/noise.h>

#include "kit/machine/cpus.h"

struct iwi_memory_domain {
    struct iwi_cpus cpus;
    iw_cpu_set set; /* the same */
    uint32_t numa_node;
    uint64_t cache_bytes; /* all data caches that one of the CPUs uses; 0: not told */
};

/* The CPUs listed, which must share a NUMA node: IW_ERR_RANGE. NULL: of the first NUMA node with CPUs of the
 * calling thread, one CPU of each core. */
IW_NODISCARD iw_status iwi_memory_domain_find(const iw_log *log, const uint32_t *wanted, size_t count,
                                              struct iwi_memory_domain *domain_p);
void iwi_memory_domain_release(struct iwi_memory_domain *domain);

#endif
