/* Settings that messages of the library name, written as options of the verb that runs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_SETTING_NAMES_H
#define IW_CLI_SETTING_NAMES_H

#include <stddef.h>
#include <stdio.h>

struct opt_group;

/* Writes a message: `rules` becomes --rules if the verb has that option, 'rules' if it has not. */
void setting_names_write(const struct opt_group *groups, size_t group_count, const char *text, FILE *out);

#endif
