/* Folders and URLs of collections that `idlewave get` takes entries from.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_GET_SOURCE_H
#define IW_CLI_GET_SOURCE_H

#include <idlewave/collection.h>

#include <limits.h>

#include "process/ui.h"

struct get_source {
    char place[PATH_MAX];  /* as somebody wrote it, without a slash at its end */
    char folder[PATH_MAX]; /* where its files are: the place itself, or what was fetched of it */
    bool is_url;
    iw_collection *index;
};

/* The next of the places between blanks or commas in *list_p, which then is what follows; false: there is
 * none. */
bool get_source_next(const char **list_p, struct get_source *source);

/* Reads the index; of a URL into a temporary folder, which is to be released in any case. Returns UI_DONE or
 * UI_ERROR. */
int get_source_open(const struct ui *ui, struct get_source *source);
void get_source_release(struct get_source *source);

/* Fetches the file of one entry, checks it, and puts it into the folder `to`. */
int get_source_take(const struct ui *ui, const struct get_source *source, const iw_collected *entry,
                    const char *to);

#endif
