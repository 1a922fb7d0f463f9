/* A process beside the ranks of a node that records what the kernel takes from them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_KERNEL_WATCH_H
#define IW_CLI_KERNEL_WATCH_H

#include "process/node_log.h"

/* Marks this process, and the program that it becomes, as a rank of the job whose trace goes into `dir`. The
 * first that calls it on a node starts the watcher, which lives until that process has ended and then writes
 * DIR/kernel-HOST.h5. `is_optional`: where the kernel's events cannot be had, the job goes on without them.
 * An exit code. */
int kernel_watch_start(struct node_log *node_log, const char *dir, const char *command, bool is_optional);

#endif
