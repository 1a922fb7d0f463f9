/* idlewave/internal/folder.h - folders to write into: made, and cleared of what an earlier run left.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Links of other users are not followed, and nothing is removed that is not known by its name.
 */
#ifndef IW_INTERNAL_FOLDER_H
#define IW_INTERNAL_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include <idlewave/log.h>
#include <idlewave/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Makes the folder, if it is not there; `name` gets its absolute path, without links. IW_ERR_IO. */
IW_NODISCARD iw_status iw_folder_make(const iw_log *log, const char *path, char *name, size_t size);

/** Files of a folder that belong to us. */
typedef struct iw_own_files {
    const char *sub; /* a folder in it, which goes too and may hold nothing else; NULL: itself */
    bool (*is_own)(const char *name); /* knows them */
} iw_own_files;

/** Removes these files. If another file is in a `sub`, or one of ours is not a regular file, nothing is
 *  removed. IW_ERR_IO. */
IW_NODISCARD iw_status iw_folder_clear(const iw_log *log, const char *path, const iw_own_files *parts,
                                       size_t count);

#ifdef __cplusplus
}
#endif
#endif
