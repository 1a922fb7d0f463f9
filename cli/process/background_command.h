/* A shell command that runs beside something: started, and ended with all that it started.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_BACKGROUND_COMMAND_H
#define IW_CLI_BACKGROUND_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>

#include "process/ui.h"

/* How the command ended. */
struct background_command_end {
    bool is_early;  /* it, and all that it started, before it was told to */
    int code;       /* its exit code if it had ended by itself, as shells give it; else 0 */
    int64_t raw_ns; /* is_early: when, on CLOCK_MONOTONIC_RAW */
};

struct background_command {
    pid_t pid; /* of its guard; 0: none */
    int pipe;  /* on which the guard tells an early end */
    struct background_command_end end;
};

/* Runs `command` by /bin/sh; what it writes to stdout goes to stderr, stdin is empty. It ends with this
 * process, however that ends. False: reported; also if the shell does not know the command. */
bool background_command_start(const struct ui *ui, const char *command, struct background_command *under);

/* Ends the command if it still runs. */
struct background_command_end background_command_stop(struct background_command *under);

#endif
