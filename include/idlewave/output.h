/* idlewave/output.h - files, written whole or not at all.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     static iw_status write_it(const iw_log *log, void *arg, FILE *out) { ... fprintf(out, ...) ... }
 *     status = iw_write_file(log, "result.json", write_it, &result);
 *
 * Every file that the library writes goes this way (docs/decisions/0021-how-files-are-written.md): it is made
 * beside the old one under another name, reaches the disk, and then takes its place with the old one's mode.
 * Links of other users are not followed. Devices, pipes and /dev/stdout are written straight. Where a limit
 * of file sizes is set, a program that wants an error for every file ignores SIGXFSZ, as the command does.
 */
#ifndef IW_OUTPUT_H
#define IW_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Writes the content; `out` may be written and flushed, nothing else. Whether it was accepted need not be
 *  asked for: iw_write_file() does. */
typedef iw_status (*iw_write_fn)(const iw_log *log, void *arg, FILE *out);

/** The file `path` by `write`. Unless it returns IW_OK, nothing has changed. IW_ERR_IO. */
IW_API IW_NODISCARD iw_status iw_write_file(const iw_log *log, const char *path, iw_write_fn write,
                                            void *arg);

/** Whether `path` could be written, without changing anything: for what takes long before it writes.
 *  `needs_regular`: devices, pipes and standard output will not do. IW_ERR_IO. */
IW_API IW_NODISCARD iw_status iw_output_check(const iw_log *log, const char *path, bool needs_regular);

#ifdef __cplusplus
}
#endif
#endif
