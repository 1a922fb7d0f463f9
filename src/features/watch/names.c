/* Appends names.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/names.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

iw_status iwi_names_add(const iw_log *log, struct iwi_names *names, const char *name, size_t length,
                        size_t *at_p)
{
    IW_TRY(iwi_grow(log, (void **)&names->text, &names->capacity, names->size + length + 1, 1));
    memcpy(names->text + names->size, name, length);
    names->text[names->size + length] = '\0';
    *at_p = names->size;
    names->size += length + 1;
    return IW_OK;
}

void iwi_names_release(struct iwi_names *names)
{
    free(names->text);
    *names = (struct iwi_names){.size = 0};
}
