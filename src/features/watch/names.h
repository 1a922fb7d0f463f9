/* Names behind each other in one piece of memory, known by where they begin.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NAMES_H
#define IWI_NAMES_H

#include <stddef.h>

#include <idlewave/log.h>

struct iwi_names {
    char *text; /* moves as it grows */
    size_t size, capacity;
};

/* `length` characters of a name; *at_p: where it begins. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_names_add(const iw_log *log, struct iwi_names *names, const char *name,
                                     size_t length, size_t *at_p);

void iwi_names_release(struct iwi_names *names);

#endif
