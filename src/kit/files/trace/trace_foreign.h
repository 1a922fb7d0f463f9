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

/* Logs what it is and which formats are read; returns IW_ERR_UNSUPPORTED. */
iw_status iwi_trace_refuse_foreign(const iw_log *log, const char *path, const struct iwi_foreign *foreign);

/* True if `path` is the folder of a traced run that did not end (or one of the files in it). */
bool iwi_trace_is_unfinished(const char *path);

/* Logs the command that makes a trace of it; returns IW_ERR_TRUNCATED. */
iw_status iwi_trace_refuse_unfinished(const iw_log *log, const char *path);

#endif
