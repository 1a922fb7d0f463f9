/* Small files of /proc and /sys, below a root folder that tests choose.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SYSFILE_H
#define IWI_SYSFILE_H

#include <stdbool.h>
#include <stddef.h>

/* The first line without its end, cut to `size`; false, and "" in buf: cannot be read. */
bool iwi_sysfile_line(const char *root, const char *path, char *buf, size_t size);

/* What follows `key` and `separator` in the first line that begins with `key` ("model name	: EPYC"),
 * without the blanks around it. */
bool iwi_sysfile_value(const char *root, const char *path, const char *key, char separator, char *buf,
                       size_t size);

#endif
