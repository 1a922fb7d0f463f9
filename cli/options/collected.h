/* Names of collections in values of options: the file or the SPEC that a name stands for.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_COLLECTED_H
#define IW_CLI_COLLECTED_H

#include "options/config.h"

/* Replaces such names in the values of a verb; the configuration keeps the texts. What is built in, a SPEC,
 * or a file that is there stays as it is, and so does what no collection has. Returns UI_DONE or an exit
 * code. */
int collected_resolve(struct ui *ui, struct config *config, const struct verb *verb, void *values);

/* The same for a network that is an argument; *found_p is NULL or is to be freed. */
int collected_find_net(const struct ui *ui, const char *name, char **found_p);

#endif
