/* Instances of tracefs as others see them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_TRACEFS_INSTANCES_H
#define IWT_TRACEFS_INSTANCES_H

#include <fcntl.h>
#include <stdio.h>

#include "features/record/kernel/tracefs.h"
#include "preempted.h"

static inline int open_tracefs_or_skip(void)
{
    struct iwi_method method = {.root = ""};
    int fd;

    skip_unless_root();
    fd = iwi_tracefs_open(&method);
    if (fd < 0) {
        print_message("no tracefs here: %s\n", method.reason);
        skip();
    }
    return fd;
}

static inline bool has_instance(int tracing, pid_t pid)
{
    char path[64];

    snprintf(path, sizeof path, "instances/idlewave-%d", (int)pid);
    return faccessat(tracing, path, F_OK, 0) == 0;
}

#endif
