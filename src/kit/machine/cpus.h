/* Which CPUs may be measured, and threads pinned to them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CPUS_H
#define IWI_CPUS_H

#include <stdint.h>

#include <hwloc.h>

#include <idlewave/log.h>

struct iwi_cpus {
    hwloc_topology_t topology;
    size_t count;
    uint32_t *numbers; /* the operating system's, ascending where all are taken */
};

/* The CPUs listed in `wanted`; NULL: all that the calling thread may run on. Those listed need not be among
 * these, only in the process's cpuset: IW_ERR_RANGE otherwise, with those that are. */
IW_NODISCARD iw_status iwi_cpus_choose(const iw_log *log, const uint32_t *wanted, size_t count,
                                       struct iwi_cpus *cpus);
void iwi_cpus_release(struct iwi_cpus *cpus);

/* Pins the calling thread; 0 or an errno. */
int iwi_cpus_pin(const struct iwi_cpus *cpus, uint32_t number);

#endif
