/* Small files of /proc and /sys, below a root folder that tests choose.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SYSFILE_H
#define IWI_SYSFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* To read it; NULL: it is not there, or no regular file, as those of /proc and /sys are. */
FILE *iwi_sysfile_open(const char *root, const char *path);

/* The first line without its end, cut to `size`; false, and "" in buf: cannot be read. */
bool iwi_sysfile_line(const char *root, const char *path, char *buf, size_t size);

/* What follows `key` and `separator` in the first line that begins with `key` ("model name	: EPYC"),
 * without the blanks around it. */
bool iwi_sysfile_value(const char *root, const char *path, const char *key, char separator, char *buf,
                       size_t size);

/* All of it, NUL bytes too, cut to `size` - 1 bytes and ended by a NUL; the length, or -1: cannot be read. */
long iwi_sysfile_whole(const char *root, const char *path, char *buf, size_t size);

/* Whether there is such a file or folder. */
bool iwi_sysfile_exists(const char *root, const char *path);

/* Whether it may be there, but this user may not look. */
bool iwi_sysfile_is_hidden(const char *root, const char *path);

/* Calls `take` for each entry of a folder but those that begin with a dot, in no particular order. */
void iwi_sysfile_each(const char *root, const char *path, void (*take)(void *arg, const char *name),
                      void *arg);

/* Calls `take` for each entry of a folder whose name is a number, in no particular order. */
void iwi_sysfile_each_number(const char *root, const char *path,
                             void (*take)(void *arg, unsigned long number), void *arg);

#endif
