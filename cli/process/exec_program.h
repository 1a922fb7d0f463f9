/* Becoming the program that a launcher starts through idlewave.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_EXEC_PROGRAM_H
#define IW_CLI_EXEC_PROGRAM_H

#include "options/opt.h"
#include "process/node_log.h"

/* Refuses no program at all, and a launcher where the program should be. Returns UI_DONE or UI_USAGE. */
int exec_program_check(const struct ui *ui, const struct opt_args *args);

/* Refuses what the loader would not take. Returns UI_DONE or UI_ERROR. */
int exec_program_check_library(struct node_log *node_log, const char *library);

/* Puts the library in front of what is preloaded already. */
bool exec_program_preload(const char *library);

/* Runs args->values with the arguments behind it, in this process. Returns only if it cannot be. */
int exec_program(struct node_log *node_log, const struct opt_args *args);

#endif
