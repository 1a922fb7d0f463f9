/* What this machine lets the process use.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_AVAILABLE_H
#define IWI_AVAILABLE_H

#include <stdint.h>

/* Memory that can be had without swapping, also within the limits of a batch system (control groups of
 * either version); UINT64_MAX where it is not told. /proc and /sys are below `root`, "" but in tests. */
uint64_t iwi_available_bytes(const char *root);

/* CPUs that this process may run on, at least 1. */
uint32_t iwi_available_cpus(void);

/* How many of `wanted` CPUs nobody else is using, at least 1: the most of several moments within a
 * millisecond, or of the first one that has enough. Who is bound to some of the CPUs is taken to have these
 * for itself. /proc is below `root`. */
uint32_t iwi_idle_cpus(const char *root, uint32_t wanted);

/* The same as iwi_available_cpus() of another process; 0 where it is not told. */
uint32_t iwi_cpus_of_process(int pid);

#endif
