/* Where collections are, and what a name stands for.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/files/collection/collection.h"
#include "kit/files/io/paths.h"

/* ---- places ---- */

static bool fits(int length, size_t size)
{
    return length > 0 && (size_t)length < size;
}

/* As the XDG base directory specification has it. */
static bool user_place(char *folder, size_t size)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

    if (data != NULL && data[0] == '/') {
        return fits(snprintf(folder, size, "%s/idlewave", data), size);
    }
    return home != NULL && home[0] == '/' &&
           fits(snprintf(folder, size, "%s/.local/share/idlewave", home), size);
}

/* Beside the running command, wherever that has been moved to. */
static bool beside_command(char *folder, size_t size)
{
    char command[PATH_MAX], place[PATH_MAX + 32], *real, *slash;
    const ssize_t length = readlink("/proc/self/exe", command, sizeof command - 1);
    bool is_good = false;

    command[length > 0 ? length : 0] = '\0';
    slash = strrchr(command, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    snprintf(place, sizeof place, "%s/../share/idlewave", command);
    real = realpath(place, NULL);
    if (real != NULL) {
        is_good = fits(snprintf(folder, size, "%s", real), size);
    }
    free(real);
    return is_good;
}

/* The installed one: of the command, else of a program that uses the library. */
static bool installed_place(char *folder, size_t size)
{
    return beside_command(folder, size) || fits(snprintf(folder, size, "%s", IW_COLLECTION_DIR), size);
}

bool iw_collection_place(size_t index, char *folder, size_t size)
{
    return index == 0 ? user_place(folder, size) : index == 1 && installed_place(folder, size);
}

/* ---- names ---- */

static iw_status text_of(const iw_log *log, const char *folder, const iw_collected *entry, char **found_p)
{
    if (entry->spec == NULL) {
        *found_p = iwi_path_join(log, folder, entry->file);
        return *found_p != NULL ? IW_OK : IW_ERR_NOMEM;
    }
    *found_p = strdup(entry->spec);
    return *found_p != NULL ? IW_OK : iwi_fail(log, IW_ERR_NOMEM, "out of memory for a spec");
}

static iw_status find_in(const iw_log *log, const char *folder, iw_collected_kind kind, const char *name,
                         char **found_p)
{
    iw_collection *collection;
    const iw_collected *entry;
    char *index = iwi_path_join(log, folder, IW_COLLECTION_INDEX);
    const bool is_there = index != NULL && access(index, F_OK) == 0;
    iw_status status = index != NULL ? IW_OK : IW_ERR_NOMEM;

    free(index);
    if (!is_there) {
        return status;
    }
    IW_TRY(iw_collection_load(log, folder, &collection));
    entry = iw_collection_get(collection, name);
    if (entry != NULL && entry->kind == kind) {
        status = text_of(log, folder, entry, found_p);
    }
    iw_collection_free(collection);
    return status;
}

iw_status iw_collection_find(const iw_log *log, iw_collected_kind kind, const char *name, char **found_p)
{
    char folder[PATH_MAX], *found = NULL;

    if (iwi_collected_name_is_good(name)) {
        for (size_t i = 0; i < 2 && found == NULL; i++) {
            if (iw_collection_place(i, folder, sizeof folder)) {
                IW_TRY(find_in(log, folder, kind, name, &found));
            }
        }
    }
    *found_p = found;
    return IW_OK;
}
