/* A shell command that runs beside something: started, and ended with all that it started.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_UNDER_H
#define IW_CLI_UNDER_H

#include <stdbool.h>

#include <sys/types.h>

#include "ui.h"

struct under {
    const char *command;
    pid_t pid; /* of its guard; 0: none */
};

/* Runs `command` by /bin/sh; what it writes to stdout goes to stderr, stdin is empty. It ends with this
 * process, however that ends. False: reported. */
bool under_start(const struct ui *ui, const char *command, struct under *under);

/* Ends the command if it still runs; warns if it had failed before. */
void under_stop(const struct ui *ui, struct under *under);

#endif
