/* Which of the rights that watching needs this process lacks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CAPABILITIES_H
#define IWI_CAPABILITIES_H

#include <stdbool.h>

enum { IWI_CAPABILITIES_SIZE = 64 };

/* "CAP_BPF and CAP_PERFMON"; false: none, as far as /proc tells. */
bool iwi_capabilities_lacking(const char *root, char text[IWI_CAPABILITIES_SIZE]);

#endif
