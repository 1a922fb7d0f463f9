/* Which paths are traces of MPI programs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_OPEN_H
#define IWI_TRACE_OPEN_H

#include <stdbool.h>

/* A folder or a file of one of the formats that iw_trace_open() reads; what it only refuses by name is none.
 */
bool iwi_trace_is_readable(const char *path);

#endif
