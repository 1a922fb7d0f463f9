/* The folder of the kernel's event tracing.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACEFS_H
#define IWI_TRACEFS_H

#include "features/record/attribution/method.h"

/* Opens tracefs where it is mounted, or else a mount of our own that has no place in the file tree: nobody
 * else sees it, and it ends with the process. -1, and method->reason says what to do: not allowed to, not in
 * this kernel. */
int iwi_tracefs_open(struct iwi_method *method);

/* A small file below an open folder, whole. False: cannot be read or written. */
bool iwi_tracefs_read(int folder, const char *path, char *buf, size_t size);
bool iwi_tracefs_write(int folder, const char *path, const char *text);

#endif
