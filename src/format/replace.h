/* A file that is written under another name first, so that its own name never stands for half of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_REPLACE_H
#define IWI_REPLACE_H

#include "base/base.h"

struct iwi_replace {
    char *path;      /* where it will be; links are followed */
    char *temporary; /* where it is, beside that; NULL: nowhere any more */
};

/* Makes an empty file under the temporary name. IW_ERR_IO, also if `path` is something else than a regular
 * file. */
IW_NODISCARD iw_status iwi_replace_open(const iw_log *log, const char *path, struct iwi_replace *replace);

/* Makes sure that the file `name` can grow by so many bytes, for writers that do not survive a full disk;
 * where the file system cannot tell, nothing is done. `path` is for messages. IW_ERR_IO. */
IW_NODISCARD iw_status iwi_reserve(const iw_log *log, const char *path, const char *name, uint64_t bytes);

/* Gives back what was reserved and not used. */
void iwi_unreserve(const char *name);

/* Writes all of the file. IW_ERR_IO. */
IW_NODISCARD iw_status iwi_replace_write(const iw_log *log, const struct iwi_replace *replace,
                                         const void *bytes, size_t count);

/* Brings the file to its place, after its data have reached the disk. IW_ERR_IO. */
IW_NODISCARD iw_status iwi_replace_commit(const iw_log *log, struct iwi_replace *replace);

/* Removes what was not committed. */
void iwi_replace_release(struct iwi_replace *replace);

#endif
