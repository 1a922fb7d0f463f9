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

#endif
