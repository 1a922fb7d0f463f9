/* All libraries that a program needs, directly or through others, found as the dynamic loader finds them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NEEDED_H
#define IWI_NEEDED_H

#include "core/base/base.h"

/* Called once for each name, nearest to the program first; false ends the walk. */
typedef bool (*iwi_needed_fn)(void *arg, const char *name);

/* Walks through the needs of the program at `path`; scripts, static programs and programs for other machines
 * need nothing. Libraries that are not found are named, but not walked through. `cache`: usually
 * IWI_LIBRARY_CACHE. IW_ERR_IO (cannot be read), IW_ERR_FORMAT and IW_ERR_TRUNCATED (the program is damaged).
 */
#define IWI_LIBRARY_CACHE "/etc/ld.so.cache"
IW_NODISCARD iw_status iwi_needed_walk(const iw_log *log, const char *path, const char *cache,
                                       iwi_needed_fn each, void *arg);

#endif
