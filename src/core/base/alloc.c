/* Checked allocation: overflow and failure are reported, never ignored.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"

void *iwi_new_array(const iw_log *log, size_t count, size_t element_size)
{
    void *array = calloc(count > 0 ? count : 1, element_size); /* calloc checks the product */

    if (array == NULL) {
        (void)iwi_fail(log, IW_ERR_NOMEM, "out of memory for %zu elements of %zu bytes", count, element_size);
    }
    return array;
}

iw_status iwi_grow(const iw_log *log, void **array_p, size_t *capacity_p, size_t need, size_t element_size)
{
    size_t capacity = *capacity_p;
    void *array;

    if (need <= capacity) {
        return IW_OK;
    }
    if (need > SIZE_MAX / 2 / element_size) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for %zu elements of %zu bytes", need, element_size);
    }
    capacity = capacity < 16 ? 16 : capacity;
    while (capacity < need) {
        capacity *= 2;
    }
    array = realloc(*array_p, capacity * element_size);
    if (array == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for %zu elements of %zu bytes", capacity,
                        element_size);
    }
    *array_p = array;
    *capacity_p = capacity;
    return IW_OK;
}
