/* Makes and looks at paths.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/io/paths.h"

#include <stdio.h>
#include <string.h>

#include "core/base/base.h"

char *iwi_path_join(const iw_log *log, const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = iwi_new_array(log, size, 1);

    if (path != NULL) {
        snprintf(path, size, "%s/%s", folder, name);
    }
    return path;
}

bool iwi_path_ends_in(const char *path, const char *end)
{
    const size_t size = strlen(path), end_size = strlen(end);

    return size > end_size && strcmp(path + size - end_size, end) == 0;
}
