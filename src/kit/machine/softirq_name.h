/* The kernel's names of its softirqs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SOFTIRQ_NAME_H
#define IWI_SOFTIRQ_NAME_H

#include <stddef.h>
#include <stdint.h>

/* "TIMER"; "softirq 12" for one that has no name here. */
void iwi_softirq_name(int64_t vector, char *buf, size_t size);

#endif
