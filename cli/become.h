/* Becoming the program that a launcher starts through idlewave.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_BECOME_H
#define IW_CLI_BECOME_H

#include "opt.h"
#include "speaker.h"

/* Refuses no program at all, and a launcher where the program should be. Returns UI_DONE or UI_USAGE. */
int become_check(const struct ui *ui, const struct opt_args *args);

/* Refuses what the loader would not take. Returns UI_DONE or UI_ERROR. */
int become_check_library(struct speaker *speaker, const char *library);

/* Puts the library in front of what is preloaded already. */
bool become_preload(const char *library);

/* Runs args->values with the arguments behind it, in this process. Returns only if it cannot be. */
int become(struct speaker *speaker, const struct opt_args *args);

#endif
