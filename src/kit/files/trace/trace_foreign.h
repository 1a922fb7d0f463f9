/* What users take for a trace, but cannot be read: told by its name and first bytes, and what to do instead.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_FOREIGN_H
#define IWI_TRACE_FOREIGN_H

#include "core/base/base.h"

struct iwi_foreign;

/* NULL: it is none that is known. A folder is what the first such file in it is, unless it also holds files
 * of idlewave (recordings, studies). */
const struct iwi_foreign *iwi_trace_foreign(const char *path);

#endif
