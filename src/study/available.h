/* What this machine lets the process use.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_AVAILABLE_H
#define IWI_AVAILABLE_H

#include <stdint.h>

/* Memory that is free or can be freed, also within the limits of a batch system (control groups, version 2).
 */
uint64_t iwi_available_bytes(void);

/* CPUs that this process may run on, at least 1. */
uint32_t iwi_available_cpus(void);

#endif
