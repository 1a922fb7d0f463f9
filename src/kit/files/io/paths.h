/* Paths of files in folders.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PATHS_H
#define IWI_PATHS_H

#include <stdbool.h>

#include <idlewave/log.h>

/* "FOLDER/NAME", to be freed; NULL with the failure logged. */
char *iwi_path_join(const iw_log *log, const char *folder, const char *name);

/* Whether something stands before such an end: ".yaml". */
bool iwi_path_ends_in(const char *path, const char *end);

#endif
