/* Divides CPUs and memory of a node between processes of a study.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/share.h"

#include <unistd.h>

#include "core/base/available.h"

static uint32_t local_processes(const iw_study_opts *opts)
{
    return opts->local_processes > 1 ? opts->local_processes : 1;
}

uint32_t iwi_share_of_cpus(uint32_t own, uint32_t node, uint32_t processes)
{
    const uint32_t all = node > own ? node : own;
    const uint32_t even = all / processes > 0 ? all / processes : 1;

    return even < own ? even : own;
}

/* The launcher's daemon, our parent, is bound to nothing: its CPUs are those of the job on this node. */
uint32_t iwi_study_threads(const iw_study_opts *opts)
{
    if (opts->threads != 0) {
        return opts->threads;
    }
    return iwi_share_of_cpus(iwi_available_cpus(), iwi_cpus_of_process(getppid()), local_processes(opts));
}

uint64_t iwi_study_budget_bytes(const iw_study_opts *opts)
{
    const uint64_t told = iwi_available_bytes("");
    const uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;

    return (told != UINT64_MAX ? told : half) / 2 / local_processes(opts);
}
