/* The list of preloaded libraries.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_PRELOAD_H
#define IWI_TRACE_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/* Is a library of that file name in `list`? */
bool iwi_preload_has(const char *list, const char *file);

/* Copies `list`, as LD_PRELOAD has it (names between blanks or colons), with `instead` in place of libraries
 * whose file name is `file`; "": they are left out. False: no room. */
bool iwi_preload_replace(const char *list, const char *file, const char *instead, char *made, size_t size);

#endif
