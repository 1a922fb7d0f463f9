/* The folder of a trace and the files in it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_FOLDER_H
#define IWI_TRACE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As an absolute path: the program may change its working folder. */
void iwi_folder_choose(const char *name, char *folder, size_t size);

/* Makes it, with its parents and the spool folder in it; refuses one that has a trace. On failure `text` says
 * why. */
bool iwi_trace_folder_make(const char *folder, char *text, size_t size);

/* False: it has a trace. */
bool iwi_trace_folder_is_free(const char *folder, char *text, size_t size);

/* As iwi_trace_folder_make(), where another process may have made it already. */
bool iwi_trace_folder_join(const char *folder, char *text, size_t size);

/* Removes the spool folder if it is empty. */
void iwi_folder_leave(const char *folder);

/* FOLDER/spool/RANK.THREAD */
void iwi_spool_path(const char *folder, uint32_t rank, uint32_t thread, char *path, size_t size);

#endif
