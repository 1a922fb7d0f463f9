/* Files of a restart point: written or read once, with a digest at their end.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CHECKPOINT_STREAM_H
#define IWI_CHECKPOINT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>

#include "core/base/hash.h"
#include "core/base/output.h"

enum { IWI_FILE_PATH_SIZE = 4096 };

/* Names of the files, which nobody else has: users may name a folder with other things in it. */
#define IWI_POINT_NAME "idlewave-point"
#define IWI_LOCK_NAME "idlewave-lock"
#define IWI_PART_PREFIX "idlewave-part-"

/* A file that is written or read once, from its start, with a digest of all its bytes at the end. */
struct iwi_file_stream {
    int fd;                   /* being read */
    struct iwi_output output; /* being written */
    struct iwi_hash digest;
};

/* False: errno tells. */
bool iwi_file_open(struct iwi_file_stream *stream, const char *path);
bool iwi_file_create(struct iwi_file_stream *stream, const char *path);
bool iwi_file_put(struct iwi_file_stream *stream, const void *data, size_t bytes);
/* False: the file has ended, or errno tells. */
bool iwi_file_get(struct iwi_file_stream *stream, void *data, size_t bytes);

/* The file is on the disk, or not at all; what was read is what was written. Both close it. */
bool iwi_file_end_writing(struct iwi_file_stream *stream, bool is_good);
bool iwi_file_end_reading(struct iwi_file_stream *stream, bool is_good);

/* False: the name is too long; errno says so. */
bool iwi_file_path(char path[IWI_FILE_PATH_SIZE], const char *dir, const char *name);
bool iwi_block_file_path(char path[IWI_FILE_PATH_SIZE], const char *dir, uint64_t generation,
                         uint32_t first_rank);

/* Logs that the file is damaged, and what to do. */
iw_status iwi_file_refuse(const iw_log *log, const char *path);

#endif
