/* Edits the list of preloaded libraries.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/preload.h"

#include <string.h>

#define SEPARATORS " :"

static bool is_of_name(const char *path, size_t length, const char *file)
{
    size_t wanted = strlen(file);

    return length >= wanted && memcmp(path + length - wanted, file, wanted) == 0 &&
           (length == wanted || path[length - wanted - 1] == '/');
}

bool iwi_preload_has(const char *list, const char *file)
{
    bool is_there = false;

    while (!is_there && *list != '\0') {
        size_t length = strcspn(list, SEPARATORS);
        is_there = is_of_name(list, length, file);
        list += length;
        list += strspn(list, SEPARATORS);
    }
    return is_there;
}

static bool append(const char *path, size_t length, char *made, size_t size)
{
    size_t used = strlen(made);
    size_t separator = used > 0 && length > 0 ? 1 : 0;

    if (used + separator + length >= size) {
        return false;
    }
    if (separator > 0) {
        made[used] = ':';
    }
    memcpy(made + used + separator, path, length);
    made[used + separator + length] = '\0';
    return true;
}

bool iwi_preload_replace(const char *list, const char *file, const char *instead, char *made, size_t size)
{
    bool is_fine = size > 0;

    if (is_fine) {
        made[0] = '\0';
    }
    while (is_fine && *list != '\0') {
        size_t length = strcspn(list, SEPARATORS);
        is_fine = is_of_name(list, length, file) ? append(instead, strlen(instead), made, size)
                                                 : append(list, length, made, size);
        list += length;
        list += strspn(list, SEPARATORS);
    }
    return is_fine;
}
